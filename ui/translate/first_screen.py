"""The first screen: the sentence, two models with the present word, what all models say; and what a visitor sets."""

import html
from collections.abc import Mapping
from typing import Any

import streamlit as st

from attention_core.bounds import PREFIX_LETTERS, as_markdown
from attention_core.data.pieces import END
from attention_core.data.sentence_presets import CLASSIC, GIVEN, TRANSLATE
from attention_core.topics.translate.translation import (
    ShownTranslation,
    Translation,
    WordView,
    forced_translation,
    french_prefix,
    likelihood_gain,
    read_source,
    sentence_probability,
    show_translation,
    translation_of,
)
from ui.computed import cached_computation, model_or_none
from ui.labels import as_percent
from ui.player import Player, Stepper
from ui.skeleton import live
from ui.state import (
    Field,
    between,
    one_of,
    plain_text,
    set_widget,
    single_choice,
    whole_number,
    whole_numbers,
    widget_value,
)
from ui.words import aligned_words, chosen_row, reading_remarks, sentence_box

TRANSLATORS = {
    "none": "no attention",
    "mean": "plain average",
    "dot": "dot",
    "general": "general",
    "additive": "additive",
    "transformer": "transformer",
}
"""By the last part of a name, what people call a model; all but the transformer differ in attention alone."""
N_LAYERS = 3


_translated = cached_computation(by_model=True)(forced_translation)
_shown = cached_computation(by_model=True)(show_translation)
_likelihood_gain = cached_computation(by_model=True)(likelihood_gain)


def model_of(translator: str) -> Any:
    return model_or_none(f"translator-{translator}")[0]


def why_missing(translator: str) -> str:
    return model_or_none(f"translator-{translator}")[1]


def translation(translator: str, text: str, forced: tuple[int, ...]) -> Translation:
    """Return the model's translation that begins with the forced pieces; a final END stops it there."""
    return _translated(model_of(translator), read_source(text), forced)


def shown_translation(
    translator: str, text: str, forced: tuple[int, ...], layer: int, by_piece: bool
) -> ShownTranslation:
    """Return the translation with its attention; `layer` is the transformer's, from 1."""
    made = translation(translator, text, forced)
    return _shown(model_of(translator), translator, read_source(text), forced, made, layer, by_piece)


NAME = "translate"
FIRST = {"upper": "none", "lower": "additive"}
LISTED = ("none", "additive", "transformer")
"""Translators whose translations are listed on arrival; the others are computed only when they are asked for."""
MAX_FORCED = 60  # pieces that may be forced; the sentence needs room to end
MIN_JUDGED, MIN_GAIN = 4, 0.5
"""Forced pieces from which on they are compared with the English; by how many nats it must make them likelier each."""
CLASSIC_PAIRS = (("zone", "Area"), ("économique", "Economic"), ("européenne", "European"))
MAX_UNDONE = 50
LIST_STYLE = """<style>
.said-by-all { font-size: 0.88rem; line-height: 1.35; }
.said-by-all > div { border-top: 1px solid #8a93a033; padding: 4px 0; }
.said-by-all .top { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.8rem; opacity: 0.8; }
.said-by-all .top span:last-child { font-variant-numeric: tabular-nums; white-space: nowrap; }
.said-by-all .shown .top span:first-child { font-weight: 700; }
.said-by-all .fr { display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical; overflow: hidden;
  overflow-wrap: anywhere; }
</style>"""


def _named_models(text: str) -> dict[str, str]:
    names = [*text.split(","), "", ""]
    return {slot: name if name in TRANSLATORS else FIRST[slot] for slot, name in zip(FIRST, names, strict=False)}


def _pieces_of(text: str) -> list[int]:
    return french_prefix(text[: PREFIX_LETTERS.most])[:MAX_FORCED]


def _numbered_pieces(text: str) -> list[int]:
    numbers = whole_numbers(text)[:MAX_FORCED]
    translation_of(numbers)  # IndexError where there is no such piece
    return numbers


