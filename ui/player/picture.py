"""A step's numbers as a picture that moves: how they come about."""

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
from attention_core.charts.bars import SERIES
from attention_core.charts.chart import Chart
from attention_core.charts.matrix import MAX_RECT_SIDE
from attention_core.charts.overlay import glow_ramp, image_png, overlay, strongest_weight
from attention_core.charts.ramps import Ramp
from attention_core.charts.step import STEP_SIZE, step_chart
from attention_core.device import to_array
from ui.chart import address, draw_chart, note_picture, picture_address
from ui.component import component
from ui.layout import bar_rows, ink_ramp
from ui.state import APP, Field, chart_selection, component_message

_moving_step = component("moving_step")
MAX_PART_LETTERS, MAX_CURRENT_LETTERS = 2000, 24_000
"""Letters of a part of steps' data beyond which a browser fetches it as a file, once; of what it shows at once."""


CLICKED = Field[list[dict[str, Any]]](APP, "chart_clicked", list)
"""The cell that was clicked last in a chart of a step."""
MAX_BARS = 12
"""The likeliest classes that are drawn of an answer."""


class StepLook(NamedTuple):
    """How a step's numbers are drawn."""

    query: int | None = None  # the row with a frame
    column: int | None = None  # whose numbers move first, None = of the key that the text describes, or the largest
    size: int = STEP_SIZE  # screen pixels that the longer side has at most
    reach: float = 0.0  # a number that has the strongest colour where none is larger
    column_indices: Sequence[int] | None = None  # of what is drawn, None = all
    over: np.ndarray | None = None  # picture below weights, or in place of ink, uint8 (height, width, 3 or 4)
    framed: Sequence[tuple[int, int]] = ()  # cells (row, column) with a frame of the context's colour
    n_keys: int = 0  # of a query, where rows and columns are not queries and keys
    glow: float = 0.0  # the weight of the strongest colour, on the scale of maps over pictures; 0 = that of a matrix


def picture_key(name: str) -> str:
    """Return the key of the picture of a name, which begins those of what it takes."""
    return f"{name}_moving_step"


def show_step_picture(
    trace: AttentionTrace,
    step: Step,
    head: int,
    look: StepLook,
    name: str,
    *,
    on_choose: Callable[[int, int], None] | None = None,
    beside: Mapping[Step, StepLook] | None = None,
) -> None:
    """Draw the step's numbers, which move; bars of a single row of probabilities.

    on_choose is called with row and column of a number that is clicked; beside are the other steps that the browser has
    before anybody goes to them, None = nobody can: then no words stand beside the picture.
    """
    note_picture(partial(_chart_of, step, head, look, ink_ramp()), _caption(step), step.name)
    if has_bars(step):
        _show_bars(step, head, look.size)
        return
    looks = {step: look, **(beside or {})}
    sent = {drawing.name: _sent(trace, drawing, head, style) for drawing, style in looks.items()}
    data = {"now": step.name, "parts": _parts(sent, step.name), "steps": sent, "follows": beside is not None}
    take = partial(_take, picture_key(name), step, on_choose)
    _moving_step(key=picture_key(name), data=data, default={"chosen": None}, on_chosen_change=take)


def show_step_heatmap(
    step: Step, head: int, look: StepLook, name: str, on_choose: Callable[[int, int], None] | None
) -> None:
    """Draw the step's numbers, all of them, as a chart to be pointed at, zoomed and copied."""
    key, is_matrix = f"{name}_chart_{step.name}", step.picture[0] is None and not has_bars(step)
    interaction: dict[str, Any] = {"select": "cell"} if on_choose else {"hover_rows": True}
    chart = _chart_of(step, head, look, ink_ramp(), **interaction if is_matrix else {})

    def on_select() -> None:
        cells = chart_selection(key, "cell")
        if on_choose and cells and cells != CLICKED.value:  # and not zoomed
            CLICKED.value = cells
            on_choose(int(cells[0]["row"]), int(cells[0]["col"]))

    clicks: dict[str, Any] = {}
    if on_choose and is_matrix:  # a chart forgets its zoom with other numbers, but where it is told to the server
        clicks = {
            "on_select": on_select,
            "selection_mode": ["cell", *["param_zoom"] * (max(step.shape) > MAX_RECT_SIDE)],
        }
    draw_chart(chart, alt=_caption(step), key=key, width="content", step=step.name, **clicks)


