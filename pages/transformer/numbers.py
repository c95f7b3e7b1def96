"""All the numbers: the steps of the chosen head, and where each of its queries looks."""

import streamlit as st

from attention_core import Role, Step
from pages.transformer.inputs import QUERY, draw_arcs, draw_choice
from pages.transformer.reading import NAME, Reading
from ui.layout import section
from ui.player import Stepper, show_all_numbers

STEPS = Stepper(NAME)


def draw_numbers(reading: Reading) -> None:
    """Draw where each query of the chosen head looks, and its steps from its inputs to the merged heads."""
    chosen = draw_choice(reading)

    def draw_words(_: Step) -> None:
        with st.container(key="desk_transformer_arcs"):
            section("Click a word: where does it look?", Role.QUERY)
            draw_arcs(chosen)
        st.caption(f"This head, on average: {chosen.habit}.")

    name, head = f"{NAME}_{chosen.head.kind}", chosen.head.head
    show_all_numbers(
        chosen.trace, STEPS, name, head=head, query=chosen.query, on_query=QUERY.set, above_text=draw_words
    )
