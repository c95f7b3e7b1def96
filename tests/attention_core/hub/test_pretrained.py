"""Models that other people trained: loaded from safetensors, fed, and run with every attention kept."""

import json
import time
from dataclasses import replace
from types import FunctionType

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from attention_core import Recording, trace_model
from attention_core.attention.edits import drop_heads
from attention_core.bounds.limits import GENERATED_TOKENS, TOKENS
from attention_core.hub import windows
from attention_core.hub.catalogue import PACKAGE, find_local, local_models
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, ModelKind, NoMemory, readable
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.run import recording_run, run, text_inputs
from attention_core.study import Study
from tests.support import tiny_hub
from tests.support.tiny_hub import altered
from tests.support.tiny_models import PATCHES, T5, WIDTHS

TEXT = "The animal didn't cross the street."
FOLDERS = "masked", "decoder", "both", "vision"
"""Names in the fixture model_folders, in the order of ModelKind."""
EXAMPLES = ["emoji \U0001f642\U0001f468‍\U0001f469‍\U0001f467", "שלום עולם", "a\x00b\x07\ud800", "\t\n x", "a" * 9000]


@pytest.fixture(scope="module")
def models(model_folders):
    """One loaded model of each kind."""
    return {kind: load_pretrained(model_folders / name) for kind, name in zip(ModelKind, FOLDERS, strict=True)}


@pytest.fixture
def picture():
    """Noise with opacity, (50, 40, 4)."""
    return np.random.default_rng(0).integers(0, 256, (50, 40, 4), dtype=np.uint8)


def ran(model, text=TEXT, **options):
    return run(model, text_inputs(model, text, **options))


def refused(message, ask, *args, **options):
    """Ask for what is refused in these words, and return the error."""
    with pytest.raises(ModelError, match=message) as error:
        ask(*args, **options)
    return error.value


def test_what_a_folder_holds_is_told_from_its_settings(models, minilm):
    assert {kind: models[kind].kind for kind in ModelKind} == {kind: kind for kind in ModelKind}
    heads = "BertForMaskedLM", "GPT2LMHeadModel", "T5ForConditionalGeneration", "ViTForImageClassification"
    assert tuple(type(models[kind].model).__name__ for kind in ModelKind) == heads
    assert (minilm.kind, minilm.max_tokens, type(minilm.model).__name__) == (ModelKind.ENCODER, 512, "BertModel")
    assert [models[kind].max_tokens for kind in ModelKind] == [40, 64, None, None]
    assert not any(model.model.training for model in models.values())


def test_a_run_has_the_weights_of_the_model_itself_and_tokens_on_its_axes(minilm):
    prepared = text_inputs(minilm, TEXT, pair="It was tired.")
    done = run(minilm, prepared)
    ids = minilm.tokenizer(TEXT, "It was tired.")["input_ids"]
    assert prepared.inputs["input_ids"].tolist() == [ids]
    assert " ".join(done.tokens) == "[CLS] the animal didn ' t cross the street . [SEP] it was tired . [SEP]"
    assert done.special == {0, 10, 15}
    assert prepared.inputs["token_type_ids"][0].tolist() == [0] * 11 + [1] * 5
    assert len(done.recording) == 6
    assert all(tuple(trace.story.query_axis.labels) == done.tokens for trace in done.recording.traces)
    with torch.no_grad():
        expected = minilm.model(**prepared.inputs)[0][0]
    assert_close(done.hidden, expected, atol=1e-5, rtol=1e-5)
    assert done.logits is None
    assert not done.notes


def test_each_kind_of_model_runs_with_its_own_axes_and_outputs(models, picture):
    decoder = ran(models[ModelKind.DECODER])
    decoder_vocabulary = len(models[ModelKind.DECODER].tokenizer)
    assert decoder.logits.shape == (len(decoder.tokens), decoder_vocabulary)
    assert (decoder.special, decoder.sinks) == (set(), {0}), "its first word is no mark"
    assert "".join(decoder.tokens) == TEXT
    encoder = ran(models[ModelKind.ENCODER], "The [MASK] was tired")
    assert encoder.logits.shape[0] == len(encoder.tokens)
    masked = encoder.tokens.index("[MASK]")
    assert masked not in encoder.special
    vision = run(models[ModelKind.VISION], picture_inputs(models[ModelKind.VISION], picture))
    assert vision.logits.shape == (1, 2)
    assert (vision.patch_grid, vision.n_prefix, vision.special) == ((4, 4), 1, {0})
    assert vision.tokens[:3] == ("[CLS]", "row 1, column 1", "row 1, column 2")
    assert tuple(vision.recording.traces[0].story.key_axis.labels) == vision.tokens


