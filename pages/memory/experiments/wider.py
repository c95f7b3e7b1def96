"""Would a wider vector do? Translations out of vectors of several widths, and their BLEU."""

import streamlit as st

from attention_core.evaluate.variants import variants_of
from attention_core.inference.translation import read_source
from pages.memory import first_screen as screen
from ui.computed import card_or_empty, model_or_fault
from ui.labels import note
from ui.layout import figures_table

NARROW = "translator-none-256"
NETWORK_OF_WIDTH = {256: NARROW, 384: screen.WITHOUT}
"""The networks that come along, by the width of their one vector."""
LONGER_TRAINED = "one vector of 384, trained longer", "attention, trained longer"
draw_input = screen.draw_sentence


def answer(text: str) -> str:
    """Say how many different translations there are."""
    french = {_translate(text, name) for name in NETWORK_OF_WIDTH.values()}
    contrast = "the same as" if len(french) == 1 else "something else than"
    return f"Hardly: of your sentence, 384 numbers say {contrast} 256, and long sentences stay lost."


def _translate(text: str, name: str) -> str:
    model, fault = model_or_fault(name)
    return str(fault) if model is None else screen.translated(name, read_source(text)).text


def draw(text: str) -> None:
    """Draw the translations, and the BLEU of vectors of more widths."""
    passes = {name: card_or_empty(name).get("epochs", 0) for name in NETWORK_OF_WIDTH.values()}
    rows = [
        (f"{width} numbers, {passes[name]:g} passes", _translate(text, name))
        for width, name in NETWORK_OF_WIDTH.items()
    ]
    figures_table(("one vector of", "says in French"), *rows, ends_in_french=True)
    cards = {256: card_or_empty(NARROW)} | {int(width): card for width, card in variants_of(screen.WITHOUT).items()}
    measured = {f"one vector of {width:,}": card for width, card in sorted(cards.items()) if card}
    if len(measured) < 2:
        st.info("The figures of wider vectors are not there.")
        return
    longer = dict(zip(LONGER_TRAINED, map(card_or_empty, (screen.WITHOUT, screen.ATTENTIVE)), strict=True))
    figures = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for label, card in (measured | longer).items()
        if card
    ]
    figures_table(("the decoder gets", "passes", "BLEU", "12 words or more"), *figures)
    note("BLEU: 100 is a person's translation.")
