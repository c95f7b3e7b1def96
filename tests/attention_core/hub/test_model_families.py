"""Families of transformers models, each tiny and random: their weights, names and notes."""

import pytest
import torch
import transformers as hf

from attention_core import capture, trace_model
from tests.support import tiny_models
from tests.support.tiny_models import BYPASSING, FAMILIES, GROUPED, TEXT, D, E, asked, build, check, handed_out, models


@pytest.mark.parametrize("name", [*FAMILIES, *BYPASSING])
def test_families_give_their_own_weights_and_those_that_bypass_the_interface_what_they_hand_out(name):
    sizes, inputs, names = {**FAMILIES, **BYPASSING}[name]
    model, eager = models(name, sizes)
    recording = trace_model(model, **inputs)
    check(recording.traces, handed_out(asked(eager, inputs)))
    assert recording.names == names
    assert ("bypasses" in recording.note) if name in BYPASSING else not recording.note
    with torch.no_grad(), capture() as captured:
        model(**inputs)
    for trace, captured_trace in zip(recording, captured, strict=False):
        if trace.query.shape[-1] and captured_trace.query.shape[-1]:
            assert trace.story.are_rotated == captured_trace.story.are_rotated
            assert captured_trace.story.crosses in (None, trace.story.name.endswith("cross"))
    for trace in recording:
        assert ("weights only" if name in BYPASSING else "first of 2 items") in trace.story.note
        assert (min(trace.query.shape[-1], trace.key.shape[-1]) == 0) == (name in BYPASSING)


@pytest.mark.parametrize("name", ["CLIP", "Siglip", "Blip"])
def test_towers_are_kept_apart(name):
    model, eager = models(name, tiny_models.TOWERS)
    recording = trace_model(model, **tiny_models.CAPTIONS)
    reader = "text_model.decoder" if name == "Blip" else "text_model.encoder"
    names = [one.replace("text_model.encoder", reader) for one in tiny_models.VT]
    pooling = ["vision_model.head.encoder.0.self"] if name == "Siglip" else []
    assert recording.names == [*names[:2], *pooling, *names[2:]]
    output = asked(eager, tiny_models.CAPTIONS)
    towers = (*output.vision_model_output.attentions, *output.text_model_output.attentions)
    check([recording[one] for one in names], [layer[0] for layer in towers])
    if name == "Siglip":  # the pooling is torch's own multi-head attention
        assert recording[pooling[0]].value.shape == (4, 16, 8)


def test_another_run_that_fails_takes_no_trace_away_and_is_logged(caplog):
    model, _ = models("Siglip", tiny_models.TOWERS)
    forward, calls = model.forward, []

    def fails_when_asked(**inputs):
        calls.append(inputs)
        if len(calls) > 1:
            raise IndexError("another run")
        return forward(**inputs)

    model.forward = fails_when_asked
    recording = trace_model(model, **tiny_models.CAPTIONS)
    assert recording.names == tiny_models.VT
    assert recording.note.startswith("Not seen: MultiheadAttention")
    assert len(calls) == 2
    assert [str(one.exc_info[1]) for one in caplog.records if one.name == "attention_core"] == ["another run"]


def test_a_language_model_that_sees_keeps_its_parts_apart():
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**tiny_models.PATCHES),
        text_config=hf.LlamaConfig(**GROUPED),
        image_token_index=98,
        vision_feature_layer=-1,
    )
    recording = trace_model(build(hf.LlavaForConditionalGeneration, config), **tiny_models.AFTER_PICTURE)
    assert recording.names == [*(f"vision_tower.{name}" for name in E), *(f"language_model.{name}" for name in D)]
    output = asked(build(hf.LlavaForConditionalGeneration, config, "eager"), tiny_models.AFTER_PICTURE)
    check(recording.traces[2:], [layer[0] for layer in output.attentions])


