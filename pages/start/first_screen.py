"""The demonstrations of Start, one at a time: a sentence translated both ways, or a question about a drawing.

A server that has just begun shows both without any model: of one sentence and one question the answers lie in
pages/start/answers.json, and a test holds them equal to what the models say. All else is computed when it is asked for.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.bounds import limits as bounds
from attention_core.data.sentence_presets import OPENING
from attention_core.data.stroke import Stroke
from attention_core.files import find_file
from attention_core.links import checked_strokes, pack_strokes, unpack_strokes
from ui.chart import file_address, note_picture
from ui.component import component
from ui.hosting.bounds import QUESTION_BOX_LETTERS, SENTENCE_LETTERS
from ui.navigation import PAGES, entry_of, path_of
from ui.scene import draw_scene
from ui.state import BAD_VALUE_ERRORS, Field, component_message, one_of, plain_text, single_choice

if TYPE_CHECKING:
    from attention_core.charts.chart import Chart

NAME = "start"
SENTENCE = OPENING[0]
QUESTIONS = (QUESTION := "which digit is left of the blue one?", "what colour is the 8?", "how many digits are there?")
UNCLEAR = "People would answer differently, or not at all: how sure the network is tells nothing then."
EMPTY = "Draw a digit or two, in any of the colours."


TEXT = Field(NAME, "text", SENTENCE, address="text", parse=lambda text: plain_text(text)[: SENTENCE_LETTERS.maximum])
LAST_TEXT = Field(NAME, "last_text", SENTENCE)
"""What was translated last: it stays while the typed text cannot be read."""
QUESTION_TEXT = Field(
    NAME, "asked", QUESTION, address="q", parse=lambda text: plain_text(text)[: QUESTION_BOX_LETTERS.maximum]
)
DRAWING = Field(NAME, "drawing", "", address="strokes", parse=checked_strokes, text=str)
"""Packed strokes; "" = the drawing that is there on arrival."""
ANSWERED = Field(NAME, "answered", 0.0)
"""The time of the last stroke that the present answer is about."""
SENTENCE_DEMONSTRATION, DRAWING_DEMONSTRATION = "sentence", "drawing"
DEMONSTRATIONS = {SENTENCE_DEMONSTRATION: "A sentence", DRAWING_DEMONSTRATION: "A drawing"}
DEMONSTRATION = Field(
    NAME,
    "demonstration",
    lambda: DRAWING_DEMONSTRATION if DRAWING.value or QUESTION_TEXT.value != QUESTION else SENTENCE_DEMONSTRATION,
    address="show",
    parse=one_of(DEMONSTRATIONS),
)
"""What is demonstrated; a link with a question or a drawing opens the drawing."""
SCENE = "start_sentence"
DRAWING_HEIGHT = 524
"""Pixels that the picture of the drawing takes, kept for it while it comes."""
MAX_SCENE_WIDTH = 560  # pixels
_scene = component("start_scene")


def draw_demonstration() -> None:
    """Draw the choice of a demonstration, and the one that is chosen."""
    line = st.container(horizontal=True, vertical_alignment="center", key="start_demonstrations")
    with line:
        chosen = single_choice(
            "Demonstration", DEMONSTRATION, DEMONSTRATIONS, label_visibility="collapsed", width="content"
        )
    if chosen == SENTENCE_DEMONSTRATION:
        draw_translations(line)
        return
    with st.container(width=MAX_SCENE_WIDTH):
        draw_questions()


def draw_translations(line: DeltaGenerator) -> None:
    """Draw in a line the box of a sentence, below it the scene of its translation."""
    with line:
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
    LAST_TEXT.value = text
    data = _sentence_scene(text)
    note_picture(partial(_weights, data), f"“{text}”: where “{data['queries'][data['query']]}” looks")
    draw_scene(SCENE, data | {"plays": True})
    _examples(TEXT, OPENING, "translate")


def _sentence_scene(text: str) -> dict[str, Any]:
    if text == SENTENCE:
        return first_answers()["words"]
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


def draw_questions() -> None:
    """Draw a question and a drawing, where the network looks, and its answers with attention and without."""
    label = "A question about a drawing: the network looks at least twice"
    QUESTION_TEXT.widget(st.text_input, label, max_chars=QUESTION_BOX_LETTERS.maximum)
    data = _scene_data()
    is_long = len(data.get("looks", ())) > 2  # its words take more lines than are kept for them
    for number, look in enumerate(data.get("looks", ()), 1):
        note_picture(partial(_look_chart, look["weights"]), f"Look {number}: “{QUESTION_TEXT.value}”")
    _scene(
        key="start_scene",
        data=data,
        default={"drawn": None},
        on_drawn_change=_on_drawing,
        height="content" if is_long else DRAWING_HEIGHT,
    )
    if not data.get("clear", True):
        st.warning(UNCLEAR)
    _examples(QUESTION_TEXT, _clear_examples(), "ask")


def _clear_examples() -> list[str]:
    """Return the questions that have one answer about the drawing."""
    if not DRAWING.value:
        return [*QUESTIONS]
    from attention_core.data.questions import parse_question
    from attention_core.inference.scenes import is_clear
    from pages.start.live_answers import digits_of

    digits = digits_of(current_strokes())
    return [text for text in QUESTIONS if is_clear(parse_question(text), digits)]


def _look_chart(weights: list[float]) -> Chart:
    from attention_core.charts.overlay import overlay
    from pages.start.live_answers import canvas_of

    side = round(len(weights) ** 0.5)
    return overlay(canvas_of(current_strokes()), np.array(weights).reshape(side, side))


def _scene_data() -> dict[str, Any]:
    first = first_answers()["scene"]
    if not DRAWING.value and QUESTION_TEXT.value == QUESTION:
        return first | {"answered": ANSWERED.value}
    from attention_core.data.questions import QuestionError
    from pages.start.live_answers import scene_answer

    strokes = current_strokes()
    data = {"pens": first["pens"], "strokes": listed(strokes), "answered": ANSWERED.value}
    if not strokes:
        return data | {"fault": EMPTY}
    try:
        return data | scene_answer(strokes, QUESTION_TEXT.value)
    except QuestionError as error:
        return data | {"fault": str(error)}


def _on_drawing() -> None:
    """Keep the strokes that the browser sends; if it sends none that can be read, the drawing stays as it was."""
    with suppress(*BAD_VALUE_ERRORS):
        DRAWING.value, ANSWERED.value = sent_drawing(component_message("start_scene", "drawn"))


def sent_drawing(message: Any) -> tuple[str, float]:
    """Return the strokes of a browser's message, packed, and its time; one of BAD_VALUE_ERRORS if it holds none."""
    strokes = []
    for colour, width, path in message["strokes"][: bounds.DRAWING_STROKES.maximum]:
        points = np.array(path[: 2 * bounds.DRAWING_POINTS.maximum], float).reshape(-1, 2)
        if not (np.abs(points) <= bounds.PEN_DISTANCE.maximum).all():
            raise ValueError("the stroke leaves the drawing")
        strokes.append(Stroke(points, width, colour))
    return checked_strokes(pack_strokes(strokes)), float(message["sent"])


