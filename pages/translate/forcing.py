"""Words of a translation forced, and attention changed by hand."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.bounds.harmless import as_markdown
from attention_core.data.pieces import END, load_vocabulary
from attention_core.data.sentence_presets import CLASSIC, GIVEN
from attention_core.inference import translation as core
from ui.edits import WeightsRow, show_weights_difference, weight_editor
from ui.hosting.bounds import PREFIX_LETTERS
from ui.layout import section
from ui.parts import BODY, changing, run_parts
from ui.state import Field, plain_text, whole_number, whole_numbers
from ui.translators import EDITS, NAME, TRANSLATORS, likely_pieces, model_of, show_next_word, translation
from ui.words import chosen_piece, piece_label, word_bars

MAX_FORCED = 60  # pieces that may be forced; the sentence needs room to end
CLASSIC_PAIRS = (("accord", "agreement"), ("zone", "Area"), ("économique", "Economic"), ("européenne", "European"))


def _pieces_of(text: str) -> list[int]:
    return core.french_prefix(text[: PREFIX_LETTERS.most])[:MAX_FORCED]


def _numbered_pieces(text: str) -> list[int]:
    numbers = whole_numbers(text)[:MAX_FORCED]
    core.translation_of(numbers)  # IndexError where there is no such piece
    return numbers


PREFIX = Field(NAME, "prefix", "", address="begin", parse=lambda text: plain_text(text)[: PREFIX_LETTERS.most])
FORCED_PIECES: Field[list[int]] = Field(
    NAME, "forced", lambda: _pieces_of(PREFIX.value), address="pieces", parse=_numbered_pieces
)
"""Chosen one by one they need not be those into which the typed beginning would be cut."""
WORD = Field(NAME, "at", 2, address="at", parse=whole_number)
"""The French word that is looked at; on arrival *rouge*, whose colour is lost without attention."""


def forced_pieces() -> tuple[int, ...]:
    return tuple(FORCED_PIECES.value)


def force_pieces(pieces: list[int], text: str | None = None) -> None:
    """Let every translation begin with pieces, typed as `text` or chosen one by one."""
    FORCED_PIECES.value = pieces
    PREFIX.value = core.translation_of(pieces).text[: PREFIX_LETTERS.most] if text is None else text


def force_what_comes_with(sentence: str) -> None:
    """Force the French that comes with an example, or none."""
    french = GIVEN.get(sentence.strip(), "")
    force_pieces([*_pieces_of(french), END] if french else [])


def n_given(shown: core.ShownTranslation) -> int:
    """Return how many words of a translation are given, its end included; the last may be given in part."""
    return sum(first < len(shown.forced) for first in shown.view.first_piece)


def given_words(shown: core.ShownTranslation) -> str:
    """Return a sentence that says how much of the French is not the network's own; "" where all is."""
    n = n_given(shown)
    if n == len(shown.view.target):
        return "This French is given."
    return f"Its first {f'{n} words are' if n > 1 else 'word is'} given." if n else ""


def force_french(shown: core.ShownTranslation, row: int, text: str) -> None:
    """Draw the beginning to type, and what could be said next at the present word, each a button."""
    typed, following = st.columns([1, 1], gap="large")
    with typed:
        PREFIX.widget(
            st.text_input,
            "The French must begin with",
            max_chars=PREFIX_LETTERS.most,
            placeholder="nothing: the models are free",
            on_change=changing(lambda: force_pieces(_pieces_of(PREFIX.value), PREFIX.value)),
        )
        own = "The model's own choice"
        st.button(
            own, key="translate_free", disabled=not FORCED_PIECES.value, on_click=changing(force_pieces), args=([],)
        )
    with following:
        _next_word(shown, text, shown.view.first_piece[row])


