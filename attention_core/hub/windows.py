"""The windows of a picture in which models such as Swin attend, put in their places: a trace over the whole picture."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.edits import DropHead, Edits
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from attention_core.bounds.limits import is_hosted
from attention_core.hub.model import ModelError

LAYER_SETTINGS = ("window_size", "shift_size", "input_resolution")
"""What layers of windows have: the side of one, by how much all are moved, rows and columns of the picture."""
MAX_PATCHES, MAX_PATCHES_HOSTED = 3_136, 1_024
"""Patches up to which windows are joined: a bias of all pairs is kept for each head, 118 MB for three of Swin-T."""


def windowed_layers(model: Any) -> list[Any]:
    """Return the layers of a model that attend in windows of a picture, in the order in which they run."""
    return [module for module in model.modules() if all(hasattr(module, name) for name in LAYER_SETTINGS)]


def check_window_edits(edits: Mapping[int, Edits] | None) -> None:
    """Make sure that edits of windows hold for all of them: a position in one is none of the picture."""
    if any(type(edit) is not DropHead or edit.query is not None for each in (edits or {}).values() for edit in each):
        raise ModelError("This model attends in windows of the picture: only whole heads can be switched off.")


def join_windows(recording: Recording, layers: Sequence[Any]) -> Recording:
    """Return a recording of all windows with one trace for each layer, over the whole picture where that is possible.

    Where windows reach beyond the picture, or it has too many patches, the first window stays.
    """
    by_layer: dict[str, list[AttentionTrace]] = {}
    for trace in recording.traces:
        by_layer.setdefault(re.sub(r" \(window \d+\)$", "", trace.story.name), []).append(trace)
    if len(by_layer) != len(layers):
        layers = [None] * len(by_layer)
    traces = [
        (_joined(windows, layer) or windows[0]).with_story(name=name)
        for (name, windows), layer in zip(by_layer.items(), layers, strict=True)
    ]
    return replace(recording, traces=traces)


def _joined(windows: Sequence[AttentionTrace], layer: Any) -> AttentionTrace | None:
    if layer is None:
        return None
    side, shift, (rows, columns) = int(layer.window_size), int(layer.shift_size), layer.input_resolution
    n, n_inside = rows * columns, windows[0].n_queries
    max_patches = MAX_PATCHES_HOSTED if is_hosted() else MAX_PATCHES
    if n > max_patches or n_inside != side**2 or n != len(windows) * n_inside or rows % side or columns % side:
        return None
    patches = torch.arange(n).view(rows, columns).roll((-shift, -shift), (0, 1))
    in_windows = patches.view(rows // side, side, columns // side, side).transpose(1, 2).flatten()
    order = in_windows.argsort()  # of each patch of the picture, where it stands among those of all windows
    labels = [f"row {row}, column {column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    axis, first = Axis("patches", labels, (rows, columns)), windows[0]

    def in_order(name: str) -> Tensor:
        return torch.cat([getattr(window, name) for window in windows], 1)[:, order]

    def of_pairs(name: str, value: Any) -> Tensor | None:
        blocks = [getattr(window, name) for window in windows]
        if all(block is None for block in blocks):
            return None
        shape = 1 if name == "mask" else first.n_heads, n, n
        pairs = torch.zeros(shape, dtype=torch.bool if name == "mask" else torch.float32)
        for start, block in zip(range(0, n, n_inside), blocks, strict=True):
            end = start + n_inside
            pairs[:, start:end, start:end] = value if block is None else block
        return pairs[:, order][:, :, order]

    inside = torch.arange(n)[order] // n_inside
    same_window = (inside[:, None] == inside)[None]
    mask = of_pairs("mask", True)
    note = f"A patch sees its window of {side} × {side} patches alone."
    return replace(
        first,
        query=in_order("query"),
        key=in_order("key"),
        value=in_order("value"),
        mask=same_window if mask is None else mask & same_window,
        bias=of_pairs("bias", 0),
        normaliser=None if first.normaliser is None else in_order("normaliser"),
        story=replace(first.story, query_axis=axis, key_axis=axis, note=note),
    )
