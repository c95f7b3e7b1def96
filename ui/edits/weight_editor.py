"""Widgets that change a query's weights: of one key, or all of its row."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Axis
from attention_core.attention.edits import SetWeights
from attention_core.attention.wording import percent
from attention_core.charts.heads import masked_weights
from attention_core.charts.matrix import MAX_RECT_SIDE, pair_axes
from ui.edits.edit_list import EditList
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.labels import distinct, error_markdown
from ui.player import StepStyle, show_numbers
from ui.state import controlled, set_widget, widget_value

MATRIX_SIZE = 250  # screen pixels of the longer side
DECIMALS, TINY = 9, 1e-9  # of a weight that is set; what keeps a sum of weights from being 0


class WeightsRow(NamedTuple):
    """A query's weights, for a person to change."""

    edits: EditList  # the page's
    trace: AttentionTrace  # the attention with the edits that apply to it
    queries: Sequence[int] = (0,)  # whose weights are changed together: the tokens of a word, the first is drawn
    head: int | None = 0  # whose weights are changed; None = those of all heads, and their mean is drawn
    attention: str = ""  # see ListedEdit
    input_id: str = ""  # see EditList.fitting
    prefix: str = ""  # of the descriptions of its edits
    name: str = ""  # of the query, "" = the labels of its axis

    @property
    def label(self) -> str:
        return self.name or "".join(self.trace.story.query_axis.labels[query] for query in self.queries).strip()

    @property
    def keys(self) -> list[int]:
        """The keys that the query may attend to without edits."""
        return self.trace.visible_keys(self.head or 0, self.queries[0])

    @property
    def heads(self) -> Sequence[int]:
        return range(self.trace.n_heads) if self.head is None else [self.head]

    def weights(self, query: int) -> Tensor:
        """Return a query's weights, (n_keys,) float64."""
        return torch.stack([self.trace.weights(head, [query])[0].double() for head in self.heads]).mean(0)

    def chosen_keys(self, key_names: Mapping[tuple[int, ...], str]) -> tuple[str, tuple[int, ...]]:
        """Set the box that chooses keys; return its widget key, and the chosen keys, at first those of most weight."""
        widget, weights = f"{self.edits.page}_weight_of", self.weights(self.queries[0])
        chosen: tuple[int, ...] = widget_value(widget) if self.edits.weighted_input.value == self.input_id else ()
        if chosen not in key_names:
            chosen = max(key_names, key=lambda keys: float(weights[list(keys)].sum()))
        self.edits.weighted_input.value = self.input_id
        set_widget(widget, chosen)  # always: else the browser keeps the labels of another input
        return widget, chosen

    def set_weight(self, keys: Sequence[int], weight: float | None, name: str = "") -> None:
        """Give keys, the tokens of a word, this weight together; the others share the rest as now; for a callback.

        The weight is from 0 to 1; None = cut the keys, or undo that if they are cut. The name is that of the keys, "" =
        the labels of their axis.
        """
        keys, trace = list(keys), self.trace
        cuts = [SetWeights(query, tuple((key, 0.0) for key in keys), self.head) for query in self.queries]
        if weight is None and all(cut in trace.edits for cut in cuts):
            return self.edits.remove(*cuts, attention=self.attention)
        total, new_edits = weight or 0.0, []
        changed: Sequence[int]
        for query in self.queries:
            row, earlier = self.weights(query), self._earlier_weights(query)
            if any(share for key, share in earlier.items() if key not in keys):  # then all of the row are set anew
                changed = range(trace.n_keys)
                indices = torch.tensor(keys, device=row.device)
                remainder = row.index_fill(0, indices, 0)
                if not remainder.any():  # then the other keys get what they have without edits, in proportion
                    remainder = self._replace(trace=trace.replace(())).weights(query).index_fill(0, indices, 0)
                after = remainder * (1 - total) / remainder.sum().clamp(min=TINY)
            else:
                changed, after = keys, torch.zeros_like(row)
            before = row[keys] + TINY
            after[keys] = total * before / before.sum()
            pairs = tuple((key, round(float(after[key]), DECIMALS)) for key in changed)
            new_edits.append(SetWeights(query, pairs, self.head))
        name = name or "".join(trace.story.key_axis.labels[key] for key in keys)
        change = f"takes {percent(total)} from {name}" if total else f"no longer looks at {name}"
        others = "; the others share the rest" if total < 1 else "; nothing from the others"
        self._add(new_edits, change + (others if {*self.keys} - {*keys} else ""))

    def copy_row(self, query: int, name: str) -> None:
        """Give the query the weights of another one; for a callback."""
        row = self.weights(query)
        pairs = tuple((key, round(weight, DECIMALS)) for key, weight in enumerate((row / row.sum()).tolist()))
        self._add([SetWeights(query, pairs, self.head) for query in self.queries], f"looks where {name} does")

    def _earlier_weights(self, query: int) -> dict[int, float]:
        """Return the weights that earlier edits set, by key."""
        edits = (edit for edit in self.trace.edits if isinstance(edit, SetWeights) and edit.head == self.head)
        return {key: share for edit in edits if edit.query == query for key, share in edit.weights}

    def _add(self, new_edits: Sequence[SetWeights], change: str) -> None:
        description = f"{self.prefix}{self.label} {change}"
        self.edits.add(*new_edits, description=description, attention=self.attention, input_id=self.input_id)