def _next_word(shown: core.ShownTranslation, text: str, piece: int) -> None:
    ids = shown.translation.ids
    after = tuple(ids[:piece])
    section(f"The next word, {TRANSLATORS[shown.translator]}", Role.OUTPUT)
    pieces = likely_pieces(model_of(shown.translator), core.read_source(text), after)
    after_apostrophe = bool(after) and load_vocabulary().text(after[-1]).endswith("'")
    bars = [one._replace(text=piece_label(one.text, after_apostrophe)) for one in pieces]
    word_bars(NAME, bars, after, ids[piece] if piece < len(ids) else None, _take_choice)
    if len(after) >= MAX_FORCED:
        st.info(f"Up to {MAX_FORCED} pieces can be chosen; from here on the models speak alone.")
    st.caption("The ten likeliest of 8,000 pieces. Click one to force it. A hyphen: it continues a word.")


def _take_choice() -> None:
    choice = chosen_piece(NAME)
    if choice is not None and len(choice[1]) < MAX_FORCED:
        force_pieces([*choice[1], choice[0]])
        WORD.value += 1
        run_parts(BODY)


def forced_french_note(text: str, shown: core.ShownTranslation) -> None:
    """Say what a model would have said itself where French comes with the sentence."""
    if text == CLASSIC and shown.forced == (*_pieces_of(GIVEN[CLASSIC]), END):
        itself = translation(shown.translator, text).text
        st.markdown(
            f"Left to itself this model says *{as_markdown(itself)}* All six fail here: such words are rare where they "
            "learned. " + ("" if shown.view.is_single else f"Given the French, {_where_it_looks(shown.view)}.")
        )


def _where_it_looks(view: core.WordView) -> str:
    told = []
    for french, english in CLASSIC_PAIRS:
        weights = view.weights[view.target.index(french)]
        best, wanted = int(weights.argmax()), view.source.index(english)
        missed = "" if best == wanted else f", not at *{english}* ({float(weights[wanted]):.0%})"
        told.append(f"*{french}* looks most at *{view.source[best]}* ({float(weights[best]):.0%}){missed}")
    return "; ".join(told)


def _keys_of(text: str) -> list[tuple[int, ...]]:
    """Return the pieces of each English word."""
    word_of = core.read_source(text).word_of
    return [tuple(place for place, of in enumerate(word_of) if of == word) for word in range(word_of[-1] + 1)]


def _row(shown: core.ShownTranslation, row: int, text: str) -> WeightsRow:
    return WeightsRow(EDITS, shown.trace, shown.view.pieces(row), None, shown.translator, text)


def change_arc(shown: core.ShownTranslation, row: int, column: int, weight: float | None, text: str) -> None:
    """Set what a French word gives an English one; None = cut it, or give it back; for a callback."""
    _row(shown, row, text).set_weight(_keys_of(text)[column], weight)


def change_arcs(shown: core.ShownTranslation, row: int, text: str) -> None:
    """Draw the present word's weights to be changed, the list of changes, and what is said before and after."""
    view, trace, name = shown.view, shown.trace, shown.translator
    left, right = st.columns(2, gap="large")
    with left:
        if view.is_single:
            st.info("This model looks at one vector alone: no weight can be changed. Take one with attention above.")
        else:
            words = dict(zip(_keys_of(text), view.source, strict=True))
            others = {view.first_piece[at]: word for at, word in enumerate(view.target) if at != row}
            weight_editor(_row(shown, row, text), words, others)
        hint = "" if view.is_single else "Click a French word above, then an English one to cut their arc."
        EDITS.draw(trace, hint=hint)
        show_weights_difference(NAME, trace.replace(()), trace)
    with right:
        if trace.edits:
            was = translation(name, text, shown.forced).text
            anew = "Only what comes from the first changed word on is said anew."
            if shown.forced:
                anew = f"{given_words(shown)} No weight changes what is given, only how likely it is."
            st.markdown(
                f"As learned: *{as_markdown(was)}*  \nChanged: *{as_markdown(shown.translation.text)}*  \n{anew}"
            )
        after = tuple(shown.translation.ids[: shown.view.first_piece[row]])
        show_next_word(NAME, name, core.read_source(text), after, trace.edits)
