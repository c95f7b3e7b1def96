"""Scripts and notebooks: every one computes the step that it was made for, and prints the numbers of the app."""

import contextlib
import io
import json
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from attention_core import AttentionTrace, BlockKeys, DropHead, SetScore, Temperature, load, steps_of
from attention_core.attention.export import trace_to_code, trace_to_notebook
from attention_core.attention.scores import all_scores
from attention_core.topics.scoring.compare import compare
from attention_core.topics.vectors import PRESETS, trace_of
from tests.core.test_shown_code import LOOKUP_PRESETS, RECORDED, TRACES, look_up, recorded

SAME = "same as in the app: True"
GIVEN = "computed by the app"


def run(*parts: str) -> tuple[dict, str]:
    """Run code as a fresh session would; returns what it assigned and what it printed."""
    space: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for part in parts:
            exec(compile(part, "script", "exec"), space)
    return space, printed.getvalue()


def code_of(notebook: str) -> list[str]:
    """Return the code of a notebook's cells, which has the form that nbformat 4.5 asks for."""
    book = json.loads(notebook)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (wanted | {"execution_count", "outputs"} if cell["cell_type"] == "code" else wanted)
    return [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]


def check(trace: AttentionTrace) -> list[str]:
    """Run the script and the notebook of every step; returns the names of those whose own line is not run."""
    head, query, steps = trace.n_heads - 1, trace.n_queries - 1, steps_of(trace)
    for step in steps:
        script = trace_to_code(trace, step.name, head, query)
        row = query if step.row_axis is trace.story.query_axis else 0
        notebook = code_of(trace_to_notebook(trace, step.name, head, query))
        assert all(part in script for part in notebook)
        for parts in ([script], notebook):
            space, printed = run(*parts)
            assert SAME in printed, f"{trace.story.mechanism}, {step.name}:\n{printed}"
            assert f"row {row + 1} " in printed
            assert_close(space[step.assigns][row], step.value(head, [row])[0], atol=1e-4, rtol=1e-4)
    return [step.name for step in steps if f' = given["{step.assigns}"]  # {GIVEN}' in script]


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


def test_a_line_that_names_what_a_line_left_out_assigns_is_left_out_too(monkeypatch):
    monkeypatch.setattr("attention_core.attention.export.MOST_NUMBERS", 100_000)  # fewer than the convolutions have
    assert set(check(traces("scene-question")[0])) == {"key", "value"}, "both are made of regions"


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


def test_a_step_with_too_many_numbers_is_given_and_one_that_is_not_there_refused(monkeypatch):
    trace = recorded()
    monkeypatch.setattr("attention_core.attention.export.MOST_NUMBERS", 10)
    assert set(check(trace)) >= {"query", "key", "value"}
    with pytest.raises(KeyError, match="no step 'nothing'"):
        trace_to_code(trace, "nothing")


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
    told = trace.retold(query_axis=axis, key_axis=axis if same else trace.story.key_axis, mechanism=nasty)
    assert SAME in run(trace_to_code(told, "weights"))[1]
    assert torch.is_tensor(told.weights())
