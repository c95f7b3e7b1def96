"""What the workbench remembers of a drag."""

import pytest
import streamlit as st

from pages.vectors import tables as problem
from pages.vectors import tabs


@pytest.fixture
def state(monkeypatch):
    state = {}
    monkeypatch.setattr(st, "session_state", state)
    problem.follow_preset()
    return state


def send(state, first, *, late=False):
    """Drag x1 somewhere."""
    arrows = problem.typed_problem().tables["X"].tolist()
    moved = {"revision": -1 if late else 0, "sequence": 4, "moving": True, "active": 0}
    state["vectors_plane"] = {"moved": {**moved, "arrows": [list(first), *arrows[1:]]}}
    tabs.take_drag()


def test_a_dragged_arrow_is_typed_into_its_table(state):
    send(state, (0.25, -1))
    assert problem.CELLS.value["X"][0] == [0.25, -1]


def test_a_message_from_before_pythons_own_change_is_dropped(state):
    send(state, (0.25, -1), late=True)
    assert problem.CELLS.value["X"][0] == [1, 0.5]


def test_moving_one_vector_changes_all_nine_weights(state):
    now, before = problem.typed_problem(), problem.problem_before()
    assert (now.tables["X"] != before.tables["X"]).any(1).tolist() == [True, False, False]
    assert ((problem.attention(now).weights() - problem.attention(before).weights()).abs() > 0.03).all()
