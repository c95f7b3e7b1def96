"""Players go along a sequence, or the steps of a trace, by buttons, keys or a clock; what pages show of a step.

One player of a page plays at a time.
"""

import json
import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
import torch

from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz
from attention_core.attention.recording import Recording
from attention_core.attention.steps import cell_formula, row_table, step_of, steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import UNKNOWN, Role, Step
from attention_core.attention.view.pack import share_parts, step_data
from attention_core.attention.wording import counted
from attention_core.bounds.harmless import as_cell, as_markdown
from attention_core.charts import STEP_SIZE, step_chart
from attention_core.charts.bars import SERIES
from attention_core.charts.overlay import glow_ramp, image_png, overlay, strongest_weight
from attention_core.charts.vega import Chart, Ramp
from attention_core.device import to_array
from attention_core.explain.guess import KeyPicture, compare, options
from ui.chart import address, draw_map, file_name, note_picture, picture_address, say_subject
from ui.component import component
from ui.labels import distinct, error_markdown, explain, literal
from ui.layout import bar_rows, figures_table, ink_ramp, role_colour, section
from ui.lecture.hall.corner import ITEM_ASKS
from ui.lecture.hall.questions import ask_hall_about, show_hall_about, where_in_picture
from ui.lecture.mode import LECTURE
from ui.state import (
    APP,
    PLAYING,
    Field,
    Value,
    component_message,
    set_widget,
    single_choice,
    whole_number,
    widget_value,
)
from ui.try_this import HIDDEN, ask_guess, show_verdict

TICK, CHANGED = Field(APP, "player_tick", 0.0), Field(APP, "player_changed", "")
"""When the last beat was, by time.monotonic; the player that began or stopped in the run before."""
REST = 0.8
"""Share of a beat after which the next tick counts: the browser's clock and ours do not agree to the millisecond."""
SECONDS_PER_WORD = 0.9
MAX_POSITION_BUTTONS = 48
"""Positions up to which every one has a button of its own; beyond, a slider jumps."""
LONGEST_LABEL = 16


class Player(Generic[Value]):
    """Goes along a sequence of values of a field, a beat of so many seconds each. Draw it inside a fragment that ticks.

    A modifier, such as "Shift+", is held with the arrow keys where these alone do something else. See `live`.
    """

    def __init__(self, field: Field[Value], seconds: float, modifier: str = "") -> None:
        self.field, self.seconds, self.modifier = field, seconds, modifier

    @property
    def name(self) -> str:
        """The key of its field, which is unique and begins the keys of its buttons."""
        return self.field.key

    @property
    def plays(self) -> bool:
        return PLAYING.value == self.name

    def advance_if_due(self, values: Sequence[Value]) -> None:
        """Go on when its time has come, and stop at the end; call it before the controls are drawn."""
        if CHANGED.value == self.name:
            CHANGED.value = ""
            st.rerun()  # the whole page, so that the fragment's clock starts or stops
        if not self.plays or time.monotonic() - TICK.value < REST * self.seconds:
            return
        if self.field.value == values[-1]:  # for a whole beat: no late message of the browser can take it back
            PLAYING.value = ""
            st.rerun()
        TICK.value = time.monotonic()
        self.go(values, 1)

    def go(self, values: Sequence[Value], by: int) -> None:
        """Go some places forth, or back if negative, up to the ends; from the first where it is at none of them."""
        at = values.index(self.field.value) if self.field.value in values else 0
        self.field.value = values[max(0, min(len(values) - 1, at + by))]

    def previous_button(self, values: Sequence[Value], says: str = "Previous") -> None:
        self._button("Previous", values, -1, says=says, icon=":material/chevron_left:", shortcut=f"{self.modifier}Left")

    def next_button(self, values: Sequence[Value], says: str = "Next", **look: str) -> None:
        self._button(
            "Next",
            values,
            1,
            says=says,
            icon=":material/chevron_right:",
            icon_position="right",
            shortcut=f"{self.modifier}Right",
            **look,
        )

    def play_button(self, values: Sequence[Value], says: str = "Play") -> None:
        """Draw the button that starts and stops going on by itself."""
        st.button(
            "Pause" if self.plays else says,
            key=f"{self.name}_play",
            icon=":material/pause:" if self.plays else ":material/play_arrow:",
            on_click=self._toggle,
            args=(values,),
        )

    def _press(self, values: Sequence[Value], by: int) -> None:
        drawn = f"{self.name}_drawn"
        self.field.value = widget_value(drawn)  # of a press during a run the browser says where it was before that run
        self.go(values, by)
        set_widget(drawn, self.field.value)

    def _button(self, label: str, values: Sequence[Value], by: int, says: str = "", **look: str) -> None:
        set_widget(f"{self.name}_drawn", self.field.value)
        end = values[0 if by < 0 else -1]
        st.button(
            says or label,
            key=f"{self.name}_{label.lower()}",
            disabled=self.field.value == end,
            on_click=self._press,
            args=(values, by),
            **look,  # type: ignore[arg-type]
        )

    def _toggle(self, values: Sequence[Value]) -> None:
        starts = not self.plays
        PLAYING.value = self.name if starts else ""
        CHANGED.value, TICK.value = self.name, time.monotonic()
        if starts and self.field.value == values[-1]:
            self.field.value = values[0]


