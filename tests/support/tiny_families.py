"""Tiny models of many families of the transformers library."""

import torch
import transformers as hf

from tests.support import tiny_models
from tests.support.tiny_models import ENDS, GPT, GROUPED, IDS, PATCHES, PICTURES, PLAIN, SINKS, SIZES, T5

# the class, its settings, an input, the number of the trace, where its heads are projected together
FAMILIES = {
    "BERT": ("BertForMaskedLM", SIZES, PLAIN, 0, "bert.encoder.layer.0.attention.output.dense"),
    "GPT-2": ("GPT2LMHeadModel", GPT, PLAIN, 0, "transformer.h.0.attn.c_proj"),
    "Llama with grouped keys": ("LlamaForCausalLM", GROUPED, PLAIN, 0, "model.layers.0.self_attn.o_proj"),
    "T5, cross attention": (
        "T5ForConditionalGeneration",
        {**T5, "decoder_start_token_id": 0},
        {**PLAIN, "decoder_input_ids": IDS[:, :5]},
        3,
        "decoder.block.0.layer.1.EncDecAttention.o",
    ),
    "gpt-oss, with sinks": ("GptOssForCausalLM", SINKS, PLAIN, 0, "model.layers.0.self_attn.o_proj"),
    "ViT": ("ViTForImageClassification", PATCHES, PICTURES, 0, None),
}


HEAD = 2


def build(family: str) -> torch.nn.Module:
    name, sizes, *_ = FAMILIES[family]
    kind = getattr(hf, name)
    scale = 1 if "T5" in family else 3  # T5's beginnings are large enough
    return tiny_models.build(kind, kind.config_class(**sizes), "eager", scale=scale)


def without_columns(family: str) -> torch.nn.Module:
    """Return the model with the head's part of the output projection set to 0 by hand."""
    model = build(family)
    place = FAMILIES[family][4] or vit_projection(model)
    projection = model.get_submodule(place)
    columns = slice(HEAD * 8, HEAD * 8 + 8)
    with torch.no_grad():
        if isinstance(projection, torch.nn.Linear):
            projection.weight[:, columns] = 0
        else:
            projection.weight[columns] = 0
    return model


def vit_projection(model: torch.nn.Module) -> str:
    return next(
        name
        for name, part in model.named_modules()
        if isinstance(part, torch.nn.Linear) and ".0." in name and name.endswith(("o_proj", "attention.output.dense"))
    )


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


HYBRID = {
    "BLOOM": ("BloomForCausalLM", {"vocab_size": 60, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "Qwen 3.5, a hybrid": ("Qwen3_5ForCausalLM", {**GROUPED, **LINEAR, "num_hidden_layers": 4, "head_dim": 8}),
}
