"""Families of transformers models, each tiny and random: their weights, names and notes."""

import copy

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import trace_model
from tests.tiny_models import GPT, GROUPED, PATCHES, SIZES, STACKS, T5

MARKS = {"bos_token_id": 1, "eos_token_id": 2, "sep_token_id": 2, "cls_token_id": 1}
EXPERTS = {"moe_intermediate_size": 16, "num_experts_per_tok": 2}
LATENT = {
    **{**SIZES, **EXPERTS, "num_key_value_heads": 4, "n_routed_experts": 4, "n_group": 1, "topk_group": 1},
    **{"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 12},
}
SOUND = {
    **{name: SIZES[name] for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")},
    **{"conv_dim": [8, 8], "conv_kernel": [10, 3], "conv_stride": [5, 2], "num_feat_extract_layers": 2},
    **{"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2, "vocab_size": 30},
}
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
SPECTRUM = {
    "input_features": torch.randn(2, 80, 24, generator=GENERATOR),
    "decoder_input_ids": IDS[:, :5],
}
BOXES = {**TEXT, "bbox": torch.tensor([1, 2, 3, 4]).expand(2, 11, 4)}
CAPTIONS = {**PLAIN, **PICTURES}
AFTER_PICTURE = {**PICTURES, "input_ids": torch.cat([torch.full((2, 16), 98), IDS], 1)}
E = ["encoder.0.self", "encoder.1.self"]
D = ["decoder.0.self", "decoder.1.self"]
ED = [*E, "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross"]
VT = [f"{tower}_model.{name}" for tower in ("vision", "text") for name in E]

FAMILIES = {
    "DistilBert": ({"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}, TEXT, E),
    "Electra": ({**SIZES, "embedding_size": 16}, TEXT, E),
    "XLMRoberta": (SIZES, TEXT, E),
    "Camembert": (SIZES, TEXT, E),
    "ModernBert": (
        {**SIZES, **MARKS, "local_attention": 4, "layer_types": ["sliding_attention", "full_attention"]},
        TEXT,
        E,
    ),
    "NomicBert": (SIZES, TEXT, E),
    "EuroBert": ({**GROUPED, "mask_token_id": 3}, TEXT, E),
    "LayoutLM": (SIZES, BOXES, E),
    "OPT": ({**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32}, TEXT, D),
    "Phi3": (GROUPED, TEXT, D),
    "Mixtral": ({**GROUPED, "num_local_experts": 2, "sliding_window": 3}, TEXT, D),
    "Qwen3Moe": ({**GROUPED, **EXPERTS, "num_experts": 4, "head_dim": 8}, TEXT, D),
    "Qwen3Next": (
        {
            **{**GROUPED, **EXPERTS, "num_experts": 4, "head_dim": 8, "shared_expert_intermediate_size": 16},
            **{"linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2},
            **{"linear_num_value_heads": 4, "layer_types": ["linear_attention", "full_attention"]},
        },
        TEXT,
        D[1:],
    ),
    "Gemma3Text": (
        {**GROUPED, "head_dim": 8, "sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"]},
        TEXT,
        D,
    ),
    "Cohere2": ({**GROUPED, "sliding_window": 4}, TEXT, D),
    "Olmo2": (GROUPED, TEXT, D),
    "Granite": ({**GROUPED, "attention_multiplier": 0.3}, TEXT, D),
    "Starcoder2": (GROUPED, TEXT, D),
    "SmolLM3": ({**GROUPED, "no_rope_layers": [1, 0]}, TEXT, D),
    "Llama4Text": (
        {
            **{
                **GROUPED,
                "head_dim": 8,
                "intermediate_size_mlp": 48,
                "num_local_experts": 2,
                "attention_chunk_size": 4,
            },
            **{"layer_types": ["chunked_attention", "full_attention"]},
        },
        TEXT,
        D,
    ),
    "DeepseekV3": (LATENT, TEXT, D),
    "GlmMoeDsa": (
        {
            **{**LATENT, "head_dim": 8, "index_topk": 3, "index_head_dim": 8, "index_n_heads": 2},
            **{"mlp_layer_types": ["dense", "sparse"], "indexer_types": ["full", "shared"]},
        },
        TEXT,
        D,
    ),
    "Bart": (STACKS, BOTH, ED),
    "Pegasus": (STACKS, BOTH, ED),
    "M2M100": (STACKS, BOTH, ED),
    "NllbMoe": ({**STACKS, "num_experts": 2, "expert_capacity": 8}, BOTH, ED),
    "MT5": (T5, BOTH, ED),
    "UMT5": (T5, BOTH, ED),
    "Whisper": (
        {
            **{**STACKS, "num_mel_bins": 80, "max_source_positions": 12, "max_target_positions": 9},
            **{"begin_suppress_tokens": None},
        },
        SPECTRUM,
        ED,
    ),
    "DeiT": (PATCHES, PICTURES, E),
    "Dinov2": (PATCHES, PICTURES, E),
    "DINOv3ViT": (PATCHES, PICTURES, E),
    "Beit": ({**PATCHES, "use_relative_position_bias": True}, PICTURES, E),
    "Wav2Vec2": (SOUND, WAVES, E),
    "Hubert": (SOUND, WAVES, E),
}
BYPASSING = {
    "GPTNeo": (
        {
            **{"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 64},
            **{"attention_types": [[["global", "local"], 1]], "window_size": 3},
        },
        PLAIN,
        D,
    ),
    "GPTJ": ({**GPT, "rotary_dim": 4}, PLAIN, D),
    "Mpt": ({"vocab_size": 99, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}, PLAIN, D),
    "XLNet": ({"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}, TEXT, E),
    "BigBird": ({**SIZES, "attention_type": "original_full"}, TEXT, E),
    "Deberta": (SIZES, TEXT, E),
    "Longformer": ({**SIZES, "attention_window": 4}, TEXT, E),
    "Funnel": (
        {**{"vocab_size": 99, "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48}, "block_sizes": [1, 1]},
        TEXT,
        [f"encoder.{number}.self" for number in range(4)],
    ),
    "LED": (
        {
            **{name: STACKS[name] for name in STACKS if name != "max_position_embeddings"},
            **{"attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
        },
        BOTH,
        ED,
    ),
}


def build(kind, config, implementation=None):
    torch.manual_seed(0)
    model = kind._from_config(copy.deepcopy(config), attn_implementation=implementation)
    with torch.no_grad():
        for parameter in model.parameters():  # the usual beginnings attend to everything alike and would hide mistakes
            if parameter.ndim > 1:
                parameter.mul_(3)
    return model.eval()


def models(name, sizes):
    """Return the model as people build it and the one whose attention is written out, with the same parameters."""
    kind = getattr(hf, f"{name}Model")
    config = kind.config_class(**sizes)
    return build(kind, config), build(kind, config, "eager")


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


@pytest.mark.parametrize("name", FAMILIES)
def test_families_with_the_interface_give_their_own_weights(name):
    sizes, inputs, names = FAMILIES[name]
    model, eager = models(name, sizes)
    recording = trace_model(model, **inputs)
    check(recording.traces, handed_out(asked(eager, inputs)))
    assert recording.names == names
    assert not recording.note
    assert all(trace.query.shape[-1] > 0 for trace in recording.traces)


@pytest.mark.parametrize("name", BYPASSING)
def test_families_that_bypass_it_give_the_weights_they_hand_out(name):
    sizes, inputs, names = BYPASSING[name]
    model, eager = models(name, sizes)
    recording = trace_model(model, **inputs)
    check(recording.traces, handed_out(asked(eager, inputs)))
    assert recording.names == names
    assert "bypasses" in recording.note
    assert all("weights only" in trace.story.note for trace in recording.traces)


@pytest.mark.parametrize("name", ["CLIP", "Siglip", "Blip"])
def test_towers_are_kept_apart(name):
    model, eager = models(name, TOWERS)
    recording = trace_model(model, **CAPTIONS)
    names = [one.replace("text_model.encoder", "text_model.decoder") for one in VT] if name == "Blip" else VT
    pooling = ["vision_model.head.encoder.0.self"] if name == "Siglip" else []
    assert recording.names == [*names[:2], *pooling, *names[2:]]
    output = asked(eager, CAPTIONS)
    towers = (*output.vision_model_output.attentions, *output.text_model_output.attentions)
    check([recording[one] for one in names], [layer[0] for layer in towers])
    if name == "Siglip":  # the pooling is torch's own multi-head attention
        assert recording[pooling[0]].value.shape == (4, 16, 8)


def test_another_run_that_fails_takes_no_trace_away_and_is_logged(caplog):
    model, _ = models("Siglip", TOWERS)
    forward, calls = model.forward, []

    def fails_when_asked(**inputs):
        calls.append(inputs)
        if len(calls) > 1:
            raise IndexError("another run")
        return forward(**inputs)

    model.forward = fails_when_asked
    recording = trace_model(model, **CAPTIONS)
    assert recording.names == VT
    assert recording.note.startswith("Not seen: MultiheadAttention")
    assert len(calls) == 2
    assert [str(one.exc_info[1]) for one in caplog.records if one.name == "attention_core"] == ["another run"]


def test_a_language_model_that_sees_keeps_its_parts_apart():
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**PATCHES),
        text_config=hf.LlamaConfig(**GROUPED),
        image_token_index=98,
        vision_feature_layer=-1,
    )
    recording = trace_model(build(hf.LlavaForConditionalGeneration, config), **AFTER_PICTURE)
    assert recording.names == [*(f"vision_tower.{name}" for name in E), *(f"language_model.{name}" for name in D)]
    output = asked(build(hf.LlavaForConditionalGeneration, config, "eager"), AFTER_PICTURE)
    check(recording.traces[2:], [layer[0] for layer in output.attentions])


def test_pairs_of_models_are_an_encoder_and_a_decoder_also_where_one_bypasses():
    sight = hf.ViTConfig(**PATCHES)
    decoder = hf.TrOCRConfig(**{**STACKS, "max_position_embeddings": 32})
    config = hf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(sight, decoder)
    inputs = {**PICTURES, "decoder_input_ids": IDS[:, :5]}
    recording = trace_model(build(hf.VisionEncoderDecoderModel, config), **inputs)
    check(recording.traces, handed_out(asked(build(hf.VisionEncoderDecoderModel, config, "eager"), inputs)))
    assert recording.names == ED
    assert [trace.query.shape[-1] for trace in recording.traces] == [8, 8, 0, 0, 0, 0]


def test_windows_are_told():
    sizes = {**{"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [2], "num_heads": [2]}, "window_size": 4}
    model, eager = models("Swin", sizes)
    inputs = {"pixel_values": torch.randn(2, 3, 32, 32, generator=GENERATOR)}
    recording = trace_model(model, **inputs)
    assert "first of 8 parts of the batch, such as windows" in recording.traces[0].story.note
    check(recording.traces[1:], [asked(eager, inputs).attentions[0][0]])  # each stage hands out its last layer only


def test_modules_that_keep_their_weights_are_asked_themselves():
    # With a short text BigBird exchanges its modules while it runs, and its output has no attentions.
    model = build(hf.BigBirdModel, hf.BigBirdConfig(**SIZES)).train()
    recording = trace_model(model, **TEXT)
    full = build(hf.BigBirdModel, hf.BigBirdConfig(**SIZES, attention_type="original_full"))
    check(recording.traces, handed_out(asked(full, TEXT)))
    assert all(module.training for module in model.modules())


def test_attention_that_torch_computes_for_a_bypassing_model_is_recorded():
    model, eager = models("Data2VecVision", PATCHES)
    recording = trace_model(model, **PICTURES)
    check(recording.traces, handed_out(asked(eager, PICTURES)))
    assert recording.names == E
    assert recording.traces[0].key.shape == (4, 17, 8)


def test_scores_that_are_handed_out_as_weights_are_not_taken_for_them():
    model, eager = models("SqueezeBert", {**SIZES, "embedding_size": 32})
    recording = trace_model(model, **TEXT)
    check(recording.traces, [scores.softmax(-1) for scores in handed_out(asked(eager, TEXT))])
    assert "handed out its scores" in recording.traces[0].story.note


def test_a_layer_that_attends_twice_has_one_number():
    model, eager = models("DiffLlama", GROUPED)
    recording = trace_model(model, **TEXT)
    assert recording.names == [f"{name}{again}" for name in D for again in ("", " (2)")]
    check(recording.traces[::2], handed_out(asked(eager, TEXT)))


def test_what_is_no_attention_over_positions_is_named_as_not_seen():
    sizes = {**GROUPED, "head_dim": 8, "num_local_experts": 2, "layer_types": ["linear_attention", "full_attention"]}
    recording = trace_model(models("MiniMax", sizes)[0], **TEXT)
    assert recording.names == D[1:]
    assert recording.note.startswith("Not seen: MiniMaxLightningAttention")


def test_attention_that_cannot_be_seen_is_told_from_none_at_all():
    for name, reason in (("Mra", "bypasses"), ("FNet", "calls itself attention")):
        with pytest.raises(ValueError, match=f"{name}Model shows no attention: .*{reason}"):
            trace_model(models(name, SIZES)[0], **PLAIN)


def test_tokens_after_a_cache_look_at_what_it_keeps():
    config = hf.MistralConfig(**GROUPED, sliding_window=4)
    caches, runs = [], []
    for implementation in (None, "eager"):
        model = build(hf.MistralForCausalLM, config, implementation)
        with torch.no_grad():
            caches.append(model(IDS[:, :8], use_cache=True).past_key_values)
        runs.append(model)
    inputs = [{"input_ids": IDS[:, 8:], "past_key_values": cache, "use_cache": True} for cache in caches]
    recording = trace_model(runs[0], **inputs[0])
    check(recording.traces, handed_out(asked(runs[1], inputs[1])))


def test_a_cache_grows_once_where_parts_are_not_seen():
    sizes = {**GROUPED, "head_dim": 8, "num_local_experts": 2, "layer_types": ["linear_attention", "full_attention"]}
    model, _ = models("MiniMax", sizes)
    with torch.no_grad():
        cache = model(IDS[:, :8], use_cache=True).past_key_values
    recording = trace_model(model, input_ids=IDS[:, 8:], past_key_values=cache, use_cache=True)
    assert recording.traces[0].n_keys == 11
    assert cache.get_seq_length(1) == 11
    assert recording.note.startswith("Not seen: MiniMaxLightningAttention")


def test_the_interface_is_the_library_s_own_again():
    functions, masks = hf.AttentionInterface(), hf.AttentionMaskInterface()
    before = functions["sdpa"], masks["sdpa"]
    model, _ = models("Olmo2", GROUPED)
    trace_model(model, **TEXT)
    with pytest.raises(IndexError):
        trace_model(model, input_ids=torch.tensor([[120]]))
    assert (functions["sdpa"], masks["sdpa"]) == before
