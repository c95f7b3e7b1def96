"""The picture of a step, in time with the text beside it, and what the browser has of other steps in advance."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import NO_ORIGIN, Step
from ui.player.picture import StepStyle, has_bars, picture_key, show_step_heatmap, show_step_picture
from ui.player.stepper import Stepper
from ui.player.steps import step_of, steps_of
from ui.state import Field, component_message

MAX_PRELOADED, MAX_PRELOADED_BESIDE = 3000, 30_000
"""Numbers of a step up to which it is sent in advance, and of the steps just before and after the current one."""


def described_key(trace: AttentionTrace, head: int, query: int, name: str) -> int:
    """Return the key whose number the text describes: the last clicked in the query's row, else that of most weight."""
    chosen = component_message(picture_key(name), "chosen") or {}
    is_clicked = any(step.name == chosen.get("step") and _is_of_pairs(trace, step) for step in steps_of(trace))
    if is_clicked and int(chosen["row"]) == query and int(chosen["column"]) in range(trace.n_keys):
        return int(chosen["column"])
    return int(trace.weights(head, [query])[0].argmax())


def style_at_query(trace: AttentionTrace, query: int) -> Callable[[Step], StepStyle]:
    """Return what gives each step the style in which a query's row has a frame."""
    return lambda step: StepStyle(query if step.row_axis is trace.story.query_axis else None)


def show_step_chart(
    trace: AttentionTrace,
    step: Step,
    head: int,
    style_of: Callable[[Step], StepStyle | None],
    name: str,
    *,
    stepper: Stepper | None = None,
    on_choose: Callable[[int, int], None] | Field[Any] | None = None,
) -> None:
    """Draw the step's numbers, and how they come about as an animation; bars of a single row of probabilities.

    style_of returns the style of any step, None for one that the page draws itself. With a stepper, the picture changes
    in the same frame as the text beside it, and frames the number that show_words describes. on_choose is called with
    row and column of a clicked number; or it is the field of the query, which is set to the row if rows are queries.
    """

    def framed(step: Step) -> StepStyle | None:
        style = style_of(step)
        if not (style and stepper) or style.column is not None or not _is_of_pairs(trace, step):
            return style
        return style._replace(column=described_key(trace, head, style.query or 0, name))

    if isinstance(on_choose, Field):
        query = on_choose
        on_choose = (lambda row, _: query.set(row)) if step.row_axis is trace.story.query_axis else None
    current = framed(step) or StepStyle()
    if stepper and stepper.is_chart.value:
        show_step_heatmap(step, head, current, name, on_choose)
        return
    candidates = _preloaded(trace, step) if stepper else []
    preloaded = {candidate: style for candidate in candidates if (style := framed(candidate))} if stepper else None
    show_step_picture(trace, step, head, current, name, on_choose=on_choose, preloaded=preloaded)


def _preloaded(trace: AttentionTrace, step: Step) -> list[Step]:
    """Return the other steps that are small enough to be sent in advance."""
    steps = steps_of(trace)
    names = [candidate.name for candidate in steps]
    current = names.index(step.name) if step.name in names else math.inf  # then no step is beside it
    bounds = [MAX_PRELOADED_BESIDE if abs(index - current) == 1 else MAX_PRELOADED for index in range(len(steps))]
    small = (candidate for candidate, bound in zip(steps, bounds, strict=True) if math.prod(candidate.shape) <= bound)
    return [candidate for candidate in small if candidate.name != step.name and not has_bars(candidate)]


def _is_of_pairs(trace: AttentionTrace, step: Step) -> bool:
    """Return whether each number of a step belongs to a query and a key."""
    return (step.row_axis, step.col_axis) == (trace.story.query_axis, trace.story.key_axis)


def show_numbers(
    trace: AttentionTrace, values: np.ndarray, name: str, style: StepStyle, fields: Mapping[str, Any], **options: Any
) -> None:
    """Draw a matrix of numbers as a trace's weights are drawn; `fields` are those of Step in which it differs.

    For the options see show_step_chart.
    """
    numbers = torch.as_tensor(values)
    fixed: dict[str, Any] = {"name": str(fields.get("title", "weights")).lower(), "code": "", "origin": NO_ORIGIN}
    step = replace(step_of(trace, "weights"), compute=lambda *_: numbers, **fixed, **fields)
    show_step_chart(trace, step, 0, lambda _: style, name, **options)
