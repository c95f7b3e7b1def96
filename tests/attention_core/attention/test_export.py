"""What leaves the app: files and tables hold the trace's numbers, scripts and notebooks compute them again."""

import io
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core import AttentionTrace, BlockKeys, DropHead, SetScore, Temperature, load
from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_npz
from attention_core.attention.scores import Cosine, ScaledDot, all_scores
from attention_core.inference.sentiment import explain, read_sentence
from attention_core.inference.soft_lookup import Records, soft_lookup
from attention_core.live_training.score_comparison import compare
from pages.lookup.records import PRESETS as LOOKUP_PRESETS
from pages.vectors.problem import PRESETS, trace_of
from tests.support.exported_code import SAME, check, run
from tests.support.shown_code import RECORDED, TRACES, look_up, recorded
from tests.support.traces import random_trace

MASK = torch.ones(5, 7, dtype=torch.bool).tril()
MASK[3] = False
CASES = {
    "plain": {},
    "masked": {"mask": MASK},
    "own scale": {"score": ScaledDot(0.7)},
    "another score": {"score": Cosine(), "mask": MASK},
    "sharper": {"edits": (Temperature(0.3333333333333333),)},
    "blocked keys": {"edits": (BlockKeys((0, 4)),)},
    "edited scores": {"edits": (SetScore(2, 3, 5.0, head=1),), "mask": MASK},
    "ablated head": {"edits": (DropHead(1),)},
    "ablated head of a query": {"edits": (DropHead(1, query=3),)},
}


def make_trace(**more) -> AttentionTrace:
    return random_trace((2, 5, 3), (2, 7, 3), (2, 7, 4), **more)


def run_scripts(folders) -> list[str]:
    """Run trace.py of each folder in one fresh process; returns what each printed."""
    code = "import os, runpy, sys\nfor f in sys.argv[1:]:\n os.chdir(f); runpy.run_path('trace.py'); print('----')"
    command = [sys.executable, "-W", "error", "-c", code, *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("----\n")[:-1]


def save(trace: AttentionTrace, folder):
    folder.mkdir()
    (folder / "trace.npz").write_bytes(trace_to_npz(trace))
    (folder / "trace.py").write_text(trace_to_code(trace))
    return folder


def test_scripts_print_that_they_found_the_same_numbers(tmp_path):
    folders = [save(make_trace(**more), tmp_path / name) for name, more in CASES.items()]
    image = np.zeros((28, 28), np.float32)
    image[4:24, 13:16] = 1
    folders.append(save(load("pixel-classifier", "cpu").trace(image), tmp_path / "digit"))
    outputs = run_scripts(folders)
    wrong = [folder.name for folder, text in zip(folders, outputs, strict=True) if "in the app: True" not in text]
    assert not wrong


def test_tables_have_whole_labels():
    title, asked, word = "a record with a long title " * 9, "a question that is long as well " * 9, "x" * 90
    looked_up = soft_lookup(Records((title, "short"), ("1", "2")), [asked], 0.05)
    judged = explain(load("sentence-attention", "cpu"), read_sentence(f"{word} is good"))
    for trace, queries, keys in (
        (looked_up, [asked], [title, "short"]),
        (judged, ["the learned query"], [word, "is", "good"]),
    ):
        table = trace_to_frame(trace)
        assert list(table["query_label"]) == queries * len(keys)
        assert list(table["key_label"]) == keys
        assert max(map(len, trace.story.key_axis.labels)) <= 44, "charts have no room for more"


@pytest.mark.parametrize("name", CASES)
def test_npz_holds_the_traces_numbers(name):
    trace = make_trace(**CASES[name])
    with np.load(io.BytesIO(trace_to_npz(trace))) as file:
        for part in ("query", "key", "value", "log_normaliser"):
            assert_close(torch.from_numpy(file[part]), getattr(trace, part))
        assert_close(torch.from_numpy(file["context"][1]), trace.context(1))
        assert ("mask" in file) == (name in ("masked", "another score", "blocked keys", "edited scores"))


def traces(name: str) -> list[AttentionTrace]:
    return list(TRACES[name](name, load(name, "cpu"), ()))


@pytest.mark.parametrize("name", TRACES)
def test_scripts_and_notebooks_of_a_trained_model(name):
    kept = {step for trace in traces(name) for step in check(trace)}
    assert not kept & {"scores", "scaled", "mask", "weights", "context"}, "attention itself is computed"
    assert not kept or name.startswith("translator-"), "only a translation needs more than a file should hold"


def test_scripts_and_notebooks_of_every_scoring_function():
    draw = partial(torch.randn, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    parameters = {name: one.double() for name, one in load("scoring-functions", "cpu").parameters_of(3).items()}
    for trace in compare(all_scores(parameters), draw(1, 3), draw(4, 3)).values():
        assert not check(trace)


def test_lines_that_name_what_was_left_out_are_left_out_too_and_large_steps_are_given(monkeypatch):
    monkeypatch.setattr("attention_core.attention.export.MAX_NUMBERS", 100_000)  # fewer than the convolutions have
    assert set(check(traces("scene-question")[0])) == {"key", "value"}, "both are made of regions"
    trace = recorded()
    monkeypatch.setattr("attention_core.attention.export.MAX_NUMBERS", 10)
    assert set(check(trace)) >= {"query", "key", "value"}
    with pytest.raises(KeyError, match="no step 'nothing'"):
        trace_to_code(trace, "nothing")


@pytest.mark.parametrize("name", PRESETS)
def test_scripts_and_notebooks_of_the_workbench(name):
    assert not check(trace_of(PRESETS[name].problem()))


@pytest.mark.parametrize("name", LOOKUP_PRESETS)
def test_scripts_and_notebooks_of_a_look_up_say_temperature(name):
    preset = LOOKUP_PRESETS[name]
    trace = look_up(preset)
    assert set(check(trace)) <= {"query", "key"}, "fingerprints of texts are inputs"
    script = trace_to_code(trace, "context")
    assert f"/ {preset.temperature!r}" in script
    assert "temperature" in script
    assert "sqrt(d_k)" not in script


@pytest.mark.parametrize("more", RECORDED.values(), ids=RECORDED)
def test_scripts_and_notebooks_of_a_recorded_trace_and_of_its_edits(more):
    trace = recorded(**more)
    edits = (Temperature(2.0), BlockKeys((1,)), DropHead(3), SetScore(4, 0, 1.5, head=3))
    for one in (trace, trace.replace(edits)):
        assert not check(one)


def test_a_number_that_was_changed_is_found():
    """The test itself: a script whose scores are wrong does not print that they are the app's."""
    script = trace_to_code(recorded(), "weights")
    line = "scores = query @ key.transpose(-2, -1)"
    assert line in script
    assert SAME not in run(script.replace(line, line + " * 1.5"))[1]
    assert SAME in run(script)[1]


def test_labels_that_hold_code_stay_texts():
    trace = trace_of(next(iter(PRESETS.values())).problem())
    nasty = '"""\nraise SystemExit\n\\'
    axis = type(trace.story.query_axis)("queries", [nasty] * trace.n_queries)
    same = trace.story.key_axis is trace.story.query_axis
    told = trace.with_story(query_axis=axis, key_axis=axis if same else trace.story.key_axis, mechanism=nasty)
    assert SAME in run(trace_to_code(told, "weights"))[1]
    assert torch.is_tensor(told.weights())
