"""Parts of the transformer page: translation, all heads, one head large, its steps, heads switched off."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.heads import heads_chart, masked_weights, said_chart, worth_chart
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.mosaic import mosaic
from attention_core.charts.palette import weights_ramp
from attention_core.device import to_array
from attention_core.topics.transformer.ablation import Head
from attention_core.topics.translate.translation import Translation
from attention_core.topics.translate.word_view import WordView, sentence_probability
from ui.aligned_words import aligned_words, chosen_row
from ui.labels import literal
from ui.layout import section, who_asks
from ui.query_row import query_row
from ui.step_view import show_matrix, show_words
from ui.stepper import is_hidden, stepper
from ui.transformer.state import (
    NAME,
    Look,
    chosen_head,
    chosen_query,
    notes,
    probabilities,
    switch,
    take_cell,
    take_head,
    traces,
    translation,
    worth,
)

KIND_WORDS = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}
ASKS = {
    "encoder": (
        "each piece of the English sentence",
        "all pieces of the same sentence",
        "what the layer below made of each of them",
    ),
    "decoder": (
        "each piece of the French so far",
        "itself and the French before it, never what comes after",
        "what the layer below made of each of them",
    ),
    "cross": (
        "each French piece about to be said",
        "all pieces of the English sentence",
        "the encoder's output at each of them",
    ),
}
PIECES_STYLE = """<style>
.pieces { line-height: 2; margin: 0; overflow-wrap: anywhere; font-size: 0.95rem; }
.pieces span { padding: 0.1rem 0.34rem; background: color-mix(in srgb, currentcolor 8%, transparent); }
.pieces span:first-child { border-radius: 4px 0 0 4px; } .pieces span:last-child { border-radius: 0 4px 4px 0; }
.pieces b { font-weight: 400; margin-right: 0.3rem; display: inline-block; }
.pieces span + span { margin-left: 1.5px; } .pieces .end { font-style: italic; opacity: 0.7; }
.said { font-size: 1.45rem; line-height: 1.35; margin: 0 0 0.2rem 0; overflow-wrap: anywhere; }
</style>"""


def translation_part(look: Look) -> None:
    """Draw the French sentence, the pieces that the model says, and how probable they are."""
    found = probabilities(look, edited=False)
    whole, per_piece = sentence_probability(found, len(found))
    st.html(
        f'{PIECES_STYLE}<p class="said" lang="fr">{html.escape(look.made.text)}</p>'
        f'<p class="pieces">{pieces_html(look.made.labels, look.made.word_of)}</p>'
    )
    unfinished = "" if look.made.finished else " It found no end."
    st.caption(
        f"Probability {_percent(whole)}, {_percent(per_piece)} per piece.{unfinished} What touches is one word: the "
        "model reads and says pieces."
    )


def source_part(look: Look) -> None:
    """Draw the English sentence as the pieces that the model reads, and what it could not read."""
    st.html(f'{PIECES_STYLE}<p class="pieces">{pieces_html(look.source.labels, look.source.word_of)}</p>')
    if look.source.unknown:
        names = ", ".join(literal(word, 20) for word in look.source.unknown[:5])
        st.info(f"Letters or signs that the model never met: {names}. It takes all of them for the same unknown sign.")
    if look.source.n_dropped:
        st.info(f"{look.source.n_dropped} more words were not read: there is room for 99 pieces.")


def pieces_html(labels: Sequence[str], word_of: Sequence[int]) -> str:
    """Return pieces as HTML, those of one word touching; the last one may be the end."""
    words: dict[int, list[str]] = {}
    for label, word in zip(labels, word_of, strict=True):
        words.setdefault(word, []).append(label)
    last = max(words, default=0)
    return "".join(
        "<b>"
        + "".join(
            f"<span{' class=end' if word == last and group == ['end'] else ''}>{html.escape(one)}</span>"
            for one in group
        )
        + "</b>"
        for word, group in words.items()
    )


def choice_part(n_layers: int, n_heads: int) -> Head:
    """Let a person choose kind, layer and head, and leave the positions out; say who asks whom."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key=f"{NAME}_choice"):
        st.segmented_control(
            "Attention of",
            list(KIND_WORDS),
            key=f"{NAME}_kind",
            format_func=KIND_WORDS.get,
            required=True,
            persist_state="session",
        )
        for what, n in (("layer", n_layers), ("head", n_heads)):
            st.segmented_control(
                what.capitalize(),
                range(n),
                key=f"{NAME}_{what}",
                format_func=lambda one: str(one + 1),
                required=True,
                persist_state="session",
            )
        st.toggle(
            "Leave positions out",
            key=f"{NAME}_without",
            persist_state="session",
            help="Encoder and decoder are no longer told where a piece stands. They were trained with positions.",
        )
    head = chosen_head()
    who_asks(*ASKS[head.kind])
    return head


def heads_part(look: Look, head: Head) -> None:
    """Draw all heads of the chosen kind; a click chooses one."""
    layers = [trace for (kind, _), trace in traces(look).items() if kind == head.kind]
    off = {(one.layer, one.head) for one in look.off if one.kind == head.kind}
    key = f"{NAME}_heads_{head.kind}"
    st.altair_chart(
        heads_chart(
            mosaic(layers, size=70), notes(look, head.kind), chosen=(head.layer, head.head), off=off, select="head"
        ),
        key=key,
        on_select=lambda: take_head(key),
        selection_mode="head",
        width="content",
        alt=f"Weights of all heads of all layers, {KIND_WORDS[head.kind].lower()} attention; click one",
    )


