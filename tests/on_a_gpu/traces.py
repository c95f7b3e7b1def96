"""Every trained model on the best device: its traces, with and without edits, and all that is asked of a trace."""

from functools import cache

import numpy as np
import pytest
import torch

from attention_core import BlockKeys, DropHead, SetScore, Temperature
from attention_core.atlas import Atlas
from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_npz
from attention_core.attention.steps import row_table, steps_of
from attention_core.data.next_words import read_line
from attention_core.device import choose_device
from attention_core.hub.catalogue import BUNDLED
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.run import run, text_inputs
from attention_core.inference import sentiment as sentences
from attention_core.inference import translation
from attention_core.inference.feature_channels import order_of
from attention_core.inference.next_word import foresee
from attention_core.inference.pretrained import load_bundled
from attention_core.inference.word_influence import last_state_shares
from attention_core.live_training.score_comparison import compare, comparison_frame, favourites
from attention_core.models import MODELS, load

SENTENCE = "the man sees the dog"
EDITS = {
    "as it is": (),
    "changed in every way": (Temperature(2.0), SetScore(0, 1, 3.0, head=0), BlockKeys((0, 2)), DropHead(0)),
}
PICTURES_ALONE = {"ffn-classifier", *(f"pixel-notes-{one}" for one in ("product", "self", "uniform", "alone"))}
"""Classifiers of pictures that have no trace."""
WITHOUT_ATTENTION = PICTURES_ALONE | {
    "photo-classifier",
    "scoring-functions",
    "translator-none",
    "translator-plain",
    "language-recurrent-alone",
}
ATTENTIVE = sorted(set(MODELS) - WITHOUT_ATTENTION)


@cache
def model_of(name):
    return load_bundled(name) if name in BUNDLED else load(name)


@cache
def traced(name, edit):
    """Return the traces of a model that ran with an edit."""
    return ran(name, name.partition("-")[0], model_of(name), EDITS[edit])


def ran(name, family, model, edit):
    if name == "translator-transformer":
        source = translation.read_source(SENTENCE)
        edits = {(kind, 0): edit for kind in ("encoder", "decoder", "cross")}
        return list(translation.explain_layers(model, source, translation.translate(model, source), edits).values())
    if family == "translator":
        source = translation.read_source(SENTENCE)
        return [translation.explain(model, source, translation.translate(model, source), edit)]
    if family == "sentence":
        return [sentences.explain(model, sentences.read_sentence(SENTENCE), edit)]
    if name.startswith("scene-caption"):
        return [model.trace(torch.rand(4, 64, 64), edit)]
    if family == "next":
        return foresee(model, read_line(SENTENCE), edits=() if name == "next-word-over-queries" else edit).traces
    if name in ("match3-one-layer", "match3-two-layers"):
        return model(torch.tensor([[3, 1, 4, 1, 5]], device=choose_device()), edits=edit, trace=True).traces
    if family == "language":
        return [model.trace([5, 6, 7, 5, 6], list("abcde"), edit)]
    if family == "scene":
        answered = model.explain(torch.rand(4, 64, 64), ["how", "many", "reds"], edits=edit)
        return [*answered.looks, *answered.words]
    if name in BUNDLED:
        is_text = family == "tatoeba"
        inputs = text_inputs(model, SENTENCE) if is_text else picture_inputs(model, np.full((40, 40, 4), 255, np.uint8))
        return run(model, inputs, edits=dict.fromkeys(range(4), edit)).recording.traces
    sizes = {"pixel": (28, 28), "feature": (60, 60), "digit": (48, 192)}
    return [model.trace(torch.rand(sizes[family]) if family in sizes else [3, 1, 4, 1, 5], edit)]


def every_step(trace):
    for step in steps_of(trace):
        head = trace.n_heads - 1
        assert step.value(head).device == trace.query.device, step.name
        n_rows, n_cols = step.value(head, [0], slice(0, 2)).shape
        assert (n_rows, n_cols) == (1, min(2, len(step.col_axis))), step.name


def tiles(trace):
    rows, cols = torch.arange(2, device=trace.query.device) % trace.n_queries, [1, 0]
    for some in (rows, rows.tolist()):
        assert trace.weights(0, some, cols).shape == trace.scores(0, some, cols).shape == (2, 2)


def export(trace):
    assert trace_to_npz(trace)
    assert len(trace_to_frame(trace, 0, slice(0, 1))) == trace.n_keys
    assert "weights" in trace_to_code(trace)


def export_of_chosen_rows(trace):
    assert len(trace_to_frame(trace, 0, torch.zeros(1, dtype=torch.int64, device=trace.query.device), [0, 1])) == 2


def summary(trace):
    for queries in (None, torch.ones(trace.n_queries, dtype=torch.bool, device=trace.query.device)):
        assert trace.summary(0, queries).received.device == trace.query.device


def atlas(trace):
    made = Atlas(trace)
    assert made.tile(0, 0, 0).shape[0] == min(256, trace.n_queries)
    assert list(made.survey())[-1] == 1
    assert made.tile(made.n_levels - 1, 0, 0).max() > 0


def arithmetic(trace):
    if trace.key.shape[-1]:
        assert len(row_table(trace, 0, trace.n_queries - 1).weight) > 0


ASKED = (every_step, tiles, export, export_of_chosen_rows, summary, atlas, arithmetic)
CHANGED = {"scene-caption", "translator-dot", *{name.partition("-")[0]: name for name in ATTENTIVE}.values()}
"""A model of every family. A changed trace goes the plain way, not that of a fused kernel: the first two take it."""
CASES = [(name, "as it is", asked) for name in ATTENTIVE for asked in ASKED[: None if name in CHANGED else 3]]
CASES += [(name, "changed in every way", asked) for name in sorted(CHANGED) for asked in ASKED[:2]]


@pytest.mark.parametrize(("name", "edit", "asked"), CASES)
def test_trace(name, edit, asked):
    for trace in traced(name, edit):
        assert trace.query.device.type == choose_device()
        asked(trace)


def test_networks_without_attention():
    for name in PICTURES_ALONE:
        assert load(name)(torch.rand(1, 28, 28, device=choose_device())).logits.isfinite().all()
    pieces = torch.tensor([[1, 2, 3]], device=choose_device())
    assert load("language-recurrent-alone")(pieces).logits.isfinite().all()
    for name in ("translator-none", "translator-plain"):
        model, source = load(name), translation.read_source(SENTENCE)
        assert translation.translate(model, source).text
        shares = last_state_shares(model, source)  # by a gradient, in eval mode
        assert float(shares.sum()) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("d", [2, 8])
def test_scoring_functions(d):
    query, key = torch.rand(6, d, device=choose_device()).split((1, 5))
    traces = compare(load("scoring-functions").scores(d), query, key)
    for trace in traces.values():
        for asked in ASKED:
            asked(trace)
    assert len(comparison_frame(traces)) == 5 * len(favourites(traces))


def test_channels_of_a_feature_map():
    assert len(order_of(traced("feature-mask", "as it is")[0])) == 96