def test_an_encoder_decoder_is_given_a_target_or_writes_one(models):
    t5 = models[ModelKind.ENCODER_DECODER]
    result = ran(t5, target="Das Tier war")
    assert result.target_tokens[0] == "<pad>"
    assert "".join(result.target_tokens[1:]).removeprefix("␣") == "Das Tier war"
    assert result.logits.shape[0] == result.hidden.shape[0] == len(result.target_tokens)
    sides = {"encoder.0.self": (result.tokens, result.tokens), "decoder.0.self": (result.target_tokens,) * 2}
    sides["decoder.1.cross"] = (result.target_tokens, result.tokens)
    for name, (rows, columns) in sides.items():
        trace = result.recording[name]
        assert (tuple(trace.story.query_axis.labels), tuple(trace.story.key_axis.labels)) == (rows, columns)
    written = text_inputs(t5, TEXT)
    assert 1 < len(written.target_tokens) <= 66
    assert "writes itself" in written.notes[0]
    again = run(t5, written)
    follows = written.inputs["decoder_input_ids"][0, 1:].tolist()
    assert again.logits.argmax(1).tolist()[: len(follows)] == follows


def test_the_end_that_a_model_writes_is_not_given_to_its_decoder(model_folders):
    t5 = load_pretrained(model_folders / "both")
    t5.model.generation_config.forced_eos_token_id = 1
    written = text_inputs(t5, TEXT).inputs["decoder_input_ids"][0].tolist()
    assert 1 not in written
    assert len(written) == GENERATED_TOKENS.maximum  # the start and all that is written, without the end


@pytest.mark.parametrize("text", EXAMPLES)
def test_any_characters_become_tokens_that_can_be_shown(models, text):
    for kind in (ModelKind.ENCODER, ModelKind.DECODER, ModelKind.ENCODER_DECODER):
        done = ran(models[kind], text, pair=text, target="x")
        assert all(trace.n_queries == len(trace.story.query_axis) for trace in done.recording.traces)
        assert all(token and token.isprintable() for token in done.tokens if "‍" not in token)


def test_bytes_of_one_character_say_which_part_of_it_they_are(models):
    done = text_inputs(models[ModelKind.DECODER], "The \U0001f642é car")
    assert done.tokens[1:7] == ("␣", "\U0001f642", "\U0001f642·2", "\U0001f642·3", "\U0001f642·4", "é")
    tokenizer = models[ModelKind.DECODER].tokenizer
    half = tokenizer("\U0001f642", verbose=False)["input_ids"][:2]
    assert len(readable(tokenizer, half)) == 2
    assert readable(tokenizer, []) == ()


def test_what_does_not_fit_is_cut_quickly_and_told(minilm, models):
    start = time.perf_counter()
    prepared = text_inputs(minilm, "attention is all you need " * 20_000)
    assert time.perf_counter() - start < 2
    assert len(prepared.tokens) == 512
    assert all(phrase in prepared.notes[0] for phrase in ("cut to its first 512 tokens", "knows no more positions"))
    pair = text_inputs(models[ModelKind.ENCODER], "the " * 60, pair="cross " * 60)
    assert len(pair.tokens) == 40
    assert pair.inputs["token_type_ids"].sum() > 10
    target = text_inputs(models[ModelKind.ENCODER_DECODER], TEXT, target="Das " * 5000)
    assert len(target.target_tokens) <= TOKENS.maximum
    assert "target text was cut" in target.notes[-1]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_text_is_told(minilm, text):
    refused("text is empty", text_inputs, minilm, text)


