"""All the numbers: the steps of one head, and the numbers of a guest's pairs."""

import numpy as np

from attention_core import AttentionTrace, Axis, Step
from attention_core.attention.key_pairs import pair_scores
from attention_core.attention.wording import format_count
from attention_core.charts.matrix import pair_axes
from attention_core.data.match3 import MODULUS, matching_pairs
from attention_core.device import to_array
from pages.groups.first_screen import NAME, QUERY, STEPS
from pages.groups.inputs import Party, choose_head
from ui.labels import note
from ui.player import StepStyle, show_all_numbers, show_numbers

SIZE = 370  # screen pixels


def draw_numbers(party: Party) -> None:
    """Draw the steps of the chosen head."""
    head, (numbers, query, traces) = choose_head(), party
    trace = traces[head]
    key_note = "Each key is a pair of others." if head == "triples" else ""
    show_all_numbers(
        trace,
        STEPS,
        f"{NAME}_{head}",
        query=query,
        style_of=lambda step: None if step.col_axis.grid else StepStyle(query, size=SIZE),
        on_query=QUERY.set,
        below_text=lambda _: note(key_note),
        below_picture=lambda step: _draw_pairs(trace, step, query, numbers),
    )


def _draw_pairs(trace: AttentionTrace, step: Step, query: int, numbers: list[int]) -> None:
    """Draw the numbers of a query's pairs, of a step that has some."""
    if not step.col_axis.grid:
        return
    values, n_keys = to_array(step.value(0, [query]).float()).reshape(step.col_axis.grid), 0
    if step.name == "weights":
        visible = np.isfinite(to_array(pair_scores(trace, query)))
        values, n_keys = np.where(visible, values, np.nan), int(visible.sum())
    pairs = matching_pairs(numbers, query)
    either_order = sorted({pair for row, col in pairs for pair in ((row, col), (col, row))})
    rows, columns = pair_axes(Axis("pair", [*map(str, numbers), "nobody"]))
    title = f"{step.title} of query {numbers[query]}"
    matrix = {"title": title, "role": step.role, "row_axis": rows, "col_axis": columns}
    show_numbers(trace, values, f"{NAME}_pairs", StepStyle(size=SIZE, framed=either_order, n_keys=n_keys), matrix)
    sums = " and ".join(f"{numbers[first]} + {numbers[second]}" for first, second in pairs[:4])
    sums += f" and {format_count(len(pairs) - 4, 'other pairs')}" if len(pairs) > 4 else ""
    rule = f"a multiple of {MODULUS}"
    sentence = f"Framed: {sums}. Together with {numbers[query]} {'each' if len(pairs) > 1 else 'it'} gives {rule}."
    note(sentence if pairs else f"No two others give {rule} together with {numbers[query]}.")
