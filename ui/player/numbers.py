"""All the numbers of a trace, step by step: the present step in words, and beside it its picture."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from ui.player.chart import described_key, is_of_pairs
from ui.player.picture import StepStyle, has_bars, show_step_heatmap, show_step_picture
from ui.player.stepper import Stepper
from ui.player.steps import steps_of
from ui.player.words import show_words

MAX_PRELOADED, MAX_PRELOADED_BESIDE = 3000, 30_000
"""Numbers of a step up to which it is sent in advance, and of the steps just before and after the current one."""
MAX_MATRIX_SIDE = 2048  # rows or columns up to which a matrix is drawn whole; beyond, the atlas serves better


def _draw_nothing(step: Step) -> None:
    pass


def show_all_numbers(
    trace: AttentionTrace,
    stepper: Stepper,
    name: str,
    *,
    head: int = 0,
    query: int = 0,
    style_of: Callable[[Step], StepStyle | None] | None = None,
    on_query: Callable[[int], object] | None = None,
    on_cell: Callable[[Step, int, int], None] | None = None,
    above_text: Callable[[Step], object] = _draw_nothing,
    below_text: Callable[[Step], object] = _draw_nothing,
    below_picture: Callable[[Step], object] = _draw_nothing,
    widths: tuple[float, float] = (0.82, 1),
    **text: Any,
) -> None:
    """Draw the stepper, and below it the present step's words beside its picture, which change in the same frame.

    style_of returns the style of any step, None for one that below_picture draws itself; by default the query's row has
    a frame. on_query is called with the row of a clicked number where rows are queries, on_cell with the step, and row
    and column. For the text see show_words.
    """
    queries = trace.story.query_axis

    def framed(step: Step) -> StepStyle | None:
        style = style_of(step) if style_of else StepStyle(query if step.row_axis is queries else None)
        if not style or style.column is not None or not is_of_pairs(trace, step):
            return style
        return style._replace(column=described_key(trace, head, style.query or 0, name))

    step = stepper.draw(trace)
    text_column, picture_column = st.columns(widths, gap="large")
    with text_column:
        above_text(step)
        show_words(trace, step, head, query, name, **text)
        below_text(step)

    def on_click(row: int, column: int) -> None:
        if on_cell:
            on_cell(step, row, column)
        elif on_query:
            on_query(row)

    is_clickable = on_cell or (on_query and step.row_axis is queries)
    with picture_column:
        if max(step.shape) > MAX_MATRIX_SIDE and not step.picture[0]:
            st.info(f"{step.shape[0]:,} × {step.shape[1]:,} numbers are too many for one picture.")
        elif style := framed(step):
            on_choose = on_click if is_clickable else None
            if stepper.is_chart.value:
                show_step_heatmap(step, head, style, name, on_choose)
            else:
                styles = {candidate: framed(candidate) for candidate in _preloaded(trace, step)}
                preloaded = {candidate: style for candidate, style in styles.items() if style}
                show_step_picture(trace, step, head, style, name, on_choose=on_choose, preloaded=preloaded)
        below_picture(step)


def _preloaded(trace: AttentionTrace, step: Step) -> list[Step]:
    """Return the other steps that are small enough to be sent in advance."""
    steps = steps_of(trace)
    current = [candidate.name for candidate in steps].index(step.name)
    bounds = [MAX_PRELOADED_BESIDE if abs(index - current) == 1 else MAX_PRELOADED for index in range(len(steps))]
    small = (candidate for candidate, bound in zip(steps, bounds, strict=True) if math.prod(candidate.shape) <= bound)
    return [candidate for candidate in small if candidate.name != step.name and not has_bars(candidate)]
