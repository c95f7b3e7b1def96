"""What the workbench remembers of a drag."""

import numpy as np
import pytest
import streamlit as st

from ui.vectors import pairs, problem


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
    pairs.take_drag()


def test_a_dragged_arrow_is_typed_into_its_table(state):
    send(state, (0.25, -1))
    assert problem.CELLS.value["X"][0] == [0.25, -1]


def test_a_message_from_before_pythons_own_change_is_dropped(state):
    send(state, (0.25, -1), late=True)
    assert problem.CELLS.value["X"][0] == [1, 0.5]


def test_moving_one_vector_changes_five_scores_and_all_nine_weights(state):
    pairs.move_x1()
    guess, words = pairs.moved_weights()
    assert np.array_equal(problem.typed_problem().tables["X"][0], pairs.MOVED_TO)
    assert guess == 2
    assert words.startswith("9 of 9 weights changed. Only 5 scores did")