class Walk(Player[int]):
    """Walks along positions, from 0, in the address as `?at=`; the label says what a position is."""

    def __init__(self, page: str, *, first: int = 0, label: str = "Word") -> None:
        super().__init__(Field(page, "at", first, address="at", parse=whole_number), SECONDS_PER_WORD)
        self.label = label

    def draw(self, labels: Sequence[str], stops: Collection[int] = ()) -> int:
        """Draw the controls and return the present position; `labels` has one per position, at least one.

        In a lecture, next and previous lead to the stops alone; none = to all.
        """
        places = range(len(labels))
        self.field.clamp(0, places[-1])
        self.advance_if_due(places)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            within = {*stops, self.field.value} if stops and LECTURE.value else places
            led_to = [place for place in places if place in within]
            self.previous_button(led_to)
            self.next_button(led_to)
            self.play_button(places)
            st.caption(f"{self.label} {self.field.value + 1} of {len(places)}")
        if len(places) > MAX_POSITION_BUTTONS:
            self.field.widget(st.slider, self.label, 0, places[-1], label_visibility="collapsed")
        elif len(places) > 1:
            names = dict(enumerate(distinct([_short(label) for label in labels])))
            single_choice(self.label, self.field, names, label_visibility="collapsed", wrap=True)
        return self.field.value


def _short(text: str) -> str:
    """Return Markdown that shows a word as it was typed, cut if it is very long."""
    cut = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return as_markdown(cut)


SECONDS_PER_STEP = 2.0
HIDE = f'<style>[class*="st-key-tells_"] {HIDDEN}</style>'
"""For what gives a guess away elsewhere on a page: it stands in a container whose key begins with tells_."""
HALL = "hall."
"""Before the name of a step of which the hall's guesses are shown, and then the step itself."""
MAX_CLICKABLE_SIDE = 24
"""Rows and columns up to which a guess is a click into the empty matrix; beyond, it is one of three columns."""


STORY = Role.SCORES, Role.WEIGHTS, Role.CONTEXT
"""What a lecture stops at of a trace, besides its last step."""


def stops_of(steps: Iterable[Step], now: str) -> list[str]:
    """Return the names of the steps that next and previous lead to: all, and in a lecture those of the story."""
    names = {step.name: step.role for step in steps}
    if not LECTURE.value:
        return list(names)
    last = {role: name for name, role in names.items()}  # of each role the one that the next is made of
    story = {now, *list(names)[-1:], *(last.get(role, "") for role in STORY)}
    return [name for name in names if name in story]


