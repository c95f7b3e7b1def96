"""Parts of the page of translations: the sentence, two models, all models in one list, the present word."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.data.sentence_presets import TRANSLATE
from attention_core.topics.translate.translation import Source, read_source
from attention_core.topics.translate.word_view import WordView, word_view
from ui.aligned_words import aligned_words
from ui.labels import literal
from ui.sentence import sentence_box
from ui.translate.state import (
    NAME,
    SLOTS,
    at,
    changed,
    focus,
    follow_play,
    forced,
    go_to,
    model_in,
    new_sentence,
    set_free,
    take_click,
    take_prefix,
    toggle_play,
    undo,
)
from ui.translate.translations import N_LAYERS, TRANSLATORS, Said, cut_words, said, trace_of, why_missing

LIST_STYLE = """<style>
.said-by-all { font-size: 0.88rem; line-height: 1.35; }
.said-by-all > div { border-top: 1px solid #8a93a033; padding: 4px 0; }
.said-by-all .top { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.8rem; opacity: 0.8; }
.said-by-all .top span:last-child { font-variant-numeric: tabular-nums; white-space: nowrap; }
.said-by-all .shown .top span:first-child { font-weight: 700; }
.said-by-all .fr { display: -webkit-box; -webkit-line-clamp: 4; -webkit-box-orient: vertical; overflow: hidden;
  overflow-wrap: anywhere; }
</style>"""

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, eq=False)
class Shown:
    """One model's translation as it is shown.

    Attributes:
        translator: its name.
        said: what it said.
        trace: its attention, over pieces.
        view: the same by word, or by piece where that was asked for.
        words: the same by word.
    """

    translator: str
    said: Said
    trace: AttentionTrace
    view: WordView
    words: WordView


def sentence_part() -> tuple[str, Source] | None:
    """Draw the input: sentence, beginning of the French; returns the text and how it is read."""
    text = sentence_box(NAME, TRANSLATE, label="An English sentence", on_change=new_sentence)
    st.session_state[f"{NAME}_reading"] = text
    if text is None:
        return None
    source = read_source(text)
    _remarks(source)
    st.text_input(
        "The French must begin with",
        key=f"{NAME}_prefix",
        max_chars=200,
        persist_state="session",
        placeholder="nothing: the models are free",
        on_change=take_prefix,
    )
    if forced() or st.session_state[f"{NAME}_before"]:
        with st.container(horizontal=True, gap="xsmall"):
            st.button(
                "Undo", key=f"{NAME}_undo", icon=":material/undo:", disabled=not st.session_state[f"{NAME}_before"],
                on_click=undo,
            )  # fmt: skip
            st.button("The model's own choice", key=f"{NAME}_free", disabled=not forced(), on_click=set_free)
    return text, source


def _remarks(source: Source) -> None:
    if source.n_dropped:
        st.info(
            f"That is too many pieces: {len(source.words)} words are read, {source.n_dropped} stay in the box, unread."
        )
    cut = cut_words(source)
    if cut:
        shown = ", ".join(f"{literal(word, 24)} = {literal(' · '.join(parts), 60)}" for word, parts in cut[:4])
        more = f" and {len(cut) - 4} more" if len(cut) > 4 else ""
        st.caption(f"Not in the vocabulary as a whole, read in pieces: {shown}{more}.")
    if source.unknown:
        names = ", ".join(literal(word, 24) for word in source.unknown[:4])
        st.info(f"{names}: signs that the models never saw. They cannot tell them from any other unknown sign.")
    elif not any(any(letter.isascii() and letter.isalpha() for letter in word) for word in source.words):
        st.info("No English word in sight: the models translate anyway, from what little they know.")


def show(translator: str, text: str, source: Source, by_piece: bool) -> Shown | None:
    """Return everything to be shown of one model, or None if it cannot be loaded."""
    told = said(translator, text, forced())
    if told is None:
        return None
    layer = st.session_state.get(f"{NAME}_layer", N_LAYERS) - 1 if translator == "transformer" else 0
    trace = trace_of(translator, text, forced(), layer)
    words = word_view(trace, source, told.made, told.probabilities)
    pieces = word_view(trace, source, told.made, told.probabilities, by_piece=True) if by_piece else words
    return Shown(translator, told, trace, pieces, words)


def slot_part(slot: str, shown: Shown | None) -> None:
    """Draw one of the two models: which one, how sure it is, and the two lines of words."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            f"Model in the {slot} place",
            list(TRANSLATORS),
            key=f"{NAME}_model_{slot}",
            format_func=TRANSLATORS.__getitem__,
            required=True,
            label_visibility="collapsed",
            persist_state="session",
            wrap=True,
            on_change=changed,
        )
    if shown is None:
        st.error(f"**This model cannot be loaded.** {why_missing(model_in(slot))}", icon=":material/error:")
        return
    aligned_words(
        f"{NAME}_{slot}",
        shown.view,
        model=TRANSLATORS[shown.translator],
        active=at(),
        note=_sureness(shown),
        n_forced=sum(first < len(forced()) for first in shown.view.first_piece),
        single=f"one vector: {shown.trace.value.shape[-1]} numbers",
        on_choose=take_click,
        args=(slot,),
    )


