"""Every line of PyTorch that a step shows is run, head by head, and gives the step's own numbers.

A trace is walked from its first step to its last. A line may use what the lines before it assigned, and the tensors,
modules and numbers that the step says its code names; nothing else but torch itself.
"""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_core import UNIFORM, AttentionTrace, BlockKeys, DropHead, SetScore, Temperature, capture, load
from attention_core.attention.recording import load_recording
from attention_core.attention.scores import SCORES
from attention_core.attention.steps import steps_of
from attention_core.models import MODELS, attention_at_snapshot, build
from attention_core.models.translator import SCORINGS as TRANSLATOR_SCORINGS
from attention_core.models.translator import Translator, TranslatorConfig
from pages.lookup.records import PRESETS as LOOKUP_PRESETS
from pages.vectors.problem import PRESETS, Problem, Settings, table_dimensions, trace_of
from tests.support.shown_code import (
    RECORDED,
    TRACES,
    WITHOUT_TRACE,
    check,
    drawing,
    look_up,
    rand,
    recorded,
    translated,
)
from tests.support.traces import of_weights
from tests.support.traces import trace_of as attention_trace

EVERYTHING = (Temperature(2.0), BlockKeys((1,)), DropHead(0), SetScore(0, 2, 1.5, head=0), SetScore(1, 0, -2.0, head=0))
EDITS = {
    "as it is": (),
    "uniform": UNIFORM,
    "another scale": (Temperature(0.5),),
    "a blocked key": (BlockKeys((1,)),),
    "an ablated head": (DropHead(0),),
    "edited scores": (SetScore(0, 2, 1.5, head=0), SetScore(1, 0, -2.0, head=0), SetScore(0, 2, 3.0, head=0)),
    "everything": EVERYTHING,
}
edited = pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)


def with_edits(trace: AttentionTrace) -> None:
    for edits in EDITS.values():
        check(trace.replace(edits))


ONE_KEY = {"translator-none", "translator-plain"}


def test_every_model_that_has_a_trace_is_run():
    assert set(MODELS) == set(TRACES) | WITHOUT_TRACE


@pytest.mark.parametrize("name", TRACES)
def test_lines_of_a_trained_model_whether_or_not_its_attention_was_edited(name):
    model = load(name, "cpu")
    for trace in TRACES[name](name, model, ()):
        check(trace)
        if trace.n_keys > 1:
            check(trace.replace((Temperature(2.0), BlockKeys((1,)), SetScore(0, 0, 1.5, head=0))))
    several = [UNIFORM, (Temperature(0.5), *([] if name in ONE_KEY else [BlockKeys((1,))]), DropHead(0))]
    several.append((SetScore(0, 0, 1.5, head=0),))
    for edits in several:
        for trace in TRACES[name](name, model, edits):
            check(trace)


@pytest.mark.parametrize("scoring", TRANSLATOR_SCORINGS)
@pytest.mark.parametrize("cell", ["gru", "rnn"])
@pytest.mark.parametrize("is_fed", [False, True])
def test_lines_of_every_kind_of_recurrent_translator(scoring, cell, is_fed):
    torch.manual_seed(0)
    sizes = {"d_embedding": 20, "d_state": 24, "d_additive": 10}
    model = Translator(TranslatorConfig(scoring, cell, **sizes, has_input_feeding=is_fed)).eval()
    if scoring == "location":
        torch.nn.init.normal_(model.score_weight)
    for trace in translated("", model.requires_grad_(False), ()):
        check(trace)


def test_lines_name_the_parameters_of_the_moment_that_a_snapshot_shows():
    model = build("pixel-classifier").eval().requires_grad_(False)
    then = {f"0.{name}": one + 0.05 * rand(*one.shape) for name, one in model.named_parameters()}
    for trace in attention_at_snapshot(model, then, 0, drawing(28, 28)):
        check(trace)


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize("letters", ["X", "XY", "Q"])
def test_lines_of_the_workbench_in_every_setting(letters, scoring):
    random, sizes = np.random.default_rng(5), {"n_queries": 5, "n_keys": 4, "d_model": 7, "d_memory": 3}
    sizes |= {"d_k": 2, "d_v": 6}
    counted = table_dimensions(letters).items()
    tables = {name: random.normal(size=(sizes[rows], sizes[columns])) for name, (rows, columns) in counted}
    for scaled, causal, heat, softmax in itertools.product((False, True), (False, True), (1.0, 0.7), (False, True)):
        trace = trace_of(Problem(tables, settings=Settings(scoring, scaled, heat, causal, softmax)))
        check(trace)
        if softmax and heat != 1 and letters == "XY":
            with_edits(trace)


@pytest.mark.parametrize("name", PRESETS)
def test_lines_of_every_preset_of_the_workbench(name):
    check(trace_of(PRESETS[name].problem()))


@pytest.mark.parametrize("name", LOOKUP_PRESETS)
def test_lines_of_a_look_up(name):
    trace = look_up(LOOKUP_PRESETS[name])
    check(trace)
    check(trace.replace((Temperature(2.0), BlockKeys((1,)))))


@pytest.mark.parametrize("more", RECORDED.values(), ids=RECORDED)
def test_lines_of_a_recorded_trace_and_of_its_edits(more):
    trace = recorded(**more)
    assert [step.name for step in steps_of(trace)][:3] == ["query", "key", "value"]
    check(trace)
    with_edits(trace)


@edited
def test_lines_of_captured_modules(edits, tmp_path):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(12, 3, 16, batch_first=True).eval()
    with capture() as recording:
        layer(torch.randn(2, 6, 12), src_mask=torch.nn.Transformer.generate_square_subsequent_mask(6))
        F.scaled_dot_product_attention(rand(1, 4, 5, 8), rand(1, 2, 5, 8), rand(1, 2, 5, 8), enable_gqa=True)
    recording.save(tmp_path / "recording.npz")
    again = load_recording(tmp_path / "recording.npz")
    assert len(recording) == len(again) == 2
    for trace in (*recording.traces, *again.traces):
        check(trace.replace(edits))


@edited
def test_lines_of_a_trace_that_knows_nothing_but_weights(edits):
    weights = rand(2, 4, 5).softmax(-1)
    weights[0, 1, 2] = weights[1, 3] = 0
    short = 0.6 * weights  # something without a value took the rest
    for known in (weights, short):
        check(of_weights(known).replace(edits))
        check(of_weights(known))
    check(of_weights(weights - 0.3 * (weights > 0)))  # signed


def test_a_line_that_is_wrong_is_found():
    """The test itself: a scale that the line does not mention, and a name that nobody gives."""
    trace = attention_trace(rand(1, 3, 2), rand(1, 3, 2, seed=1), rand(1, 3, 2, seed=2))
    check(trace)
    for code, fault in (("scores = query @ key.T", AssertionError), ("scores = query @ nobody", NameError)):
        wrong = steps_of(trace)[1].__class__(**{**vars(steps_of(trace)[1]), "code": code})
        with pytest.raises(fault):
            check(trace.with_story(steps_before=(wrong,)))
