"""The picture of a step beside its words and the steps before and after it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import NO_ORIGIN, Step
from ui.player.picture import StepLook, has_bars, picture_key, show_step_heatmap, show_step_picture
from ui.player.stepper import Stepper
from ui.player.steps import step_of, steps_of
from ui.state import Field, component_message

MAX_PRELOADED, MAX_NEXT_PRELOADED = 3000, 30_000
"""Numbers of a step, and of the next or the last, that a browser has before anybody goes to it."""


def described_key(trace: AttentionTrace, head: int, query: int, name: str) -> int:
    """Return the key whose number the text describes: that clicked last in the query's row, else the heaviest."""
    chosen = component_message(picture_key(name), "chosen") or {}
    axes = trace.story.query_axis, trace.story.key_axis
    is_of_keys = any(
        step.name == chosen.get("step") and (step.row_axis, step.col_axis) == axes for step in steps_of(trace)
    )
    if is_of_keys and int(chosen["row"]) == query and int(chosen["column"]) in range(trace.n_keys):
        return int(chosen["column"])
    return int(trace.weights(head, [query])[0].argmax())


def at_query(trace: AttentionTrace, query: int) -> Callable[[Step], StepLook]:
    """Return the look of steps in which a query's row has a frame."""
    return lambda step: StepLook(query if step.row_axis is trace.story.query_axis else None)


def show_step_chart(
    trace: AttentionTrace,
    step: Step,
    head: int,
    look: Callable[[Step], StepLook | None],
    name: str,
    *,
    stepper: Stepper | None = None,
    on_choose: Callable[[int, int], None] | Field[Any] | None = None,
) -> None:
    """Draw the step's numbers, and let them move: how they come about; bars of a single row of probabilities.

    The look is that of every step, None where the page draws it in another way. Where the stepper is given, the picture
    changes with the words beside it, in one frame, and frames the number of which show_words tells. on_choose is called
    with row and column of a number that is clicked, or is the query, to be set to its row where rows are queries.
    """

    def framed(step: Step) -> StepLook | None:
        style, axes = look(step), (trace.story.query_axis, trace.story.key_axis)
        if not (style and stepper) or style.column is not None or (step.row_axis, step.col_axis) != axes:
            return style
        return style._replace(column=described_key(trace, head, style.query or 0, name))

    if isinstance(on_choose, Field):
        query = on_choose
        on_choose = (lambda row, _: query.take(row)) if step.row_axis is trace.story.query_axis else None
    current = framed(step) or StepLook()
    if stepper and stepper.is_chart.value:
        show_step_heatmap(step, head, current, name, on_choose)
        return
    beside = {near: style for near in _preloaded(trace, step, stepper) if (style := framed(near))} if stepper else None
    show_step_picture(trace, step, head, current, name, on_choose=on_choose, beside=beside)


def _preloaded(trace: AttentionTrace, step: Step, stepper: Stepper) -> list[Step]:
    """Return the other steps that are small enough to be sent before anybody goes to them; none where one guesses."""
    steps = [] if stepper.guess.is_on.value else steps_of(trace)
    names = [near.name for near in steps]
    current = names.index(step.name) if step.name in names else -9
    bounds = [MAX_NEXT_PRELOADED if abs(index - current) == 1 else MAX_PRELOADED for index in range(len(steps))]
    small = (near for near, bound in zip(steps, bounds, strict=True) if math.prod(near.shape) <= bound)
    return [near for near in small if near.name != step.name and not has_bars(near)]


def show_numbers(
    trace: AttentionTrace, values: np.ndarray, name: str, look: StepLook, fields: Mapping[str, Any], **options: Any
) -> None:
    """Draw other numbers as a trace's weights are drawn; for the fields of Step that differ from theirs.

    For the options see show_step_chart.
    """
    numbers = torch.as_tensor(values)
    fixed: dict[str, Any] = {"name": str(fields.get("title", "weights")).lower(), "code": "", "origin": NO_ORIGIN}
    step = replace(step_of(trace, "weights"), compute=lambda *_: numbers, **fixed, **fields)
    show_step_chart(trace, step, 0, lambda _: look, name, **options)
