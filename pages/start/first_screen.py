"""The heroes of Start: a sentence translated both ways, and after it a question about a drawing.

A server that has just begun shows both without any model: of one sentence and one question the answers lie in
pages/start/answers.json, and a test holds them equal to what the models say. All else is computed when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention_core.data.sentence_presets import OPENING
from attention_core.files import find_file
from ui.chart import note_picture
from ui.component import component
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.hosting.warm_up import import_libraries
from ui.lecture.mode import LECTURE, SCREENS
from ui.navigation import entry_of, path_of
from ui.scene import draw_scene
from ui.state import Field, followed_address, one_of, plain_text, single_choice
from ui.try_this import TryThis, is_guessing, try_this

if TYPE_CHECKING:
    from attention_core.charts.chart import Chart

NAME = "start"
SENTENCE = OPENING[0]
TEXT = Field(NAME, "text", SENTENCE, address="text", parse=lambda text: plain_text(text)[: SENTENCE_LETTERS.maximum])
LAST_TEXT = Field(NAME, "last_text", SENTENCE)
"""What was translated last: it stays while the typed text cannot be read."""
SENTENCE_HERO, DRAWING_HERO = "sentence", "drawing"
HEROES = {SENTENCE_HERO: "Translate a sentence", DRAWING_HERO: "Ask about a drawing"}
HERO = Field(
    NAME,
    "hero",
    lambda: DRAWING_HERO if {"q", "strokes"} & {*followed_address()} else SENTENCE_HERO,
    address="show",
    parse=one_of(HEROES),
)
"""Which hero comes first into view; a link with a question or a drawing has that of the drawing."""
SCENE = "start_sentence"
_scroll_to = component("scroll_to")


def draw_screen() -> None:
    """Draw the list of a lecture's screens, which are the heroes, and the one that is chosen."""
    with st.container(key=SCREENS):
        chosen = single_choice("Screen", HERO, HEROES, label_visibility="collapsed")
    (draw_translations if chosen == SENTENCE_HERO else draw_drawing)()


def draw_drawing() -> None:
    """Draw the box of a question, and below it the scene of its answer about a drawing."""
    import_libraries()
    from pages.start.drawing import QUESTION_TEXT, draw_question

    _examples(QUESTION_TEXT, draw_question(first_answers()["scene"]), "ask")
    if HERO.value == DRAWING_HERO and not LECTURE.value:
        _scroll_to(key="start_scroll", data={"key": "start_drawing", "block": "start"})


def draw_translations() -> None:
    """Draw the box of a sentence, and below it the scene of its translation."""
    with (line := st.container(horizontal=True, vertical_alignment="center", key="start_in_a_row")):
        label = "A sentence, put into French"
        TEXT.widget(st.text_input, label, max_chars=SENTENCE_LETTERS.maximum, label_visibility="collapsed")
    text = TEXT.value
    if text != SENTENCE:
        from attention_core.data.pieces import english_words
        from ui.words import cut_sentence

        if not english_words(text):
            st.info("Type an English sentence.")
            text = LAST_TEXT.value
        text = cut_sentence(text)
        _warn_of_other_language(text)
    LAST_TEXT.value = text
    data = _sentence_scene(text)
    note_picture(partial(_weights, data), f"“{text}”: where “{data['queries'][data['query']]}” looks")
    data = data | {"plays": True, "bothSaid": True}
    if is_guessing(NAME):  # at another word than the one that is lost
        data |= {"covered": True, "query": 0}
    draw_scene(SCENE, data)
    with line:
        try_this(NAME, _surprise())
    _examples(TEXT, OPENING, "translate")


def _surprise() -> TryThis:
    """Return the page's surprise: which word of another sentence is lost without attention."""
    options = ("none", "*blue*", "*shirt*", "*birthday*")

    def outcome() -> tuple[int, str]:
        data = _sentence_scene(OPENING[1])
        lost = [f"*{data['keys'][key]}*" for key in data["vector"]["lost"]]
        right = next((index for index, option in enumerate(options) if option in lost), -1 if lost else 0)
        return right, f"*{', '.join(lost) or '*none*'}* is lost. Attention looks back at every word."

    question = f"*{OPENING[1]}* Without attention, is a word lost? Which?"
    act = partial(TEXT.set, OPENING[1])
    hides = ".st-key-start_text_examples"
    return TryThis("another sentence", question, options, act, outcome, "start_sentence_scene", hides=hides)


def _warn_of_other_language(text: str) -> None:
    from attention_core.inference.translation import read_source

    source = read_source(text)
    if 2 * sum(source.in_vocabulary) < len(source.words):
        st.info("Both networks were trained on English alone: most of these words are not in their vocabulary.")


def _sentence_scene(text: str) -> dict[str, Any]:
    if text == SENTENCE:
        return first_answers()["words"]
    import_libraries()
    from pages.start.live_answers import sentence_answer

    return sentence_answer(text)


def _examples(field: Field[str], texts: Sequence[str], page: str) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"start_{field.address}_examples"):
        for index, text in enumerate(texts):
            if text != field.value:
                st.button(text, key=f"start_{field.address}_{index}", on_click=field.set, args=(text,))
        entry = entry_of(page)
        st.page_link(path_of(entry), label=entry.title, icon=":material/arrow_forward:")


def _weights(data: dict[str, Any]) -> Chart:
    from attention_core.charts.words import word_weights

    return word_weights(data["keys"], data["queries"], data["weights"], data["query"], "")


@lru_cache(maxsize=1)
def first_answers() -> dict[str, Any]:
    """Return what the models say about the first sentence, question and drawing; see benchmarks/start_page.py."""
    return json.loads(find_file("pages/start/answers.json").read_text(encoding="utf-8"))
