"""The steps of a decoder are one attention of all that it read: that of a single run over the same tokens."""

import pytest
import torch
import transformers as hf
from torch import nn
from torch.testing import assert_close

from attention_core import capture
from tests.support.tiny_models import GPT, SIZES, build

IDS = torch.randint(3, 90, (1, 5), generator=torch.Generator().manual_seed(0))
WORDS = [f"word {number}" for number in range(20)]
DECODERS = {
    "GPT-2": lambda: build(hf.GPT2LMHeadModel, hf.GPT2Config(**GPT), "eager"),
    "Llama": lambda: build(hf.LlamaForCausalLM, hf.LlamaConfig(**{**SIZES, "num_key_value_heads": 2}), "sdpa"),
}


def generated(model, item=0, **options):
    with capture(item=item) as recording, torch.no_grad():
        ids = model.generate(IDS, max_new_tokens=4, do_sample=False, pad_token_id=0, **options)
    return ids, recording


def run_of(model, *inputs, **options):
    with capture() as recording, torch.no_grad():
        model(*inputs, **options)
    return recording


def are_alike(traces, others):
    pairs = [(a.weights(head), b.weights(head)) for a, b in zip(traces, others, strict=True) for head in (0, 3)]
    return all(ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-5) for ours, theirs in pairs)


@pytest.mark.parametrize("has_cache", [True, False])
@pytest.mark.parametrize("name", DECODERS)
def test_steps_are_one_map_of_each_head_with_the_tokens_said(name, has_cache):
    model = DECODERS[name]()
    ids, recording = generated(model, use_cache=has_cache)
    assert not recording.note
    joined = recording.joined(WORDS[: ids.shape[1]])
    assert joined.names == recording.names[:2]
    assert are_alike(joined, run_of(model, ids[:, :-1]))
    assert list(joined[1].story.query_axis.labels) == list(joined[1].story.key_axis.labels) == WORDS[:8]
    assert not joined.note


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", DECODERS)
def test_positions_of_a_cache_that_nothing_was_written_to_are_no_keys(name, attention):
    model = DECODERS[name]()
    model.set_attn_implementation(attention)
    ids, recording = generated(model, past_key_values=hf.StaticCache(model.config, max_cache_len=32))
    assert [trace.n_keys for trace in recording] == [5, 5, 6, 6, 7, 7, 8, 8]
    assert {trace.n_heads for trace in recording} == {4}
    assert are_alike(recording.joined(), run_of(model, ids[:, :-1]))


def test_a_padded_batch_is_joined_where_heads_share_keys():
    model, mask = DECODERS["Llama"](), torch.tensor([[0, 1, 1, 1, 1]])
    recording = generated(model, attention_mask=mask)[1]
    assert [(trace.n_heads, trace.n_queries) for trace in recording.joined()] == [(4, 8), (4, 8)]
    assert not recording.joined()[1].weights(3)[1:, 0].any()


@pytest.mark.parametrize("name", DECODERS)
def test_each_beam_is_followed_through_the_steps_that_it_went_on_with(name):
    model = DECODERS[name]()
    ids, recording = generated(model, "all", num_beams=3, num_return_sequences=3)
    beams = [[trace for trace in recording.joined() if f"(item {beam})" in trace.story.name] for beam in range(3)]
    for sentence in ids[:, :-1]:
        assert [are_alike(beam, run_of(model, sentence[None])) for beam in beams].count(True) == 1


def test_what_does_not_go_on_stays_as_it_is_and_says_so():
    model = DECODERS["GPT-2"]()
    with capture() as recording, torch.no_grad():
        for ids in (IDS, IDS.flip(1)):
            model(ids)
    joined = recording.joined()
    assert sorted(joined.names) == sorted(recording.names)
    assert joined.note == (
        "Not joined: transformer.h.0.attn, transformer.h.1.attn, of which later calls do not go on with the keys of "
        "earlier ones."
    )


def test_an_encoder_stays_and_its_decoder_s_steps_have_both_kinds_of_labels():
    config = hf.T5Config(
        vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    model = build(hf.T5ForConditionalGeneration, config, "eager")
    ids, recording = generated(model)
    joined = recording.joined(WORDS[:5], WORDS[10 : 10 + ids.shape[1]])
    assert are_alike(joined, run_of(model, IDS, decoder_input_ids=ids[:, :-1]))
    assert list(joined[3].story.query_axis.labels) == WORDS[10:14]
    assert list(joined[3].story.key_axis.labels) == WORDS[:5]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.score, self.rnn = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1), nn.GRUCell(8, 8)

    def forward(self, state, encoded):
        weights = self.score((self.query(state)[:, None] + self.key(encoded)).tanh()).softmax(1)
        return self.rnn((weights.mT @ encoded)[:, 0], state), weights[0, :, 0]


def test_a_loop_over_an_rnn_s_decoder_is_one_map():
    decoder, state, encoded, weights = Decoder(), torch.randn(1, 8), torch.randn(1, 7, 8), []
    with capture() as recording:
        for _ in range(5):
            state, row = decoder(state, encoded)
            weights.append(row.detach())
    (trace,) = recording.joined(WORDS[:7])
    assert_close(trace.weights(), torch.stack(weights))
    assert list(trace.story.key_axis.labels) == WORDS[:7]
