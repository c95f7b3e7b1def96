"""What language models expect, and texts that grow: as if the whole text had run at once."""

import math
from dataclasses import replace

import pytest
import tokenizers
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import run_model
from attention_core.hub.generation import begin, cache_of, end_tokens, grow
from attention_core.hub.model import ModelError, ModelKind, NoMemory, Pretrained
from attention_core.hub.outputs import expected, pick, probabilities, token_text
from tests import tiny_models
from tests.tiny_models import ENDS

WORDS = ["[PAD]", "[START]", "[END]", "[MASK]", "[UNK]", *(f"\u2581w{number}" for number in range(55))]
SMALL = {"vocab_size": 60, "max_position_embeddings": 32}
SIZES, GROUPED, MARIAN = ({**sizes, **SMALL} for sizes in (tiny_models.SIZES, tiny_models.GROUPED, tiny_models.STACKS))
DECODERS = {
    "GPT-2": ("GPT2LMHeadModel", {**tiny_models.GPT, "vocab_size": 60, "n_positions": 32}),
    "Llama with grouped keys": ("LlamaForCausalLM", GROUPED),
    "Mistral, whose window forgets": ("MistralForCausalLM", {**GROUPED, "sliding_window": 4}),
    "Qwen 3": ("Qwen3ForCausalLM", {**GROUPED, "head_dim": 8}),
    "Gemma 2, windows in turn and a softcap": (
        "Gemma2ForCausalLM",
        {**tiny_models.SOFTCAP, **SMALL, "sliding_window": 4},
    ),
    "gpt-oss, with sinks": ("GptOssForCausalLM", {**tiny_models.SINKS, "vocab_size": 60, "sliding_window": 4}),
    "OPT": ("OPTForCausalLM", {**SIZES, **ENDS, "ffn_dim": 48, "word_embed_proj_dim": 32}),
}
BOTH = {
    "T5, with a position bias": (
        "T5ForConditionalGeneration",
        {**tiny_models.T5, "vocab_size": 60, "decoder_start_token_id": 0},
    ),
    "Marian": ("MarianMTModel", {**MARIAN, "forced_eos_token_id": 2}),
}
LINEAR = dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2)
LINEAR |= dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8)
WITHOUT_CACHE = {
    "BLOOM": ("BloomForCausalLM", {"vocab_size": 60, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "Qwen 3.5, a hybrid": ("Qwen3_5ForCausalLM", {**GROUPED, **LINEAR, "num_hidden_layers": 4, "head_dim": 8}),
}
PROMPT, MORE = [5, 17, 40, 8, 23], [31, 9, 9, 50]
SOURCE = {"input_ids": torch.tensor([[7, 12, 44, 30, 6, 2]]), "attention_mask": torch.ones(1, 6, dtype=torch.long)}


@pytest.fixture(scope="module")
def tokenizer():
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: n for n, word in enumerate(WORDS)}, "[UNK]"))
    names = {"pad_token": "[PAD]", "bos_token": "[START]", "eos_token": "[END]", "mask_token": "[MASK]"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]", **names)


@pytest.fixture(scope="module")
def pretrained(tokenizer):
    """A function that makes a model of a family, once."""
    made = {}

    def make(family: str) -> Pretrained:
        if family not in made:
            torch.manual_seed(0)
            name, sizes = {**DECODERS, **BOTH, **WITHOUT_CACHE}[family]
            kind = getattr(hf, name)
            model = kind(kind.config_class(**sizes)).eval()
            for name, parameter in model.named_parameters():
                if "q_proj" in name or "k_proj" in name or "c_attn" in name:
                    parameter.data.mul_(5)  # the usual beginnings attend to everything alike and would hide mistakes
                if name.endswith("sinks"):
                    parameter.data.copy_(torch.linspace(-1, 1, len(parameter)))
            kind = ModelKind.ENCODER_DECODER if family in BOTH else ModelKind.DECODER
            made[family] = Pretrained(family, kind, model, tokenizer, most_tokens=32)
        return made[family]

    return make


