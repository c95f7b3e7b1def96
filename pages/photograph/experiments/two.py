"""Does each word have its own spot of light? Two words are asked one after another on one photograph."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.device import to_array
from pages.photograph import reading as asked
from pages.photograph.first_screen import draw_photographs, example_texts
from pages.photograph.numbers import draw_spot
from ui.computed import model_or_stop
from ui.hosting.bounds import QUERY_LETTERS
from ui.labels import error_markdown
from ui.state import Field, plain_text

SECOND = Field(asked.NAME, "second", "", address="second", parse=lambda text: plain_text(text)[: QUERY_LETTERS.maximum])
"""The second word; "" = the second thing that is on the photograph."""


class TwoTexts(NamedTuple):
    """Two words, and what each brings back."""

    texts: tuple[str, str]
    readings: tuple[asked.PhotoReading, asked.PhotoReading]

    @property
    def weights(self) -> list[np.ndarray]:
        """The weights of each."""
        return [to_array(reading.trace.weights()[0]) for reading in self.readings]


def draw_input() -> TwoTexts:
    """Draw the photographs and two words."""
    asked.VALUE.reset()
    draw_photographs()
    first, second = st.columns(2, gap="medium")
    with first:
        asked.TEXT.widget(st.text_input, "First word", max_chars=QUERY_LETTERS.maximum)
    with second:
        placeholder = example_texts()[-1]
        SECOND.widget(st.text_input, "Second word", max_chars=QUERY_LETTERS.maximum, placeholder=placeholder)
    model_or_stop(asked.MODEL)
    question = asked.current_question()._replace(region=None)
    texts = question.text, SECOND.value.strip() or placeholder
    content = asked.content_of_photo()
    first_reading, second_reading = (asked.ask(content, question._replace(text=text)) for text in texts)
    return TwoTexts(texts, (first_reading, second_reading))


def answer(two: TwoTexts) -> str:
    """Say how far the two looks are apart."""
    before, after = two.weights
    shared = float(np.minimum(before, after).sum())
    return f"The two looks share **{percent(shared)}** of their weight."


def draw(two: TwoTexts) -> None:
    """Draw both looks, each with what it says."""
    columns = st.columns(2, gap="medium")
    for number, (text, reading) in enumerate(zip(two.texts, two.readings, strict=True)):
        with columns[number]:
            name, share, _ = asked.likeliest(reading.answer)[0]
            st.markdown(f"{error_markdown(text)}: **{name}** ({percent(share)}), best score {reading.best_score:.1f}")
            draw_spot(reading, f"photograph_spot_{number}", f"Where {text} looks")
