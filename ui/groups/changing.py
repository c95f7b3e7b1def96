"""Give a guest, or two together, another weight: does the lock still open?"""

from collections.abc import Sequence

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import pair_map
from attention_core.device import to_array
from attention_core.models.match3 import Match3Head
from ui import edits as by_hand
from ui.computed import by_model
from ui.groups.sections import HEAD, HEAD_WORDS, HEADS, NAME, NAMES, QUERY, written
from ui.state import single_choice

EDITS = by_hand.EditList(NAME)
ANSWERS = ("stays shut", "opens")
_trace = by_model(Match3Head.trace)


def heads_as_changed(numbers: list[int]) -> dict[str, AttentionTrace]:
    """Return what both heads do with guests' numbers, with the edits that fit."""
    traces = {head: _trace(model, numbers) for head, model in HEADS.items()}
    fitting = {head: EDITS.fitting(trace, head, written(numbers)) for head, trace in traces.items()}
    return {
        head: _trace(HEADS[head], numbers, edits=edits) if edits else traces[head] for head, edits in fitting.items()
    }


def try_tab(traces: dict[str, AttentionTrace], numbers: list[int], query: int) -> None:
    """Draw what the chosen guest gives others, to be changed, and what becomes of the lock."""
    if query != QUERY.value:
        st.rerun()  # another row was clicked: the page above shows it
    head = single_choice("Looks at", HEAD, HEAD_WORDS)
    now, names = traces[head], NAMES[: len(numbers)]
    left, right = st.columns(2, gap="large")
    with left:
        row = by_hand.WeightsRow(EDITS, now, [query], 0, head, written(numbers), f"{HEAD_WORDS[head]}: ", names[query])
        member = Axis("pair", [*names, "nobody"]) if now.story.key_axis.grid else None
        by_hand.matrix_editor(row, QUERY.take, _keys(now, names, query), member=member)
    with right:
        before, after = (step_of(one, "answer").value()[query].tolist() for one in (_trace(HEADS[head], numbers), now))
        by_hand.show_outcome(NAME, ANSWERS, before, after)
        if now.edits:
            _difference(_trace(HEADS[head], numbers), now, names, query)


def _difference(plain: AttentionTrace, now: AttentionTrace, names: Sequence[str], query: int) -> None:
    """Draw where weight came and went: for everybody, or where pairs are keys, for one guest."""
    if not (grid := now.story.key_axis.grid):
        return by_hand.show_weights_difference(NAME, plain, now)
    change, colours = by_hand.difference(*(to_array(trace.weights(0, [query])) for trace in (plain, now)))
    axis, look = Axis("pair", [*names, "nobody"]), {"title": "change", "size": 330, "ramp": colours}
    by_hand.show_difference(NAME, pair_map(change.reshape(grid), axis, Role.WEIGHTS, **look), change)


def _keys(trace: AttentionTrace, names: Sequence[str], query: int) -> dict[tuple[int, ...], str]:
    """Return what a guest may look at: others, or two of them in either order, and nobody."""
    others, n = [place for place in range(len(names)) if place != query], len(names)
    if trace.story.key_axis.grid is None:
        return {(place,): names[place] for place in others} | {(n,): "nobody"}
    pairs = [(first, second) for first in others for second in others if first < second]
    return {
        (first * (n + 1) + second, second * (n + 1) + first): f"{names[first]} and {names[second]}"
        for first, second in pairs
    } | {(n * (n + 2),): "nobody"}
