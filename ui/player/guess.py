"""A guess at the largest number of a row, before a step's numbers are to be seen."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import NO_ORIGIN, Role, Step
from attention_core.explain.guess import KeyPicture, compare, options
from ui.chart import draw_map
from ui.labels import error_markdown, literal
from ui.layout import role_colour
from ui.lecture.hall.questions import ask_hall_for_largest, picture_question, show_hall_guesses
from ui.player.picture import StepStyle, show_step_picture
from ui.state import Field, whole_number
from ui.try_this import HIDDEN_CSS, ask_guess, show_verdict

HIDE = f'<style>[class*="st-key-tells_"] {HIDDEN_CSS}</style>'
"""For what gives a guess away elsewhere on a page: it stands in a container whose key begins with tells_."""
HALL = "hall."
"""Before the name of a step of which the hall's guesses are shown, and then the step itself."""
MAX_CLICKABLE_SIDE = 24
"""Rows and columns up to which a guess is a click into the empty matrix; beyond, it is one of three columns."""


class Guess:
    """What a visitor of a page has guessed of which step; name begins the keys of its widgets.

    Attributes:
        is_on: whether steps have to be guessed.
        revealed: the step whose numbers may be seen after a guess.
        cell: step, row and column that were guessed.
    """

    def __init__(self, page: str, name: str) -> None:
        self.name = name
        self.is_on = Field(page, "step_guess", False, address="guess")
        self.revealed = Field(page, "step_revealed", "", address="step_revealed")
        self.cell: Field[tuple[str, int, int] | None] = Field(
            page,
            "step_guessed",
            None,
            address="step_guessed",
            parse=_cell,
            text=lambda cell: ".".join(map(str, cell)),
        )

    def forget_revealed(self, step: Step) -> None:
        """Forget which step is revealed if it is another one: who comes back to a step guesses it again."""
        if self.revealed.value not in (step.name, f"{HALL}{step.name}"):
            self.revealed.value = ""

    def draw(self, trace: AttentionTrace, step: Step, head: int, row: int, picture: KeyPicture | None) -> bool:
        """Draw the question, what the hall has guessed, or what came of the guess; return whether the step is shown."""
        if self.revealed.value == step.name:
            self._draw_result(step, head)
        elif self.revealed.value:
            show_hall_guesses(step, head, row, picture)
            self._reveal_button("Go on", step.name)
        else:
            self._draw_guess(trace, step, head, row, picture)
        return self.revealed.value == step.name

    def _draw_guess(self, trace: AttentionTrace, step: Step, head: int, row: int, picture: KeyPicture | None) -> None:
        colour, (rows, columns) = role_colour(step.role), step.shape
        st.html(
            f'{HIDE}<p style="font-size:1.25rem;margin:0.5rem 0"><b style="color:{colour}">{step.title}</b>: '
            f"{rows:,} × {columns:,} numbers, still hidden.</p>"
        )
        self._draw_question(trace, step, head, row, picture)
        is_open_to_hall = ask_hall_for_largest(step, head, row, picture)
        self._reveal_button("Reveal", f"{HALL if is_open_to_hall else ''}{step.name}")

    def _reveal_button(self, label: str, shows: str) -> None:
        st.button(label, key=f"{self.name}_reveal", type="primary", on_click=self.revealed.set, args=(shows,))

    def _draw_question(
        self, trace: AttentionTrace, step: Step, head: int, row: int, picture: KeyPicture | None
    ) -> None:
        """Take the guess where the largest number is: a click into a picture or an empty matrix, one of three keys."""
        if picture and picture.shows(step.col_axis):
            self._draw_picture_question(step, row, picture)
        elif max(step.shape) <= MAX_CLICKABLE_SIDE:
            st.caption("Click the cell that you expect to hold the largest number of its row.")
            name, *cell = self.cell.value or ("", 0, 0)
            style = StepStyle(cell[0], cell[1], 330) if name == step.name else StepStyle(row, size=330)

            def take_cell(row: int, column: int) -> None:
                self.cell.value = (step.name, row, column)

            empty = replace(
                step, role=Role.WEIGHTS, code="", origin=NO_ORIGIN, compute=lambda *_: torch.full(step.shape, math.nan)
            )
            show_step_picture(trace, empty, head, style, f"{self.name}_empty", on_choose=take_cell)
        elif columns := options(step, head, row):
            labels = step.col_axis.labels
            names = {
                column: f"{letter}: {error_markdown(labels[column])}"
                for letter, column in zip("ABC", columns, strict=False)
            }
            name, guessed_row, guess = self.cell.value or ("", row, None)

            def take_option(column: int | None) -> None:
                self.cell.value = None if column is None else (step.name, row, column)

            question = f"In the row of {error_markdown(step.row_axis.labels[row])}: where is the largest number?"
            chosen = guess if (name, guessed_row) == (step.name, row) else None
            ask_guess(question, names, f"{self.name}_option", chosen, take_option)

    def _draw_picture_question(self, step: Step, row: int, picture: KeyPicture) -> None:
        name, guessed_row, guess = self.cell.value or ("", row, None)
        marked = guess if (name, guessed_row) == (step.name, row) else None
        st.caption(f"Click: {picture_question(step, row, picture)}")
        image = picture.with_query(step.row_axis, row).repeat(8, 0).repeat(8, 1)  # so that pixels stay sharp

        def take_cell(cell: int) -> None:
            self.cell.value = (step.name, row, cell)

        key, nothing, axis = f"{self.name}_picture_{step.name}", np.zeros(picture.grid), step.col_axis.name
        draw = partial(draw_map, nothing, image, key, "The picture", size=420, smooth=False, axis=axis)
        draw(tooltip="your guess?", chosen=marked, on_choose=take_cell)

    def _draw_result(self, step: Step, head: int) -> None:
        name, row, column = self.cell.value or ("", 0, 0)
        if name != step.name or row >= step.shape[0] or column >= step.shape[1]:
            return
        guess, labels = compare(step, head, row, column), step.col_axis.labels
        query_label, best = literal(step.row_axis.labels[row]), literal(labels[guess.best])
        yours = f"In the row of {query_label} you expected the largest number at {literal(labels[column])}."
        larger = f"{guess.rank:,} other number{' is' if guess.rank == 1 else 's are'} larger"
        outcome = f"It is {guess.value:.3g}, and {larger}. The largest is {guess.largest:.3g}, at {best}."
        show_verdict(yours, not guess.rank, outcome if guess.rank else f"it is {guess.largest:.3g}.")


def _cell(text: str) -> tuple[str, int, int]:
    name, row, column = text.split(".")
    return name, whole_number(row), whole_number(column)