def same_traces(ours, theirs):
    assert ours.names == theirs.names
    for one, other in zip(ours.traces, theirs.traces, strict=True):
        assert (one.n_queries, one.n_keys) == (other.n_queries, other.n_keys)
        for head in range(one.n_heads):
            assert_close(one.weights(head), other.weights(head), atol=1e-5, rtol=0)
            assert_close(one.context(head), other.context(head), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("n_prompt", [1, 5])
@pytest.mark.parametrize("family", [*DECODERS, *BOTH])
def test_a_text_that_grew_is_the_text_run_at_once(family, n_prompt, pretrained):
    model, source = pretrained(family), SOURCE if family in BOTH else {}
    text = [*PROMPT, *MORE]
    growing = begin(model, text[:n_prompt], source)
    for token in text[n_prompt:]:
        growing = grow(growing, token)
    at_once = begin(model, text, source)
    assert growing.uses_cache
    assert not growing.note
    assert growing.ids == at_once.ids
    same_traces(growing.recording, at_once.recording)
    for position in range(len(text)):
        assert_close(growing.logits[position], at_once.logits[position], atol=1e-5, rtol=1e-5)
    assert growing.bits == pytest.approx(at_once.bits, abs=1e-4)
    bits = -growing.logits[2].log_softmax(0)[text[3]].item() / math.log(2)
    assert growing.bits[2] == pytest.approx(bits, abs=1e-4)
    assert list(growing.recording.traces[-1].story.query_axis.labels) == list(growing.tokens)


def test_each_step_computes_one_query_and_a_window_forgets(pretrained, monkeypatch):
    model = pretrained("Mistral, whose window forgets")
    start, calls, forward = begin(model, PROMPT), [], model.model.forward
    monkeypatch.setattr(model.model, "forward", lambda **inputs: calls.append(inputs) or forward(**inputs))
    growing = grow(start, MORE[0])
    assert [inputs["input_ids"].tolist() for inputs in calls] == [[MORE[0:1]]]
    assert growing.cache.layers[0].keys.shape[2] == 3
    trace = growing.recording.traces[0]
    assert trace.key.shape[1] == 6
    assert (trace.weights(0)[5] > 0).tolist() == [False, False, True, True, True, True]


def test_a_text_can_grow_in_two_ways_from_one_beginning(pretrained):
    for family in ("Llama with grouped keys", "Mistral, whose window forgets", "Marian"):
        model, source = pretrained(family), SOURCE if family in BOTH else {}
        start = grow(begin(model, PROMPT, source), 31)
        one, other = grow(start, 9), grow(start, 50)
        assert_close(one.logits[-1], begin(model, [*PROMPT, 31, 9], source).logits[-1], atol=1e-5, rtol=1e-5)
        assert_close(other.logits[-1], begin(model, [*PROMPT, 31, 50], source).logits[-1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", WITHOUT_CACHE)
def test_a_model_without_a_cache_of_keys_runs_the_whole_text_and_says_so(family, pretrained):
    model = pretrained(family)
    growing = grow(begin(model, PROMPT), 31)
    assert not growing.uses_cache
    assert "whole text runs again" in growing.note
    at_once = run_model(model.model, {"input_ids": torch.tensor([[*PROMPT, 31]])})
    same_traces(growing.recording, at_once[0])
    assert_close(growing.logits[-1], at_once[1].logits[0, -1], atol=1e-5, rtol=1e-5)


def failing_steps(model, monkeypatch, error):
    """Let the forward of a model fail whenever it is given a cache; returns what it was called with."""
    forward, calls = model.model.forward, []

    def fails(**inputs):
        calls.append(inputs)
        if "past_key_values" in inputs:
            raise error
        return forward(**inputs)

    monkeypatch.setattr(model.model, "forward", fails)
    return calls


def test_a_cache_with_which_the_code_of_a_model_cannot_go_on_is_logged_once(pretrained, monkeypatch, caplog):
    model = pretrained("GPT-2")
    expected_logits = grow(begin(model, PROMPT), 31).logits[-1]
    start = begin(model, PROMPT)
    failing_steps(model, monkeypatch, AttributeError("no such part of the cache"))
    growing = grow(grow(start, 31), 9)
    assert_close(grow(start, 31).logits[-1], expected_logits, atol=1e-5, rtol=1e-5)
    assert "whole text runs again" in growing.note
    told = [entry for entry in caplog.records if entry.name == "attention_core"]
    assert len(told) == 2  # one for each text that grew
    assert "no such part of the cache" in str(told[0].exc_info[1])


def test_a_lack_of_memory_in_a_step_does_not_run_the_whole_text(pretrained, monkeypatch):
    model = pretrained("GPT-2")
    start = begin(model, PROMPT)
    calls = failing_steps(model, monkeypatch, torch.OutOfMemoryError("full"))
    with pytest.raises(NoMemory, match="Shorten it"):
        grow(start, 31)
    assert len(calls) == 1


def test_a_fault_of_our_own_in_a_step_is_not_hidden(pretrained):
    start = replace(begin(pretrained("GPT-2"), PROMPT), cache=object())
    with pytest.raises(AttributeError, match="layers"):
        grow(start, 31)


def test_what_is_kept_is_counted(pretrained):
    gpt, llama = (cache_of(begin(pretrained(name), PROMPT)) for name in ("GPT-2", "Llama with grouped keys"))
    assert gpt.n_bytes == 5 * 2 * 4 * (8 + 8) * 4  # tokens, layers, key heads, widths of key and value, bytes
    assert (gpt.n_layers, gpt.n_query_heads, gpt.n_key_heads, gpt.windows) == (2, 4, 4, ())
    assert llama.n_bytes == gpt.n_bytes / 2
    assert (llama.n_query_heads, llama.n_key_heads) == (4, 2)
    mistral = cache_of(begin(pretrained("Mistral, whose window forgets"), PROMPT))
    assert mistral.windows == (3, 3)
    assert mistral.n_bytes == 3 * llama.n_bytes / 5
    assert cache_of(begin(pretrained("BLOOM"), PROMPT)) is None


def test_a_decoder_that_compares_other_things_than_tokens_numbers_them(tokenizer):
    sides = {"layers": 1, "attention_heads": 4, "ffn_dim": 48}
    of_both = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in sides.items()}
    of_both = {name if "ffn" in name else f"num_{name}": n for name, n in of_both.items()}
    streams = hf.ProphetNetConfig(**SMALL, **of_both, hidden_size=32, decoder_start_token_id=0)
    model = hf.ProphetNetForConditionalGeneration(streams).eval()
    growing = grow(begin(Pretrained("streams", ModelKind.ENCODER_DECODER, model, tokenizer), PROMPT, SOURCE), 9)
    assert not growing.uses_cache
    assert len(growing.recording.traces[0].story.query_axis) == 6
    assert {len(trace.story.query_axis) for trace in growing.recording.traces} == {6, 18}


def test_a_text_ends_where_the_model_does(pretrained, tokenizer):
    gpt = pretrained("GPT-2")
    assert end_tokens(gpt) == {2}
    full = begin(gpt, [7] * 32)
    with pytest.raises(ModelError, match="reached the 32 positions"):
        grow(full, 9)
    with pytest.raises(ModelError, match="33 tokens, and the model knows 32"):
        begin(gpt, [7] * 33)
    with pytest.raises(ModelError, match="no token to begin"):
        begin(gpt, [])
    encoder = Pretrained("reader", ModelKind.ENCODER, hf.BertModel(hf.BertConfig(**SIZES)), tokenizer)
    with pytest.raises(ModelError, match="reader does not write"):
        begin(encoder, PROMPT)


def test_what_is_expected_adds_up_and_comes_best_first(tokenizer):
    logits = torch.randn(60, generator=torch.Generator().manual_seed(1))
    found = expected(logits, tokenizer, n=7)
    shares = logits.softmax(0)
    assert [one.id for one in found.likeliest] == shares.argsort(descending=True)[:7].tolist()
    assert sum(one.probability for one in found.likeliest) + found.rest == pytest.approx(1)
    assert found.n_rest == 53
    assert found.entropy == pytest.approx(-(shares * shares.log2()).sum().item(), abs=1e-4)
    sharper = expected(logits, tokenizer, n=7, temperature=0.5)
    assert sharper.likeliest[0].probability > found.likeliest[0].probability
    assert sharper.entropy < found.entropy
    certain = expected(torch.tensor([0.0, 500.0]), tokenizer, n=10)
    assert (certain.likeliest[0].probability, certain.entropy, certain.n_rest) == (1, 0, 0)
    with pytest.raises(ValueError, match="temperature must be above 0"):
        probabilities(logits, 0)


def test_tokens_have_texts(tokenizer):
    assert token_text(tokenizer, 7) == "␣w2"
    assert token_text(tokenizer, 2) == "[END]"
    assert token_text(tokenizer, 999) == "[999]"  # models know more numbers than their tokenizers


def test_draws_repeat_for_a_seed_and_follow_the_probabilities():
    logits = torch.log(torch.tensor([0.1, 0.6, 0.3]))
    assert pick(logits) == 1
    drawn = [pick(logits, temperature=1, seed=3, place=place) for place in range(600)]
    assert drawn == [pick(logits, temperature=1, seed=3, place=place) for place in range(600)]
    assert drawn != [pick(logits, temperature=1, seed=4, place=place) for place in range(600)]
    for token, share in enumerate([0.1, 0.6, 0.3]):
        assert drawn.count(token) / 600 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 600))
