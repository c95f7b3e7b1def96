"""What if a guest looked elsewhere? Weights of the chosen guest are changed, and the head answers anew."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Axis
from attention_core.charts.matrix import pair_axes
from attention_core.device import to_array
from pages.groups.first_screen import EDITS, HEAD, HEAD_WORDS, NAME, QUERY, trace_as_learned, written
from pages.groups.inputs import Party, choose_head, draw_guests
from ui import edits as by_hand
from ui.fragments import with_rerun
from ui.player import step_of

ANSWERS = ("stays shut", "opens")


def draw_input() -> Party:
    """Draw the guests, and the choice of a head."""
    party = draw_guests()
    choose_head()
    return party


def answer(party: Party) -> str:
    """Say what the visitor's changes do to the answer."""
    return by_hand.describe_change(ANSWERS, *_probabilities(party))


def _probabilities(party: Party) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the answers, as learned and with the visitor's changes."""
    traces = trace_as_learned(HEAD.value, party.numbers), party.traces[HEAD.value]
    learned, changed = (to_array(step_of(trace, "answer").value()[party.query]) for trace in traces)
    return learned, changed


def draw(party: Party) -> None:
    """Draw the guest's weights, which can be changed, and the head's answer before and after."""
    (numbers, query, traces), head, names = party, HEAD.value, party.names
    trace, learned = traces[head], trace_as_learned(head, numbers)
    pair_axis = Axis("pair", [*names, "nobody"]) if trace.story.key_axis.grid else None
    left, right = st.columns(2, gap="large")
    with left:
        row = by_hand.WeightsRow(
            EDITS, trace, [query], 0, head, written(numbers), f"{HEAD_WORDS[head]}: ", names[query]
        )
        by_hand.matrix_editor(row, with_rerun(QUERY.set), _keys(trace, names, query), pair_axis=pair_axis)
    with right:
        by_hand.draw_outcome(ANSWERS, *_probabilities(party))
        if not pair_axis:
            by_hand.show_weights_difference(NAME, learned, trace)
        elif trace.edits:
            change, colours = by_hand.difference(*(to_array(each.weights(0, [query])) for each in (learned, trace)))
            (rows, columns), grid = pair_axes(pair_axis), trace.story.key_axis.grid
            by_hand.show_change(NAME, trace, change.reshape(grid), colours, row_axis=rows, col_axis=columns)
            by_hand.write_moved_share(change)


def _keys(trace: AttentionTrace, names: Sequence[str], query: int) -> dict[tuple[int, ...], str]:
    """Return the names of a guest's keys, by index: other guests, or two of them in either order, and nobody."""
    guests, n = [guest for guest in range(len(names)) if guest != query], len(names)
    if trace.story.key_axis.grid is None:
        single: dict[tuple[int, ...], str] = {(guest,): names[guest] for guest in guests}
        return single | {(n,): "nobody"}
    pairs = [(first, second) for first in guests for second in guests if first < second]
    return {
        (first * (n + 1) + second, second * (n + 1) + first): f"{names[first]} + {names[second]}"
        for first, second in pairs
    } | {(n * (n + 2),): "nobody"}
