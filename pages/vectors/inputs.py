"""What one changes on the page and in its experiments: the example, and its arrows."""

from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import AttentionTrace
from pages.vectors import first_screen as screen
from pages.vectors.problem import Problem
from pages.vectors.tables import NAME, chosen_cell, edited, load_preset, problem_in_tables
from ui.player import export_bar, step_of
from ui.take_along import take_along

SOFTMAX_IS_OFF = "The softmax is off. Switch it on under *What if softmax were off, or another rule changed?*"


class Workbench(NamedTuple):
    """The present problem, and the container of its arrows."""

    problem: Problem
    trace: AttentionTrace  # with the edits that fit
    plane: DeltaGenerator
    row: DeltaGenerator  # of the examples

    @property
    def query(self) -> int:
        """The chosen query."""
        return chosen_cell(step_of(self.trace, "weights"))[0]

    @property
    def label(self) -> str:
        """The chosen query's label."""
        return self.trace.story.query_axis.labels[self.query]

    def draw_pairs(self, *, can_cover: bool = False) -> None:
        """Draw the arrows and the scene of their pairs; last in a fragment, see VectorPlane.draw."""
        with self.plane:
            screen.show_pairs(self.problem, self.trace, can_cover=can_cover)


def draw_workbench(key: str = "vectors_shown") -> Workbench:
    """Draw the example to choose in a container of this key, and a container for its arrows; return the problem."""
    load_preset()
    with st.container(key=key):
        row = screen.example_choice()
        plane = screen.PLANE.container()
    problem = problem_in_tables()
    trace = edited(problem)
    bench = Workbench(problem, trace, plane, row)
    take_along(lambda: export_bar(trace, NAME, query=bench.query))
    return bench


def draw_input() -> Workbench:
    """Draw the example and its arrows, which a lecture leaves out; return the problem."""
    return draw_workbench("experiment_input")