def test_texts_and_pictures_go_to_models_that_take_them(models, minilm, picture):
    vision = models[ModelKind.VISION]
    refused("takes a picture", text_inputs, vision, TEXT)
    refused("takes a text", picture_inputs, minilm, picture)
    refused("height, width, 3 or 4", picture_inputs, vision, picture[..., 0])


def test_a_picture_is_shown_as_the_model_sees_it(models, model_folders, tmp_path):
    halves = np.zeros((32, 32, 3), np.uint8)
    halves[:, 16:] = (250, 100, 50)
    inputs = picture_inputs(models[ModelKind.VISION], halves)
    assert inputs.picture.shape == (16, 16, 3)
    assert np.abs(inputs.picture[8, 12].astype(int) - (250, 100, 50)).max() <= 1
    clear = np.zeros((32, 32, 4), np.uint8)
    assert (picture_inputs(models[ModelKind.VISION], clear).picture == 255).all()
    plain = altered(model_folders / "vision", tmp_path)
    (plain / "preprocessor_config.json").unlink()
    without = picture_inputs(load_pretrained(plain), halves)
    assert np.abs(without.picture[8, 12].astype(int) - (250, 100, 50)).max() <= 1
    assert_close(without.inputs["pixel_values"][0, 0, 8, 12], torch.tensor((250 / 255 - 0.5) / 0.5))


REGISTERS = {**PATCHES, "num_register_tokens": 2}
MAE = {**PATCHES, "decoder_num_hidden_layers": 1, "decoder_hidden_size": 32, "decoder_num_attention_heads": 4}
MAE |= {"decoder_intermediate_size": 48}
WINDOWS = {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4}
TOWERS = {"text_config": {**WIDTHS, "vocab_size": 99}, "vision_config": PATCHES, "projection_dim": 8}
# the class, its settings, what stands before the patches, how many detections behind
BEFORE = {
    "registers": ("Dinov2WithRegistersModel", REGISTERS, ["[CLS]", "[REGISTER 1]", "[REGISTER 2]"], 0),
    "distillation": ("DeiTModel", PATCHES, ["[CLS]", "[DISTILLATION]"], 0),
    "a class token": ("Dinov2Model", PATCHES, ["[CLS]"], 0),
    "nothing": ("IJepaModel", PATCHES, [], 0),
    "detections behind": ("YolosModel", {**PATCHES, "image_size": [16, 16], "num_detection_tokens": 2}, ["[CLS]"], 2),
    "patches that training hides": ("ViTMAEForPreTraining", MAE, ["[CLS]"], 0),
    "the tower of two that looks": ("CLIPModel", TOWERS, ["[CLS]"], 0),
}


@pytest.mark.parametrize("case", BEFORE)
def test_what_stands_around_the_patches_is_told_from_them(case, picture, tmp_path):
    name, sizes, before, n_behind = BEFORE[case]
    model = load_pretrained(tiny_hub.write(tmp_path, name, sizes))
    pixels = np.asarray(Image.fromarray(picture).convert("RGB").resize((16, 16)))
    model_sees = picture_inputs(model, pixels)
    done = run(model, model_sees)
    assert done.patch_grid == (4, 4)
    assert list(done.tokens[: len(before)]) == before
    assert list(done.tokens[len(before) + 16 :]) == [f"[DETECTION {number + 1}]" for number in range(n_behind)]
    assert done.special == {*range(len(before)), *range(len(before) + 16, len(done.tokens))}
    assert len(done.recording.traces[0].story.query_axis) == done.recording.traces[0].n_queries == len(done.tokens)
    assert tuple(done.recording.traces[0].story.key_axis.labels) == done.tokens
    changed = pixels.copy()
    changed[12:, :4] += 90  # the patch at the bottom left, position 12 of 16
    after = run(model, picture_inputs(model, changed)).recording.traces[0]
    moved = (after.key - done.recording.traces[0].key).abs().sum((0, 2))
    assert moved.argmax() == len(before) + 12


