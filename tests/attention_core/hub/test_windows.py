"""Swin attends in windows: each layer becomes one trace over the whole picture."""

import numpy as np
import pytest
import torch
import transformers as hf

from attention_core.attention.edits import BlockKeys, DropHead
from attention_core.hub import windows
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError
from attention_core.hub.pictures import picture_inputs
from attention_core.hub.run import patches_of, run
from tests.support import tiny_hub

PICTURE = (np.random.default_rng(0).random((40, 60, 3)) * 255).astype(np.uint8)
SIZES = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}


@pytest.fixture(scope="module")
def swin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swin")
    torch.manual_seed(0)
    model = hf.SwinForImageClassification(hf.SwinConfig(**SIZES))
    for name, weight in model.named_parameters():
        if name.endswith("bias_table") or "_proj.weight" in name:
            torch.nn.init.normal_(weight, std=0.3)
    with tiny_hub.silent():
        model.save_pretrained(folder)
    return load_pretrained(folder)


def handed_out(model, inputs):
    """Return the weights of each layer over the whole picture, placed by the library's own shift and partition."""
    from transformers.models.swin.modeling_swin import window_partition

    layers, handed = windows.windowed_layers(model), []
    handles = [layer.attention.register_forward_hook(lambda *call: handed.append(call[-1][1])) for layer in layers]
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        model(**inputs)
    model.set_attn_implementation("sdpa")
    for handle in handles:
        handle.remove()
    for layer, weights in zip(layers, handed, strict=True):
        rows, columns = layer.input_resolution
        numbers = torch.arange(rows * columns, dtype=torch.float32).view(1, rows, columns, 1)
        places = window_partition(layer.cyclic_shift(numbers), layer.window_size).flatten(1).long()
        whole = torch.zeros(weights.shape[1], rows * columns, rows * columns)
        for place, window in zip(places, weights, strict=True):
            whole[:, place[:, None], place] = window
        yield whole


def test_every_weight_of_every_window_stands_where_its_patches_are(swin):
    prepared = picture_inputs(swin, PICTURE)
    result = run(swin, prepared)
    for trace, expected in zip(result.recording.traces, handed_out(swin.model, prepared.inputs), strict=True):
        weights = torch.stack([trace.weights(head) for head in range(trace.n_heads)])
        assert (weights - expected).abs().max() < 1e-5
        assert patches_of(result, trace).grid[0] ** 2 == trace.n_keys
    assert not result.notes
    assert list(result.groups) == ["encoder self, 256 × 256", "encoder self, 64 × 64"]


def test_whole_heads_are_switched_off_in_all_windows_and_no_position_of_one(swin):
    prepared = picture_inputs(swin, PICTURE)
    changed = run(swin, prepared, edits={1: (DropHead(1),)})
    assert not changed.recording.traces[1].context(1).any()
    assert (changed.logits - run(swin, prepared).logits).abs().max() > 1e-5
    with pytest.raises(ModelError, match="only whole heads"):
        run(swin, prepared, edits={1: (BlockKeys(head=1, keys=(0,)),)})


def test_of_too_many_patches_the_first_window_stays(swin, monkeypatch):
    monkeypatch.setattr(windows, "MAX_PATCHES", 100)
    first, *_, last = run(swin, picture_inputs(swin, PICTURE)).recording.traces
    assert (first.n_queries, last.n_queries) == (16, 64)
    assert "first of 16 parts" in first.story.note