MODELS = Field(
    NAME, "models", FIRST, address="models", parse=_named_models, text=lambda names: ",".join(names.values())
)
PREFIX = Field(NAME, "prefix", "", address="begin", parse=lambda text: plain_text(text)[: PREFIX_LETTERS.most])
FORCED_PIECES: Field[list[int]] = Field(
    NAME, "forced", lambda: _pieces_of(PREFIX.value), address="pieces", parse=_numbered_pieces
)
"""Chosen one by one they need not be those into which the typed beginning would be cut."""
UNDO_STACK: Field[list[list[int]]] = Field(NAME, "earlier", list)
FOCUS = Field(NAME, "focus", "lower", address="focus", parse=one_of(FIRST))
ALL = Field(NAME, "all", False, address="all")
BY_PIECE = Field(NAME, "by_piece", False, address="by_piece")
LAYER = Field(NAME, "layer", N_LAYERS, address="layer", parse=between(1, N_LAYERS))
WORD = Field(NAME, "at", 1, address="at", parse=whole_number)
WORDS = Player(WORD, seconds=1.6)
STEPS = Stepper(NAME)


def forced_pieces() -> tuple[int, ...]:
    return tuple(FORCED_PIECES.value)


def force_pieces(pieces: list[int], text: str | None = None) -> None:
    """Let every translation begin with pieces, typed as `text` or chosen one by one; it can be taken back."""
    if pieces != FORCED_PIECES.value:
        UNDO_STACK.value = [*UNDO_STACK.value[1 - MAX_UNDONE :], FORCED_PIECES.value]
    FORCED_PIECES.value = pieces
    PREFIX.value = translation_of(pieces).text[: PREFIX_LETTERS.most] if text is None else text


def sentence_input() -> str | None:
    """Draw the input, the sentence and the beginning of the French; return what there is to read."""
    text = sentence_box(NAME, TRANSLATE, label="An English sentence", on_change=_on_sentence)
    if text is None:
        return None
    reading_remarks(read_source(text))
    PREFIX.widget(
        st.text_input,
        "The French must begin with",
        max_chars=PREFIX_LETTERS.most,
        placeholder="nothing: the models are free",
        on_change=lambda: force_pieces(_pieces_of(PREFIX.value), PREFIX.value),
    )
    if FORCED_PIECES.value or UNDO_STACK.value:
        with st.container(horizontal=True, gap="xsmall"):
            st.button(
                "Undo", key="translate_undo", icon=":material/undo:", disabled=not UNDO_STACK.value, on_click=_undo
            )
            own = "The model's own choice"
            st.button(own, key="translate_free", disabled=not FORCED_PIECES.value, on_click=force_pieces, args=([],))
    return text


def _on_sentence() -> None:
    WORD.value = WORD.default
    french = GIVEN.get(widget_value(f"{NAME}_text").strip(), "")
    force_pieces([*_pieces_of(french), END] if french else [])


def forced_french_note(text: str, shown: ShownTranslation) -> None:
    """Say what a model would have said itself where French comes with the sentence, and whether the French fits it."""
    if text == CLASSIC and shown.forced == (*_pieces_of(GIVEN[CLASSIC]), END):
        itself = translation(shown.translator, text, ()).text
        st.markdown(
            f"The classic figure, its French given. Left to itself this model says *{as_markdown(itself)}* All of them "
            "fail: the words are rare where they learned (*August* 8 times in 135,806 pairs). "
            + ("" if shown.words.is_single else f"Given the French, {_where_it_looks(shown.words)}.")
        )
    elif len(shown.forced) >= MIN_JUDGED and _gain_per_piece(shown, text) < MIN_GAIN:
        st.info(
            "The French given does not seem to belong to this English: the model finds it hardly likelier than after "
            "no English at all. It is kept, but where its words look then means little."
        )


def _gain_per_piece(shown: ShownTranslation, text: str) -> float:
    given = [piece for piece in shown.forced if piece != END]
    return _likelihood_gain(model_of(shown.translator), read_source(text), given)


def _where_it_looks(view: WordView) -> str:
    told = []
    for french, english in CLASSIC_PAIRS:
        weights = view.weights[view.target.index(french)]
        best, wanted = int(weights.argmax()), view.source.index(english)
        missed = "" if best == wanted else f", not at *{english}* ({float(weights[wanted]):.0%})"
        told.append(f"*{french}* looks most at *{view.source[best]}* ({float(weights[best]):.0%}){missed}")
    return "; ".join(told)


def _undo() -> None:
    *earlier, last = UNDO_STACK.value
    force_pieces(last)
    UNDO_STACK.value = earlier


def compare_two_models(text: str) -> dict[str, ShownTranslation]:
    """Draw two models with the present word of each, and the way from word to word; return those that are there."""
    models = {
        slot: shown_translation(name, text, forced_pieces(), LAYER.value, BY_PIECE.value)
        for slot, name in MODELS.value.items()
        if not why_missing(name)
    }
    if models:
        rows = range(len(focused(models).view.target))
        WORD.clamp(0, rows[-1])
        if WORDS.plays:
            live(_follow_play, rows, players=(WORDS,))
    for slot in FIRST:
        _model_part(slot, models.get(slot))
    if models:
        _word_controls(models, rows)
    return models


