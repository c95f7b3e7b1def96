"""The picture of a step beside its words and the steps before and after it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import UNKNOWN, Step
from ui.player.picture import StepLook, has_bars, picture_key, show_step_picture
from ui.player.stepper import Stepper
from ui.player.steps import step_of, steps_of
from ui.state import Field, component_message

MOST_AHEAD, MOST_BESIDE = 3000, 30_000
"""Numbers of a step, and of the next or the last, that a browser has before anybody goes to it."""


def told_key(trace: AttentionTrace, head: int, query: int, name: str) -> int:
    """Return the key of whose number words tell: that clicked last in the query's row, else the heaviest."""
    chosen = component_message(picture_key(name), "chosen") or {}
    axes = trace.story.query_axis, trace.story.key_axis
    is_of_keys = any(one.name == chosen.get("step") and (one.row_axis, one.col_axis) == axes for one in steps_of(trace))
    if is_of_keys and int(chosen["row"]) == query and int(chosen["column"]) in range(trace.n_keys):
        return int(chosen["column"])
    return int(trace.weights(head, [query])[0].argmax())


def at_query(trace: AttentionTrace, query: int) -> Callable[[Step], StepLook]:
    """Return how steps are drawn of which a query's row has a frame."""
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

    def seen(one: Step) -> StepLook | None:
        found, axes = look(one), (trace.story.query_axis, trace.story.key_axis)
        if not (found and stepper) or found.column is not None or (one.row_axis, one.col_axis) != axes:
            return found
        return found._replace(column=told_key(trace, head, found.query or 0, name))

    if isinstance(on_choose, Field):
        on_choose = partial(_ask, on_choose) if step.row_axis is trace.story.query_axis else None
    beside = {one: its for one in _others(trace, step, stepper) if (its := seen(one))} if stepper else None
    show_step_picture(trace, step, head, seen(step) or StepLook(), name, on_choose=on_choose, beside=beside)


def _ask(query: Field[Any], row: int, column: int) -> None:
    query.value = row


def _others(trace: AttentionTrace, step: Step, stepper: Stepper) -> list[Step]:
    """Return the other steps that are small enough to be sent before anybody goes to them; none where one guesses."""
    steps = [] if stepper.guess.wanted.value else steps_of(trace)
    place = next((at for at, one in enumerate(steps) if one.name == step.name), -9)
    most = {one: MOST_BESIDE if abs(at - place) == 1 else MOST_AHEAD for at, one in enumerate(steps) if at != place}
    return [one for one in most if math.prod(one.shape) <= most[one] and not has_bars(one)]


def show_numbers(
    trace: AttentionTrace, values: np.ndarray, name: str, look: StepLook, about: Mapping[str, Any], **more: Any
) -> None:
    """Draw other numbers as a trace's weights are drawn; about are the fields of Step that differ from theirs.

    More: see show_step_chart.
    """
    numbers = torch.as_tensor(values)
    called = str(about.get("title", "weights")).lower()
    step = replace(step_of(trace, "weights"), name=called, code="", origin=UNKNOWN, compute=lambda *_: numbers, **about)
    show_step_chart(trace, step, 0, lambda _: look, name, **more)
