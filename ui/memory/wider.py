"""Would a wider vector do? Translators without attention whose one vector has twice the numbers."""

import streamlit as st

from attention_core.files import find_file, read_figures
from ui.computed import card_or_empty
from ui.glossary import paragraph
from ui.layout import figures_table
from ui.memory.first_screen import ATTENTIVE, SAYS, WITHOUT, what_lengths_show

COMMITTED = find_file("benchmarks/results/context_width.json")
LONGER = "one vector, 384 numbers, trained longer", "attention, trained longer"


def wider_vector() -> None:
    """Draw the BLEU of translators whose vector has 384 and 768 numbers, and say that it stays one vector."""
    what_lengths_show()
    figures = read_figures(COMMITTED)
    if figures is None:
        st.info("The figures of wider vectors are not there.")
        return
    paragraph("Twice the numbers raise BLEU a little; a long sentence still has to fit.")
    widths = {f"{SAYS[WITHOUT]}, {card['name'].rsplit('-', 1)[1]} numbers": card for card in figures["cards"]}
    longer = {label: card_or_empty(name) for label, name in zip(LONGER, (WITHOUT, ATTENTIVE), strict=True)}
    rows = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for label, card in (widths | longer).items()
        if card
    ]
    figures_table(("", "passes over the sentences", "BLEU", "of 12 words and more"), *rows)
