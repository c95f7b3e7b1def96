"""Models that read a picture beside a text: LLaVA, Qwen-VL, SmolVLM, small and random."""

import numpy as np
import pytest
import torch

from attention_core.explain.heads import PatchGrid
from attention_core.hub.generation import generate, write_on
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, ModelKind, image_token
from attention_core.hub.pictures import picture_text_inputs
from attention_core.hub.run import run, text_inputs
from attention_core.study import Study
from tests.support.tiny_hub import READERS, write_reader

PICTURE = (np.random.default_rng(0).random((40, 60, 3)) * 255).astype(np.uint8)
TEXT = "Das Tier war"
TILES = {"llava": PatchGrid((4, 4), 0), "qwen2_vl": PatchGrid((3, 5), 1), "smolvlm": PatchGrid((2, 2), 2)}


@pytest.fixture(scope="module", params=READERS)
def reader(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write_reader(folder, request.param)
    return request.param, load_pretrained(folder, name=request.param)


def test_the_tokens_of_a_picture_are_tiles_among_the_words_and_every_head_is_right(reader):
    name, pretrained = reader
    assert pretrained.reads_pictures
    prepared = picture_text_inputs(pretrained, PICTURE, TEXT)
    (rows, columns), first = prepared.tiles
    assert prepared.tiles == TILES[name]
    assert prepared.tokens[first] == " row 1, column 1"
    assert prepared.tokens[first + rows * columns - 1] == f" row {rows}, column {columns}"
    assert "".join(prepared.tokens).endswith(TEXT)
    assert not prepared.special & set(range(first, first + rows * columns))
    result = run(pretrained, prepared)
    assert result.kind is ModelKind.DECODER
    together = next(iter(result.groups.values()))
    assert together[0].story.key_axis.labels == prepared.tokens
    model = pretrained.model
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        expected = model(**prepared.inputs, output_attentions=True)
    model.set_attn_implementation("sdpa")
    assert (result.logits - expected.logits[0]).abs().max() < 1e-5
    for trace, weights in zip(together, expected.attentions, strict=True):
        recorded = torch.stack([trace.weights(head) for head in range(trace.n_heads)])
        assert (recorded - weights[0]).abs().max() < 1e-5


def test_the_answer_is_written_word_by_word_as_the_library_writes_it_and_no_word_is_a_picture(reader):
    name, pretrained = reader
    prepared = picture_text_inputs(pretrained, PICTURE, TEXT)
    ids, image_id = prepared.inputs["input_ids"][0].tolist(), image_token(pretrained)
    with torch.inference_mode():
        options = {"max_new_tokens": 3, "do_sample": False, "suppress_tokens": [image_id]}
        expected = pretrained.model.generate(**prepared.inputs, **options)[0].tolist()
    assert list(write_on(pretrained, ids, 3, prepared.inputs)) == expected
    for _ in range(3):
        text = generate(pretrained, ids, prepared.inputs)
        ids.append(int(text.logits[-1].argmax()))
    assert ids == expected
    assert text.n_picture == TILES[name].n_prefix + int(np.prod(TILES[name].grid))
    assert len(text.layers) == 2
    assert text.logits[:, image_id].max() == -torch.inf


def test_another_picture_moves_what_the_words_become_and_none_is_a_text_alone(reader):
    _, pretrained = reader
    logits = [run(pretrained, picture_text_inputs(pretrained, one, TEXT)).logits for one in (PICTURE, 255 - PICTURE)]
    assert (logits[0] - logits[1]).abs().max() > 1e-4
    without_picture = text_inputs(pretrained, TEXT)
    assert without_picture.tiles is None
    assert run(pretrained, without_picture).logits.shape[0] == len(without_picture.tokens)


def test_a_head_is_ablated_beside_a_picture_as_it_is_alone(reader):
    _, pretrained = reader
    inputs = picture_text_inputs(pretrained, PICTURE, TEXT).inputs
    study = Study(pretrained.model, pretrained.tokenizer)
    values = study.ablate(inputs, metric=lambda out: out.logits[-1, 5]).values
    projection = pretrained.model.model.language_model if hasattr(pretrained.model.model, "language_model") else None
    layers = (projection or pretrained.model.model.text_model).layers
    n = len(values) - len(layers)  # attentions of the picture's tower come first

    def without(module, args):
        return (torch.cat([args[0][..., :8], torch.zeros_like(args[0][..., 8:16]), args[0][..., 16:]], -1),)

    handle = layers[1].self_attn.o_proj.register_forward_pre_hook(without)
    with torch.inference_mode():
        expected = pretrained.model(**inputs).logits[0, -1, 5]
    handle.remove()
    assert abs(float(values[n + 1, 1]) - float(expected)) < 1e-5


def test_states_are_patched_from_another_text_beside_the_same_picture(reader):
    _, pretrained = reader
    clean, corrupt = (picture_text_inputs(pretrained, PICTURE, text).inputs for text in (TEXT, "Das Tier zu"))
    study = Study(pretrained.model, pretrained.tokenizer)

    def metric(out):
        return out.logits[-1, 5]

    effects = study.patch(clean, corrupt, metric=metric)
    assert effects.correlation > 0.99
    states = study.patch(clean, corrupt, metric=metric, at="residual", gradient=False)
    last = clean["input_ids"].shape[1] - 1  # the tower's layers may have more positions
    assert abs(float(states.values[-1, last]) - states.goal) < 1e-5


def test_a_model_of_texts_takes_no_picture_and_a_picture_leaves_room_for_a_text(reader, tmp_path):
    from tests.support.tiny_hub import write_decoder

    write_decoder(tmp_path)
    with pytest.raises(ModelError, match="takes no picture"):
        picture_text_inputs(load_pretrained(tmp_path), PICTURE, TEXT)
    _, pretrained = reader
    long = picture_text_inputs(pretrained, PICTURE, "Das Tier " * 60)
    assert len(long.tokens) <= pretrained.max_tokens
    assert "cut" in long.notes[0]
