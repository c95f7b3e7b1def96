"""Inside a transformer: what is left when the recurrence goes?"""

import streamlit as st

from attention_core.data.sentence_presets import LAYERED
from attention_core.inference.translation import read_source
from pages.transformer.deeper import cost_of_length, measured_cost, order_twice, position_waves
from pages.transformer.experiment import MODEL, NAME, TRANSLATOR, experiment_on
from pages.transformer.first_screen import draw_edited_note, order_buttons, surprise, two_orders
from pages.transformer.heads import STEPS, all_heads, change_heads, transformer_steps
from pages.transformer.heads import take_along as export_head
from ui.computed import model_or_fault
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.translators import traced_translation, translation_faithfulness
from ui.try_this import try_this
from ui.words import reading_remarks, sentence_box


def orders() -> None:
    """Draw both orders of the words, and what stands below them."""
    model, missing = model_or_fault(MODEL)
    text = sentence_box(NAME, LAYERED)
    source = read_source(text) if text else None
    with st.container(horizontal=True, gap="small"):
        order_buttons(source)
    if model is None:
        st.error(f"**The transformer cannot be loaded.** {missing}", icon=":material/error:")
    elif text and source:
        reading_remarks(source)
        experiment = experiment_on(text)
        draw_edited_note(experiment)
        two_orders(experiment)
        with st.container(key="desk_transformer_numbers"):
            st.caption("Under each word: 24 of its 192 numbers; the % says how much all changed.")
        try_this(NAME, surprise(text))

    tabs, faithfulness = [], []
    if text and model:
        tabs = [
            Tab("steps", "Step by step", lambda: transformer_steps(experiment)),
            Tab("off", "Try", lambda: change_heads(experiment)),
            Tab("heads", "All heads", lambda: all_heads(experiment)),
        ]
        take_along(lambda: export_head(experiment))
        traced = traced_translation(TRANSLATOR, text, ())
        faithfulness = [translation_faithfulness(NAME, text, traced)]
    page_tabs(
        NAME,
        *tabs,
        more=(
            Tab("positions", "Where a word stands", position_waves),
            Tab("twice", "Is the order learned twice?", lambda: order_twice(text)),
            Tab(
                "cost",
                "What it costs",
                lambda: cost_of_length(len(source.ids) if source else 12),
                below=Tab("measured", "Time and memory", measured_cost),
            ),
            *faithfulness,
        ),
        players=(STEPS,),
    )


page_frame(
    NAME,
    "Without positions, attention cannot tell *Tom helped Mary* from *Mary helped Tom*.",
)
page_body(orders)
