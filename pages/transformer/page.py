"""Inside a transformer: what is left when the recurrence goes?"""

import streamlit as st

from attention_core.data.sentence_presets import LAYERED
from attention_core.inference.translation import read_source
from pages.transformer.inputs import choose_first_head, chosen_head, draw_edited_note, export_head
from pages.transformer.numbers import STEPS, draw_numbers
from pages.transformer.orders import draw_tiles
from pages.transformer.reading import MODEL, NAME, reading_of
from pages.transformer.surprise import exchange_positions
from ui.computed import model_or_fault
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import TRY_STAGE, try_this
from ui.words import readable_sentence, reading_remarks, sentence_box


def draw_orders() -> None:
    """Draw the open experiment, or a sentence in two orders, all numbers of a head, and the page's questions."""
    if draw_experiment(NAME):
        return
    model, missing = model_or_fault(MODEL)
    with st.container(key="transformer_in_a_row", horizontal=True, vertical_alignment="bottom"):
        sentence = sentence_box(NAME, LAYERED, on_change=choose_first_head)
        text = readable_sentence(NAME, sentence, next(iter(LAYERED.values())), "transformer_place")
        if model is not None:
            try_this(NAME, exchange_positions())
    with st.container():  # drawn empty, too, so that the picture below stays the same element
        reading_remarks(read_source(text))
    if model is None:
        st.error(f"**The transformer cannot be loaded.** {missing}", icon=":material/error:")
        page_questions(NAME, None)
        return
    reading = reading_of(text)
    with st.container():
        if not TRY_STAGE[NAME].value:
            draw_edited_note(reading)
    with st.container(key="transformer_place"):
        draw_tiles(reading)
    take_along(lambda: export_head(reading))
    page_questions(NAME, lambda: draw_numbers(chosen_head(reading)), players=(STEPS,))


page_frame(
    NAME,
    "It translates without recurrence. **Only a number tells it where a word stands.**",
)
page_body(draw_orders)
