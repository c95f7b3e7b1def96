"""The stepper: one row of chips with the symbols of a trace's steps, previous, next, play, guess first."""

import re
from collections.abc import Callable

import numpy as np
import streamlit as st

from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.bounds import as_markdown
from attention_core.charts.design import weights_ramp
from attention_core.charts.heatmap import matrix_chart
from attention_core.explain.guess import compare, options
from ui.chart import draw_chart
from ui.figures import say_subject
from ui.labels import literal, said
from ui.layout import role_colour
from ui.player import Player
from ui.state import Field, choice, selected, set_widget, whole_number, widget_value

SECONDS_PER_STEP = 2.0
HIDE = '<style>[class*="st-key-tells_"] { filter: blur(1rem) grayscale(1) opacity(0.2); pointer-events: none; }</style>'
"""For what gives a guess away elsewhere on a page: it stands in a container whose key begins with tells_."""
MOST_CLICKED = 24
"""Rows and columns up to which a guess is a click into the empty matrix; beyond, it is one of three columns."""


class Stepper(Player[str]):
    """Steps through a trace; the step is in the address as `?step=`.

    Args:
        page: on whose page.
        name: tells it from another stepper of the page.
        first: the step to open on, or a function that says which; "" = the first one.
        address: what the step is called in the address.
        modifier: see Player.
    """

    def __init__(
        self,
        page: str,
        name: str = "step",
        first: str | Callable[[], str] = "",
        address: str = "step",
        modifier: str = "",
    ) -> None:
        super().__init__(Field(page, name, first, address=address), SECONDS_PER_STEP, modifier)
        self.guesses = Field(page, f"{name}_guess", False, address="guess" if address == "step" else f"{address}_guess")
        self.revealed = Field(page, f"{name}_revealed", "", address=f"{address}_revealed")
        self.guessed: Field[tuple[str, int, int] | None] = Field(
            page,
            f"{name}_guessed",
            None,
            address=f"{address}_guessed",
            parse=_cell,
            text=lambda cell: ".".join(map(str, cell)),
        )

    def draw(self, trace: AttentionTrace) -> Step:
        say_subject(trace.story.mechanism)
        by_name = {step.name: step for step in steps_of(trace)}
        names = list(by_name)
        self.field.among(names)
        self.follow(names)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{self.name}_stepper"):
            chips = {name: _chip(step) for name, step in by_name.items()}
            choice("Step", self.field, chips, label_visibility="collapsed", wrap=True)
            self.previous_button(names)
            self.next_button(names)
            self.play_button(names)
            self.guesses.widget(
                st.toggle, "Guess first", help="Say where the largest number will be, then reveal the step."
            )
        step = by_name[self.field.value]
        if self.revealed.value != step.name:
            self.revealed.value = ""  # who comes back to a step guesses it again
        return step

    def hides(self, trace: AttentionTrace, step: Step, query: int = 0, head: int = 0) -> bool:
        """Return whether the step is still to be guessed, and take the guess if so; later compare it with what is so.

        Args:
            trace: that is stepped through.
            step: the present one.
            query: the chosen one, in whose row the largest number is to be guessed.
            head: the chosen one.
        """
        if not self.guesses.value:
            return False
        row = query if step.row_axis is trace.story.query_axis else 0
        if self.revealed.value == step.name:
            self._tell(step, head)
            return False
        colour, (rows, columns) = role_colour(step.role), step.shape
        st.html(
            f'{HIDE}<p style="font-size:1.25rem;margin:0.5rem 0"><b style="color:{colour}">{step.title}</b>: '
            f"{rows:,} × {columns:,} numbers, still hidden.</p>"
        )
        self._ask(step, head, row)
        st.button("Reveal", key=f"{self.name}_reveal", type="primary", on_click=self._reveal, args=(step.name,))
        return True

    def _ask(self, step: Step, head: int, row: int) -> None:
        """Take the guess where the largest number is: a click into an empty matrix, or one of three columns."""
        if max(step.shape) <= MOST_CLICKED:
            st.caption("Click the cell that you expect to hold the largest number of its row.")
            name, *cell = self.guessed.value or ("", 0, 0)
            marked_row, marked_col = cell if name == step.name else (row, None)
            chart = matrix_chart(
                np.full(step.shape, np.nan),
                step.row_axis,
                step.col_axis,
                step.role,
                size=330,
                select="cell",
                marked_row=marked_row,
                marked_col=marked_col,
                ramp=weights_ramp(2),
                bar=False,
            )
            key = f"{self.name}_empty_{step.name}"

            def take_click() -> None:
                for cell in selected(key, "cell"):
                    self.guessed.value = (step.name, int(cell["row"]), int(cell["col"]))

            words = f"An empty matrix of {step.shape[0]} by {step.shape[1]}: click where the largest number will be"
            draw_chart(
                chart,
                width="content",
                key=key,
                alt=words,
                on_select=take_click,
                selection_mode="cell",
            )
        elif columns := options(step, head, row):
            key, labels = f"{self.name}_option", step.col_axis.labels
            names = {
                column: f"{letter}: {said(labels[column])}" for letter, column in zip("ABC", columns, strict=False)
            }
            name, guessed_row, guess = self.guessed.value or ("", row, None)
            set_widget(key, guess if (name, guessed_row) == (step.name, row) and guess in columns else None)

            def take_option() -> None:
                column = widget_value(key)
                self.guessed.value = None if column is None else (step.name, row, column)

            label = f"In the row of {said(step.row_axis.labels[row])}: where is the largest of these numbers?"
            st.segmented_control(label, columns, format_func=names.__getitem__, key=key, on_change=take_option)

    def _tell(self, step: Step, head: int) -> None:
        name, row, column = self.guessed.value or ("", 0, 0)
        if name != step.name or row >= step.shape[0] or column >= step.shape[1]:
            return
        told, labels, asks = compare(step, head, row, column), step.col_axis.labels, literal(step.row_axis.labels[row])
        yours = f"In the row of {asks} you expected the largest number at {literal(labels[column])}"
        if not told.rank:
            st.success(f"{yours}. **Right**: it is {told.largest:.3g}.")
        else:
            larger = f"{told.rank:,} other number{' is' if told.rank == 1 else 's are'} larger"
            best = f"The largest is {told.largest:.3g}, at {literal(labels[told.best])}."
            st.info(f"{yours}: {told.value:.3g}, and {larger}. {best}")

    def _reveal(self, name: str) -> None:
        self.revealed.value = name


def _chip(step: Step) -> str:
    """Return a step's words, as short as its title allows, and its symbol, which the skeleton's style puts below."""
    words = re.split("[:,]", step.title)[0]
    return words if words.lower() == step.symbol.lower() else f"{as_markdown(words)} :small[{as_markdown(step.symbol)}]"


def _cell(text: str) -> tuple[str, int, int]:
    name, row, column = text.split(".")
    return name, whole_number(row), whole_number(column)
