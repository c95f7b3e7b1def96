"""The first screen: a sentence in two orders, for a transformer without positions and with them."""

import base64
import html
from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.inference import word_orders as orders
from attention_core.inference.translation import SourceSentence, read_source
from pages.transformer.experiment import EDITS, NAME, Experiment, edited, said
from ui.chart import note_picture
from ui.component import component
from ui.computed import cached_computation
from ui.state import Field, one_of, whole_number
from ui.try_this import TryThis
from ui.words import text_field

WAYS = {"Without positions": False, "With positions": True}
"""Titles of the two halves: whether the model is told where each piece stands."""
HEAP = "The cat is under the table."
SHOWN = "transformer_orders"
PICTURED = 24  # numbers of each piece that are drawn
TRIES = 30  # orders that are tried for a new one
LEAST_CHANGE = 0.001  # share below which numbers count as the same
LOST = "the order is lost"


def _order_of(text: str) -> tuple[str, int]:
    how, seed = text.split("-")
    return one_of(("shuffled", "reversed"))(how), whole_number(seed)


ORDER = Field(
    NAME, "order", ("reversed", 0), address="order", parse=_order_of, text=lambda order: f"{order[0]}-{order[1]}"
)
_two_orders = component("two_orders", folder="pages/transformer")
_compare_orders = cached_computation(by_model=True)(orders.compare_orders)


def order_buttons(source: SourceSentence | None) -> None:
    """Let a person put the words into another order; a button that would change nothing is off."""
    for label, how, icon in (("Shuffle", "shuffled", ":material/shuffle:"), ("Reverse", "reversed", None)):
        new = source and _next_order(source, how)
        st.button(
            label, key=f"transformer_{label.lower()}", on_click=ORDER.take, args=(new,), icon=icon, disabled=not new
        )


def _next_order(source: SourceSentence, how: str) -> tuple[str, int] | None:
    """Return an order whose words stand neither as now nor as typed; None where there is none."""
    seed, now = ORDER.value[1], _other_order(source)[1].words
    for one in range(seed + 1, seed + TRIES) if how == "shuffled" else (seed,):
        order, other, _ = _other_order(source, (how, one))
        if other.words != now and order != sorted(order):
            return how, one
    return None


def _other_order(
    source: SourceSentence, told: tuple[str, int] | None = None
) -> tuple[list[int], SourceSentence, Tensor]:
    n = orders.movable_words(source)
    typed, order = range(n), orders.word_order(n, *(told or ORDER.value))
    if all(source.words[one] == source.words[place] for one, place in zip(order, typed, strict=True)):
        order = [*typed]  # words that stand there twice
    return order, *orders.reordered(source, order)


def _verdict(is_other: bool, changed: Tensor, french: list[str]) -> str:
    """Return what two orders make of a sentence, where its numbers changed by these shares."""
    if not is_other:
        return "no other order"
    if float(changed.max()) < LEAST_CHANGE:
        return LOST
    return "other numbers, the same French" if french[0] == french[1] else "each order, its own French"


def two_orders(experiment: Experiment) -> None:
    """Draw the sentence as typed and in the other order: each piece's numbers, without positions and with them."""
    source = read_source(experiment.text)
    order, other, places = _other_order(source)
    moved = experiment._replace(edits=orders.reordered_edits(experiment.edits, places))
    found = {
        title: _compare_orders(edited(experiment, with_positions=given), source, order) for title, given in WAYS.items()
    }
    n_shown = len(source.ids) - 1  # the end stays where it is
    pictured = [one[:n_shown, :PICTURED] for each in found.values() for one in (each.states, each.shuffled_states)]
    states = orders.as_bytes(pictured)
    texts = [base64.b64encode(numbers).decode() for numbers in states]
    ways = []
    for number, (title, comparison) in enumerate(found.items()):
        if moved == experiment:
            french = said(experiment, source, other, with_positions=WAYS[title])
        else:
            both = (experiment, source), (moved, other)
            french = [said(*one, with_positions=WAYS[title])[0] for one in both]
        verdict = _verdict(order != sorted(order), comparison.changed[:n_shown], french)
        ways.append(
            {
                "title": title,
                "states": texts[2 * number : 2 * number + 2],
                "changed": comparison.changed[:n_shown].tolist(),
                "french": french,
                "same": verdict == LOST,
                "verdict": verdict,
            }
        )
    labels, now = source.labels[:n_shown], next(iter(found.values())).order[:n_shown].tolist()
    columns = {title: comparison.changed[:n_shown].tolist() for title, comparison in found.items()}
    drawn = partial(bar_table, [labels[place] for place in now], columns, (GREY, ROLE_COLOURS[Role.QUERY]))
    note_picture(drawn, "How far each word's numbers changed")
    with st.container(key=SHOWN):
        _two_orders(
            key="transformer_two_orders",
            data={
                "labels": labels,
                "word_of": source.word_of[:n_shown],
                "order": now,
                "width": PICTURED,
                "ways": ways,
            },
        )


def what_is_changed(experiment: Experiment) -> None:
    """Say that attention is changed and what the model says as trained, if so."""
    if not experiment.edits:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Its attention is changed under *Try*.", width="content")
        (trained,) = said(Experiment(experiment.text, {}), read_source(experiment.text))
        st.html(f'<span class="as-trained">As trained: <i lang="fr">{html.escape(trained)}</i></span>', width="content")
        st.button("Everything as trained", key="transformer_restore", on_click=EDITS.reset)


def surprise(text: str) -> TryThis:
    """Return the page's surprise: a heap of words becomes the same French sentence."""

    def act() -> None:
        text_field(NAME).value = HEAP
        ORDER.value = "shuffled", 0
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        source = read_source(text)
        _, other, _ = _other_order(source)
        heap = " ".join(other.words).removesuffix(" .")
        (typed, moved), (_, known) = (
            said(Experiment(text, {}), source, other, with_positions=given) for given in WAYS.values()
        )
        if moved == typed:
            return 0, f"Both orders become *{moved}* With positions the heap, *{heap}*, becomes *{known}*"
        return (1 if moved else 2), f"*{heap}* becomes *{moved}*"

    return TryThis(
        f"Shuffle *{HEAP}*",
        f"*{HEAP}* is thrown into a heap. What does the transformer without positions say?",
        ("The same French as before", "A heap of French words", "Nothing"),
        act,
        outcome,
        SHOWN,
        hides=f".st-key-{SHOWN}",
    )