def weight_editor(
    row: WeightsRow, key_names: Mapping[tuple[int, ...], str], rows: Mapping[int, str] | None = None
) -> None:
    """Draw widgets that set a query's weight of a key to a number or to 0, or give it the weights of another query.

    key_names has the name of each word by the keys of its tokens; rows has the names of queries that can be copied.
    """
    page, weights, label = row.edits.page, row.weights(row.queries[0]), error_markdown(row.label)
    numbered = {keys: f"{number}: {name}" for number, (keys, name) in enumerate(key_names.items(), 1)}

    def on_copy(key: str) -> None:
        query = widget_value(key)
        if query is not None:
            row.copy_row(query, rows[query])  # type: ignore[index]
            set_widget(key, None)  # so that it can be chosen again
            rerun_fragments(BODY)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{page}_weight_editor"):
        key, chosen = row.chosen_keys(key_names)
        question = "Weight of" if row.trace.n_queries == 1 else f"{label} takes from"
        st.selectbox(question, list(key_names), key=key, format_func=numbered.__getitem__, width=190)
        weight = float(weights[list(chosen)].sum())
        on_weight = with_rerun(lambda percentage: row.set_weight(chosen, float(percentage) / 100, key_names[chosen]))
        arguments = controlled(f"{page}_weight", round(100 * weight, 2), on_weight)
        st.number_input("in percent", 0.0, 100.0, step=5.0, width=130, **arguments)
        cut = with_rerun(partial(row.set_weight, chosen, 0.0, key_names[chosen]))
        st.button("Cut it", key=f"{page}_cut", on_click=cut, disabled=not weight)
        if rows:
            key, question = f"{page}_row_of", f"Or {label} looks where"
            row_name = dict(zip(rows, distinct([*rows.values()]), strict=True)).__getitem__
            st.selectbox(
                question, list(rows), None, row_name, key, placeholder="…", on_change=on_copy, args=(key,), width=170
            )


def matrix_editor(
    row: WeightsRow,
    on_query: Callable[[int], None],
    key_names: Mapping[tuple[int, ...], str] | None = None,
    rows: Mapping[int, str] | None = None,
    hint: str = "Click a weight to change it.",
    pair_axis: Axis | None = None,
) -> None:
    """Draw an attention's weights, up to MAX_RECT_SIDE a side, and the editor of the one that is clicked.

    on_query is called with another query that a visitor chooses. For key_names, by default the labels, and rows see
    weight_editor; the hint is shown while there is no edit. Where keys are pairs, pair_axis is the axis of one member,
    and the weights are those of the query, by first and second member.
    """
    page, trace, labels = row.edits.page, row.trace, row.trace.story.key_axis.labels
    key_names = key_names or {(key,): labels[key].strip() or labels[key] for key in row.keys}
    widget, chosen = row.chosen_keys(key_names)
    word_of_key = {key: keys for keys in key_names for key in keys}

    def on_choose(query: int, key: int) -> None:
        if pair_axis:
            key += query * len(pair_axis)
        set_widget(widget, word_of_key.get(key, (key,)))
        if not pair_axis and query not in row.queries:
            on_query(query)

    if max(trace.n_queries, len(pair_axis or labels)) <= MAX_RECT_SIDE:
        weights = np.stack([masked_weights(trace, head) for head in row.heads])
        mean = np.where(np.isnan(weights).all(0), np.nan, np.nan_to_num(weights).mean(0))
        style, fields = StepStyle(row.queries[0], chosen[0], MATRIX_SIZE), {}
        if pair_axis:
            mean = mean[row.queries[0]].reshape(len(pair_axis), -1)
            style = StepStyle(*divmod(chosen[0], len(pair_axis)), MATRIX_SIZE, n_keys=int(np.isfinite(mean).sum()))
            fields = dict(zip(("row_axis", "col_axis"), pair_axes(pair_axis), strict=True))
        show_numbers(trace, mean, f"{page}_weights", style, fields, on_choose=on_choose)
    if trace.n_queries > 1 and not pair_axis:  # for visitors without a pointer
        names = dict(enumerate(distinct(trace.story.query_axis.labels)))
        arguments = controlled(f"{page}_asks", row.queries[0], on_query)
        st.selectbox("Row", list(names), format_func=names.__getitem__, width=190, **arguments)
    weight_editor(row, key_names, rows)
    row.edits.draw(trace, hint=hint)
