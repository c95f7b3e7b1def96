"""Words of a translation forced, and attention changed by hand."""

from itertools import groupby
from operator import itemgetter

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.data.pieces import END
from attention_core.data.sentence_presets import CLASSIC, REFERENCES
from attention_core.inference import translation as core
from ui.edits import WeightsRow
from ui.hosting.bounds import PREFIX_LETTERS
from ui.state import Field, plain_text, whole_number, whole_numbers
from ui.translators import EDITS, NAME, translation

MAX_FORCED = 60  # pieces that may be forced; the sentence needs room to end
CLASSIC_PAIRS = (("accord", "agreement"), ("zone", "Area"), ("économique", "Economic"), ("européenne", "European"))


def pieces_of(text: str) -> list[int]:
    return core.french_prefix(text[: PREFIX_LETTERS.maximum])[:MAX_FORCED]


def _numbered_pieces(text: str) -> list[int]:
    numbers = whole_numbers(text)[:MAX_FORCED]
    core.translation_of(numbers)  # IndexError where there is no such piece
    return numbers


PREFIX = Field(NAME, "prefix", "", address="begin", parse=lambda text: plain_text(text)[: PREFIX_LETTERS.maximum])
FORCED_PIECES: Field[list[int]] = Field(
    NAME, "forced", lambda: pieces_of(PREFIX.value), address="pieces", parse=_numbered_pieces
)
"""The pieces with which every translation must begin; chosen one by one, they need not be those of PREFIX."""
WORD = Field(NAME, "at", 2, address="at", parse=whole_number)
"""The present French word; on arrival *rouge*, whose colour is lost without attention."""


def forced_pieces() -> tuple[int, ...]:
    return tuple(FORCED_PIECES.value)


def force_pieces(pieces: list[int], text: str | None = None) -> None:
    """Let every translation begin with pieces, typed as `text` or chosen one by one."""
    FORCED_PIECES.value = pieces
    PREFIX.value = core.translation_of(pieces).text[: PREFIX_LETTERS.maximum] if text is None else text


def force_french_of_example(sentence: str) -> None:
    """Force the French that comes with an example, or none."""
    french = REFERENCES.get(sentence.strip(), "")
    force_pieces([*pieces_of(french), END] if french else [])


def n_forced_words(traced: core.TracedTranslation) -> int:
    """Return how many words of a translation are given, its end included; the last may be given in part."""
    return sum(first < len(traced.forced) for first in traced.view.first_piece)


def forced_words_note(traced: core.TracedTranslation) -> str:
    """Return a sentence that says how much of the French is not the network's own; "" where all is."""
    n = n_forced_words(traced)
    if n == len(traced.view.target):
        return "This French is given."
    return f"Its first {f'{n} words are' if n > 1 else 'word is'} given." if n else ""


def forced_french_note(text: str, traced: core.TracedTranslation) -> None:
    """Say what a model would have said itself where French comes with the sentence."""
    if text == CLASSIC and traced.forced == (*pieces_of(REFERENCES[CLASSIC]), END):
        unforced = translation(traced.translator, text).text
        st.markdown(
            f"Left to itself this model says *{as_markdown(unforced)}* All six fail here: such words are rare where "
            "they learned. "
            + ("" if traced.view.is_single else f"Given the French, {_describe_classic_pairs(traced.view)}.")
        )


def _describe_classic_pairs(view: core.WordView) -> str:
    sentences = []
    for french, english in CLASSIC_PAIRS:
        weights = view.weights[view.target.index(french)]
        heaviest, expected = int(weights.argmax()), view.source.index(english)
        missed = "" if heaviest == expected else f", not at *{english}* ({percent(float(weights[expected]))})"
        share = percent(float(weights[heaviest]))
        sentences.append(f"*{french}* looks most at *{view.source[heaviest]}* ({share}){missed}")
    return "; ".join(sentences)


def keys_of(text: str) -> list[tuple[int, ...]]:
    """Return the positions of the pieces of each English word."""
    word_of = core.read_source(text).word_of
    return [tuple(piece for piece, _ in group) for _, group in groupby(enumerate(word_of), itemgetter(1))]


def weights_row(traced: core.TracedTranslation, row: int, text: str) -> WeightsRow:
    return WeightsRow(EDITS, traced.trace, traced.view.pieces(row), None, traced.translator, text)


def change_arc(traced: core.TracedTranslation, row: int, column: int, weight: float | None, text: str) -> None:
    """Set what a French word gives an English one; None = cut it, or give it back; for a callback."""
    weights_row(traced, row, text).set_weight(keys_of(text)[column], weight)
