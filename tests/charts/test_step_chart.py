"""A step looks the same in a notebook, drawn by step_chart, and on a page, drawn by show_matrix."""

import json
import re

import numpy as np
import pytest

from attention_core import load
from attention_core.attention.steps import steps_of
from attention_core.charts import VIRIDIS, Ramp, step_chart
from ui import player


@pytest.fixture(scope="module")
def steps():
    trace = load("pixel-classifier", "cpu").trace(np.eye(28))
    return {step.name: step for step in steps_of(trace)}


def spec(chart):
    """The spec without the names that Altair numbers through."""
    return json.loads(re.sub(r"(view|param)_\w+", r"\1", json.dumps(chart.to_dict())))


def drawn_on_a_page(monkeypatch, *arguments):
    drawn = []
    monkeypatch.setattr(player, "draw_chart", lambda chart, **more: drawn.append(chart))
    player.show_matrix(*arguments)
    return drawn[0]


@pytest.mark.parametrize("query", [None, 406])
def test_notebook_and_page_draw_the_same(steps, monkeypatch, query):
    for step in steps.values():
        page = drawn_on_a_page(monkeypatch, step, 0, query, "page")
        assert spec(step_chart(step, query=query)) == spec(page), step.name


def test_page_passes_its_own_size_on(steps, monkeypatch):
    page = drawn_on_a_page(monkeypatch, steps["weights"], 0, 3, "page", 330)
    assert page.to_dict()["width"] == 330
    assert spec(step_chart(steps["weights"], query=3, size=330)) == spec(page)
    assert spec(step_chart(steps["weights"], query=3)) != spec(page)


def test_form_suits_the_step(steps):
    for name, size in {"pixels": (380, 380), "query": (484, 548), "weights": (500, 500), "class": (440, 260)}.items():
        drawn = step_chart(steps[name]).to_dict()
        assert (drawn["width"], drawn["height"]) == size
    assert step_chart(steps["class"]).to_dict()["mark"]["type"] == "bar"
    pictures = step_chart(steps["query"]).to_dict()
    assert [len(rows) for rows in pictures["datasets"].values() if "url" in rows[0]] == [16]  # one per dimension


def test_ramp_can_be_shared(steps):
    own, shared = (spec(step_chart(steps["weights"], ramp=ramp)) for ramp in (None, Ramp(VIRIDIS, 0.0, 1.0)))
    assert own != shared
    assert shared["layer"][-1]["encoding"]["color"]["scale"]["domain"] == [0.0, 1.0]
