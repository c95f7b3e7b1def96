"""The questions of a page: each opens an experiment on a screen of its own; in a lecture, the list of a page's screens.

An experiment is a file, pages/NAME/experiments/SLUG.py, with three functions: draw_input() draws what one changes and
returns what it comes to; answer() takes that and returns the answer, a sentence of Markdown with the visitor's numbers
where it can ("" = the drawing says it); draw() takes it, too, and draws what shows it. Its question stands in the
page's entry.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.component import component
from ui.labels import paragraph
from ui.layout import section
from ui.lecture.mode import LECTURE, SCREENS
from ui.navigation import NUMBERS, OPEN_QUESTION, PageQuestion, entry_of, open_question
from ui.skeleton import draw_fragment
from ui.state import PLAYING, single_choice
from ui.try_this import undo_surprise

if TYPE_CHECKING:
    from ui.player import Player

MAX_LINKS = 5
"""Questions that a page links, its first ones; an experiment links others."""
MAX_FURTHER = 11
"""Links of an experiment: to those that follow it, then to the first."""
_scroll_to = component("scroll_to")


@lru_cache
def experiments_of(name: str) -> dict[str, Any]:
    """Return the experiments of a page by their slugs: all are imported at once, since each may declare fields."""
    return {slug: import_module(f"pages.{name}.experiments.{slug}") for slug, *_ in entry_of(name).questions}


def draw_experiment(name: str, *, players: tuple[Player, ...] = (), beat: float | None = None) -> bool:
    """Draw the experiment of the question that is open in place of its page; return whether there is one.

    It runs again after each `beat`, in seconds; None = it does not.
    """
    experiments, question = experiments_of(name), open_question(name)
    if question is None:
        return False
    if LECTURE.value:
        _hide_above()
        _choose_screen(name)
    with st.container(key="experiment"):
        if not LECTURE.value:
            title = entry_of(name).title
            st.button(title, f"{name}_back", icon=":material/arrow_back:", type="tertiary", on_click=_open(name, ""))
        st.title(question.text, anchor=False)
        draw_fragment(_draw_experiment, experiments[question.slug], players=players, beat=beat)
    if not LECTURE.value:
        _scroll_to(key=f"{name}_{question.slug}_scroll", data={"key": "experiment", "block": "start"})
        questions = entry_of(name).questions
        number = questions.index(question)
        _draw_links(name, [*questions[number + 1 :], *questions[:number]][:MAX_FURTHER])
    return True


def _draw_experiment(experiment: Any) -> None:
    above = st.container(key="experiment_answer")
    inputs = experiment.draw_input()
    if answer := experiment.answer(inputs):
        with above:
            paragraph(answer)
    experiment.draw(inputs)


def page_questions(name: str, numbers: Callable[[], None] | None, *, players: tuple[Player, ...] = ()) -> None:
    """Draw what stands below a page's hero: all the numbers, None = it has none, and links to its questions.

    In a lecture, all the numbers are a screen of their own, and a list of the screens takes the links' place.
    """
    if LECTURE.value:
        draw = numbers if OPEN_QUESTION[name].value == NUMBERS else None
        if draw:
            _hide_above()
        _choose_screen(name)
        if draw:
            draw_fragment(draw, players=players)
        return
    OPEN_QUESTION[name].reset()
    if numbers:
        with st.container(key="numbers"):
            section("All the numbers")
            draw_fragment(numbers, players=players)
    _draw_links(name, entry_of(name).questions[:MAX_LINKS])


def _draw_links(name: str, questions: Sequence[PageQuestion]) -> None:
    with st.container(key="questions", gap=None):
        for slug, text, _ in questions:
            icon = ":material/arrow_forward:"
            st.button(text, f"{name}_question_{slug}", icon=icon, type="tertiary", on_click=_open(name, slug))


def _open(name: str, slug: str) -> Callable[[], None]:
    def act() -> None:
        PLAYING.value = ""
        OPEN_QUESTION[name].value = slug
        st.rerun()  # the whole page: an experiment has a heading of its own

    return act


def _choose_screen(name: str) -> None:
    """Draw the list of a page's screens."""
    entry = entry_of(name)
    labels = {"": entry.title} | {slug: text for slug, text, _ in entry.questions}
    if entry.has_numbers:
        labels[NUMBERS] = "All the numbers"
    with st.container(key=SCREENS):
        on_change = partial(_on_screen, name)
        single_choice("Screen", OPEN_QUESTION[name], labels, label_visibility="collapsed", on_change=on_change)


def _hide_above() -> None:
    """Hide what stands above a screen that is not the first, see lecture.css."""
    st.html('<span class="screen"></span>')


def _on_screen(name: str) -> None:
    """Undo the page's surprise once the lecture leaves the first screen."""
    if OPEN_QUESTION[name].value and undo_surprise(name):
        st.rerun()  # the whole page, which reads the restored address