def test_pictures_and_patches_that_no_memory_holds_are_refused(model_folders, picture, tmp_path):
    folder = altered(model_folders / "vision", tmp_path)
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    (folder / "preprocessor_config.json").write_text(json.dumps({**settings, "size": {"height": 90_000, "width": 16}}))
    refused("90,000 pixels a side", picture_inputs, load_pretrained(folder), picture)
    (folder / "preprocessor_config.json").unlink()
    model = load_pretrained(folder)
    model.model.config.image_size = 90_000
    refused("90,000 pixels a side", picture_inputs, model, picture)
    model.model.config.image_size, model.model.config.patch_size = 1_024, 4
    refused("65,536 patches", picture_inputs, model, picture)


def test_positions_that_are_not_patches_of_one_grid_are_numbered(picture, tmp_path, monkeypatch):
    monkeypatch.setattr(windows, "MAX_PATCHES", 10)
    model = load_pretrained(tiny_hub.write(tmp_path, "SwinModel", WINDOWS))
    done = run(model, picture_inputs(model, picture))
    assert done.patch_grid is None
    assert done.recording.traces[0].story.query_axis.labels[:2] == ["1", "2"]
    assert "numbered" in done.notes[-1]


ROWS = {**WIDTHS, "vocab_size": 120, "max_position_embeddings": 40, "pad_token_id": 1}
# the class that is stored and the one that is loaded, its settings, how many tokens it takes
ALONE = {
    "RoBERTa keeps positions free": ("RobertaForMaskedLM", "RobertaForMaskedLM", ROWS, 38),
    "an ELECTRA that tells true words from false": ("ElectraForPreTraining", "ElectraModel", ROWS, 40),
    "a classifier": ("BertForSequenceClassification", "BertForSequenceClassification", ROWS, 40),
    "the encoder of a T5": ("T5EncoderModel", "T5EncoderModel", {**T5, "vocab_size": 120}, None),
}


@pytest.mark.parametrize("case", ALONE)
def test_encoders_of_all_kinds_load_without_made_up_heads(case, tmp_path):
    name, expected, sizes, max_tokens = ALONE[case]
    model = load_pretrained(tiny_hub.write(tmp_path, name, sizes, tiny_hub.unigram_tokenizer()))
    assert (model.kind, type(model.model).__name__, model.max_tokens) == (ModelKind.ENCODER, expected, max_tokens)
    done = ran(model, TEXT * 9)
    assert len(done.tokens) <= (max_tokens or 512)
    assert bool(done.notes) == (max_tokens is not None)