class Stepper(Player[str]):
    """Steps through a trace; the step is in the address as `?step=`, at first the first one unless told; see Player."""

    def __init__(self, page: str, first: str | Callable[[], str] = "", modifier: str = "") -> None:
        super().__init__(Field(page, "step", first, address="step"), SECONDS_PER_STEP, modifier)
        self.guesses = Field(page, "step_guess", False, address="guess")
        self.revealed = Field(page, "step_revealed", "", address="step_revealed")
        self.guessed: Field[tuple[str, int, int] | None] = Field(
            page,
            "step_guessed",
            None,
            address="step_guessed",
            parse=_cell,
            text=lambda cell: ".".join(map(str, cell)),
        )

    def draw(
        self, trace: AttentionTrace, query: int = 0, head: int = 0, picture: KeyPicture | None = None
    ) -> Step | None:
        """Draw the controls, and the guess at the largest number of a row where one is wanted; return the present step.

        None = it must stay hidden until somebody has guessed. The picture has the keys as its cells, if any has.
        """
        say_subject(trace.story.mechanism)
        by_name = {step.name: step for step in steps_of(trace)}
        names = list(by_name)
        self.field.clamp_to_options(names)
        self.advance_if_due(names)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            chips = {name: _chip(step) for name, step in by_name.items()}
            single_choice("Step", self.field, chips, label_visibility="collapsed", wrap=True)
            stops = stops_of(by_name.values(), self.field.value)
            self.previous_button(stops)
            self.next_button(stops)
            self.play_button(names)
            self.guesses.widget(st.toggle, "Guess first")
        step = by_name[self.field.value]
        if self.revealed.value not in (step.name, f"{HALL}{step.name}"):
            self.revealed.value = ""  # who comes back to a step guesses it again
        if not self.guesses.value or ITEM_ASKS.value:
            return step
        row = query if step.row_axis is trace.story.query_axis else 0
        if self.revealed.value == step.name:
            self._draw_result(step, head)
            return step
        if self.revealed.value:
            show_hall_about(step, head, row, picture)
            self._reveal_button("Go on", step.name)
        else:
            self._draw_guess(trace, step, head, row, picture)
        return None

    def _toggle(self, values: Sequence[str]) -> None:
        now = self.field.value
        super()._toggle(values)
        if self.plays and self.field.value == now:
            self.go(values, 1)  # what is there already may stand still

    def _draw_guess(self, trace: AttentionTrace, step: Step, head: int, row: int, picture: KeyPicture | None) -> None:
        colour, (rows, columns) = role_colour(step.role), step.shape
        st.html(
            f'{HIDE}<p style="font-size:1.25rem;margin:0.5rem 0"><b style="color:{colour}">{step.title}</b>: '
            f"{rows:,} × {columns:,} numbers, still hidden.</p>"
        )
        self._draw_question(trace, step, head, row, picture)
        is_asked = ask_hall_about(step, head, row, picture)
        self._reveal_button("Reveal", f"{HALL if is_asked else ''}{step.name}")

    def _reveal_button(self, label: str, shows: str) -> None:
        st.button(label, key=f"{self.name}_reveal", type="primary", on_click=self.revealed.take, args=(shows,))

    def _draw_question(
        self, trace: AttentionTrace, step: Step, head: int, row: int, picture: KeyPicture | None
    ) -> None:
        """Take the guess where the largest number is: a click into a picture or an empty matrix, one of three keys."""
        if picture and picture.shows(step.col_axis):
            self._draw_picture_question(step, row, picture)
        elif max(step.shape) <= MAX_CLICKABLE_SIDE:
            st.caption("Click the cell that you expect to hold the largest number of its row.")
            name, *cell = self.guessed.value or ("", 0, 0)
            look = StepLook(cell[0], cell[1], 330) if name == step.name else StepLook(row, size=330)

            def take_cell(row: int, column: int) -> None:
                self.guessed.value = (step.name, row, column)

            empty = replace(
                step, role=Role.WEIGHTS, code="", origin=UNKNOWN, compute=lambda *_: torch.full(step.shape, math.nan)
            )
            show_step_chart(trace, empty, head, lambda _: look, f"{self.name}_empty", on_choose=take_cell)
        elif columns := options(step, head, row):
            labels = step.col_axis.labels
            names = {
                column: f"{letter}: {error_markdown(labels[column])}"
                for letter, column in zip("ABC", columns, strict=False)
            }
            name, guessed_row, guess = self.guessed.value or ("", row, None)

            def take_option(column: int | None) -> None:
                self.guessed.value = None if column is None else (step.name, row, column)

            question = f"In the row of {error_markdown(step.row_axis.labels[row])}: where is the largest number?"
            chosen = guess if (name, guessed_row) == (step.name, row) else None
            ask_guess(question, names, f"{self.name}_option", chosen, take_option)

    def _draw_picture_question(self, step: Step, row: int, picture: KeyPicture) -> None:
        name, guessed_row, guess = self.guessed.value or ("", row, None)
        marked = guess if (name, guessed_row) == (step.name, row) else None
        st.caption(f"Click: {where_in_picture(step, row, picture)}")
        image = picture.with_query(step.row_axis, row).repeat(8, 0).repeat(8, 1)  # so that pixels stay sharp

        def take_cell(cell: int) -> None:
            self.guessed.value = (step.name, row, cell)

        key, nothing, axis = f"{self.name}_picture_{step.name}", np.zeros(picture.grid), step.col_axis.name
        draw = partial(draw_map, nothing, image, key, "The picture", size=420, smooth=False, axis=axis)
        draw(tells="your guess?", chosen=marked, take=take_cell)

    def _draw_result(self, step: Step, head: int) -> None:
        name, row, column = self.guessed.value or ("", 0, 0)
        if name != step.name or row >= step.shape[0] or column >= step.shape[1]:
            return
        guess, labels = compare(step, head, row, column), step.col_axis.labels
        asks, best = literal(step.row_axis.labels[row]), literal(labels[guess.best])
        yours = f"In the row of {asks} you expected the largest number at {literal(labels[column])}."
        larger = f"{guess.rank:,} other number{' is' if guess.rank == 1 else 's are'} larger"
        outcome = f"It is {guess.value:.3g}, and {larger}. The largest is {guess.largest:.3g}, at {best}."
        show_verdict(yours, not guess.rank, outcome if guess.rank else f"it is {guess.largest:.3g}.")