def _sureness(shown: Shown) -> str:
    total, each = shown.said.probability
    open_end = "" if shown.said.made.finished else ", not finished"
    return f"probability {percent(total)}, per word {percent(each)}{open_end}"


def percent(share: float) -> str:
    """Return a probability for people: a percentage, one in so many, or a power of ten."""
    if share >= 0.0995:
        return f"{share:.0%}"
    if share >= 0.001:
        return f"{share:.1%}"
    if share >= 1e-7:
        return f"1 in {float(f'{1 / share:.1e}'):,.0f}"
    return "0" if share == 0 else "10" + str(round(math.log10(share))).translate(SUPERSCRIPT)


def word_stepper(models: dict[str, Shown]) -> int:
    """Draw previous, next, play over the target words of the model in focus; returns the present word."""
    slot = focus() if focus() in models else next(iter(models))
    shown = models[slot]
    _keep_place(shown)
    n_rows = len(shown.view.target)
    follow_play(n_rows)
    row = min(at(), n_rows - 1)
    playing = st.session_state.get(f"{NAME}_reading_on", False)
    if st.session_state.get(f"{NAME}_layer") not in range(1, N_LAYERS + 1):
        st.session_state[f"{NAME}_layer"] = N_LAYERS
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{NAME}_word_stepper"):
        st.button(
            "Previous word", key=f"{NAME}_word_previous", shortcut="P", disabled=row == 0, on_click=go_to,
            args=(row - 1,),
        )  # fmt: skip
        st.button(
            "Next word", key=f"{NAME}_word_next", shortcut="N", disabled=row == n_rows - 1, on_click=go_to,
            args=(row + 1,),
        )  # fmt: skip
        st.button(
            "Pause" if playing else "Play the words",
            key=f"{NAME}_word_play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=toggle_play,
            args=(n_rows,),
        )
        st.toggle(
            "Pieces", key=f"{NAME}_by_piece", persist_state="session", help="Words as the pieces they are cut into."
        )
        if "transformer" in {one.translator for one in models.values()}:
            st.segmented_control(
                "Layer of the transformer",
                range(1, N_LAYERS + 1),
                key=f"{NAME}_layer",
                format_func=lambda layer: f"layer {layer}",
                required=True,
                label_visibility="collapsed",
                persist_state="session",
            )
    return row


def _keep_place(shown: Shown) -> None:
    """Stay at the same word when words become pieces, or pieces words."""
    state = st.session_state
    by_piece = bool(state.get(f"{NAME}_by_piece"))
    if by_piece == state.get(f"{NAME}_was_by_piece", False):
        return
    state[f"{NAME}_was_by_piece"] = by_piece
    firsts = shown.words.first_piece
    go_to(firsts[min(at(), len(firsts) - 1)] if by_piece else shown.words.row_of(at()))


def list_part(text: str) -> None:
    """Draw the translations of all models in one list."""
    rows = []
    for translator, words in TRANSLATORS.items():
        told = said(translator, text, forced())
        marked = "one shown" if translator in {model_in(slot) for slot in SLOTS} else "one"
        if told is None:
            sure, french = "", "<i>cannot be loaded</i>"
        else:
            total, each = told.probability
            sure, french = f"{percent(total)}, per word {percent(each)}", html.escape(told.made.text) or "(nothing)"
        rows.append(
            f'<div class="{marked}"><div class="top"><span>{words}</span><span>{sure}</span></div>'
            f'<div class="fr" lang="fr">{french}</div></div>'
        )
    st.html(f'{LIST_STYLE}<div class="said-by-all">{"".join(rows)}</div>')