def test_pairs_of_models_are_an_encoder_and_a_decoder_also_where_one_bypasses():
    sight = hf.ViTConfig(**tiny_models.PATCHES)
    decoder = hf.TrOCRConfig(**{**tiny_models.STACKS, "max_position_embeddings": 32})
    config = hf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(sight, decoder)
    inputs = {**tiny_models.PICTURES, "decoder_input_ids": tiny_models.IDS[:, :5]}
    recording = trace_model(build(hf.VisionEncoderDecoderModel, config), **inputs)
    check(recording.traces, handed_out(asked(build(hf.VisionEncoderDecoderModel, config, "eager"), inputs)))
    assert recording.names == tiny_models.ED
    assert [trace.query.shape[-1] for trace in recording.traces] == [8, 8, 0, 0, 0, 0]


def test_windows_are_told():
    sizes = {**{"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [2], "num_heads": [2]}, "window_size": 4}
    model, eager = models("Swin", sizes)
    inputs = {"pixel_values": torch.randn(2, 3, 32, 32, generator=tiny_models.GENERATOR)}
    recording = trace_model(model, **inputs)
    assert "first of 8 parts of the batch, such as windows" in recording.traces[0].story.note
    check(recording.traces[1:], [asked(eager, inputs).attentions[0][0]])  # each stage hands out its last layer only


def test_modules_that_keep_their_weights_are_asked_themselves():
    # With a short text BigBird exchanges its modules while it runs, and its output has no attentions.
    model = build(hf.BigBirdModel, hf.BigBirdConfig(**tiny_models.SIZES)).train()
    recording = trace_model(model, **TEXT)
    full = build(hf.BigBirdModel, hf.BigBirdConfig(**tiny_models.SIZES, attention_type="original_full"))
    check(recording.traces, handed_out(asked(full, TEXT)))
    assert all(module.training for module in model.modules())


def test_models_that_bypass_hand_out_scores_or_attend_twice_are_recorded():
    model, eager = models("Data2VecVision", tiny_models.PATCHES)
    recording = trace_model(model, **tiny_models.PICTURES)
    check(recording.traces, handed_out(asked(eager, tiny_models.PICTURES)))
    assert recording.names == E
    assert recording.traces[0].key.shape == (4, 17, 8)
    model, eager = models("SqueezeBert", {**tiny_models.SIZES, "embedding_size": 32})
    recording = trace_model(model, **TEXT)
    check(recording.traces, [scores.softmax(-1) for scores in handed_out(asked(eager, TEXT))])
    assert "handed out its scores" in recording.traces[0].story.note
    model, eager = models("DiffLlama", GROUPED)
    recording = trace_model(model, **TEXT)
    assert recording.names == [f"{name}{again}" for name in D for again in ("", " (2)")]
    check(recording.traces[::2], handed_out(asked(eager, TEXT)))


def test_what_is_no_attention_is_named_as_not_seen_and_a_cache_grows_once_all_the_same():
    recording = trace_model(models("MiniMax", {**tiny_models.LINEAR, "num_local_experts": 2})[0], **TEXT)
    assert recording.names == D[1:]
    assert recording.note.startswith("Not seen: MiniMaxLightningAttention")
    model, _ = models("MiniMax", {**tiny_models.LINEAR, "num_local_experts": 2})
    with torch.no_grad():
        cache = model(tiny_models.IDS[:, :8], use_cache=True).past_key_values
    recording = trace_model(model, input_ids=tiny_models.IDS[:, 8:], past_key_values=cache, use_cache=True)
    assert recording.traces[0].n_keys == 11
    assert cache.get_seq_length(1) == 11
    assert recording.note.startswith("Not seen: MiniMaxLightningAttention")


def test_attention_that_cannot_be_seen_is_told_from_none_at_all():
    for name, reason in (("Mra", "bypasses"), ("FNet", "calls itself attention")):
        with pytest.raises(ValueError, match=f"{name}Model shows no attention: .*{reason}"):
            trace_model(models(name, tiny_models.SIZES)[0], **tiny_models.PLAIN)


def test_tokens_after_a_cache_look_at_what_it_keeps():
    config = hf.MistralConfig(**GROUPED, sliding_window=4)
    caches, runs = [], []
    for implementation in (None, "eager"):
        model = build(hf.MistralForCausalLM, config, implementation)
        with torch.no_grad():
            caches.append(model(tiny_models.IDS[:, :8], use_cache=True).past_key_values)
        runs.append(model)
    inputs = [{"input_ids": tiny_models.IDS[:, 8:], "past_key_values": cache, "use_cache": True} for cache in caches]
    recording = trace_model(runs[0], **inputs[0])
    check(recording.traces, handed_out(asked(runs[1], inputs[1])))


def test_the_interface_is_the_library_s_own_again():
    functions, masks = hf.AttentionInterface(), hf.AttentionMaskInterface()
    before = functions["sdpa"], masks["sdpa"]
    model, _ = models("Olmo2", GROUPED)
    trace_model(model, **TEXT)
    with pytest.raises(IndexError):
        trace_model(model, input_ids=torch.tensor([[120]]))
    assert (functions["sdpa"], masks["sdpa"]) == before


WAVLM = {**tiny_models.SOUND, "num_buckets": 8, "max_bucket_distance": 16}


def test_a_mean_that_is_handed_out_for_all_heads_is_not_taken_for_them():
    model = models("WavLM", WAVLM, [None])[0]
    recording = trace_model(model, **tiny_models.WAVES)
    assert recording.names == E
    assert "the same weights for all its heads" in recording.note
    means = handed_out(asked(model, tiny_models.WAVES))
    for trace, mean in zip(recording, means, strict=True):
        heads = torch.stack([trace.weights(head) for head in range(trace.n_heads)])
        assert (heads - mean).abs().max() > 0.01
        torch.testing.assert_close(heads.mean(0), mean[0], atol=1e-5, rtol=0)


TIMES = {**tiny_models.PATCHES, "num_frames": 3}
VIDEO = {"pixel_values": torch.randn(2, 3, 3, 16, 16, generator=torch.Generator().manual_seed(0))}


@pytest.mark.parametrize("item", [0, 1])
def test_attention_that_the_output_leaves_out_is_there(item):
    model = models("Timesformer", TIMES, [None])[0]
    recording = trace_model(model, item=item, **VIDEO)
    projected = []
    for module in model.modules():
        if type(module).__name__ == "TimesformerSelfAttention":
            module.qkv.register_forward_hook(lambda *args: projected.append(args[-1].unflatten(-1, (3, 4, 8))))
    asked(model, VIDEO)
    assert len(recording) == len(projected) == 4
    assert [trace.n_keys for trace in recording] == [3, 17, 3, 17]  # time, then space
    vectors_of_item = [vectors[item * len(vectors) // 2].permute(1, 2, 0, 3) for vectors in projected]
    check(recording, [(query @ key.mT / 8**0.5).softmax(-1) for query, key, _ in vectors_of_item])
    assert "such as windows" in recording[0].story.note or item


SWIN = {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [2], "num_heads": [2], "window_size": 4}


@pytest.mark.parametrize("family", ["Swin", "Swinv2"])
def test_windows_of_every_item_are_there_by_name(family):
    model = models(family, SWIN, [None])[0]
    inputs = {"pixel_values": torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))}
    second_alone = trace_model(model, pixel_values=inputs["pixel_values"][1:])
    second = trace_model(model, item=1, **inputs)
    every = trace_model(model, item="all", **inputs)
    assert len(second_alone) == len(second) == 2
    assert len(every) == 2 * 2 * 4
    assert every.names[5] == "encoder.0.0.self (item 1, window 1)"
    for trace, one in zip(second_alone, second, strict=True):
        check([one], [torch.stack([trace.weights(head) for head in range(2)])])
    check([every[4]], [torch.stack([second_alone[0].weights(head) for head in range(2)])])


@pytest.mark.parametrize("family", ["Bert", "T5", "MPNet"])
def test_every_item_of_a_batch(family):
    sizes, inputs, names = {**FAMILIES, **BYPASSING}[family]
    model, eager = models(family, sizes)
    recording = trace_model(model, item="all", **inputs)
    assert recording.names == [f"{name} (item {item})" for name in names for item in range(2)]
    check(recording.traces[::2], handed_out(asked(eager, inputs)))
