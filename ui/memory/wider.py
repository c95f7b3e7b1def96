"""Would a wider vector do? Translators without attention whose one vector has twice the numbers."""

import streamlit as st

from attention_core.files import find_file, read_figures
from ui.glossary import note, paragraph
from ui.layout import figures_table
from ui.memory.first_screen import ATTENTIVE, WITHOUT, bleu_by_length

COMMITTED = find_file("benchmarks/results/context_width.json")


def wider_vector() -> None:
    """Draw the BLEU of translators whose vector has 384 and 768 numbers, and say that it stays one vector."""
    figures = read_figures(COMMITTED)
    if figures is None:
        st.info("The figures of wider vectors are not there.")
        return
    cards = figures["cards"]
    paragraph("Twice the numbers help a little. But a long sentence still has to fit, and attention has no such limit.")
    rows = [
        (card["name"].rsplit("-", 1)[1], f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for card in cards
    ]
    figures_table(("numbers in the one vector", "BLEU, all sentences", "12 words and more"), *rows)
    lengths = bleu_by_length((WITHOUT, ATTENTIVE)).long
    fully = f" Trained to the end, {lengths[WITHOUT]:.1f} and, with attention, {lengths[ATTENTIVE]:.1f}."
    whole = fully if {WITHOUT, ATTENTIVE} <= set(lengths) else ""
    note(f"These were trained on the same sentences for only {cards[0]['epochs']:g} passes, not five.{whole}")
