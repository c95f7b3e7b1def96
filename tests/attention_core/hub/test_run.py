"""A run gives the model's own output, and heads can be switched off inside it."""

from types import SimpleNamespace

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import run_model
from attention_core.attention.edits import DropHead, drop_heads
from attention_core.hub.tracing import run_items
from tests.support.tiny_families import FAMILIES, HEAD, build, without_columns
from tests.support.tiny_models import IDS, PLAIN


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_that_is_switched_off_is_as_if_its_columns_of_the_output_projection_were_zero(family):
    _, _, inputs, number, _ = FAMILIES[family]
    model = build(family)
    recording, output = run_model(model, inputs, edits=drop_heads([(number, HEAD)]))
    with torch.no_grad():
        by_hand = without_columns(family)(**inputs).logits
        plain = model(**inputs).logits
    assert_close(output.logits, by_hand, atol=1e-5, rtol=1e-5)
    assert (output.logits - plain).abs().max() > 1e-3
    trace = recording.traces[number]
    assert trace.edits == (DropHead(HEAD),)
    assert not trace.context(HEAD).any()
    assert trace.context(HEAD - 1).any()
    assert all(not one.edits for one in recording.traces if one is not trace)


def test_the_output_is_that_of_a_run_without_us():
    for family, (_, _, inputs, *_) in FAMILIES.items():
        model = build(family)
        recording, output = run_model(model, {**inputs, "output_hidden_states": True, "return_dict": False})
        with torch.no_grad():
            plain = model(**inputs, output_hidden_states=True)
        assert_close(output.logits, plain.logits, atol=1e-5, rtol=1e-5)
        states = "decoder_hidden_states" if "T5" in family else "hidden_states"
        assert_close(output[states][-1], plain[states][-1], atol=1e-5, rtol=1e-5)
        assert len(recording) > 1


def test_each_item_of_a_batch_can_lose_heads_of_its_own():
    model, one = build("Llama with grouped keys"), IDS[:1]
    ablations = [[], [(0, 1)], [(1, 3), (0, 0)]]
    batch = run_items(model, {"input_ids": one.expand(3, -1)}, [*map(drop_heads, ablations)]).logits
    for item, ablated in zip(batch, ablations, strict=True):
        logits_alone = run_model(model, {"input_ids": one}, edits=drop_heads(ablated))[1].logits[0]
        assert_close(item, logits_alone, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(batch[0], batch[1], atol=1e-3)


def test_the_keys_of_a_cache_come_back_and_are_used():
    model = build("GPT-2")
    _, first = run_model(model, {"input_ids": IDS[:1, :8], "use_cache": True})
    recording, second = run_model(model, {"input_ids": IDS[:1, 8:], "past_key_values": first.past_key_values})
    assert (recording.traces[0].n_queries, recording.traces[0].n_keys) == (3, 11)
    assert_close(second.logits[0], run_model(model, {"input_ids": IDS[:1]})[1].logits[0, 8:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("ablated", "told"),
    [((2, 0), "traces 0 to 1"), ((-1, 0), "traces 0 to 1"), ((0, 4), "0 to 3"), ((1, -1), "0 to 3")],
)
def test_a_head_that_is_not_there_is_told(ablated, told):
    model = build("BERT")
    with pytest.raises(ValueError, match=told):
        run_model(model, PLAIN, edits=drop_heads([ablated]))
    assert model.config._attn_implementation == "eager"


def test_bypassing_models_give_their_output_but_no_ablation_and_other_objects_are_told():
    model = hf.BloomForCausalLM(hf.BloomConfig(vocab_size=99, hidden_size=32, n_layer=2, n_head=4)).eval()
    recording, output = run_model(model, PLAIN)
    assert "bypasses" in recording.note
    with torch.no_grad():
        assert_close(output.logits, model(**PLAIN).logits, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="BloomForCausalLM can be switched off"):
        run_model(model, PLAIN, edits=drop_heads([(0, 0)]))
    with pytest.raises(TypeError, match="got SimpleNamespace"):
        run_model(SimpleNamespace(), {})
