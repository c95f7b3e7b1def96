"""The demonstration of a drawing: a question about coloured digits asks each region, and an answer comes out."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention_core.charts.overlay import image_png, overlay
from attention_core.data.questions import QuestionError, read_question
from attention_core.inference.scenes import UNCLEAR, is_clear
from pages.start.live_answers import FIRST_QUESTION, QUESTIONS, SIDE, digits_of, first_strokes, scene_answer
from ui.canvas import INK, PAPER, Pad, draw_pad, inked_pixels, readable_content
from ui.chart import note_picture, picture_address
from ui.hosting.bounds import QUESTION_BOX_LETTERS
from ui.labels import error_markdown
from ui.layout import grey_out
from ui.lecture.mode import LECTURE
from ui.scene import draw_picture_scene
from ui.state import Field, plain_text

NAME, FIRST_DRAWING = "start", "Five colours"
EMPTY = "Draw a digit or two, in any of the colours."
QUESTION_TEXT = Field(
    NAME, "asked", FIRST_QUESTION, address="q", parse=lambda text: plain_text(text)[: QUESTION_BOX_LETTERS.maximum]
)
LAST_QUESTION = Field(NAME, "last_asked", FIRST_QUESTION)
"""What was answered last: it stays while the typed question cannot be read."""
PAD = Pad(
    NAME,
    {FIRST_DRAWING: first_strokes},
    first=FIRST_DRAWING,
    size=(SIDE, SIDE),
    address="scene",
    pens=("red", "orange", "green", "blue", "purple"),
    pen_width=12,
)


def draw_question(first: dict[str, Any]) -> list[str]:
    """Draw the box of a question, below it the scene of its answer; return questions that have one answer.

    `first` is the scene of the first question and drawing, see pages.start.prepared.
    """
    label = "A question about the drawing"
    QUESTION_TEXT.widget(st.text_input, label, max_chars=QUESTION_BOX_LETTERS.maximum, label_visibility="collapsed")
    with st.container(key="start_first"):
        notices, scene = st.container(), st.container()
        with st.container(horizontal=True, gap="small", key="start_buttons"):
            pad = draw_pad(PAD)
    is_empty = not inked_pixels(pad.canvas, pad.paper).any()
    drawing = readable_content(PAD, pad, is_empty)
    try:
        read_question(QUESTION_TEXT.value)
        LAST_QUESTION.value = QUESTION_TEXT.value
    except QuestionError as error:
        notices.info(f"{error_markdown(error)} Below is the answer to “{error_markdown(LAST_QUESTION.value)}”.")
    if is_empty:
        notices.info(EMPTY)
    grey_out(f"{NAME}_drawing_scene", is_empty or QUESTION_TEXT.value != LAST_QUESTION.value)
    is_first = PAD.preset.value == FIRST_DRAWING and LAST_QUESTION.value == FIRST_QUESTION
    colours = INK[drawing.paper], PAPER[drawing.paper]
    data = first if is_first else scene_answer(drawing.strokes, LAST_QUESTION.value, colours)
    if not data["clear"]:
        notices.warning(UNCLEAR)
    rows, columns = data["grid"]
    for look in data["looks"]:
        weights = np.array(look["weights"][: rows * columns]).reshape(rows, columns)
        title = f"{look['label'].capitalize()}: “{LAST_QUESTION.value}”"
        note_picture(partial(overlay, drawing.canvas, weights), title)
    picture = {"picture": picture_address(image_png(drawing.canvas)), "pad": NAME, "paper": PAPER[drawing.paper]}
    with scene:
        draw_picture_scene(
            f"{NAME}_drawing", data | picture | {"plays": LECTURE.value, "isAlone": True, "isEmpty": is_empty}
        )
    if PAD.preset.value == FIRST_DRAWING:
        return [*QUESTIONS]
    digits = digits_of(drawing.strokes, colours)
    return [text for text in QUESTIONS if is_clear(read_question(text).question, digits)]