def _chip(step: Step) -> str:
    """Return a step's words, as short as its title allows, and its symbol, which the skeleton's style puts below."""
    words = re.split("[:,]", step.title)[0]
    return words if words.lower() == step.symbol.lower() else f"{as_markdown(words)} :small[{as_markdown(step.symbol)}]"


def _cell(text: str) -> tuple[str, int, int]:
    name, row, column = text.split(".")
    return name, whole_number(row), whole_number(column)


CODE_OPEN = "desk_code_open"
OFFLINE_BYTES = 2_000_000
MAX_OFFLINE = 50_000_000  # weights of a trace; more would keep the server for long


def show_words(
    trace: AttentionTrace,
    step: Step,
    head: int,
    query: int,
    name: str,
    key: int | None = None,
    numbers: str | None = None,
    *,
    folds_formula: bool = False,
) -> None:
    """Draw the step's heading, shape, formula, meaning, the numbers of one cell, and its code (folded).

    The cell is that of a key, None = of the one that show_step_chart frames under the same name; numbers stand in its
    place.
    """
    with st.container(key="step_words"):
        show_step_heading(step, folds_formula=folds_formula)
        key = told_key(trace, head, query, name) if key is None else key
        if numbers := numbers or cell_formula(trace, step, head, query, key):
            st.latex(numbers)
        with st.container(key=f"desk_code_{step.name}"):  # the last of the words, see moving_step.js
            place = st.expander("PyTorch", key=CODE_OPEN, on_change="rerun")
            if place.open:  # what colours code is a third of what a browser would load for the page
                place.code(step.code)


