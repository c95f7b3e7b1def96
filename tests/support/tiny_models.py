"""Tiny models of the transformers library, two layers of four heads, so that a run takes milliseconds.

Families by name, each with its settings, an input of two items, and the names of its traces.
"""

import copy

import torch
import transformers as hf
from torch.testing import assert_close

WIDTHS = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
SIZES = {**WIDTHS, "vocab_size": 99, "max_position_embeddings": 64, "pad_token_id": 0}
"""What most encoders and decoders ask for."""
ENDS = {"bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**SIZES, **ENDS, "num_key_value_heads": 2}
"""Decoders in which two query heads share a key head."""
GPT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, **ENDS}
T5 = {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "pad_token_id": 0}
STACKS = {
    **{"vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4},
    **{"decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64},
    **{"pad_token_id": 0, "decoder_start_token_id": 0, **ENDS},
}
"""Encoder-decoders in the manner of BART and Marian."""
PATCHES = {**WIDTHS, "image_size": 16, "patch_size": 4}
SOFTCAP = {**GROUPED, "head_dim": 8, "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 1}
"""Gemma 2."""
SINKS = {**GROUPED, "head_dim": 8, "max_position_embeddings": 131072, "num_local_experts": 2, "num_experts_per_tok": 1}
"""gpt-oss."""
MARKS = {"bos_token_id": 1, "eos_token_id": 2, "sep_token_id": 2, "cls_token_id": 1}
EXPERTS = {"moe_intermediate_size": 16, "num_experts_per_tok": 2}
LATENT = {
    **{**SIZES, **EXPERTS, "num_key_value_heads": 4, "n_routed_experts": 4, "n_group": 1, "topk_group": 1},
    **{"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 12},
}
SOUND = {
    **{**WIDTHS, "conv_dim": [8, 8], "conv_kernel": [10, 3], "conv_stride": [5, 2], "num_feat_extract_layers": 2},
    **{"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2, "vocab_size": 30},
}
IN_TURN = {"layer_types": ["sliding_attention", "full_attention"]}
LINEAR = {**GROUPED, "head_dim": 8, "layer_types": ["linear_attention", "full_attention"]}
"""Layers without a softmax, in turn with others."""
QWEN = {**LINEAR, **EXPERTS, "num_experts": 4, "shared_expert_intermediate_size": 16, "linear_key_head_dim": 8}
QWEN |= {"linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4}
CHUNKS = {**GROUPED, "head_dim": 8, "intermediate_size_mlp": 48, "num_local_experts": 2, "attention_chunk_size": 4}
CHUNKS |= {"layer_types": ["chunked_attention", "full_attention"]}
INDEXED = {**LATENT, "head_dim": 8, "index_topk": 3, "index_head_dim": 8, "index_n_heads": 2}
INDEXED |= {"mlp_layer_types": ["dense", "sparse"], "indexer_types": ["full", "shared"]}
HEARING = {**STACKS, "num_mel_bins": 80, "max_source_positions": 12, "max_target_positions": 9}
HEARING |= {"begin_suppress_tokens": None}
NEO = {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 64}
NEO |= {"attention_types": [[["global", "local"], 1]], "window_size": 3}
FUNNEL = {"vocab_size": 99, "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1, 1]}
LONG = {name: STACKS[name] for name in STACKS if name != "max_position_embeddings"}
LONG |= {"attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64}
TOWERS = {"text_config": {**SIZES, **MARKS}, "vision_config": PATCHES}

GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.randint(3, 90, (2, 11), generator=GENERATOR)
PADDING = torch.ones_like(IDS)
PADDING[0, -6:] = 0
TEXT = {"input_ids": IDS, "attention_mask": PADDING}
PLAIN = {"input_ids": IDS}
BOTH = {**TEXT, "decoder_input_ids": IDS[:, :5]}
PICTURES = {"pixel_values": torch.randn(2, 3, 16, 16, generator=GENERATOR)}
WAVES = {"input_values": torch.randn(2, 300, generator=GENERATOR)}
SPECTRUM = {"input_features": torch.randn(2, 80, 24, generator=GENERATOR), "decoder_input_ids": IDS[:, :5]}
BESIDE = {**PLAIN, "encoder_hidden_states": torch.randn(2, 4, 32, generator=GENERATOR)}
BOXES = {**TEXT, "bbox": torch.tensor([1, 2, 3, 4]).expand(2, 11, 4)}
CAPTIONS = {**PLAIN, **PICTURES}
AFTER_PICTURE = {**PICTURES, "input_ids": torch.cat([torch.full((2, 16), 98), IDS], 1)}
E = ["encoder.0.self", "encoder.1.self"]
D = ["decoder.0.self", "decoder.1.self"]
ED = [*E, "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross"]
VT = [f"{tower}_model.{name}" for tower in ("vision", "text") for name in E]

FAMILIES = {
    "Bert": (SIZES, TEXT, E),
    "Roberta": (SIZES, TEXT, E),
    "Albert": ({**SIZES, "embedding_size": 16}, TEXT, E),  # whose layers are one module
    "GPT2LMHead": (GPT, PLAIN, D),
    "GPT2LMHead, padded": (GPT, TEXT, D),
    "LlamaForCausalLM": (GROUPED, TEXT, D),
    "Qwen2": (GROUPED, PLAIN, D),
    "Mistral": ({**GROUPED, "sliding_window": 3}, PLAIN, D),
    "GPTNeoX": ({**SIZES, **ENDS}, TEXT, D),
    "Gemma2ForCausalLM": ({**SOFTCAP, "sliding_window": 7}, TEXT, D),
    "GptOss": ({**SINKS, "sliding_window": 3}, PLAIN, D),
    "T5": ({**T5, "decoder_start_token_id": 0}, BOTH, ED),
    "Marian": ({**STACKS, "forced_eos_token_id": 2}, BOTH, ED),
    "BertLMHead": ({**SIZES, "is_decoder": True, "add_cross_attention": True}, BESIDE, ED[2:]),
    "ViT": (PATCHES, PICTURES, E),
    "DistilBert": ({"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}, TEXT, E),
    "Electra": ({**SIZES, "embedding_size": 16}, TEXT, E),
    "XLMRoberta": (SIZES, TEXT, E),
    "Camembert": (SIZES, TEXT, E),
    "ModernBert": ({**SIZES, **MARKS, **IN_TURN, "local_attention": 4}, TEXT, E),
    "NomicBert": (SIZES, TEXT, E),
    "EuroBert": ({**GROUPED, "mask_token_id": 3}, TEXT, E),
    "LayoutLM": (SIZES, BOXES, E),
    "OPT": ({**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32}, TEXT, D),
    "Phi3": (GROUPED, TEXT, D),
    "Mixtral": ({**GROUPED, "num_local_experts": 2, "sliding_window": 3}, TEXT, D),
    "Qwen3Moe": ({**GROUPED, **EXPERTS, "num_experts": 4, "head_dim": 8}, TEXT, D),
    "Qwen3Next": (QWEN, TEXT, D[1:]),
    "Gemma3Text": ({**GROUPED, **IN_TURN, "head_dim": 8, "sliding_window": 4}, TEXT, D),
    "Cohere2": ({**GROUPED, "sliding_window": 4}, TEXT, D),
    "Olmo2": (GROUPED, TEXT, D),
    "Granite": ({**GROUPED, "attention_multiplier": 0.3}, TEXT, D),
    "Starcoder2": (GROUPED, TEXT, D),
    "SmolLM3": ({**GROUPED, "no_rope_layers": [1, 0]}, TEXT, D),
    "Llama4Text": (CHUNKS, TEXT, D),
    "DeepseekV3": (LATENT, TEXT, D),
    "GlmMoeDsa": (INDEXED, TEXT, D),
    "Bart": (STACKS, BOTH, ED),
    "Pegasus": (STACKS, BOTH, ED),
    "M2M100": (STACKS, BOTH, ED),
    "NllbMoe": ({**STACKS, "num_experts": 2, "expert_capacity": 8}, BOTH, ED),
    "MT5": (T5, BOTH, ED),
    "UMT5": (T5, BOTH, ED),
    "Whisper": (HEARING, SPECTRUM, ED),
    "DeiT": (PATCHES, PICTURES, E),
    "Dinov2": (PATCHES, PICTURES, E),
    "DINOv3ViT": (PATCHES, PICTURES, E),
    "Beit": ({**PATCHES, "use_relative_position_bias": True}, PICTURES, E),
    "Wav2Vec2": (SOUND, WAVES, E),
    "Hubert": (SOUND, WAVES, E),
}
BYPASSING = {
    "DebertaV2": (SIZES, TEXT, E),
    "MPNet": (SIZES, TEXT, E),
    "Bloom": ({"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4}, PLAIN, D),
    "Falcon": (SIZES, PLAIN, D),
    "GPTNeo": (NEO, PLAIN, D),
    "GPTJ": ({**GPT, "rotary_dim": 4}, PLAIN, D),
    "Mpt": ({"vocab_size": 99, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}, PLAIN, D),
    "XLNet": ({"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}, TEXT, E),
    "BigBird": ({**SIZES, "attention_type": "original_full"}, TEXT, E),
    "Deberta": (SIZES, TEXT, E),
    "Longformer": ({**SIZES, "attention_window": 4}, TEXT, E),
    "Funnel": (FUNNEL, TEXT, [f"encoder.{number}.self" for number in range(4)]),
    "LED": (LONG, BOTH, ED),
}


def build(kind, config, implementation=None, *, scale=3):
    torch.manual_seed(0)
    model = kind._from_config(copy.deepcopy(config), attn_implementation=implementation)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("sinks"):
                parameter.copy_(torch.linspace(-1, 1, len(parameter)))
            elif parameter.ndim > 1:  # the usual beginnings attend to everything alike and would hide mistakes
                parameter.mul_(scale)
    return model.eval()


def models(name, sizes, implementations=(None, "eager")):
    """Return the model as people build it and the one whose attention is written out, with the same parameters."""
    name = name.partition(",")[0]
    kind = getattr(hf, name if "For" in name else f"{name}Model")
    config = kind.config_class(**sizes)
    return [build(kind, config, implementation) for implementation in implementations]


def handed_out(output) -> list[torch.Tensor]:
    """Return the weights of the first item, (n_heads, n_queries, n_keys) each, encoder first, then layer by layer."""
    own = output.get("decoder_attentions") or output.get("attentions")
    cross = output.get("cross_attentions") or ()
    layers = [one for pair in zip(own, cross, strict=True) for one in pair] if cross else own
    return [layer[0] for layer in (*(output.get("encoder_attentions") or ()), *layers)]


def check(traces, weights):
    assert len(traces) == len(weights)
    for trace, whole in zip(traces, weights, strict=True):
        assert (trace.n_heads, trace.n_queries, trace.n_keys) == whole.shape
        for head in range(trace.n_heads):
            seen = trace.log_normaliser[head] > -torch.inf
            assert seen.any()
            assert_close(trace.weights(head)[seen], whole[head][seen], atol=1e-5, rtol=0)


def asked(model, inputs):
    with torch.no_grad():
        return model(**inputs, output_attentions=True)