def _caption(step: Step) -> str:
    return f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"


def _show_bars(step: Step, head: int, width: int) -> None:
    shares = to_array(step.value(head).float())[0]
    likeliest = sorted((-shares).argsort()[:MAX_BARS])
    bars = bar_rows((step.col_axis.labels[at], float(shares[at]), SERIES[0]) for at in likeliest)
    st.html(f'<div class="step-bars">{bars}</div>', width=width)


def _take(key: str, step: Step, on_choose: Callable[[int, int], None] | None) -> None:
    chosen = component_message(key, "chosen")
    if not on_choose or not chosen or chosen.get("step") != step.name:
        return  # it is of the step before
    row, column = int(chosen["row"]), int(chosen["column"])
    if 0 <= row < step.shape[0] and 0 <= column < step.shape[1]:  # not of numbers that stood here before
        on_choose(row, column)


def _sent(trace: AttentionTrace, step: Step, head: int, look: StepLook) -> dict[str, Any]:
    data = step_data(trace, step, head, look.query, column_indices=look.column_indices) | look._asdict()
    if look.over is None:
        return data
    glow = step.role is Role.WEIGHTS and strongest_weight(step.shape[1], float(step.value(head).max()))
    return data | {"over": picture_address(image_png(look.over)), "glow": glow}


def _parts(sent: Mapping[str, dict[str, Any]], name: str) -> list[Any]:
    """Take what steps share out of their data and return it, large parts as files; the named step is drawn at once."""
    parts, step = share_parts(sent.values()), sent[name]
    matrices = filter(None, (step, step["before"], *step["factors"]))
    current = {matrix[part] for matrix in matrices for part in {"data", "rows", "columns"} & matrix.keys()}
    bounds = (MAX_CURRENT_LETTERS if index in current else MAX_PART_LETTERS for index in range(len(parts)))
    return [_filed(part, bound) for part, bound in zip(parts, bounds, strict=True)]


def _filed(part: Any, max_letters: int) -> Any:
    """Return a part of steps' data, or in which file the browser finds it where it has more letters."""
    text = json.dumps(part)
    file = len(text) > max_letters and address(text.encode(), "json")
    return {"file": file} if file else part


def _chart_of(step: Step, head: int, look: StepLook, ink: Ramp, **interaction: Any) -> Chart:
    """Return a step as a chart in the page's way; for the interaction see matrix_chart."""
    if look.over is None:
        cell = [] if look.column is None or step.code else [(look.query or 0, look.column)]
        return step_chart(
            step,
            head,
            query=look.query,
            column=look.column,
            size=look.size,
            ink=ink,
            columns=look.column_indices,
            framed=[*look.framed, *cell],
            n_keys=look.n_keys,
            reach=look.reach,
            ramp=glow_ramp(len(step.col_axis), look.glow, float(step.value(head).max())) if look.glow else None,
            **interaction,
        )
    grid, is_map = step.picture[0] or (1, 1), step.role is not Role.INPUT
    weights = is_map * to_array(step.value(head).float()).ravel()[: math.prod(grid)].reshape(grid)
    marked = look.column if look.column in range(weights.size) else None  # the empty key lies nowhere in a picture
    return overlay(look.over, weights, size=look.size - 120, smooth=False, bar=is_map, marked=marked)


def has_bars(step: Step) -> bool:
    return step.role is Role.OUTPUT and step.shape[0] == 1