def large_part(trace: AttentionTrace, head: Head, note: str, is_off: bool) -> None:
    """Draw the chosen head large; a click on a cell makes its row the query."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**Layer {head.layer + 1}, head {head.head + 1}**: {note}")
        st.button(
            "Switch on" if is_off else "Switch off",
            key=f"{NAME}_switch",
            on_click=switch,
            args=(head,),
            help="Sets what this head hands over to 0.",
        )
    key = f"{NAME}_large_{trace.n_queries}_{trace.n_keys}"
    small = max(trace.n_queries, trace.n_keys) <= MAX_RECT_SIDE
    pick = {"on_select": lambda: take_cell(key), "selection_mode": "cell"} if small else {}
    st.altair_chart(
        matrix_chart(
            masked_weights(trace, head.head),
            trace.story.query_axis,
            trace.story.key_axis,
            Role.WEIGHTS,
            title="weight",
            size=400,
            marked_row=chosen_query(trace),
            ramp=weights_ramp(trace.n_keys),
            select="cell" if small else None,
        ),
        key=key,
        width="content",
        alt=f"Weights of {head.label}: queries are rows, keys are columns",
        **pick,
    )


def words_part(look: Look, trace: AttentionTrace, head: Head) -> int:
    """Draw keys above queries with an arc for every weight; returns the query that is chosen."""
    query, labels = chosen_query(trace), list(trace.story.query_axis.labels)
    said = head.kind == "cross" and look.made.finished
    view = WordView(
        target=labels,
        source=list(trace.story.key_axis.labels),
        keys=list(trace.story.key_axis.labels),
        weights=trace.weights(head.head),
        probabilities=probabilities(look, edited=True) if said else [math.nan] * len(labels),
        first_piece=list(range(len(labels))),
        pieces_of=[[label] for label in labels],
    )
    section("Where it looks", Role.QUERY)
    st.caption(
        f"Keys, {trace.story.key_axis.name}, above queries, {trace.story.query_axis.name}. Hover one; click a query."
    )
    aligned_words(NAME, view, model=head.label, active=query, plain=not said, on_choose=_take_word)
    return query


def _take_word() -> None:
    row = chosen_row(NAME)
    if row is not None:
        st.session_state[f"{NAME}_query"] = row


def steps_part(trace: AttentionTrace, head: Head, query: int) -> None:
    """Step through the chosen head, from its inputs to the merged heads."""
    section("Step by step")
    step = stepper(trace, NAME)
    if is_hidden(step, NAME):
        return
    words, matrix = st.columns([0.9, 1], gap="large")
    best = int(trace.weights(head.head, [query])[0].argmax())
    with words:
        st.caption(
            f"{trace.story.mechanism}, head {head.head + 1}; the query is "
            f"{literal(trace.story.query_axis.labels[query])}"
        )
        show_words(trace, step, head.head, query, best)
    with matrix:
        of_queries = step.row_axis is trace.story.query_axis
        show_matrix(step, head.head, query if of_queries else None, f"{NAME}_{head.kind}")


def off_part(look: Look, head: Head) -> None:
    """Draw what the translation loses without each head, and what the edited model makes of the sentence."""
    section("Switch heads off")
    left, right = st.columns([0.8, 1.2], gap="large")
    with left:
        st.markdown(f"**What each {KIND_WORDS[head.kind].lower()} head is worth to this translation**")
        st.altair_chart(
            worth_chart(to_array(worth(look.text)[head.kind]), size=330),
            key=f"{NAME}_worth",
            width="content",
            alt="Log-probability that the translation loses when one head alone is switched off",
        )
        st.caption(
            "Each head alone is switched off and the same French is scored again. Orange: the translation becomes less "
            "probable without it; near white: nobody misses it (Michel et al. 2019)."
        )
    with right:
        if not look.is_edited:
            st.info("Choose a head above and switch it off, or leave the positions out: the translation answers here.")
            return
        edited = translation(look.text, look.off, look.with_positions)
        what = ", ".join([one.label for one in look.off] + ([] if look.with_positions else ["positions left out"]))
        st.html(f'<p class="said" lang="fr">{html.escape(edited.text)}</p>')
        same = "The same words" if edited.ids == look.made.ids else f"Before: *{_plain(look.made)}*"
        st.caption(f"{same}. Off: {what}." if look.off else f"{same}. {what.capitalize()}.")
        st.altair_chart(
            said_chart(look.made.labels, probabilities(look, edited=False), probabilities(look, edited=True)),
            key=f"{NAME}_said",
            alt="Probability of each piece of the first translation, as trained and edited",
        )
        st.button("Everything as trained", key=f"{NAME}_restore", on_click=_restore)


def _restore() -> None:
    st.session_state[f"{NAME}_off"] = []
    st.session_state[f"{NAME}_without"] = False


def numbers_part(trace: AttentionTrace, head: Head, query: int) -> None:
    """Draw the chosen query's row in numbers."""
    query_row(trace, head.head, query, n=4, key_words="piece")


def _plain(made: Translation) -> str:
    return made.text.replace("*", "∗").replace("_", "＿").replace("`", "'")


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 else f"{share:.1e}"
