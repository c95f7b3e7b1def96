"""All the numbers: the steps of one French word, and the weighted sum of vectors."""

import html
from bisect import bisect
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.charts import signed_ramp
from attention_core.charts.png import matrix_png
from attention_core.device import to_array
from attention_core.inference.translation import NEXT_LABEL, TracedTranslation
from pages.translate.first_screen import STEPS
from pages.translate.forcing import WORD, n_forced_words
from ui.chart import picture_address
from ui.fragments import BODY, rerun_fragments
from ui.labels import note
from ui.layout import section
from ui.player import StepStyle, described_key, show_all_numbers
from ui.state import Field, single_choice, whole_number
from ui.translators import NAME, TRANSLATORS

HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
KEY_NOTE = "One key gets all the weight, and the context never changes: this one vector has to hold the whole sentence."
DOT_NOTE = "A dot product has no weights of its own: training shapes the states so that the right pairs score high."


def draw_numbers(traced: TracedTranslation, row: int) -> None:
    """Draw all the numbers of the trace, at the present word."""
    trace, view = traced.trace, traced.view
    query, head = view.first_piece[row], min(HEAD.value, trace.n_heads - 1)
    st.markdown(_describe_row(traced, row))

    def choose_head(_: Step) -> None:
        if trace.n_heads > 1:
            single_choice("Head", HEAD, {index: str(index + 1) for index in range(trace.n_heads)}, wrap=True)

    def style_of(step: Step) -> StepStyle:
        marked = query if step.row_axis is trace.story.query_axis else described_key(trace, head, query, NAME)
        return StepStyle(marked, size=240 if _is_sum(trace, step) else 330)

    def on_query(piece: int) -> None:
        WORD.value = bisect(view.first_piece, piece) - 1
        rerun_fragments(BODY)

    show_all_numbers(
        trace,
        STEPS,
        NAME,
        head=head,
        query=query,
        style_of=style_of,
        on_query=on_query,
        above_text=choose_head,
        below_text=partial(_draw_notes, traced),
        below_picture=partial(_draw_sum, trace, head, query),
        widths=(1, 1.3),
    )


def _draw_notes(traced: TracedTranslation, step: Step) -> None:
    if traced.view.is_single and step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
        note(KEY_NOTE)
    if traced.translator == "dot" and step.role is Role.SCORES:
        note(DOT_NOTE)


def _is_sum(trace: AttentionTrace, step: Step) -> bool:
    """Return whether a step is the sum of several vectors."""
    return step.name == "context" and trace.n_keys > 1


def _draw_sum(trace: AttentionTrace, head: int, query: int, step: Step) -> None:
    """Draw the sum of a query's context, where the step is one."""
    if not _is_sum(trace, step):
        return
    section("Multiplied vectors: each state times its weight", Role.VALUE)
    weights, labels = trace.weights(head, [query])[0], trace.story.key_axis.labels
    vectors = weights[:, None] * trace.value_of(head)
    description = f"{len(labels)} states, each times its weight, and the context that they add up to"
    draw_weighted_sum(labels, to_array(vectors), to_array(weights), to_array(vectors.sum(0)), description)


def _describe_row(traced: TracedTranslation, row: int) -> str:
    target, pieces = traced.view.target, traced.view.pieces_of[row]
    verb = "made" if row < n_forced_words(traced) else "about"
    action = f"the decoder is {verb} to say **{as_markdown(target[row])}**."
    if target[row] == NEXT_LABEL:
        action = "what comes next?"
    first_piece = f" Here: its first piece, {as_markdown(pieces[0])}." if len(pieces) > 1 else ""
    return f"**{TRANSLATORS[traced.translator].capitalize()}, word {row + 1} of {len(target)}**: {action}{first_piece}"


def draw_weighted_sum(
    labels: Sequence[str], vectors: np.ndarray, weights: np.ndarray, context: np.ndarray, description: str
) -> None:
    """Draw vectors, the weight of each, and their weighted sum."""
    ramp, n = signed_ramp(vectors), len(labels)
    vectors_style, sum_style = (
        f"--rows:url({picture_address(matrix_png(matrix, ramp))})" for matrix in (vectors, context[None])
    )
    rows = "".join(
        f'<span>{html.escape(label)}</span><em style="--at:{row / max(1, n - 1)}"></em>'
        f'<i style="--share:{weight}" title="{percent(weight)}"></i>'
        for row, (label, weight) in enumerate(zip(labels, weights.tolist(), strict=True))
    )
    st.html(
        f'<div class="collapse" role="img" aria-label="{description}" style="{vectors_style}; --n:{n}">{rows}'
        f'<b>weighted sum of {n} ↓</b><span class="sum">context</span>'
        f'<em style="{sum_style}; --n:1; --at:0"></em></div>'
    )
