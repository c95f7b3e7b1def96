"""What the workbench remembers of a drag."""

import pytest
import streamlit as st

from pages.vectors import first_screen as screen
from pages.vectors import tables as problem


@pytest.fixture
def state(monkeypatch):
    state = {}
    monkeypatch.setattr(st, "session_state", state)
    problem.load_preset()
    return state


def send(state, first, *, late=False):
    """Drag x1 somewhere."""
    arrows = problem.problem_in_tables().tables["X"].tolist()
    moved = {"revision": -1 if late else 0, "sequence": 4, "moving": True, "active": 0}
    state["vectors_plane"] = {"moved": {**moved, "arrows": [list(first), *arrows[1:]]}}
    screen.on_drag()


def test_a_dragged_arrow_changes_its_table(state):
    send(state, (0.25, -1))
    assert problem.CELLS.value["X"][0] == [0.25, -1]


def test_a_message_older_than_a_change_in_python_is_dropped(state):
    send(state, (0.25, -1), late=True)
    assert problem.CELLS.value["X"][0] == [1, 0.5]


def test_moving_a_vector_changes_all_nine_weights(state):
    present, before = problem.problem_in_tables(), problem.problem_before()
    assert (present.tables["X"] != before.tables["X"]).any(1).tolist() == [True, False, False]
    assert ((problem.attention(present).weights() - problem.attention(before).weights()).abs() > 0.03).all()
