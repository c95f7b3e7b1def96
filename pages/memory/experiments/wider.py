"""Would a wider vector do? The BLEU of vectors of several widths, and a sentence out of one vector and by attention."""

from typing import Any

import streamlit as st

from attention_core.evaluate.variants import variants_of
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from ui.computed import card_or_empty, model_or_fault
from ui.layout import figures_table

SHIPPED = {"384": screen.WITHOUT, "attention instead": screen.ATTENTIVE}
draw_input = screen.draw_sentence


def answer(text: str) -> str:
    """Say what vectors of several widths are worth."""
    figures = [card["test"] for card in _cards_by_width().values()]
    if len(figures) < 2:
        return ""
    bleu, most_long = [figure["bleu"] for figure in figures], max(figure["bleu_long"] for figure in figures)
    return f"Hardly: {min(bleu):.0f} to {max(bleu):.0f} BLEU, of long sentences at most {most_long:.0f}."


def _cards_by_width() -> dict[int, dict[str, Any]]:
    """Return the cards of translators out of one vector, the narrowest first."""
    return dict(sorted((int(width), card) for width, card in variants_of(screen.WITHOUT).items()))


def _translate(text: str, name: str) -> str:
    model, fault = model_or_fault(name)
    return str(fault) if model is None else screen.translated(name, read_source(text)).text


def draw(text: str) -> None:
    """Draw the BLEU of vectors of several widths, and what the two networks that come along make of the sentence."""
    measured = [(f"{width:,}", card, "") for width, card in _cards_by_width().items()]
    if len(measured) < 2:
        st.info("The figures of wider vectors are not there.")
    shipped = [(label, card_or_empty(name), _translate(text, name)) for label, name in SHIPPED.items()]
    figures = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}", french)
        for label, card, french in [*measured, *shipped]
        if card
    ]
    header = "one vector of", "passes", "BLEU", "12 words or more", "your sentence"
    figures_table(header, *figures, ends_in_french=True)
