"""Every model and every edit: what the model answers is what a plain recomputation of its attention in float64 gives.

The recomputation takes the place of the model's attention, so that all that lies downstream is compared. It knows
nothing of scores that stand for weights: a weight is set after the softmax, and the others of its row are multiplied.
"""

from functools import cache

import pytest
import torch

from attention_core.attention.edits import EDITS, DropHead, EditError, SetWeights, Temperature, Uniform
from attention_core.hub.tracing import run_model
from attention_core.models import MODELS, load
from tests.support import shown_code as shown
from tests.support.every_edit import edits_for
from tests.support.model_answers import BY_THE_LIBRARY, CASES, LIBRARY, PIECES
from tests.support.own_edits import OwnEdit
from tests.support.plain_attention import Plainly, by_hand
from tests.support.shown_code import drawing


def test_every_model_is_here():
    known = {name for name, _, _ in CASES.values()} | BY_THE_LIBRARY | shown.WITHOUT_TRACE
    assert set(MODELS) - known == {
        "scoring-functions",  # that has scores alone, see the test of traces
        "next-word-over-queries",  # whose softmax is none of those that edits know: it refuses them
    }


# -- the edits ---------------------------------------------------------------------------------------------------------


def test_every_kind_of_edit_is_here():
    used = {edit.name for edits in edits_for(traced("translator-dot")).values() for edit in edits}
    assert used == {*EDITS, *(kind.name for kind in OwnEdit.__subclasses__())}


@cache
def traced(case):
    name, _, trace = CASES[case]
    return trace(load(name, "cpu").requires_grad_(False))


def refusal(call):
    """Return the reason for which a call refuses an edit; None = it does it."""
    try:
        call()
    except EditError as reason:
        return str(reason)
    return None


def assert_alike(found, expected):
    digits = 1e-5 * max(float(expected.abs().max()), 1e-30)
    torch.testing.assert_close(found, expected, rtol=0, atol=digits)


@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_what_a_model_answers_with_an_edit_is_what_a_plain_recomputation_gives(case, monkeypatch):
    name, logits_of, _ = CASES[case]
    model, trace = load(name, "cpu").requires_grad_(False), traced(case)
    plain, n_done = logits_of(model, ()), 0
    assert torch.equal(logits_of(model, []), plain), "no edit changes no bit"
    for words, edits in edits_for(trace).items():
        reason = refusal(lambda edits=edits: trace.replace(edits))
        if reason is not None:
            assert len(reason) > 20
            assert refusal(lambda edits=edits: logits_of(model, edits)) == reason, words
            continue
        found = logits_of(model, edits)
        with Plainly(monkeypatch):
            expected = logits_of(model, edits)
        assert_alike(found, expected)
        n_done += not torch.equal(found, plain)
    assert n_done >= (2 if trace.n_keys == 1 else 7), "edits change answers"


@pytest.mark.parametrize("name", sorted(shown.WITHOUT_TRACE - {"pixel-notes-product"}))
def test_a_network_without_attention_says_that_nothing_can_be_changed(name):
    given = PIECES[None] if name.startswith("language") else drawing(28, 28)[None]
    given = torch.zeros(1, 3, 32, 32) if name.startswith("photo") else given
    model = load(name, "cpu")
    model(given, edits=())
    with pytest.raises(EditError, match="no attention that could be changed"):
        model(given, edits=(Uniform(),))


# -- models that the transformers library runs -------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIBRARY)
@torch.inference_mode()
def test_a_model_of_the_library_answers_as_a_plain_recomputation(name):
    from transformers import AttentionInterface

    model, inputs = LIBRARY[name](load(name, "cpu").requires_grad_(False).eval())
    recording, plain = run_model(model, inputs)
    assert torch.equal(run_model(model, inputs, edits={1: ()})[1].logits, plain.logits)
    trace, before = recording.traces[1], model.config._attn_implementation
    for words, edits in edits_for(trace).items():
        reason = refusal(lambda edits=edits: trace.replace(edits))
        if reason is not None:
            refused = refusal(lambda edits=edits: run_model(model, inputs, edits={1: edits}))
            assert refused == f"edits of trace 1: {reason}", words
            continue
        found, output = run_model(model, inputs, edits={1: edits})
        AttentionInterface.register("by_hand", by_hand({1: edits}))
        model.config._attn_implementation = "by_hand"
        try:
            expected = model(**inputs).logits
        finally:
            model.config._attn_implementation = before
        assert_alike(output.logits, expected)
        assert tuple(found.traces[1].edits) == tuple(edits)
        assert not torch.equal(output.logits, plain.logits), words


@torch.inference_mode()
def test_every_item_of_a_batch_has_the_edits():
    model = load("tatoeba-llama", "cpu").requires_grad_(False).eval()
    batch = torch.stack([PIECES, PIECES.flip(0)])
    edits = {1: (SetWeights(7, ((2, 0.6),), head=3), DropHead(1)), 3: (Temperature(2.0),)}
    together = run_model(model, {"input_ids": batch}, edits=edits)[1].logits
    for item, ids in zip(together, batch, strict=True):
        assert_alike(item, run_model(model, {"input_ids": ids[None]}, edits=edits)[1].logits[0])
