"""What language models expect, and texts that they write on."""

import math

import pytest
import tokenizers
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import run_model
from attention_core.hub.generation import cache_of, eos_tokens, generate, write_on
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.outputs import expected, token_text
from tests.support.tiny_families import BOTH, DECODERS, HYBRID, SIZES, SMALL

WORDS = ["[PAD]", "[START]", "[END]", "[MASK]", "[UNK]", *(f"\u2581w{number}" for number in range(55))]
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
    models = {}

    def make(family: str) -> Pretrained:
        if family not in models:
            torch.manual_seed(0)
            name, sizes = {**DECODERS, **BOTH, **HYBRID}[family]
            kind = getattr(hf, name)
            model = kind(kind.config_class(**sizes)).eval()
            for name, parameter in model.named_parameters():
                if "q_proj" in name or "k_proj" in name or "c_attn" in name:
                    parameter.data.mul_(5)  # the usual beginnings attend to everything alike and would hide mistakes
                if name.endswith("sinks"):
                    parameter.data.copy_(torch.linspace(-1, 1, len(parameter)))
            kind = ModelKind.ENCODER_DECODER if family in BOTH else ModelKind.DECODER
            models[family] = Pretrained(family, kind, model, tokenizer, max_tokens=32)
        return models[family]

    return make


def same_traces(ours, theirs):
    assert ours.names == theirs.names
    for one, second in zip(ours.traces, theirs.traces, strict=True):
        assert (one.n_queries, one.n_keys) == (second.n_queries, second.n_keys)
        for head in range(one.n_heads):
            assert_close(one.weights(head), second.weights(head), atol=1e-5, rtol=0)
            assert_close(one.context(head), second.context(head), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", [*DECODERS, *BOTH, *HYBRID])
def test_a_text_is_traced_with_what_is_expected_after_each_token(family, pretrained):
    model, source, text = pretrained(family), SOURCE if family in BOTH else {}, [*PROMPT, *MORE]
    generation = generate(model, text, source)
    tokens = torch.tensor([text])
    inputs = {**source, "decoder_input_ids": tokens} if source else {"input_ids": tokens}
    same_traces(generation.recording, run_model(model.model, inputs)[0])
    with torch.no_grad():
        expected_logits = model.model(**inputs).logits[0]
    assert_close(generation.logits, expected_logits, atol=1e-5, rtol=1e-5)
    bits = -generation.logits[2].log_softmax(0)[text[3]].item() / math.log(2)
    assert generation.bits[2] == pytest.approx(bits, abs=1e-4)
    assert list(generation.recording.traces[-1].story.query_axis.labels) == list(generation.tokens)
    if cache := cache_of(generation):
        assert cache.has_windows == any(word in family for word in ("window", "gpt-oss"))


@pytest.mark.parametrize("family", [*DECODERS, *BOTH, *HYBRID])
def test_with_its_cache_a_model_writes_what_is_likeliest_after_each_run_of_the_whole_text(family, pretrained):
    model, source, text = pretrained(family), SOURCE if family in BOTH else {}, [*PROMPT]
    settings = model.model.generation_config
    settings.forced_eos_token_id, settings.repetition_penalty, settings.bad_words_ids = 2, 1.5, [[n] for n in range(40)]
    for _ in range(6):
        text.append(int(generate(model, text, source).logits[-1].argmax()))
        if text[-1] in eos_tokens(model):
            break
    assert list(write_on(model, PROMPT, 6, source)) == text


def test_what_is_kept_is_counted(pretrained):
    gpt, llama = (cache_of(generate(pretrained(name), PROMPT)) for name in ("GPT-2", "Llama with grouped keys"))
    assert gpt.n_bytes == 5 * 2 * 4 * (8 + 8) * 4  # tokens, layers, key heads, widths of key and value, bytes
    assert (gpt.n_layers, gpt.n_query_heads, gpt.n_key_heads, gpt.has_windows) == (2, 4, 4, False)
    assert llama.n_bytes == gpt.n_bytes / 2
    assert (llama.n_query_heads, llama.n_key_heads) == (4, 2)
    mistral = cache_of(generate(pretrained("Mistral, whose window forgets"), PROMPT))
    assert mistral.has_windows
    assert mistral.n_bytes == 3 * llama.n_bytes / 5  # what fits into the window of 4 beside the next token
    short = cache_of(generate(pretrained("Mistral, whose window forgets"), PROMPT[:3]))
    assert (short.has_windows, short.n_bytes) == (True, mistral.n_bytes)
    assert cache_of(generate(pretrained("BLOOM"), PROMPT)) is None


def test_a_decoder_that_compares_other_things_than_tokens_numbers_them(tokenizer):
    sides = {"layers": 1, "attention_heads": 4, "ffn_dim": 48}
    of_both = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in sides.items()}
    of_both = {name if "ffn" in name else f"num_{name}": n for name, n in of_both.items()}
    streams = hf.ProphetNetConfig(**SMALL, **of_both, hidden_size=32, decoder_start_token_id=0)
    model = hf.ProphetNetForConditionalGeneration(streams).eval()
    streams = Pretrained("streams", ModelKind.ENCODER_DECODER, model, tokenizer)
    growing = generate(streams, [*PROMPT, 9], SOURCE)
    assert len(growing.recording.traces[0].story.query_axis) == 6
    assert {len(trace.story.query_axis) for trace in growing.recording.traces} == {6, 18}


def test_a_text_ends_where_the_model_does(pretrained, tokenizer):
    gpt = pretrained("GPT-2")
    assert eos_tokens(gpt) == {2}
    with pytest.raises(ModelError, match="33 tokens, and the model knows 32"):
        generate(gpt, [7] * 33)
    with pytest.raises(ModelError, match="no token to begin"):
        generate(gpt, [])
    encoder = Pretrained("reader", ModelKind.ENCODER, hf.BertModel(hf.BertConfig(**SIZES)), tokenizer)
    with pytest.raises(ModelError, match="reader does not write"):
        generate(encoder, PROMPT)


def test_what_is_expected_adds_up_best_first_and_tokens_have_texts(tokenizer):
    logits = torch.randn(60, generator=torch.Generator().manual_seed(1))
    next_tokens = expected(logits, tokenizer, n=7)
    shares = logits.softmax(0)
    assert [one.id for one in next_tokens.likeliest] == shares.argsort(descending=True)[:7].tolist()
    assert sum(one.probability for one in next_tokens.likeliest) + next_tokens.remainder == pytest.approx(1)
    assert next_tokens.n_remaining == 53
    assert next_tokens.entropy == pytest.approx(-(shares * shares.log2()).sum().item(), abs=1e-4)
    certain = expected(torch.tensor([0.0, 500.0]), tokenizer, n=10)
    assert (certain.likeliest[0].probability, certain.entropy, certain.n_remaining) == (1, 0, 0)
    assert token_text(tokenizer, 7) == "␣w2"
    assert token_text(tokenizer, 2) == "[END]"
    assert token_text(tokenizer, 999) == "[999]"  # models know more numbers than their tokenizers
