"""A step's numbers as an animation of how they come about, as a chart, or as bars."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.attention.view.pack import share_parts, step_data
from attention_core.attention.wording import format_count
from attention_core.charts.bars import SERIES
from attention_core.charts.chart import Chart
from attention_core.charts.matrix import MAX_RECT_SIDE
from attention_core.charts.overlay import glow_ramp, image_png, overlay, strongest_weight
from attention_core.charts.ramps import Ramp
from attention_core.charts.step import STEP_SIZE, step_chart
from attention_core.device import to_array
from ui.chart import draw_chart, file_address, note_picture, picture_address
from ui.component import component
from ui.layout import bar_rows, ink_ramp
from ui.state import APP, Field, chart_selection, component_message

_moving_step = component("moving_step")
MAX_PART_LETTERS, MAX_CURRENT_LETTERS = 2000, 24_000
"""Up to which a part of the steps' data is sent in the message, not as a file; the second for what is shown at once."""
CLICKED_CELLS = Field[list[dict[str, Any]]](APP, "chart_clicked", list)
"""The cell that was clicked last in a chart of a step."""
MAX_BARS = 12  # of the most probable classes
PICTURE_MARGIN = 120  # pixels by which a map over a picture is smaller than a matrix


class StepStyle(NamedTuple):
    """How a step's numbers are drawn."""

    query: int | None = None  # the row with a frame
    column: int | None = None  # of the number that moves first; None = the one in the text, or the largest
    size: int = STEP_SIZE  # of the longer side, in screen pixels, at most
    reach: float = 0.0  # a number up to which the colours reach at least
    column_indices: Sequence[int] | None = None  # the columns that are drawn, None = all
    over: np.ndarray | None = None  # picture below weights, or in place of ink, uint8 (height, width, 3 or 4)
    framed: Sequence[tuple[int, int]] = ()  # cells (row, column) with a frame of the context's colour
    n_keys: int = 0  # of a query, if rows and columns are not queries and keys
    glow: float = 0.0  # the weight of the strongest colour, in the colours of maps over pictures; 0 = those of a matrix


def picture_key(name: str) -> str:
    """Return the widget key of the picture of this name."""
    return f"{name}_moving_step"


def show_step_picture(
    trace: AttentionTrace,
    step: Step,
    head: int,
    style: StepStyle,
    name: str,
    *,
    on_choose: Callable[[int, int], None] | None = None,
    preloaded: Mapping[Step, StepStyle] | None = None,
) -> None:
    """Draw the step's numbers as an animation; bars of a single row of probabilities.

    on_choose is called with row and column of a clicked number. `preloaded` are other steps that the browser gets in
    advance; None = the step is the only one, without text that changes with it.
    """
    note_picture(partial(_build_chart, step, head, style, ink_ramp()), _caption(step), step.name)
    if has_bars(step):
        _draw_bars(step, head, style.size)
        return
    styles = {step: style, **(preloaded or {})}
    steps = {each.name: _step_data(trace, each, head, each_style) for each, each_style in styles.items()}
    parts = _extract_shared_parts(steps, step.name)
    data = {"now": step.name, "parts": parts, "steps": steps, "follows": preloaded is not None}
    on_click = partial(_on_click, picture_key(name), step, on_choose)
    _moving_step(key=picture_key(name), data=data, default={"chosen": None}, on_chosen_change=on_click)


def show_step_heatmap(
    step: Step, head: int, style: StepStyle, name: str, on_choose: Callable[[int, int], None] | None
) -> None:
    """Draw all numbers of the step as a chart, which shows each under the pointer and can be zoomed and copied."""
    key, is_matrix = f"{name}_chart_{step.name}", step.picture[0] is None and not has_bars(step)
    interaction: dict[str, Any] = {"select": "cell"} if on_choose else {"hover_rows": True}
    chart = _build_chart(step, head, style, ink_ramp(), **interaction if is_matrix else {})

    def on_select() -> None:
        cells = chart_selection(key, "cell")
        if on_choose and cells and cells != CLICKED_CELLS.value:  # else it was zoomed
            CLICKED_CELLS.value = cells
            on_choose(int(cells[0]["row"]), int(cells[0]["col"]))

    clicks: dict[str, Any] = {}
    if on_choose and is_matrix:
        zoom = ["param_zoom"] if max(step.shape) > MAX_RECT_SIDE else []  # which lasts only if the server hears of it
        clicks = {"on_select": on_select, "selection_mode": ["cell", *zoom]}
    draw_chart(chart, alt=_caption(step), key=key, width="content", step=step.name, **clicks)


