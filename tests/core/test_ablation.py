"""What is lost without a head: by the definitions, for one head and for a whole map."""

import math

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import run_model
from attention_core.attention.edits import drop_heads
from attention_core.hub import outputs as ablation
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.outputs import cosine_change, divergence, effects, expected, items_at_once, log_probabilities
from attention_core.hub.run import text_inputs
from attention_core.topics.model import own_model
from tests.tiny_models import GPT, PATCHES, build

INPUTS = {"input_ids": torch.tensor([[5, 17, 40, 8, 23, 31]])}


@pytest.fixture(scope="module")
def writer():
    model = build(hf.GPT2LMHeadModel, hf.GPT2Config(**{**GPT, "vocab_size": 60, "n_positions": 32}))
    return Pretrained("writer", ModelKind.DECODER, model, most_tokens=32)


def test_divergence_is_in_bits_and_ends_at_one():
    before = torch.tensor([[0.0, 0.0], [50.0, -50.0], [0.0, math.log(3)]])
    after = torch.tensor([[0.0, 0.0], [-50.0, 50.0], [0.0, 0.0]])
    by_hand = 0.5 * (0.25 * math.log2(0.25 / 0.375) + 0.75 * math.log2(0.75 / 0.625))
    by_hand += 0.5 * (0.5 * math.log2(0.5 / 0.375) + 0.5 * math.log2(0.5 / 0.625))
    assert_close(divergence(before, after), torch.tensor([0.0, 1.0, by_hand]), atol=1e-6, rtol=0)
    assert_close(divergence(after, before), divergence(before, after))
    forbidden = torch.tensor([[-torch.inf, 0.0]])
    assert_close(divergence(forbidden, forbidden), torch.zeros(1))


def test_tokens_have_the_log_probability_that_the_token_before_gave_them():
    logits = torch.log(torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.9, 0.1]]))
    assert_close(log_probabilities(logits, [1, 0, 1]), torch.tensor([-2.0, -1.0]))


def test_cosines_tell_directions():
    before, after = torch.tensor([[1.0, 0], [1, 0], [2, 0]]), torch.tensor([[0.0, 3], [-1, 0], [5, 0]])
    assert_close(cosine_change(before, after), torch.tensor([1.0, 2.0, 0.0]))
    assert ablation.sentence_change(before, after) == pytest.approx(1 - 4 / 5)


def every_head(model, inputs):
    traces = run_model(model, inputs)[0].traces
    return [(number, head) for number, trace in enumerate(traces) for head in range(trace.n_heads)]


def test_effects_are_what_each_head_alone_is_worth(writer):
    plain, heads = run_model(writer.model, INPUTS)[1], every_head(writer.model, INPUTS)
    found = effects(writer, INPUTS, heads)
    assert len(found) == 8
    for head, worth in zip(heads, found, strict=True):
        without = run_model(writer.model, INPUTS, edits=drop_heads([head]))[1].logits[0]
        per_token = divergence(plain.logits[0], without)
        assert worth == pytest.approx(float(per_token.mean()), abs=1e-5)
    assert max(found) > 1e-3


def test_a_large_vocabulary_is_tried_one_by_one_on_the_last_tokens(writer, monkeypatch):
    monkeypatch.setattr(ablation, "MAX_NUMBERS", 130)
    plain, other = (run_model(writer.model, INPUTS, edits=drop_heads(off))[1].logits[0] for off in ([], [(0, 1)]))
    assert items_at_once(plain) == 1
    found = effects(writer, INPUTS, [(0, 1)])
    assert found == pytest.approx([float(divergence(plain[-2:], other[-2:]).mean())], abs=1e-5)


def test_a_sentence_encoder_is_compared_by_its_last_layer(minilm):
    inputs = text_inputs(minilm, "The cat sat on the mat.").inputs
    before, alone = (
        run_model(minilm.model, inputs, edits=drop_heads(off))[1].last_hidden_state[0] for off in ([], [(3, 2)])
    )
    found = effects(minilm, inputs, [(5, 11), (3, 2)])
    assert found[1] == pytest.approx(float(cosine_change(before, alone).mean()), abs=1e-5)
    assert 0 < ablation.sentence_change(before, alone) < 1


def test_without_the_head_that_copies_the_umbrella_is_forgotten():
    llama = own_model("tatoeba-llama")
    inputs = text_inputs(llama, "Tom bought a green umbrella for his old teacher. Tom bought a green").inputs
    heads = every_head(llama.model, inputs)
    worth = dict(zip(heads, effects(llama, inputs, heads), strict=True))
    most = max(heads, key=worth.get)
    before, after = (run_model(llama.model, inputs, edits=drop_heads(off))[1].logits[0, -1] for off in ([], [most]))
    first, then = (expected(logits, llama.tokenizer, n=40) for logits in (before, after))
    assert (first.likeliest[0].text, first.likeliest[0].probability > 0.5) == ("␣umbrella", True)
    assert dict((one.text, one.probability) for one in then.likeliest).get("␣umbrella", 0) < 0.05


def test_a_picture_model_is_compared_by_its_classes():
    torch.manual_seed(0)
    model = hf.ViTForImageClassification(hf.ViTConfig(**PATCHES, num_labels=5)).eval()
    inputs = {"pixel_values": torch.randn(1, 3, 16, 16)}
    before, after = (run_model(model, inputs, edits=drop_heads(off))[1].logits for off in ([], [(1, 3)]))
    found = effects(Pretrained("looker", ModelKind.VISION, model), inputs, [(1, 3)])
    assert found == pytest.approx(divergence(before, after).tolist(), abs=1e-6)


def test_heads_that_cannot_be_switched_off_are_told(monkeypatch):
    bloom = hf.BloomForCausalLM(hf.BloomConfig(vocab_size=60, hidden_size=32, n_layer=2, n_head=4)).eval()
    with pytest.raises(ModelError, match="can be switched off"):
        effects(Pretrained("bloom", ModelKind.DECODER, bloom), INPUTS, [(0, 0)])
    monkeypatch.setattr(ablation, "run_items", lambda *given: {})
    with pytest.raises(ModelError, match="nothing that could be compared"):
        effects(Pretrained("silent", ModelKind.ENCODER, bloom), INPUTS, [(0, 0)])
