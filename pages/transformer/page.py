"""Inside a transformer: what is left when the recurrence goes?"""

import streamlit as st

from attention_core.data.sentence_presets import LAYERED
from attention_core.inference.translation import read_source
from pages.transformer.first_screen import draw_edited_note, order_buttons, surprise, two_orders
from pages.transformer.inputs import export_head
from pages.transformer.numbers import STEPS, draw_numbers
from pages.transformer.reading import MODEL, NAME, reading_of
from ui.computed import model_or_fault
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this
from ui.words import reading_remarks, sentence_box


def orders() -> None:
    """Draw the open experiment, or both orders of the words, all the numbers of a head, and the page's questions."""
    if draw_experiment(NAME):
        return
    model, missing = model_or_fault(MODEL)
    text, reading = sentence_box(NAME, LAYERED), None
    source = read_source(text) if text else None
    with st.container(horizontal=True, gap="small"):
        order_buttons(source)
    if model is None:
        st.error(f"**The transformer cannot be loaded.** {missing}", icon=":material/error:")
    elif text and source:
        reading_remarks(source)
        reading = reading_of(text)
        draw_edited_note(reading)
        two_orders(reading)
        with st.container(key="desk_transformer_numbers"):
            st.caption("Under each word: 24 of its 192 numbers; the % says how much all changed.")
        try_this(NAME, surprise(text))
        take_along(lambda: export_head(reading))
    page_questions(NAME, (lambda: draw_numbers(reading)) if reading else None, players=(STEPS,))


page_frame(
    NAME,
    "Without positions and without a mask, attention cannot tell *Tom helped Mary* from *Mary helped Tom*.",
)
page_body(orders)
