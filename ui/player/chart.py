"""Matrices of numbers drawn as a trace's own, and the number of a row that the text beside them describes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import NO_ORIGIN, Step
from ui.player.picture import StepStyle, picture_key, show_step_picture
from ui.player.steps import step_of, steps_of
from ui.state import component_message


def described_key(trace: AttentionTrace, head: int, query: int, name: str) -> int:
    """Return the key whose number the text describes: the last clicked in the query's row, else that of most weight."""
    chosen = component_message(picture_key(name), "chosen") or {}
    is_clicked = any(step.name == chosen.get("step") and is_of_pairs(trace, step) for step in steps_of(trace))
    if is_clicked and int(chosen["row"]) == query and int(chosen["column"]) in range(trace.n_keys):
        return int(chosen["column"])
    return int(trace.weights(head, [query])[0].argmax())


def is_of_pairs(trace: AttentionTrace, step: Step) -> bool:
    """Return whether each number of a step belongs to a query and a key."""
    return (step.row_axis, step.col_axis) == (trace.story.query_axis, trace.story.key_axis)


def show_numbers(
    trace: AttentionTrace, values: np.ndarray, name: str, style: StepStyle, fields: Mapping[str, Any], **options: Any
) -> None:
    """Draw a matrix of numbers as a trace's weights are drawn; `fields` are those of Step in which it differs.

    For the options see show_step_picture.
    """
    numbers = torch.as_tensor(values)
    fixed: dict[str, Any] = {"name": str(fields.get("title", "weights")).lower(), "code": "", "origin": NO_ORIGIN}
    step = replace(step_of(trace, "weights"), compute=lambda *_: numbers, **fixed, **fields)
    show_step_picture(trace, step, 0, style, name, **options)
