"""What if the words are shuffled? A sentence in two orders, for a transformer without positions and with them."""

import base64
from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.bounds.harmless import as_markdown
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.inference import word_orders as orders
from attention_core.inference.translation import SourceSentence, read_source
from pages.transformer.inputs import draw_reading
from pages.transformer.reading import NAME, SMALLEST_CHANGE, Reading, edited, translate_sources
from ui.chart import note_picture
from ui.component import component
from ui.computed import cached_computation
from ui.state import Field, one_of, whole_number

HALVES = {"Without positions": False, "With positions": True}
"""By the titles of the two halves, whether the model gets the position of each piece."""
ORDERS_KEY = "transformer_orders"
N_PICTURED = 24  # numbers of each piece that are drawn
MAX_SEEDS = 30  # seeds that are tried for a new order
ORDER_LOST = "the order is lost"


def _parse_order(text: str) -> tuple[str, int]:
    arrangement, seed = text.split("-")
    return one_of(("shuffled", "reversed"))(arrangement), whole_number(seed)


ORDER = Field(
    NAME, "order", ("reversed", 0), address="words", parse=_parse_order, text=lambda order: f"{order[0]}-{order[1]}"
)
_two_orders = component("two_orders", folder="pages/transformer")
_compare_orders = cached_computation(on_cluster=True)(orders.compare_orders)


def draw_input() -> Reading:
    """Draw the sentence, and buttons that bring its words into another order; one that would change nothing is off."""
    reading = draw_reading()
    source = read_source(reading.text)
    with st.container(horizontal=True, gap="small"):
        for label, arrangement, icon in (("Shuffle", "shuffled", ":material/shuffle:"), ("Reverse", "reversed", None)):
            order = _next_order(source, arrangement)
            button = partial(st.button, label, f"transformer_{label.lower()}", icon=icon, disabled=not order)
            button(on_click=ORDER.set, args=(order,))
    return reading


def answer(reading: Reading) -> str:
    """Say what becomes of both orders without positions, and with them."""
    source = read_source(reading.text)
    order, *_ = _second_order(source)
    if order == sorted(order):
        return "These words have no other order. Type some more."
    (french, reordered), with_positions = (
        _french_by_order(reading, has_positions) for has_positions in HALVES.values()
    )
    both = f"both orders become *{as_markdown(french)}*"
    without = both if french == reordered else f"the other order becomes *{as_markdown(reordered)}*"
    return f"Without positions {without} With them, the other order becomes *{as_markdown(with_positions[1])}*"


def _next_order(source: SourceSentence, arrangement: str) -> tuple[str, int] | None:
    """Return arrangement and seed of an order that is neither the present one nor the typed one, or None."""
    present_seed, present_words = ORDER.value[1], _second_order(source)[1].words
    seeds = range(present_seed + 1, present_seed + MAX_SEEDS) if arrangement == "shuffled" else (present_seed,)
    for seed in seeds:
        order, candidate, _ = _second_order(source, (arrangement, seed))
        if candidate.words != present_words and order != sorted(order):
            return arrangement, seed
    return None


def _second_order(
    source: SourceSentence, arrangement_and_seed: tuple[str, int] | None = None
) -> tuple[list[int], SourceSentence, Tensor]:
    """Return an order of the words, by default the chosen one, with the reordered sentence and its old positions."""
    n = orders.movable_words(source)
    order = orders.word_order(n, *(arrangement_and_seed or ORDER.value))
    if [source.words[index] for index in order] == list(source.words[:n]):  # only equal words changed places
        order = [*range(n)]
    return order, *orders.reordered(source, order)


def _verdict(is_reordered: bool, changed: Tensor, french: list[str]) -> str:
    """Say what another order does, from how much each piece's numbers changed and the French of both orders."""
    if not is_reordered:
        return "no other order"
    if float(changed.max()) < SMALLEST_CHANGE:
        return ORDER_LOST
    return "other numbers, the same French" if french[0] == french[1] else "each order, its own French"


def _french_by_order(reading: Reading, with_positions: bool) -> list[str]:
    """Return the French of the typed order and of the other one."""
    source = read_source(reading.text)
    _, reordered, positions = _second_order(source)
    reordered_reading = reading._replace(edits=orders.reordered_edits(reading.edits, positions))
    if reordered_reading == reading:
        return translate_sources(reading, source, reordered, with_positions=with_positions)
    inputs = (reading, source), (reordered_reading, reordered)
    return [translate_sources(*each, with_positions=with_positions)[0] for each in inputs]


def draw(reading: Reading) -> None:
    """Draw each piece's numbers in the typed order and in the other, without positions and with them."""
    source = read_source(reading.text)
    order, *_ = _second_order(source)
    comparisons = {
        title: _compare_orders(edited(reading, with_positions=with_positions), source, order)
        for title, with_positions in HALVES.items()
    }
    n_pieces = len(source.ids) - 1  # the end stays where it is
    states = [each for comparison in comparisons.values() for each in (comparison.states, comparison.shuffled_states)]
    pictures = orders.as_bytes([each[:n_pieces, :N_PICTURED] for each in states])  # two for each half
    texts = [base64.b64encode(numbers).decode() for numbers in pictures]
    changed = {title: comparison.changed[:n_pieces] for title, comparison in comparisons.items()}
    columns = {title: shares.tolist() for title, shares in changed.items()}
    halves = []
    for number, title in enumerate(HALVES):
        french = _french_by_order(reading, HALVES[title])
        verdict = _verdict(order != sorted(order), changed[title], french)
        halves.append(
            {
                "title": title,
                "states": texts[2 * number : 2 * number + 2],
                "changed": columns[title],
                "french": french,
                "same": verdict == ORDER_LOST,
                "verdict": verdict,
            }
        )
    labels, new_order = source.labels[:n_pieces], next(iter(comparisons.values())).order[:n_pieces].tolist()
    drawing = partial(bar_table, [labels[piece] for piece in new_order], columns, (GREY, ROLE_COLOURS[Role.QUERY]))
    note_picture(drawing, "How far each word's numbers changed")
    with st.container(key=ORDERS_KEY):
        _two_orders(
            key="transformer_two_orders",
            data={
                "labels": labels,
                "word_of": source.word_of[:n_pieces],
                "order": new_order,
                "width": N_PICTURED,
                "ways": halves,
            },
        )
    st.caption(f"Under each word: {N_PICTURED} of its 192 numbers; the % says how much all changed.")
