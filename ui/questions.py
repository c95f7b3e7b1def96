"""The questions of a page: each opens an experiment on a screen of its own; in a lecture, the list of a page's screens.

An experiment is a file, pages/NAME/experiments/SLUG.py, with three functions: draw_input() draws what a visitor changes
and returns what is computed from it; answer() gets that and returns the answer, a sentence of Markdown, with the
visitor's numbers where it can ("" = the drawing says it); draw() gets it, too, and draws what the answer is based on.
Its question stands in the page's entry.toml.
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
"""Links below a page's hero, to its first questions."""
MAX_FURTHER = 12
"""Links below an experiment: to the questions that follow its own, then to those before it, from the first."""
_scroll_to = component("scroll_to")


@lru_cache
def experiments_of(name: str) -> dict[str, Any]:
    """Return the modules of a page's experiments by their slugs.

    All are imported at once: each may declare fields, which have to be there when the address is read.
    """
    return {slug: import_module(f"pages.{name}.experiments.{slug}") for slug, *_ in entry_of(name).questions}


def draw_experiment(name: str, *, players: tuple[Player, ...] = (), beat: float | None = None) -> bool:
    """Draw the experiment of a page's open question; False = no question is open, and the page is to draw itself.

    For `players` and `beat`, see draw_fragment.
    """
    experiments, question = experiments_of(name), open_question(name)
    if question is None:
        return False
    if LECTURE.value:
        _hide_above()
        _draw_screen_choice(name)
    with st.container(key="experiment"):
        if not LECTURE.value:
            title, on_click = entry_of(name).title, partial(_on_link, name, "")
            st.button(title, f"{name}_back", icon=":material/arrow_back:", type="tertiary", on_click=on_click)
        st.title(question.text, anchor=False)
        draw_fragment(_draw_experiment, experiments[question.slug], players=players, beat=beat)
    if not LECTURE.value:
        _scroll_to(key=f"{name}_{question.slug}_scroll", data={"key": "experiment", "block": "start"})
        questions = entry_of(name).questions
        index = questions.index(question)
        _draw_links(name, [*questions[index + 1 :], *questions[:index]][:MAX_FURTHER])
    return True


def _draw_experiment(experiment: Any) -> None:
    answer_container = st.container(key="experiment_answer")  # above the inputs, on which the answer depends
    inputs = experiment.draw_input()
    if answer := experiment.answer(inputs):
        with answer_container:
            paragraph(answer)
    experiment.draw(inputs)


def page_questions(name: str, numbers: Callable[[], None] | None, *, players: tuple[Player, ...] = ()) -> None:
    """Draw what stands below a page's hero: what `numbers` draws, None = no numbers, and links to its questions.

    In a lecture, the numbers are a separate screen, and a list of the page's screens replaces the links.
    """
    if LECTURE.value:
        draw_open_screen = numbers if OPEN_QUESTION[name].value == NUMBERS else None
        if draw_open_screen:
            _hide_above()
        _draw_screen_choice(name)
        if draw_open_screen:
            draw_fragment(draw_open_screen, players=players)
        return
    OPEN_QUESTION[name].reset()
    if numbers:
        with st.container(key="numbers"):
            section("All the numbers")
            draw_fragment(numbers, players=players)
    questions = entry_of(name).questions
    lesson = [question for question in questions if not question.in_laboratory]
    _draw_links(name, [*lesson[:MAX_LINKS], *questions[len(lesson) :]])


def _draw_links(name: str, questions: Sequence[PageQuestion]) -> None:
    """Link questions; those of the Laboratory stand below the others, under its heading."""
    laboratory = [question for question in questions if question.in_laboratory]
    lesson = [question for question in questions if not question.in_laboratory]
    with st.container(key="questions", gap=None):
        for slug, text, *_ in [*lesson, *laboratory]:
            if laboratory and slug == laboratory[0].slug:
                section("Laboratory")
            icon, on_click = ":material/arrow_forward:", partial(_on_link, name, slug)
            st.button(text, f"{name}_question_{slug}", icon=icon, type="tertiary", on_click=on_click)


def _on_link(name: str, slug: str) -> None:
    """Open a question of a page, "" = go back to the page itself; a player that plays is stopped."""
    PLAYING.value = ""
    OPEN_QUESTION[name].value = slug
    st.rerun()  # the whole page: an experiment has a heading of its own


def _draw_screen_choice(name: str) -> None:
    """Draw the list of a page's screens in a lecture, of which one is open."""
    entry = entry_of(name)
    chosen, labels = OPEN_QUESTION[name].value, {"": entry.title}
    labels |= {each.slug: each.text for each in entry.questions if not each.in_laboratory or each.slug == chosen}
    if entry.has_numbers:
        labels[NUMBERS] = "All the numbers"
    with st.container(key=SCREENS):
        on_change = partial(_on_choose_screen, name)
        single_choice("Screen", OPEN_QUESTION[name], labels, label_visibility="collapsed", on_change=on_change)


def _hide_above() -> None:
    """Mark where an open screen begins: lecture.css hides what stands above the mark, such as the page's hero."""
    st.html('<span class="screen"></span>')


def _on_choose_screen(name: str) -> None:
    """Undo the page's surprise once the lecture leaves the first screen."""
    if OPEN_QUESTION[name].value and undo_surprise(name):
        st.rerun()  # the whole page, which reads the restored address
