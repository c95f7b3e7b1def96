"""What leaves the app: the numbers of the .npz are the trace's, and the script really computes them again."""

import io
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention_core import AttentionTrace, BlockKeys, DropHead, SetScore, Temperature, load
from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_npz
from attention_core.attention.scores import Cosine, ScaledDot
from attention_core.topics.lookup.soft_lookup import Records, soft_lookup
from attention_core.topics.matter.sentences import explain, read_sentence
from tests.traces import random_trace

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
    outputs = run_scripts(folders)
    assert len(outputs) == len(CASES)
    wrong = [name for name, text in zip(CASES, outputs, strict=True) if "same as in the app: True" not in text]
    assert not wrong


def test_tables_have_whole_labels():
    title, asked, word = "a record with a long title " * 9, "a question that is long as well " * 9, "x" * 90
    looked_up = soft_lookup(Records((title, "short"), (1.0, 2.0)), [asked], 0.05)
    numbers = soft_lookup(Records((1234567.25, 2.0), (1.0, 2.0)), [0.123456789], 0.05)
    judged = explain(load("sentence-attention", "cpu"), read_sentence(f"{word} is good"))
    for trace, queries, keys in (
        (looked_up, [asked], [title, "short"]),
        (numbers, ["0.123456789"], ["1234567.25", "2.0"]),
        (judged, ["the learned query"], [word, "is", "good"]),
    ):
        table = trace_to_frame(trace)
        assert list(table["query_label"]) == queries * len(keys)
        assert list(table["key_label"]) == keys
        assert max(map(len, trace.story.key_axis.labels)) <= 44, "charts have no room for more"


def test_script_of_the_digit_model_finds_the_same_numbers(tmp_path):
    image = np.zeros((28, 28), np.float32)
    image[4:24, 13:16] = 1
    folder = save(load("pixel-classifier", "cpu").trace(image), tmp_path / "digit")
    assert "same as in the app: True" in run_scripts([folder])[0]


@pytest.mark.parametrize("name", CASES)
def test_npz_holds_the_traces_numbers(name):
    trace = make_trace(**CASES[name])
    with np.load(io.BytesIO(trace_to_npz(trace))) as file:
        for part in ("query", "key", "value", "log_normaliser"):
            assert_close(torch.from_numpy(file[part]), getattr(trace, part))
        assert_close(torch.from_numpy(file["context"][1]), trace.context(1))
        assert ("mask" in file) == (name in ("masked", "another score", "blocked keys", "edited scores"))
