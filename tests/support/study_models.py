"""One small random model of each architecture that a study takes apart, with an input of one item."""

import copy
from contextlib import contextmanager
from functools import lru_cache

import torch
import transformers as hf
from torch import nn

from attention_core.study import ModelOutput
from tests.support.tiny_models import ENDS, GPT, GROUPED, IDS, IN_TURN, PATCHES, PICTURES, SIZES, SOFTCAP, build

MODELS = {
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, GPT),
    "gpt_neox": (hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig, {**SIZES, **ENDS, "rotary_pct": 0.5}),
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig, GROUPED),
    "mistral": (hf.MistralForCausalLM, hf.MistralConfig, {**GROUPED, "sliding_window": 3}),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config, GROUPED),
    "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config, {**GROUPED, "head_dim": 8}),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config, {**SOFTCAP, "sliding_window": 7}),
    "gemma3": (hf.Gemma3ForCausalLM, hf.Gemma3TextConfig, {**GROUPED, **IN_TURN, "head_dim": 8, "sliding_window": 4}),
    "olmo2": (hf.Olmo2ForCausalLM, hf.Olmo2Config, GROUPED),
    "bert": (hf.BertForMaskedLM, hf.BertConfig, SIZES),
    "roberta": (hf.RobertaForMaskedLM, hf.RobertaConfig, SIZES),
    "minilm": (hf.BertModel, hf.BertConfig, SIZES),
    "vit": (hf.ViTForImageClassification, hf.ViTConfig, PATCHES),
}
CLASSES = {"id2label": {0: "sad", 1: "glad", 2: "mad"}}
CLASSIFIERS = {
    "bert": (hf.BertForSequenceClassification, hf.BertConfig, SIZES),
    "roberta": (hf.RobertaForSequenceClassification, hf.RobertaConfig, SIZES),
    "distilbert": (
        hf.DistilBertForSequenceClassification,
        hf.DistilBertConfig,
        {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64},
    ),
    "llama": (hf.LlamaForSequenceClassification, hf.LlamaConfig, GROUPED),
    "gpt2": (hf.GPT2ForSequenceClassification, hf.GPT2Config, {**GPT, "pad_token_id": 0}),
    "vit": (hf.ViTForImageClassification, hf.ViTConfig, PATCHES),
}
CLEAN, CORRUPT = {"input_ids": IDS[:1]}, {"input_ids": IDS[1:]}


@lru_cache
def model_of(name):
    """Return a model whose biases and gains are not 0 and 1, as those of new models are."""
    return stirred(*MODELS[name])


def stirred(kind, config, settings):
    """Return a model whose biases and gains are not 0 and 1, as those of new models are."""
    model = build(kind, config(**copy.deepcopy(settings)))
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


def inputs_of(name):
    """Return two inputs of a model."""
    if name == "vit":
        return [{"pixel_values": picture[None]} for picture in PICTURES["pixel_values"]]
    return [CLEAN, CORRUPT]


def metric_of(name):
    """Return what is linear in a model's logits, or in its last layer where it has none."""
    if name == "minilm":
        return lambda out: out.hidden[3] @ torch.linspace(-1, 1, 32)
    if name == "vit":
        return lambda out: out.logit(1) - out.logit(0)
    return lambda out: out.logit(5) - out.logit(7, -3)


@contextmanager
def hooked(module, before=None, after=None):
    """Change what a module is given first, or what it puts out."""
    if before is not None:
        handle = module.register_forward_pre_hook(lambda _, args: (before(args[0]), *args[1:]))
    else:

        def leave(_, __, output):
            return after(output) if isinstance(output, torch.Tensor) else (after(output[0]), *output[1:])

        handle = module.register_forward_hook(leave)
    try:
        yield
    finally:
        handle.remove()


def measured(model, inputs, metric):
    with torch.no_grad():
        return float(metric(ModelOutput.of_batch(model.eval()(**inputs))[0]))


def seen(model, inputs, module, what="given"):
    """Return what a module is given first, or puts out, in a run."""
    kept = []

    def keep(tensor):
        kept.append(tensor.detach().clone())
        return tensor

    with hooked(module, **{"before" if what == "given" else "after": keep}):
        measured(model, inputs, lambda out: 0.0)
    return kept[0]


def frozen(norm, given):
    """Return a norm's linear part by its formula, on the numbers that it was given: x -> norm of a part x."""
    if isinstance(norm, nn.LayerNorm):
        scale = (given.var(-1, unbiased=False, keepdim=True) + norm.eps).rsqrt()
        return lambda x: (x - x.mean(-1, keepdim=True)) * scale * norm.weight
    eps = getattr(norm, "variance_epsilon", getattr(norm, "eps", None))
    gain = 1 + norm.weight if "Gemma" in type(norm).__name__ else norm.weight
    return lambda x: x * (given.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * gain


REFUSED = {
    "OPTForCausalLM": (hf.OPTConfig, {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "BertForNextSentencePrediction": (hf.BertConfig, SIZES),
}