def show_step_heading(step: Step, *, folds_formula: bool = False) -> None:
    """Draw the step's heading, shape, formula and meaning; a formula that is folded comes last."""
    section(step.title, step.role, step.name)
    rows, cols = step.shape
    st.caption(f"{counted(rows, step.row_axis.name)} × {counted(cols, step.col_axis.name)}")
    lines = step.formula.replace(r"\qquad", r"\\")  # side by side they do not fit beside a picture
    place = st.container()
    st.markdown(step.explanation, help=explain(step.title, step.symbol, step.explanation))
    with st.expander("The formula") if folds_formula else place:
        st.latex(rf"\begin{{gathered}} {lines} \end{{gathered}}")


_moving_step = component("moving_step")
MOST_AHEAD, MOST_BESIDE = 3000, 30_000
"""Numbers of a step, and of the next or the last, that a browser has before anybody goes to it."""
LARGEST_PART, LARGEST_SHOWN = 2000, 24_000
"""Letters of a part of steps' data beyond which a browser fetches it as a file, once; of what it shows at once."""


MOST_BARS = 12
"""The likeliest classes that are drawn of an answer."""


class StepLook(NamedTuple):
    """How a step's numbers are drawn."""

    query: int | None = None  # the row with a frame
    column: int | None = None  # whose numbers move first, None = of the key that words tell of, or of the largest one
    size: int = STEP_SIZE  # screen pixels that the longer side has at most
    reach: float = 0.0  # a number that has the strongest colour where none is larger
    shown: Sequence[int] | None = None  # the columns, None = all
    over: np.ndarray | None = None  # picture below weights, or in place of ink, uint8 (height, width, 3 or 4)
    framed: Sequence[tuple[int, int]] = ()  # cells (row, column) with a frame of the context's colour
    n_keys: int = 0  # of a query, where rows and columns are not queries and keys
    glow: float = 0.0  # the weight of the strongest colour, on the scale of maps over pictures; 0 = that of a matrix


def told_key(trace: AttentionTrace, head: int, query: int, name: str) -> int:
    """Return the key of whose number words tell: that clicked last in the query's row, else the heaviest."""
    chosen = component_message(f"{name}_moving_step", "chosen") or {}
    axes = trace.story.query_axis, trace.story.key_axis
    is_of_keys = any(one.name == chosen.get("step") and (one.row_axis, one.col_axis) == axes for one in steps_of(trace))
    if is_of_keys and int(chosen["row"]) == query and int(chosen["column"]) in range(trace.n_keys):
        return int(chosen["column"])
    return int(trace.weights(head, [query])[0].argmax())


def at_query(trace: AttentionTrace, query: int) -> Callable[[Step], StepLook]:
    """Return how steps are drawn of which a query's row has a frame."""
    return lambda step: StepLook(query if step.row_axis is trace.story.query_axis else None)


def _with_told_key(
    look: Callable[[Step], StepLook | None], trace: AttentionTrace, head: int, name: str, has_words: bool, step: Step
) -> StepLook | None:
    seen, axes = look(step), (trace.story.query_axis, trace.story.key_axis)
    if not (seen and has_words) or seen.column is not None or (step.row_axis, step.col_axis) != axes:
        return seen
    return seen._replace(column=told_key(trace, head, seen.query or 0, name))


