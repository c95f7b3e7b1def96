"""What the page of scoring functions remembers of a drag, and what a table takes of what is typed into it."""

import math

import pandas as pd
import pytest
import streamlit as st

from pages.scoring import controls
from pages.vectors.experiments import rules


@pytest.fixture
def state(monkeypatch):
    state = {}
    monkeypatch.setattr(st, "session_state", state)
    controls.arrange(controls.FIRST)
    return state


def vectors():
    arranged = controls.arranged_vectors()
    return arranged.query, arranged.keys


def send(state, revision=None, moving=False, query=(1.0, -2.0)):
    state["scoring_plane"] = {
        "moved": {
            "arrows": [list(query), [0.0, 1.0], [2.0, 2.0]],
            "active": 2,
            "revision": state["scoring_revision"] if revision is None else revision,
            "sequence": 8,
            "moving": moving,
        }
    }
    controls.on_move()


def test_a_dragged_arrow_is_stored_unless_it_comes_too_late_and_closes_a_verdict(state):
    send(state)
    assert vectors() == ([1.0, -2.0], [[0.0, 1.0], [2.0, 2.0]])
    assert (state["scoring_answered"], state["scoring_active"]) == (8, 1)
    before = vectors()
    send(state, revision=state["scoring_revision"] - 1)
    assert vectors() == before
    assert state["scoring_answered"] == 8
    for tried, after in (("1", ""), ("ask", "ask")):
        state["scoring_tried"] = tried
        send(state, query=(float(len(tried)), 1.0))
        assert state.get("scoring_tried", "") == after


def type_into(state, cells):
    state["tables"] = {"t": pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], ["q", "k₁"], ["x1", "x2"])}
    state["t_table_0"] = {"edited_rows": cells}
    tables = []
    rules.on_cells("t", "t_table_0", 4, tables.append)
    return tables[0]


def test_edits_are_laid_over_the_table_in_the_editor(state):
    assert type_into(state, {0: {"x2": -1.5}, 1: {"x1": 0}}) == [[1.0, -1.5], [0.0, 4.0]]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "abc", 4.5])
def test_numbers_beyond_the_bounds_stay_out_and_valid_ones_are_used(state, value):
    assert type_into(state, {1: {"x2": value, "x1": 2.5}}) == [[1.0, 2.0], [2.5, 4.0]]
