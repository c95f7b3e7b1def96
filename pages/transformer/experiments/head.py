"""What does one head do? Which words a query attends to in the chosen head, and what all heads say then."""

import streamlit as st

from pages.transformer.inputs import ChosenHead, chosen_head, draw_reading
from pages.transformer.scene import draw_head_scene


def draw_input() -> ChosenHead:
    """Draw the sentence; return the chosen head."""
    return chosen_head(draw_reading())


def answer(chosen: ChosenHead) -> str:
    """Say which of the heads it is."""
    head = chosen.head
    return f"It decides where a word looks: head {head.head + 1} in layer {head.layer + 1}, one of 54."


def draw(chosen: ChosenHead) -> None:
    """Draw the head's scene."""
    with st.container(key="transformer_head_place"):
        draw_head_scene(chosen)
