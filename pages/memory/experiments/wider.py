"""Would a wider vector do? The BLEU of vectors of several widths, and a sentence out of one vector and by attention."""

from typing import Any

import streamlit as st

from attention_core.evaluate.variants import variants_of
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from ui.computed import card_or_empty, model_or_fault
from ui.labels import note
from ui.layout import figures_table

SHIPPED = {"one vector of 384, trained longer": screen.WITHOUT, "attention, trained longer": screen.ATTENTIVE}
draw_input = screen.draw_sentence


def answer(text: str) -> str:
    """Say what vectors of several widths are worth."""
    figures = [card["test"] for card in _cards_by_width().values()]
    if len(figures) < 2:
        return ""
    bleu, most_long = [figure["bleu"] for figure in figures], max(figure["bleu_long"] for figure in figures)
    return f"Hardly: after two passes {min(bleu):.0f} to {max(bleu):.0f} BLEU, long sentences at most {most_long:.0f}."


def _cards_by_width() -> dict[int, dict[str, Any]]:
    """Return the cards of translators out of one vector, the narrowest first."""
    return dict(sorted((int(width), card) for width, card in variants_of(screen.WITHOUT).items()))


def _translate(text: str, name: str) -> str:
    model, fault = model_or_fault(name)
    return str(fault) if model is None else screen.translated(name, read_source(text)).text


def draw(text: str) -> None:
    """Draw the BLEU of vectors of several widths, and what the two networks that come along make of the sentence."""
    figures_table(
        ("the decoder gets", "says in French"),
        *((label, _translate(text, name)) for label, name in SHIPPED.items()),
        ends_in_french=True,
    )
    measured = {f"one vector of {width:,}": card for width, card in _cards_by_width().items()}
    if len(measured) < 2:
        st.info("The figures of wider vectors are not there.")
        return
    measured |= {label: card for label, name in SHIPPED.items() if (card := card_or_empty(name))}
    figures = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for label, card in measured.items()
    ]
    figures_table(("the decoder gets", "passes", "BLEU", "12 words or more"), *figures)
    note("BLEU: 100 is a person's translation.")