def show_step_chart(
    trace: AttentionTrace,
    step: Step,
    head: int,
    look: Callable[[Step], StepLook | None],
    name: str,
    *,
    stepper: Stepper | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    asks: Field[Any] | None = None,
) -> None:
    """Draw the step's numbers, and let them move: how they come about; bars of a single row of probabilities.

    The look is that of every step, None where the page draws it in another way. Where the stepper is given, the picture
    changes with the words beside it, in one frame, and frames the number of which show_words tells. on_choose is called
    with row and column of a number that is clicked; asks is the query, to be set to its row where rows are queries.
    """
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    look = partial(_with_told_key, look, trace, head, name, bool(stepper))
    now = look(step) or StepLook()
    note_picture(partial(_chart_of, step, head, now, ink_ramp()), words, step.name)
    if _has_bars(step):
        shares = to_array(step.value(head).float())[0]
        shown = sorted((-shares).argsort()[:MOST_BARS])
        bars = bar_rows((step.col_axis.labels[at], float(shares[at]), SERIES[0]) for at in shown)
        st.html(f'<div class="step-bars">{bars}</div>', width=now.size)
        return
    key = f"{name}_moving_step"

    def take() -> None:
        chosen = component_message(key, "chosen")
        if not chosen or chosen.get("step") != step.name:
            return  # it is of the step before
        row, column = int(chosen["row"]), int(chosen["column"])
        if not (0 <= row < step.shape[0] and 0 <= column < step.shape[1]):
            return  # of numbers that stood here before
        if on_choose:
            on_choose(row, column)
        elif asks and step.row_axis is trace.story.query_axis:
            asks.value = row

    steps, sent = {one.name: one for one in steps_of(trace)} | {step.name: step}, {}
    names, is_ahead = [*steps], stepper and not stepper.guesses.value
    place = names.index(step.name)
    for at, one in enumerate(steps.values()):
        most = MOST_BESIDE if abs(at - place) == 1 else MOST_AHEAD
        is_sent = at == place or (is_ahead and math.prod(one.shape) <= most and not _has_bars(one))
        if is_sent and (seen := look(one)):
            sent[one.name] = step_data(trace, one, head, seen.query, shown=seen.shown) | seen._asdict()
            if seen.over is not None:
                glow = one.role is Role.WEIGHTS and strongest_weight(one.shape[1], float(one.value(head).max()))
                sent[one.name] |= {"over": picture_address(image_png(seen.over)), "glow": glow}
    parts, own = share_parts(sent.values()), sent.get(step.name, {})
    at_once = [one for one in (own, own.get("before"), *own.get("factors", [])) if one]
    places = {one[part] for one in at_once for part in {"data", "rows", "columns"} & one.keys()}
    filed = [_filed(part, LARGEST_SHOWN if at in places else LARGEST_PART) for at, part in enumerate(parts)]
    data = {"now": step.name, "steps": sent, "parts": filed, "follows": bool(stepper)}
    _moving_step(key=key, data=data, default={"chosen": None}, on_chosen_change=take)


def _filed(part: Any, most: int) -> Any:
    """Return a part of steps' data, or in which file the browser finds it; more letters than most are in a file."""
    text = json.dumps(part)
    file = len(text) > most and address(text.encode(), "json")
    return {"file": file} if file else part


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


def _chart_of(step: Step, head: int, look: StepLook, ink: Ramp) -> Chart:
    """Return what is saved of a step: its picture in the page's way."""
    if look.over is None:
        cell = [] if look.column is None or step.code else [(look.query or 0, look.column)]
        return step_chart(
            step,
            head,
            query=look.query,
            column=look.column,
            size=look.size,
            ink=ink,
            shown=look.shown,
            framed=[*look.framed, *cell],
            n_keys=look.n_keys,
            reach=look.reach,
            ramp=glow_ramp(len(step.col_axis), look.glow, float(step.value(head).max())) if look.glow else None,
        )
    grid, is_map = step.picture[0] or (1, 1), step.role is not Role.INPUT
    weights = is_map * to_array(step.value(head).float()).ravel()[: math.prod(grid)].reshape(grid)
    marked = look.column if look.column in range(weights.size) else None  # the empty key lies nowhere in a picture
    return overlay(look.over, weights, size=look.size - 120, smooth=False, bar=is_map, marked=marked)


def _has_bars(step: Step) -> bool:
    return step.role is Role.OUTPUT and step.shape[0] == 1


