"""Can a mask replace positions? A sentence and its words the other way round, with a mask and without one."""

from typing import NamedTuple

from torch import Tensor

from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.data.next_words import Line
from attention_core.device import to_array
from attention_core.inference.next_word import named_mask, reversed_line
from pages.transformer import next_words
from pages.transformer.charts import RowText, mask_chart
from pages.transformer.reading import SMALLEST_CHANGE
from ui.chart import draw_chart
from ui.labels import note
from ui.layout import section

MODEL = "next-word-unpositioned"
MASKS = {"none": "Without a mask", "causal": "With the causal mask"}


class Orders(NamedTuple):
    """A line, and how far its reversed words differ from it behind each layer, (n_layers, n), by mask."""

    line: Line
    changes: dict[str, Tensor]


def draw_input() -> Orders:
    """Draw the sentence; return what its order changes."""
    line = next_words.draw_line("unpositioned")
    n = len(line.ids)
    return Orders(line, {mask: next_words.order_changes(MODEL, line, named_mask(mask, n)) for mask in MASKS})


def answer(orders: Orders) -> str:
    """Say how far both orders differ at the last word."""
    line = orders.line
    if reversed_line(line).ids == line.ids:
        return "These words have no other order. Type some more."
    changed = percent(float(orders.changes["causal"][-1, -1]))
    return (
        "In part. Without positions or a mask both orders give each word the same numbers; under a causal mask the "
        f"last word's differ by {changed}."
    )


def draw(orders: Orders) -> None:
    """Draw the words in the other order, and how far each differs behind each layer, without a mask and with it."""
    reordered = reversed_line(orders.line)
    n = len(reordered.labels)
    for column, (mask, name) in zip(next_words.two_containers(n), MASKS.items(), strict=True):
        with column:
            section(name)
        behind = {
            f"layer {layer}": [RowText(percent(share * (share > SMALLEST_CHANGE))) for share in shares]
            for layer, shares in enumerate(orders.changes[mask].tolist(), 1)
        }
        foresight = next_words.foresee(MODEL, reordered, named_mask(mask, n))
        weights = to_array(next_words.mean_weights(foresight))
        chart = mask_chart(reordered.labels, to_array(named_mask(mask, n)), weights, behind)
        alt = f"{name}: how far each word's numbers differ behind each layer"
        draw_chart(chart, width="content", alt=alt, key=f"transformer_order_{mask}", container=column)
    text = as_markdown(" ".join(orders.line.labels[1:]))
    sees = "In layer 1 the last word sees the same words."
    note(f"Beside each word: how far its numbers differ from those in *{text}* {sees}")