def current_strokes() -> list[Stroke]:
    if DRAWING.value:
        return unpack_strokes(DRAWING.value)
    return [
        Stroke(np.array(path, float).reshape(-1, 2), width, colour)
        for colour, width, path in first_answers()["scene"]["strokes"]
    ]


def listed(strokes: list[Stroke]) -> list[list[Any]]:
    """Return strokes as the browser has them: colour, width, and x and y in turn."""
    return [[stroke.colour, stroke.width, stroke.path.ravel().tolist()] for stroke in strokes]


@lru_cache(maxsize=1)
def first_answers() -> dict[str, Any]:
    """Return what the models say about the first sentence, question and drawing; see benchmarks/start_page.py."""
    return json.loads(find_file("pages/start/answers.json").read_text(encoding="utf-8"))


ACROSS = 3


def draw_page_cards() -> None:
    """Draw a numbered card for every other page, in their order."""
    for first in range(1, len(PAGES), ACROSS):
        pages = enumerate(PAGES[first : first + ACROSS], first)
        for column, (number, entry) in zip(st.columns(ACROSS, gap="medium"), pages, strict=False):
            with column.container(border=True, height="stretch"):
                if image := _card(entry.name, st.context.theme.type or "light"):
                    url = file_address(image, "webp") or f"data:image/webp;base64,{base64.b64encode(image).decode()}"
                    st.html(f'<img class="card" src="{url}" alt="" loading="lazy">')
                st.page_link(path_of(entry), label=f"**{number}. {entry.title}**")
                st.caption(entry.promise)


@lru_cache
def _card(page: str, ground: str) -> bytes:
    """Return the picture of a page; b"" as long as it has none."""
    path = find_file(f"pages/{page}/card-{ground}.webp")
    return path.read_bytes() if path.exists() else b""
