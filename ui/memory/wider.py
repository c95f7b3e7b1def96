"""Would a wider vector do? Translators without attention whose one vector has fewer or more numbers."""

import streamlit as st

from attention_core.topics.translate.translation import SourceSentence, read_source
from attention_core.topics.variants import variants_of
from ui.computed import card_or_empty, model_or_none
from ui.glossary import note, paragraph
from ui.layout import figures_table
from ui.memory.first_screen import ATTENTIVE, SAYS, WITHOUT, translated
from ui.memory.networks import NAME
from ui.state import Field, one_of, single_choice

NARROW = "translator-none-256"
TRANSLATES = {256: NARROW, 384: WITHOUT}
"""Of each width whose network comes along, its name."""
LONGER = "one vector, 384 numbers, trained longer", "attention, trained longer"
WIDTHS = (256, 384, 512, 768, 1024)
WIDTH = Field(NAME, "width", 512, address="width", parse=one_of(WIDTHS))


def wider_vector(text: str) -> None:
    """Draw what a context of a chosen width holds of each word, and the BLEU of translators of several widths."""
    source = read_source(text)
    width, n = single_choice("Numbers in the one vector", WIDTH, WIDTHS), len(source.words)
    figures_table(
        (f"Your sentence: {n} words and marks", "numbers handed over", "numbers per word"),
        ("one vector", f"{width:,}", f"{width / n:,.0f}"),
        ("a state for each word, with attention", f"{width * n:,}", f"{width:,}"),
    )
    _say(source, width)
    measured = {256: card_or_empty(NARROW)} | {int(at): card for at, card in variants_of(WITHOUT).items()}
    by_width = {numbers: card for numbers, card in measured.items() if card}
    if len(by_width) < 2:
        st.info("The figures of wider vectors are not there.")
        return
    narrowest, *_, widest = sorted(by_width)
    long = {numbers: card["test"]["bleu_long"] for numbers, card in by_width.items()}
    best = max(long, key=long.__getitem__)
    paragraph(
        f"**A wider vector hardly saves long sentences**: after two passes their BLEU is {long[narrowest]:.1f} with "
        f"{narrowest} numbers, {long[widest]:.1f} with {widest:,}, and {long[best]:.1f} at best, with {best:,}."
    )
    widths = {f"{SAYS[WITHOUT]}, {numbers:,} numbers": by_width[numbers] for numbers in sorted(by_width)}
    longer = {label: card_or_empty(name) for label, name in zip(LONGER, (WITHOUT, ATTENTIVE), strict=True)}
    rows = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for label, card in (widths | longer).items()
        if card
    ]
    figures_table(("", "passes over the sentences", "BLEU", "BLEU, 12 words and more"), *rows)


def _say(source: SourceSentence, chosen: int) -> None:
    """Draw the French that is made of contexts of the widths whose networks come along."""
    rows = []
    for width, name in TRANSLATES.items():
        (model, fault), passes = model_or_none(name), card_or_empty(name).get("epochs", 0)
        french = str(fault) if model is None else translated(model, source).text
        rows.append((f"{width} numbers, {passes:g} passes of training", french))
    if chosen not in TRANSLATES:
        rows.append((f"{chosen:,} numbers", "Its network does not come along; its figures are below."))
    figures_table(("one vector of", "says in French"), *rows)
    note("These two networks were not trained equally long; those of the table below were, except the last two rows.")
