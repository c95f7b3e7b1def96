"""What attention gives back of a word, beside what the one vector has of it; the page's surprise asks for it."""

from bisect import bisect

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.inference import word_influence as influence
from attention_core.inference.translation import Translation, read_source
from pages.memory import first_screen as screen
from pages.memory.charts import TRANSLATOR_COLOURS
from ui.computed import by_model, model_or_fault
from ui.labels import literal
from ui.layout import bar_rows
from ui.player import Walk
from ui.try_this import TryThis

GUESSED_INDEX, OPTION_BOUNDS = 5, (0.05, 0.25)  # the French word to guess about, and shares that separate the options
FRENCH_WALK = Walk(f"{screen.NAME}_cure", first=GUESSED_INDEX, label="French word")
_english_weights = by_model(influence.weights_by_word)
context_shares = by_model(influence.context_shares)


def look_back(text: str) -> TryThis:
    """Return the page's surprise: how much of what attention gives depends on one English word."""
    translation, labels, pieces = translation_by_words(text)
    row = min(GUESSED_INDEX, len(labels) - 1)
    french, prefix = literal(labels[row], 24), translation.ids[: pieces[row]]
    strongest, english = heaviest_english(text, prefix)

    def act() -> None:
        FRENCH_WALK.field.value = row

    def outcome() -> tuple[int, str]:
        shares = shares_by_network(text, prefix, strongest)
        return bisect(OPTION_BOUNDS, shares[screen.ATTENTIVE]), describe_shares(french, english, shares)

    def draw() -> None:
        _draw_bars(strongest, shares_by_network(text, prefix, strongest))

    question = f"While writing {french}, how much of what attention gives depends on {english}?"
    options = ("less than 5%", "5 to 25%", "more than 25%")
    return TryThis("let the network look back", question, options, act, outcome, "memory_long", draw)


def heaviest_english(text: str, prefix: list[int]) -> tuple[int, str]:
    """Return the index of the English word that attention weighs most after some French pieces, and its Markdown."""
    source = read_source(text)
    index = int(_english_weights(screen.ATTENTIVE, source, prefix).argmax())
    return index, literal(source.word_labels[index], 24)


def shares_by_network(text: str, prefix: list[int], index: int) -> dict[str, float]:
    """Return an English word's share in what attention then gives, and in the one vector, by network."""
    context = context_shares(screen.ATTENTIVE, read_source(text), prefix)
    return {screen.ATTENTIVE: float(context[index]), screen.WITHOUT: float(screen.vector_shares(text)[index])}


def _draw_bars(index: int, shares: dict[str, float]) -> None:
    """Draw an English word's share by network, and frame the word in the sentence on the first screen."""
    bars = bar_rows((screen.called(name), share, TRANSLATOR_COLOURS[name]) for name, share in shares.items())
    framed = f".st-key-memory_long .word:nth-child({index + 1}) {{ outline: 3px solid currentcolor }}"
    st.html(f"<style>{framed}</style>{bars}")


def translation_by_words(text: str) -> tuple[Translation, list[str], list[int]]:
    """Return attention's translation of a sentence, its words, and the index of the first piece of each."""
    translation = screen.translated(screen.ATTENTIVE, read_source(text))
    first_piece = {word: piece for piece, word in reversed(list(enumerate(translation.word_of)))}
    words = sorted(first_piece)
    return translation, [translation.word_labels[word] for word in words], [first_piece[word] for word in words]


def describe_shares(french: str, english: str, shares: dict[str, float]) -> str:
    return (
        f"To say {french}, the decoder looks most at {english}: **{percent(shares[screen.ATTENTIVE])}** of what "
        f"attention gives depends on that word, of the one vector **{percent(shares[screen.WITHOUT])}**."
    )


def why_missing() -> str:
    """Return why one of the two networks cannot be loaded, "" if both can."""
    return model_or_fault(screen.ATTENTIVE)[1] or model_or_fault(screen.WITHOUT)[1]