def focused(models: Mapping[str, ShownTranslation]) -> ShownTranslation:
    """Return the model whose words are stepped through."""
    return models.get(FOCUS.value) or next(iter(models.values()))


def _follow_play(rows: range) -> None:
    row = WORD.value
    WORDS.advance_if_due(rows)
    if row != WORD.value or not WORDS.plays:
        st.rerun()  # all that stands below follows the word


def _model_part(slot: str, shown: ShownTranslation | None) -> None:
    key, name = f"translate_model_{slot}", MODELS.value[slot]
    set_widget(key, name)
    st.segmented_control(
        f"Model in the {slot} place",
        list(TRANSLATORS),
        key=key,
        format_func=TRANSLATORS.__getitem__,
        required=True,
        label_visibility="collapsed",
        wrap=True,
        on_change=_on_model,
        args=(slot, key),
    )
    if shown is None:
        st.error(f"**This model cannot be loaded.** {why_missing(name)}", icon=":material/error:")
        return
    open_end = "" if shown.made.finished else ", not finished"
    total, per_word = _how_likely(shown.made)
    with st.container(key=f"tells_translate_{slot}"):
        aligned_words(
            f"translate_{slot}",
            shown.view,
            model=TRANSLATORS[shown.translator],
            active=WORD.value,
            note=f"whole sentence: {total}, average per word: {per_word}{open_end}",
            n_forced=sum(first < len(shown.forced) for first in shown.view.first_piece),
            single=f"one vector: {shown.trace.value.shape[-1]} numbers",
            on_choose=_on_word,
            args=(slot,),
        )


def _on_model(slot: str, key: str) -> None:
    MODELS.value = MODELS.value | {slot: widget_value(key)}


def _on_word(slot: str) -> None:
    row = chosen_row(f"translate_{slot}")
    if row is not None:
        WORD.value, FOCUS.value = row, slot


def _word_controls(models: Mapping[str, ShownTranslation], rows: range) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="translate_word_stepper"):
        for label, key, shortcut, by, end in (
            ("Previous word", "translate_word_previous", "P", -1, rows[0]),
            ("Next word", "translate_word_next", "N", 1, rows[-1]),
        ):
            st.button(label, key=key, shortcut=shortcut, disabled=WORD.value == end, on_click=WORDS.go, args=(rows, by))
        WORDS.play_button(rows)
        BY_PIECE.widget(
            st.toggle,
            "Pieces",
            help="Words as the pieces they are cut into.",
            on_change=_on_by_piece,
            args=(focused(models),),
        )
        if "transformer" in MODELS.value.values():
            names = {layer: f"layer {layer}" for layer in range(1, N_LAYERS + 1)}
            single_choice("Layer of the transformer", LAYER, names, label_visibility="collapsed")


def _on_by_piece(shown: ShownTranslation) -> None:
    firsts, row = shown.words.first_piece, WORD.value
    WORD.value = firsts[min(row, len(firsts) - 1)] if BY_PIECE.value else shown.words.row_of(row)


def list_all_models(text: str) -> None:
    """Draw the translations of the models in one list, and what asks for those that are not in it yet."""
    rows = []
    for translator, label in TRANSLATORS.items():
        is_shown = translator in MODELS.value.values()
        if not (ALL.value or is_shown or translator in LISTED):
            continue
        marked = "one shown" if is_shown else "one"
        sure, french = "", "<i>cannot be loaded</i>"
        if not why_missing(translator):
            made = translation(translator, text, forced_pieces())
            total, per_word = _how_likely(made)
            sure, french = f"sentence {total}, per word {per_word}", html.escape(made.text) or "(nothing)"
        rows.append(
            f'<div class="{marked}"><div class="top"><span>{label}</span><span>{sure}</span></div>'
            f'<div class="fr" lang="fr">{french}</div></div>'
        )
    st.html(f'{LIST_STYLE}<div class="said-by-all">{"".join(rows)}</div>')
    ALL.widget(st.toggle, "All six models")


def _how_likely(made: Translation) -> tuple[str, str]:
    total, per_word = sentence_probability(made.probabilities, len(made.word_labels))
    return as_percent(total), as_percent(per_word)