LABELS = {"id2label": {0: "bad", 1: "good, or fine", 2: "LABEL_2"}}
OTHER_WIDTHS = {"n_embd": 32, "n_layer": 2, "n_head": 4, "dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4}
"""What GPT-2 and DistilBERT call WIDTHS."""


@pytest.mark.parametrize("name", ["Bert", "Roberta", "DistilBert", "GPT2", "Llama"])
@pytest.mark.parametrize("is_multiple", [False, True])
def test_a_classifier_of_texts_keeps_its_head_and_says_its_classes(name, is_multiple, tmp_path):
    settings = LABELS | ({"problem_type": "multi_label_classification"} if is_multiple else {})
    widths = OTHER_WIDTHS if name in ("GPT2", "DistilBert") else WIDTHS
    sizes = {**widths, "vocab_size": 90, "max_position_embeddings": 64, "pad_token_id": 0, **settings}
    tiny_hub.write(tmp_path, f"{name}ForSequenceClassification", sizes, tiny_hub.word_piece_tokenizer())
    model = load_pretrained(tmp_path)
    done = ran(model, TEXT)
    assert model.kind is ModelKind.ENCODER
    with torch.no_grad():
        logits = model.model(**text_inputs(model, TEXT).inputs).logits[0]
    expected = logits.sigmoid() if is_multiple else logits.softmax(0)
    assert [label.name for label in done.classes] == ["bad", "good", "class 2"]
    assert [label.probability for label in done.classes] == pytest.approx(expected.tolist(), abs=1e-5)
    assert not done.notes


@pytest.mark.parametrize("name", ["Bert", "Roberta", "DistilBert"])
def test_a_classifier_of_tokens_says_the_classes_of_each(name, tmp_path):
    widths = OTHER_WIDTHS if name == "DistilBert" else WIDTHS
    sizes = {**widths, "vocab_size": 90, "max_position_embeddings": 64, "pad_token_id": 0, **LABELS}
    tiny_hub.write(tmp_path, f"{name}ForTokenClassification", sizes, tiny_hub.word_piece_tokenizer())
    model = load_pretrained(tmp_path)
    done = ran(model, TEXT)
    with torch.no_grad():
        expected = model.model(**text_inputs(model, TEXT).inputs).logits[0].softmax(-1)
    assert_close(torch.tensor([[label.probability for label in row] for row in done.token_classes]), expected)
    assert ([label.name for label in done.token_classes[1]], done.classes) == (["bad", "good", "class 2"], ())
    study, metric = Study(model.model, model.tokenizer), lambda out: out.logit("good, or fine", 3)
    assert abs(study.attribute(TEXT, metric=metric).residue) < 1e-5
    ablated = study.ablate(TEXT, metric=metric)
    assert ablated.before == pytest.approx(float(metric(study.run(TEXT)[1])))
    assert ablated.change.abs().min() > 0


def test_a_model_without_classes_says_none(models):
    done = ran(models[ModelKind.ENCODER], TEXT)
    assert not done.classes
    assert not done.token_classes


def test_a_head_that_the_file_lacks_is_not_made_up(tmp_path, model_folders):
    tiny_hub.write_encoder(tmp_path / "plain", "BertModel")
    assert type(load_pretrained(tmp_path / "plain").model).__name__ == "BertModel"
    settings = json.loads((tmp_path / "plain" / "config.json").read_text())
    (tmp_path / "plain" / "config.json").write_text(json.dumps(settings | {"architectures": ["BertForMaskedLM"]}))
    assert type(load_pretrained(tmp_path / "plain").model).__name__ == "BertModel"
    weights = load_file(tmp_path / "plain" / "model.safetensors")
    weights.pop("encoder.layer.1.attention.self.query.weight")
    save_file(weights, tmp_path / "plain" / "model.safetensors", {"format": "pt"})
    refused("random numbers", load_pretrained, tmp_path / "plain")


def test_damaged_and_missing_files_are_told(model_folders, tmp_path):
    folder = altered(model_folders / "masked", tmp_path)
    (folder / "model.safetensors").write_bytes(b"\x10" * 50_000)
    refused("weights cannot be loaded", load_pretrained, folder)
    (folder / "model.safetensors").write_bytes((model_folders / "masked" / "model.safetensors").read_bytes())
    for file in folder.glob("*token*"):
        file.unlink()
    refused("tokenizer", load_pretrained, folder)
    (folder / "config.json").write_text("{")
    refused(r"config\.json cannot be read", load_pretrained, folder)
    (folder / "config.json").unlink()
    refused(r"no config\.json", load_pretrained, folder)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model_type": "mamba"}, "no attention"),
        ({"model_type": "resnet"}, "no attention"),
        ({"model_type": "my-own"}, "unknown to the installed"),
        ({"model_type": "my-own", "auto_map": {"AutoModel": "code.Model"}}, "never runs code"),
        ({"model_type": ""}, "no model_type"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantised"),
        ({"model_type": "wav2vec2"}, "neither text nor a picture"),
        ({"hidden_size": "wide"}, "does not fit"),
        ({"num_hidden_layers": 100_000}, "asks for 100,000 layers"),
        ({"hidden_size": 40_000, "vocab_size": 1_000_000}, "cannot hold them"),
    ],
)
def test_models_that_cannot_be_shown_are_told_from_their_settings(model_folders, tmp_path, settings, said):
    refused(said, load_pretrained, altered(model_folders / "masked", tmp_path, **settings))


def test_an_architecture_without_attention_that_settings_do_not_betray_is_told_after_the_run(models, monkeypatch):
    def fails(*args, **kwargs):
        raise ValueError("FNetModel shows no attention")

    monkeypatch.setattr("attention_core.hub.run.run_model", fails)
    refused("shows no attention", ran, models[ModelKind.DECODER])


