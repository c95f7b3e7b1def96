"""The experiment: forbid the attention a digit, a region or the empty key, or let it choose nothing at all."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.interventions import Intervention
from attention_core.charts import overlay
from attention_core.data.drawn_digits import DrawnDigit
from attention_core.data.question_reading import Reading
from attention_core.device import to_array
from attention_core.models.scene_question import Answered
from attention_core.topics.ask import regions_of
from ui.ask.answer import answer, answer_bars, best, big_answer, chosen_scoring, empty_bar, grid_of
from ui.ask.pad import NAME, AskedDrawing
from ui.labels import distinct

EMPTY_KEY = -1
"""Among the choices: block the key that stands for nothing."""
BLOCKED = f"{NAME}_blocked"
SIZE = 250


def experiment_part(drawing: AskedDrawing, reading: Reading, before: Answered) -> None:
    """Let a person block keys or make the attention uniform, and show what the answer becomes."""
    grid, scoring = grid_of(before), chosen_scoring()
    choose, after_map, result = st.columns([0.85, 1.25, 0.95], gap="medium")
    with choose:
        digits = _choose_digits(drawing.digits)
        uniform = st.toggle(
            "Uniform attention",
            key=f"{NAME}_uniform",
            persist_state="session",
            help="Every region and the empty key get the same weight, whatever is asked.",
        )
        clicked = [one for one in st.session_state.get(BLOCKED, []) if 0 <= one < grid[0] * grid[1]]
        if clicked:
            st.button(f"Give the {len(clicked)} clicked regions back", key=f"{NAME}_give_back", on_click=_give_back)
        st.caption(
            "Click the map to block a region and its neighbours, click again to give them back. A region has seen its "
            "surroundings too, so that a digit is blocked with a margin."
        )
    keys = set(clicked) | {key for one in digits if one != EMPTY_KEY for key in regions_of(drawing.digits[one], grid)}
    if EMPTY_KEY in digits:
        keys.add(grid[0] * grid[1])
    intervention = Intervention(scale=0.0 if uniform else 1.0, blocked_keys=tuple(sorted(keys)))
    changed = bool(keys) or uniform
    after = answer(drawing.picture, reading, scoring, intervention) if changed else before
    with after_map:
        _click_map(drawing, after, clicked, [drawing.digits[one].box for one in digits if one != EMPTY_KEY])
    with result:
        big_answer(after)
        series = {"as it is": before, "with your change": after} if changed else {"as it is": before}
        st.altair_chart(
            answer_bars(series, "as it is"), width="stretch", key=f"{NAME}_after", alt="Answers before and after"
        )
        st.caption(_what_became(best(before)[0], best(after)[0], changed))


def _what_became(before: str, after: str, changed: bool) -> str:
    if not changed:
        return "Nothing is changed yet: block a digit, or switch the attention to uniform."
    if before == after:
        return f"The answer stays {before}: what you took away was not needed, or a neighbour knew it too."
    return f"The answer was {before} and is now {after}."


def _choose_digits(digits: list[DrawnDigit]) -> list[int]:
    """Let a person choose digits to block; the empty key is one of the choices."""
    names = dict(enumerate(distinct([f"{one.colour}, {one.place}" for one in digits])))
    names[EMPTY_KEY] = "the empty key"
    key = f"{NAME}_block"
    st.session_state[key] = [one for one in st.session_state.get(key, []) if one in names]
    return st.pills(
        "Block",
        list(names),
        format_func=lambda one: names[one],
        selection_mode="multi",
        key=key,
        persist_state="session",
    )


def _click_map(drawing: AskedDrawing, after: Answered, clicked: list[int], boxes: list) -> None:
    grid = grid_of(after)
    weights = to_array(after.looks[-1].weights()[0])
    rows, columns = grid
    cells = [
        (one // columns / rows, one % columns / columns, (one // columns + 1) / rows, (one % columns + 1) / columns)
        for one in clicked
    ]
    with st.container(horizontal=True, gap="small"):
        st.altair_chart(
            overlay(drawing.canvas, weights[:-1].reshape(grid), size=SIZE, boxes=[*boxes, *cells], select="region"),
            width="content",
            key=f"{NAME}_click",
            on_select=lambda: _take_click(grid),
            selection_mode="region",
            alt="The last look's map over the drawing; click a region to block it",
        )
        st.html(empty_bar(float(weights[-1]), SIZE), width="content")
    st.caption(f"Look {len(after.looks)}, the last one, with your change. Dashed: blocked.")


def _take_click(grid: tuple[int, int]) -> None:
    """Block the clicked region and its neighbours, or give them back; runs before the page does."""
    clicked = st.session_state[f"{NAME}_click"]["selection"].get("region")
    if not clicked:
        return
    row, column = divmod(int(clicked[0]["position"]), grid[1])
    near = [
        down * grid[1] + across
        for down in range(max(0, row - 1), min(grid[0], row + 2))
        for across in range(max(0, column - 1), min(grid[1], column + 2))
    ]
    blocked = set(st.session_state.get(BLOCKED, []))
    here = row * grid[1] + column
    st.session_state[BLOCKED] = sorted(blocked - set(near) if here in blocked else blocked | set(near))


def _give_back() -> None:
    st.session_state[BLOCKED] = []
