"""The first screen: a long sentence, what one vector loses of it, and what attention does."""

from bisect import bisect_left

import streamlit as st

from attention_core.bounds.harmless import as_markdown
from attention_core.data.pieces import english_words
from attention_core.data.sentence_presets import REMEMBERED, SHORTER
from attention_core.inference.translation import TracedTranslation, read_source, translate
from attention_core.inference.translation_scene import words_lost
from ui import translators as network
from ui.computed import by_model
from ui.player import Walk
from ui.state import Field, whole_number
from ui.try_this import TryThis
from ui.words import readable_sentence, reading_remarks, sentence_box

NAME = "memory"
WALK = Walk(NAME)
WITHOUT, ATTENTIVE = "translator-none", "translator-dot"
LABELS = {WITHOUT: "one vector", ATTENTIVE: "attention"}
N_OF_SHORT_SENTENCE = 6  # words of a sentence of one's own that make the short one
LENGTH = Field(NAME, "length", 0, address="length", parse=whole_number)
"""How many of the sentence's words are read, 0 = all."""
SHORTEST = 3
DANGLING = {
    "a", "all", "an", "and", "are", "as", "at", "be", "because", "but", "by", "for", "from", "had", "has", "have",
    "he", "her", "his", "i", "in", "into", "is", "it", "its", "my", "near", "no", "not", "of", "on", "or", "our",
    "she", "so", "than", "that", "the", "their", "they", "this", "to", "very", "was", "we", "were", "when", "which",
    "who", "with", "you", "your",
}  # fmt: skip
"""Words that ask for a next one, so that no beginning of a sentence ends with them."""
LOST_OPTIONS, OPTION_BOUNDS = ("none", "one or two", "three or four", "more"), (0, 2, 4)
"""How many words are lost, and the most that each option but the last is right for."""

translated = by_model(translate)


def read_sentence() -> str:
    """Let a person type a sentence; return what there is to read, or was."""
    entry = sentence_box(NAME, REMEMBERED, label="A long English sentence", on_change=_on_sentence)
    text = readable_sentence(NAME, entry, next(iter(REMEMBERED.values())), f"{NAME}_scene")
    reading_remarks(read_source(text))
    return text


def _on_sentence() -> None:
    for field in (WALK.field, LENGTH):
        field.reset()


def draw_sentence() -> str:
    """Draw the box of the sentence on the screen of an experiment; return the sentence."""
    with st.container(key="experiment_input"):
        return read_sentence()


def shorter(text: str) -> str:
    """Return a short sentence to compare with a long one: what an example begins with, or the first words."""
    return SHORTER.get(text) or beginning(text, N_OF_SHORT_SENTENCE)


def _final_pieces(text: str) -> list[int]:
    """Return where each word of a sentence ends: its number among words and marks, from 1."""
    return [number for number, token in enumerate(read_source(text).words, 1) if any(map(str.isalnum, token))]


def n_words(text: str) -> int:
    return len(_final_pieces(text))


def beginning(text: str, n: int) -> str:
    """Return a sentence's first n words and a full stop; all of it if it has no more."""
    final = _final_pieces(text)
    return text if n >= len(final) else "".join(english_words(text)[: final[n - 1]]).replace("▁", " ").strip() + "."


def stop_lengths(text: str) -> list[int]:
    """Return how many of a sentence's words may be read: beginnings that want no next word, and all."""
    tokens, final = read_source(text).words, _final_pieces(text)
    return [n for n in range(SHORTEST, len(final)) if tokens[final[n - 1] - 1].lower() not in DANGLING] + [len(final)]


def present_length(text: str) -> int:
    """Return how many words of the sentence are read now."""
    return LENGTH.value if LENGTH.value in stop_lengths(text) else n_words(text)


def traced(name: str, text: str) -> TracedTranslation | None:
    """Return what a network makes of a sentence, with its attention; None where the network is missing."""
    translator = name.removeprefix("translator-")
    return None if network.why_missing(translator) else network.traced_translation(translator, text, ())


def lost_words(name: str, text: str) -> list[str]:
    """Return the words of a sentence that a network loses, each as often as it stands there."""
    model = traced(name, text)
    return words_lost(model, text) if model else []


def describe_loss(text: str) -> str:
    """Say what one vector loses of a sentence and of its beginning, and attention; "" where a network is missing."""
    if not all(traced(name, text) for name in LABELS):
        return ""
    short, lost, attentive = shorter(text), _loss(WITHOUT, text), _loss(ATTENTIVE, text)
    if n_words(text) < 2 * n_words(short):
        return f"One vector gets {lost} wrong; attention {attentive}."
    return f"One vector gets {_loss(WITHOUT, short)} wrong, of the long sentence {lost}; attention {attentive}."


def _loss(name: str, text: str) -> str:
    return f"**{len(lost_words(name, text))} of {n_words(text)}**"


def guess_loss(text: str) -> TryThis:
    """Return the page's surprise: how many words one vector loses of a long sentence's beginning, or of a short one."""
    short = shorter(text)
    is_long, n = n_words(text) >= 2 * n_words(short), n_words(short)
    question = (
        f"Only *{as_markdown(short.rstrip('.'))}*, {n} words: how many does one vector get wrong?"
        if is_long
        else f"How many of these {n_words(text)} words does one vector get wrong?"
    )

    def act() -> None:
        LENGTH.value = n

    def outcome() -> tuple[int, str]:
        n_lost = len(lost_words(WITHOUT, short if is_long else text))
        return bisect_left(OPTION_BOUNDS, n_lost), describe_loss(text)

    return TryThis(
        "shorten the sentence" if is_long else "count the wrong words",
        question,
        LOST_OPTIONS,
        act if is_long else None,
        outcome,
        f"{NAME}_scene",
        hides=".st-key-numbers",
        subject=text,
    )