def test_numbers_that_are_none_are_told(model_folders, tmp_path):
    folder = altered(model_folders / "decoder", tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["transformer.h.1.attn.c_attn.weight"][0, 0] = torch.nan
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "decoder.1.self holds numbers" in ran(load_pretrained(folder)).notes[-1]


@pytest.mark.parametrize(("n", "kept"), [(3, "the last 3 positions are kept"), (1, "the last position is kept")])
def test_a_long_output_keeps_its_last_positions(models, monkeypatch, n, kept):
    monkeypatch.setattr("attention_core.hub.run.MAX_LOGITS", len(models[ModelKind.DECODER].tokenizer) * n)
    done = ran(models[ModelKind.DECODER])
    assert done.logits.shape[0] == n
    assert kept in done.notes[-1]


def test_a_head_that_is_off_changes_what_follows_and_a_recording_is_a_run_of_its_own(models):
    decoder = models[ModelKind.DECODER]
    prepared = text_inputs(decoder, TEXT)
    plain, without = run(decoder, prepared), run(decoder, prepared, edits=drop_heads([(0, 1)]))
    assert not torch.allclose(plain.logits, without.logits)
    refused("cannot be run", run, decoder, prepared, edits=drop_heads([(9, 1)]))
    recording = trace_model(decoder.model, **text_inputs(decoder, TEXT).inputs)
    done = recording_run(Recording(recording.traces, "a note"), "run.npz")
    assert (done.model, done.kind, done.notes) == ("run.npz", None, ("a note",))
    assert done.tokens[:2] == ("1", "2")


def test_the_package_and_complete_folders_are_found(model_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    (tmp_path / "half").mkdir()
    by_name = {model.name: model for model in local_models()}
    assert {PACKAGE, *FOLDERS} <= by_name.keys()
    assert by_name["decoder"].source == "folder"
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    assert find_local("half") is None


def logged(caplog):
    """Return what was logged; every entry has its traceback."""
    entries = [entry for entry in caplog.records if entry.name == "attention_core"]
    assert all(entry.exc_info for entry in entries)
    return [entry.getMessage() for entry in entries]


def test_what_a_model_cannot_do_with_an_input_is_told_as_such(models, caplog):
    decoder = models[ModelKind.DECODER]
    for name, value, error in (
        ("input_ids", torch.tensor([[100_000]]), IndexError),
        ("inputs_embeds", torch.zeros(1, 1, 32), ValueError),  # besides the tokens
    ):
        prepared = text_inputs(decoder, TEXT)
        prepared = replace(prepared, inputs={**prepared.inputs, name: value})
        refusal = refused("cannot be run with this input", run, decoder, prepared)
        assert isinstance(refusal.__cause__, error)
    assert len(logged(caplog)) == 2


@pytest.mark.parametrize("error", [IndexError, KeyError, RuntimeError, ValueError])
@pytest.mark.parametrize(
    "place",
    ["attention.capture.trace_builder.TraceBuilder.trace", "hub.tracing.ModuleLog.enter", "hub.tracing.name_traces"],
)
def test_a_fault_of_our_own_is_not_put_down_to_the_input(models, monkeypatch, caplog, place, error):
    def fails(*args, **kwargs):
        raise error("ours")

    ours = FunctionType(fails.__code__, {"__name__": "attention_core.attention.recording"}, closure=fails.__closure__)
    monkeypatch.setattr(f"attention_core.{place}", ours)
    with pytest.raises(error, match="ours"):
        ran(models[ModelKind.DECODER])
    assert not logged(caplog)


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA"), RuntimeError("MPS backend out of memory"), MemoryError()]
)
def test_a_lack_of_memory_is_told(models, monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr(models[ModelKind.DECODER].model, "forward", fails)
    with pytest.raises(NoMemory, match="Shorten it"):
        ran(models[ModelKind.DECODER])


def test_a_picture_is_shown_without_an_image_processor_that_cannot_be_loaded(model_folders, tmp_path, caplog):
    folder = altered(model_folders / "vision", tmp_path)
    (folder / "preprocessor_config.json").write_text("{")
    assert load_pretrained(folder).processor is None
    assert len(logged(caplog)) == 1
    (folder / "model.safetensors").write_bytes(b"\x10" * 50_000)
    refused("weights cannot be loaded", load_pretrained, folder)
    assert all(f"cannot load {folder.name}" in entry for entry in logged(caplog)[1:])
