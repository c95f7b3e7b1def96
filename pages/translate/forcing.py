"""Words of a translation forced, and attention changed by hand."""

from functools import partial
from itertools import groupby
from operator import itemgetter

import streamlit as st

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.data.pieces import END, load_vocabulary
from attention_core.data.sentence_presets import CLASSIC, REFERENCES
from attention_core.inference import translation as core
from ui.edits import WeightsRow, show_weights_difference, weight_editor
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.hosting.bounds import PREFIX_LETTERS
from ui.layout import section
from ui.state import Field, plain_text, whole_number, whole_numbers
from ui.translators import EDITS, NAME, TRANSLATORS, likely_pieces, model_of, show_next_word, translation
from ui.words import chosen_token, piece_label, token_bars

MAX_FORCED = 60  # pieces that may be forced; the sentence needs room to end
CLASSIC_PAIRS = (("accord", "agreement"), ("zone", "Area"), ("économique", "Economic"), ("européenne", "European"))


def _pieces_of(text: str) -> list[int]:
    return core.french_prefix(text[: PREFIX_LETTERS.maximum])[:MAX_FORCED]


def _numbered_pieces(text: str) -> list[int]:
    numbers = whole_numbers(text)[:MAX_FORCED]
    core.translation_of(numbers)  # IndexError where there is no such piece
    return numbers


PREFIX = Field(NAME, "prefix", "", address="begin", parse=lambda text: plain_text(text)[: PREFIX_LETTERS.maximum])
FORCED_PIECES: Field[list[int]] = Field(
    NAME, "forced", lambda: _pieces_of(PREFIX.value), address="pieces", parse=_numbered_pieces
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
    force_pieces([*_pieces_of(french), END] if french else [])


def n_forced_words(traced: core.TracedTranslation) -> int:
    """Return how many words of a translation are given, its end included; the last may be given in part."""
    return sum(first < len(traced.forced) for first in traced.view.first_piece)


def forced_words_note(traced: core.TracedTranslation) -> str:
    """Return a sentence that says how much of the French is not the network's own; "" where all is."""
    n = n_forced_words(traced)
    if n == len(traced.view.target):
        return "This French is given."
    return f"Its first {f'{n} words are' if n > 1 else 'word is'} given." if n else ""


def force_french(traced: core.TracedTranslation, row: int, text: str) -> None:
    """Draw the beginning to type, and what could be said next at the present word, each a button."""
    left, right = st.columns([1, 1], gap="large")
    with left:
        PREFIX.widget(
            st.text_input,
            "The French must begin with",
            max_chars=PREFIX_LETTERS.maximum,
            placeholder="nothing: the models are free",
            on_change=with_rerun(lambda: force_pieces(_pieces_of(PREFIX.value), PREFIX.value)),
        )
        free = partial(st.button, "The model's own choice", key="translate_free", disabled=not FORCED_PIECES.value)
        free(on_click=with_rerun(force_pieces), args=([],))
    with right:
        _draw_next_pieces(traced, text, traced.view.first_piece[row])


def _draw_next_pieces(traced: core.TracedTranslation, text: str, position: int) -> None:
    ids = traced.translation.ids
    prefix = tuple(ids[:position])
    section(f"The next word, {TRANSLATORS[traced.translator]}", Role.OUTPUT)
    pieces = likely_pieces(model_of(traced.translator), core.read_source(text), prefix)
    after_apostrophe = bool(prefix) and load_vocabulary().text(prefix[-1]).endswith("'")
    bars = [piece._replace(text=piece_label(piece.text, after_apostrophe)) for piece in pieces]
    token_bars(NAME, bars, prefix, ids[position] if position < len(ids) else None, _on_piece)
    if len(prefix) >= MAX_FORCED:
        st.info(f"Up to {MAX_FORCED} pieces can be chosen; from here on the models speak alone.")
    st.caption("The ten likeliest of 8,000 pieces. Click one to force it. A hyphen: it continues a word.")


def _on_piece() -> None:
    choice = chosen_token(NAME)
    if choice is not None and len(choice[1]) < MAX_FORCED:
        force_pieces([*choice[1], choice[0]])
        WORD.value += 1
        rerun_fragments(BODY)


def forced_french_note(text: str, traced: core.TracedTranslation) -> None:
    """Say what a model would have said itself where French comes with the sentence."""
    if text == CLASSIC and traced.forced == (*_pieces_of(REFERENCES[CLASSIC]), END):
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


def _keys_of(text: str) -> list[tuple[int, ...]]:
    """Return the positions of the pieces of each English word."""
    word_of = core.read_source(text).word_of
    return [tuple(piece for piece, _ in group) for _, group in groupby(enumerate(word_of), itemgetter(1))]


def _weights_row(traced: core.TracedTranslation, row: int, text: str) -> WeightsRow:
    return WeightsRow(EDITS, traced.trace, traced.view.pieces(row), None, traced.translator, text)


def change_arc(traced: core.TracedTranslation, row: int, column: int, weight: float | None, text: str) -> None:
    """Set what a French word gives an English one; None = cut it, or give it back; for a callback."""
    _weights_row(traced, row, text).set_weight(_keys_of(text)[column], weight)


def change_arcs(traced: core.TracedTranslation, row: int, text: str) -> None:
    """Draw the present word's weights to be changed, the list of changes, and what is said before and after."""
    view, trace, name = traced.view, traced.trace, traced.translator
    left, right = st.columns(2, gap="large")
    with left:
        if view.is_single:
            st.info("This model looks at one vector alone: no weight can be changed. Take one with attention above.")
        else:
            key_names = dict(zip(_keys_of(text), view.source, strict=True))
            row_sources = {view.first_piece[at]: word for at, word in enumerate(view.target) if at != row}
            weight_editor(_weights_row(traced, row, text), key_names, row_sources)
        hint = "" if view.is_single else "Click a French word above, then an English one to cut their arc."
        EDITS.draw(trace, hint=hint)
        show_weights_difference(NAME, trace.replace(()), trace)
    with right:
        if trace.edits:
            learned_text = translation(name, text, traced.forced).text
            anew = "Only what comes from the first changed word on is said anew."
            if traced.forced:
                anew = f"{forced_words_note(traced)} No weight changes what is given, only how likely it is."
            changed_text = traced.translation.text
            st.markdown(
                f"As learned: *{as_markdown(learned_text)}*  \nChanged: *{as_markdown(changed_text)}*  \n{anew}"
            )
        prefix = tuple(traced.translation.ids[: traced.view.first_piece[row]])
        show_next_word(name, core.read_source(text), prefix, trace.edits)
