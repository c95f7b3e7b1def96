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
    assert problem.CELLS.value["X"][0] == [1.4, 1.2]


def test_moving_a_vector_changes_all_nine_weights(state):
    before = problem.attention(problem.problem_in_tables()).weights()
    send(state, (-1, 1))
    assert ((problem.attention(problem.problem_in_tables()).weights() - before).abs() > 0.03).all()


def choose(state, **message):
    """Choose something in the scene; return the trace that follows."""
    state["vectors_plane"] = {"chosen": message | {"sent": 1}}
    present = problem.problem_in_tables()
    screen.on_choose(present, problem.edited(present))
    return problem.edited(problem.problem_in_tables())


def test_a_query_and_its_weights_are_chosen_in_the_scene(state):
    assert choose(state, row=1, cut=0).weights()[1, 0] == 0
    trace = choose(state, row=1, cut=0, weight=0.9)
    assert trace.weights()[1, 0].item() == pytest.approx(0.9)
    assert screen.pairs_scene(trace)["changed"] == [1]
    assert screen.live_numbers(problem.problem_in_tables(), trace)["factor"] is None, "edited weights come from Python"
    choose(state, row=7)
    assert problem.CELL.value["query"] == 1
    assert not choose(state, row=0, reset=True).edits


def test_queries_are_turned_in_the_scene_and_back_while_inputs_stay(state):
    send(state, (0.25, -1))
    present = problem.problem_in_tables()
    assert screen.are_queries_turned(present) is False
    turned = choose(state, row=2, focus="attention")
    assert (problem.PRESET.value, problem.CELL.value["query"]) == ("projections", 2)
    assert problem.CELLS.value["X"][0] == [0.25, -1]
    assert turned.query[0, 0].tolist() == [1, 0.25]
    assert choose(state, row=2, focus="vector").query[0, 0].tolist() == [0.25, -1]
    problem.write_tables(problem.problem_in_tables().tables | {"W_Q": present.tables["W_Q"] * 2})
    assert screen.are_queries_turned(problem.problem_in_tables()) is None
