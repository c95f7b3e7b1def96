"""All the numbers: the steps of the chosen head."""

import streamlit as st

from attention_core import Step
from pages.transformer.inputs import QUERY, ChosenHead
from pages.transformer.reading import NAME
from ui.player import Stepper, show_all_numbers

STEPS = Stepper(NAME)


def draw_numbers(chosen: ChosenHead) -> None:
    """Draw the steps of a head from its inputs to the merged heads."""

    def describe(_: Step) -> None:
        st.caption(f"This head, on average: {chosen.habit}.")

    name, head = f"{NAME}_{chosen.head.kind}", chosen.head.head
    show_all_numbers(chosen.trace, STEPS, name, head=head, query=chosen.query, on_query=QUERY.set, above_text=describe)