def _caption(step: Step) -> str:
    rows, columns = map(format_count, step.shape, (step.row_axis.name, step.col_axis.name))
    return f"{step.title}: {rows} by {columns}"


def _draw_bars(step: Step, head: int, width: int) -> None:
    probabilities = to_array(step.value(head).float())[0]
    indices = sorted((-probabilities).argsort()[:MAX_BARS])
    bars = bar_rows((step.col_axis.labels[index], float(probabilities[index]), SERIES[0]) for index in indices)
    st.html(f'<div class="step-bars">{bars}</div>', width=width)


def _on_click(key: str, step: Step, on_choose: Callable[[int, int], None] | None) -> None:
    chosen = component_message(key, "chosen")
    if not on_choose or not chosen or chosen.get("step") != step.name:
        return  # the click was in another step
    row, column = int(chosen["row"]), int(chosen["column"])
    if 0 <= row < step.shape[0] and 0 <= column < step.shape[1]:  # else it was in a larger matrix of this step
        on_choose(row, column)


def _step_data(trace: AttentionTrace, step: Step, head: int, style: StepStyle) -> dict[str, Any]:
    data = step_data(trace, step, head, style.query, column_indices=style.column_indices) | style._asdict()
    if style.over is None:
        return data
    glow = step.role is Role.WEIGHTS and strongest_weight(step.shape[1], float(step.value(head).max()))
    return data | {"over": picture_address(image_png(style.over)), "glow": glow}


def _extract_shared_parts(steps: Mapping[str, dict[str, Any]], current_name: str) -> list[Any]:
    """Remove from the steps' data the parts that they share, and return these, large ones as files."""
    parts, step = share_parts(steps.values()), steps[current_name]
    matrices = filter(None, (step, step["before"], *step["factors"]))
    current = {matrix[name] for matrix in matrices for name in {"data", "rows", "columns"} & matrix.keys()}
    bounds = (MAX_CURRENT_LETTERS if index in current else MAX_PART_LETTERS for index in range(len(parts)))
    return [_in_file_if_large(part, bound) for part, bound in zip(parts, bounds, strict=True)]


def _in_file_if_large(part: Any, max_letters: int) -> Any:
    """Return a part of the steps' data, or the file in which the browser finds it if it has more letters."""
    text = json.dumps(part)
    address = file_address(text.encode(), "json") if len(text) > max_letters else None
    return part if address is None else {"file": address}


def _build_chart(step: Step, head: int, style: StepStyle, ink: Ramp, **interaction: Any) -> Chart:
    """Return a step as a chart in this style; for the interaction see matrix_chart."""
    if style.over is None:
        chosen_cell = [] if style.column is None or step.code else [(style.query or 0, style.column)]
        return step_chart(
            step,
            head,
            query=style.query,
            column=style.column,
            size=style.size,
            ink=ink,
            columns=style.column_indices,
            framed=[*style.framed, *chosen_cell],
            n_keys=style.n_keys,
            reach=style.reach,
            ramp=glow_ramp(len(step.col_axis), style.glow, float(step.value(head).max())) if style.glow else None,
            **interaction,
        )
    grid, is_map = step.picture[0] or (1, 1), step.role is not Role.INPUT
    values = to_array(step.value(head).float()).ravel()[: math.prod(grid)].reshape(grid)
    weights = values if is_map else np.zeros_like(values)
    marked = style.column if style.column in range(weights.size) else None  # the empty key is not in the picture
    return overlay(style.over, weights, size=style.size - PICTURE_MARGIN, smooth=False, bar=is_map, marked=marked)


def has_bars(step: Step) -> bool:
    """Return whether a step is a single row of probabilities, drawn as bars."""
    return step.role is Role.OUTPUT and step.shape[0] == 1