def query_row(trace: AttentionTrace, head: int, query: int, n: int, key_words: str) -> None:
    """Draw the table of the n keys to which a query gives most, and the sums that it rests on."""
    table = row_table(trace, head, query, n)
    rows = (
        (key, "" if math.isnan(score) else f"{score:.2f}", f"{exponential:.3g}", f"{weight:.4f}", f"{contribution:.4f}")
        for key, score, exponential, weight, contribution in table.itertuples(index=False)
    )
    figures_table((f"key ({key_words})", "score", "exp(score)", "weight", "weight × |value|"), *rows)
    total = float(trace.log_normaliser[head, query].exp())
    if not trace.edits:  # which may set weights beside the softmax
        st.caption(f"weight = exp(score) / {_rounded(total)}, the row's sum; all alike: {1 / trace.n_keys:.4f}.")


def _rounded(total: float) -> str:
    return f"{total:,.0f}" if 1000 <= total < 1e9 else f"{total:.4g}"


def export_bar(
    trace: AttentionTrace,
    name: str,
    *,
    head: int = 0,
    query: int | None = None,
    about: str = "",
    recording: Recording | None = None,
    **seen: Any,
) -> None:
    """Offer the trace as numbers and as a page, the chosen query's row as a table, and the code of the chosen step.

    Files are made when they are asked for, not at every rerun; their names say page, model, head and step, or what they
    are about after the page's name. The recording is all that the page shows, this trace alone if None; seen is what
    Recording.show() can be told besides.
    """
    steps = [step.name for step in steps_of(trace)]
    chosen = widget_value(f"{name}_step")
    step = chosen if chosen in steps else "weights"
    of_head = f"head {head + 1}" if trace.n_heads > 1 else ""
    whole = file_name(name, about or f"{trace.story.mechanism} {trace.story.name} {of_head}")
    here = file_name(whole, step)
    looked_at = trace, step, head, query or 0
    files: dict[str, tuple[str, str, Callable[[], str | bytes]]] = {
        "npz": ("Numbers", f"{whole}.npz", partial(trace_to_npz, trace)),
        "code": ("Script", f"{here}.py", partial(trace_to_code, *looked_at)),
        "ipynb": ("Notebook", f"{here}.ipynb", partial(trace_to_notebook, *looked_at)),
    }
    if trace.n_heads * trace.n_queries * trace.n_keys <= MAX_OFFLINE:
        page = partial(offline_page, recording or Recording([trace]), trace, head=head, query=query, **seen)
        files["html"] = "Offline page", f"{whole}.html", page
    if recording:
        files["bib"] = "Citation", f"{whole}.bib", recording.to_bibtex
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for kind, (label, file, make) in files.items():
            st.download_button(label, make, file, on_click="ignore", key=f"{name}_{kind}")
        if query is not None:
            row = partial(_row_of, trace, head, query)
            download_table("Row", row, f"{whole}-query-{query + 1}.csv", f"{name}_row")


def _row_of(trace: AttentionTrace, head: int, query: int) -> pd.DataFrame:
    table = trace_to_frame(trace, head, rows=slice(query, query + 1))
    return table.assign(query=table["query"] + 1, key=table["key"] + 1)


def offline_page(recording: Recording, trace: AttentionTrace, **seen: Any) -> str:
    """Return what is on the screen as a file that needs no server: heads to be hovered, steps to be walked through."""
    place = recording.traces.index(trace)
    return recording.show(place, steps=steps_of(trace), most_bytes=OFFLINE_BYTES, **seen).page()


def _sheet(table: pd.DataFrame) -> str:
    """Return a table as comma-separated values that a spreadsheet takes for no formulas."""
    texts = {name: column.map(as_cell) for name, column in table.items() if column.map(type).eq(str).all()}
    return table.assign(**texts).to_csv(index=False)


def download_table(label: str, make: Callable[[], pd.DataFrame], file: str, key: str) -> None:
    """Offer a table as a file of comma-separated values, which is made when it is asked for."""
    st.download_button(f"{label} (.csv)", lambda: _sheet(make()), file, on_click="ignore", key=key)
