"""What edits change: an answer, contexts, weights."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Axis, Role
from attention_core.attention.wording import percent
from attention_core.charts import signed_ramp
from attention_core.charts.bars import BEFORE_AFTER, bar_table
from attention_core.charts.ramps import Ramp
from attention_core.device import to_array
from ui.chart import note_picture
from ui.labels import error_markdown, number
from ui.layout import bar_rows, figures_table
from ui.player import StepStyle, show_numbers

AS_LEARNED, AS_COMPUTED = ("as learned", "changed"), ("as computed", "changed")
"""Names of before and after; the second where nothing was learned."""
MAX_ANSWERS = 6
MIN_CHANGE = 0.005  # of a probability, below which it is said not to change
MIN_RANGE = 0.02  # of the colours of changes, in largest weights, so that smaller changes stay faint


def show_contexts(before: AttentionTrace, after: AttentionTrace, query: int) -> None:
    """Draw the numbers that a query is handed, without the edits and with them."""
    contexts = [trace.context(0)[query].tolist() for trace in (before, after)]
    rows = [[name, *(number(value, ".3f") for value in row)] for name, row in zip(AS_COMPUTED, contexts, strict=True)]
    columns = [str(dimension + 1) for dimension in range(len(contexts[0]))]
    visible_rows = rows if before.edits != after.edits else rows[:1]
    figures_table([f"{after.story.query_axis.labels[query]} is handed", *columns], *visible_rows)


def show_outcome(
    labels: Sequence[str], before: Sequence[float] | np.ndarray, after: Sequence[float] | np.ndarray
) -> None:
    """Draw an answer's probabilities as learned and changed, beside each other, and say what changed most."""
    before, after = (np.asarray(probabilities, float) for probabilities in (before, after))
    st.markdown(describe_change(labels, before, after))
    draw_outcome(labels, before, after)


def draw_outcome(
    labels: Sequence[str], before: np.ndarray, after: np.ndarray, names: tuple[str, str] = AS_LEARNED
) -> None:
    """Draw an answer's probabilities as learned and changed, beside each other."""
    likeliest = sorted(np.argsort(-np.maximum(before, after))[:MAX_ANSWERS].tolist())
    answers, pair = [labels[index] for index in likeliest], [before[likeliest].tolist(), after[likeliest].tolist()]
    alt = "The answer's probabilities"
    note_picture(lambda: bar_table(answers, dict(zip(names, pair, strict=True)), BEFORE_AFTER), alt)
    meanings = dict(zip(BEFORE_AFTER, names, strict=True))
    legend = " ".join(f'<u style="--line:{line}">{name}</u>' for line, name in meanings.items())
    bars = (
        bar  # the second one of an answer has no name
        for answer, *shares in zip(answers, *pair, strict=True)
        for bar in zip((answer, ""), shares, BEFORE_AFTER, strict=True)
    )
    st.html(f'<div role="group" aria-label="{alt}">{legend}{bar_rows(bars, meanings)}</div>')


def describe_change(labels: Sequence[str], before: np.ndarray, after: np.ndarray) -> str:
    """Return what changed most in an answer, in a sentence."""
    change, old, new = after - before, int(before.argmax()), int(after.argmax())
    largest = int(np.abs(change).argmax())
    shares = [percent(probabilities[largest]) for probabilities in (before, after)]
    if old == new and (abs(change[largest]) < MIN_CHANGE or shares[0] == shares[1]):
        return f"The answer stays **{error_markdown(labels[old])}** ({percent(before[old])})."
    verb = "rises" if change[largest] > 0 else "falls"
    moved = f"**{error_markdown(labels[largest])}** {verb} from {shares[0]} to {shares[1]}. "
    answer = (
        f"The answer stays {labels[new]}" if new == old else f"The answer was {labels[old]} and is now {labels[new]}"
    )
    return f"{moved if shares[0] != shares[1] else ''}{error_markdown(answer)}."


def difference(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, Ramp]:
    """Return by how much weights changed, and colours with zero in the middle."""
    change = np.asarray(after, float) - np.asarray(before, float)
    return change, signed_ramp(np.append(change, MIN_RANGE * float(np.abs(before).max())))


def show_weights_difference(page: str, before: AttentionTrace, after: AttentionTrace, head: int = 0) -> None:
    """Draw where weight came and went in a head, if any did: one that is dropped keeps its weights."""
    if not after.edits:
        return
    change, colours = difference(*(to_array(trace.weights(head)) for trace in (before, after)))
    if change.any():
        show_change(page, after, change, colours)
        write_moved_share(change, after.n_queries)


def show_change(page: str, trace: AttentionTrace, change: np.ndarray, colours: Ramp, **axes: Axis) -> None:
    """Draw by how much weights changed, see difference; row_axis and col_axis where they are not those of the trace."""
    style, fields = StepStyle(size=330, reach=colours.high), {"title": "Change", "role": Role.CONTEXT}
    show_numbers(trace, change, f"{page}_difference", style, fields | axes)


def write_moved_share(change: np.ndarray, n_queries: int = 1) -> None:
    """Write how much of the weights of so many queries moved: what was gained or lost, whichever is more."""
    moved = max(float(change.clip(0).sum()), float((-change).clip(0).sum())) / n_queries
    st.caption(f"Orange gained weight, blue lost it: {percent(moved)} of the attention moved.")
