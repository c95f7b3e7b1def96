"""A person changes what a query gives the keys: one weight, or the whole row."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Axis
from attention_core.attention import edits as core
from attention_core.attention.wording import percent
from attention_core.charts.heads import masked_weights
from attention_core.charts.matrix import MAX_RECT_SIDE, pair_axes
from ui.edits.edit_list import EditList
from ui.labels import distinct, error_markdown
from ui.parts import BODY, changing, run_parts
from ui.player import StepLook, show_numbers
from ui.state import following, set_widget, widget_value


class WeightsRow(NamedTuple):
    """What a query gives the keys, for a person to change."""

    edits: EditList  # the page's
    trace: AttentionTrace  # the attention as it is now
    queries: Sequence[int] = (0,)  # that are changed: the pieces of a word
    head: int | None = 0  # the one that is changed; None = all, and their mean is shown
    attention: str = ""  # see ListedEdit
    of: str = ""  # see ListedEdit
    prefix: str = ""  # of its lines in the list
    name: str = ""  # of the query, where it is not its axis' label

    @property
    def label(self) -> str:
        return self.name or "".join(self.trace.story.query_axis.labels[query] for query in self.queries).strip()

    @property
    def keys(self) -> list[int]:
        """The keys that the query may look at, were nothing changed."""
        return self.trace.visible_keys(self.head or 0, self.queries[0])

    @property
    def heads(self) -> Sequence[int]:
        return range(self.trace.n_heads) if self.head is None else [self.head]

    def weights(self, query: int) -> Tensor:
        """Return a query's weights, (n_keys,) float64."""
        return torch.stack([self.trace.weights(head, [query])[0].double() for head in self.heads]).mean(0)

    def chosen(self, key_names: Mapping[tuple[int, ...], str]) -> tuple[str, tuple[int, ...]]:
        """Return the key of the box that chooses whose weight is set, and the present choice: at first the heaviest."""
        key, weights = f"{self.edits.page}_weight_of", self.weights(self.queries[0])
        chosen: tuple[int, ...] = widget_value(key) if self.edits.weighed.value == self.of else ()
        if chosen not in key_names:
            chosen = max(key_names, key=lambda keys: float(weights[list(keys)].sum()))
        self.edits.weighed.value = self.of
        set_widget(key, chosen)  # always: else the browser keeps the labels of another input
        return key, chosen

    def set_weight(self, keys: Sequence[int], weight: float | None, name: str = "") -> None:
        """Give keys, the pieces of a word, this weight together, as far as others that were set leave it.

        For a callback. The weight is from 0 to 1; None = it is cut, or given back if it is cut. The keys have a name
        where they are not called as their axis labels them.
        """
        keys, trace = list(keys), self.trace
        cuts = [core.SetWeights(query, tuple((key, 0.0) for key in keys), self.head) for query in self.queries]
        if weight is None and all(cut in trace.edits for cut in cuts):
            return self.edits.remove(*cuts, attention=self.attention)
        total, new = weight or 0.0, []
        changed: Sequence[int]
        for query in self.queries:
            row = self.weights(query)
            set_before = (edit for edit in trace.edits if isinstance(edit, core.SetWeights))
            of_row = (edit for edit in set_before if (edit.query, edit.head) == (query, self.head))
            are_set = {key: share for edit in of_row for key, share in edit.weights}
            if sum(are_set.values()) > 1 - 1e-6:  # the whole row was set: it is written anew
                changed = range(trace.n_keys)
                indices = torch.tensor(keys, device=row.device)
                remainder = row.index_fill(0, indices, 0)
                if not remainder.any():  # the other keys share as they would have
                    remainder = self._replace(trace=trace.replace(())).weights(query).index_fill(0, indices, 0)
                after = remainder * (1 - total) / remainder.sum().clamp(min=1e-9)
            else:
                total = min(total, 1 - sum(share for key, share in are_set.items() if key not in keys))
                changed, after = keys, torch.zeros_like(row)
            shares = row[keys] + 1e-9
            after[keys] = total * shares / shares.sum()
            new.append(core.SetWeights(query, tuple((key, round(float(after[key]), 9)) for key in changed), self.head))
        name = name or "".join(trace.story.key_axis.labels[key] for key in keys)
        change = f"takes {percent(total)} from {name}" if total else f"no longer looks at {name}"
        effect = "; the others share the rest" if total < 1 else "; nothing from the others"
        self._add(new, change + effect * any(key not in keys for key in self.keys))

    def copy_row(self, query: int, name: str) -> None:
        """Give the query the row of another one; for a callback."""
        row = self.weights(query)
        pairs = tuple((key, round(share, 9)) for key, share in enumerate((row / row.sum()).tolist()))
        self._add([core.SetWeights(query, pairs, self.head) for query in self.queries], f"looks where {name} does")

    def _add(self, new: Sequence[core.SetWeights], change: str) -> None:
        description = f"{self.prefix}{self.label} {change}"
        self.edits.add(*new, description=description, attention=self.attention, of=self.of)


def weight_editor(
    row: WeightsRow, key_names: Mapping[tuple[int, ...], str], rows: Mapping[int, str] | None = None
) -> None:
    """Let a person cut what a query gives a key, set it to a number, or give the query another one's row.

    The names of keys stand by the pieces of each; rows are queries whose row can be copied, with their names.
    """
    page, weights, label = row.edits.page, row.weights(row.queries[0]), error_markdown(row.label)
    numbered = {keys: f"{number}: {name}" for number, (keys, name) in enumerate(key_names.items(), 1)}

    def on_copy(key: str) -> None:
        query = widget_value(key)
        if query is not None:
            row.copy_row(query, rows[query])  # type: ignore[index]
            set_widget(key, None)  # it can be chosen again
            run_parts(BODY)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{page}_weight_editor"):
        key, chosen = row.chosen(key_names)
        question = "Weight of" if row.trace.n_queries == 1 else f"{label} takes from"
        st.selectbox(question, list(key_names), key=key, format_func=numbered.__getitem__, width=190)
        weight = float(weights[list(chosen)].sum())
        set_to = changing(lambda per_cent: row.set_weight(chosen, float(per_cent) / 100, key_names[chosen]))
        follows = following(f"{page}_weight", round(100 * weight, 2), set_to)
        st.number_input("in percent", 0.0, 100.0, step=5.0, width=130, **follows)
        cut = changing(partial(row.set_weight, chosen, 0.0, key_names[chosen]))
        st.button("Cut it", key=f"{page}_cut", on_click=cut, disabled=not weight)
        if rows:
            key, question = f"{page}_row_of", f"Or {label} looks where"
            row_name = dict(zip(rows, distinct([*rows.values()]), strict=True)).__getitem__
            choose = partial(st.selectbox, question, list(rows), None, row_name, key, placeholder="…", width=170)
            choose(on_change=on_copy, args=(key,))


def matrix_editor(
    row: WeightsRow,
    choose: Callable[[int], None],
    key_names: Mapping[tuple[int, ...], str] | None = None,
    rows: Mapping[int, str] | None = None,
    hint: str = "Click a weight to change it.",
    member: Axis | None = None,
) -> None:
    """Draw a small attention's weights; a click chooses one, whose query `choose` gets, and a number sets it.

    For the names of keys, by default their labels, and rows see weight_editor; the hint stands there while there is no
    edit. Where keys are pairs, `member` says what one of two can be, and the map is that of the query. Of a large
    attention no map is drawn.
    """
    page, trace, axes = row.edits.page, row.trace, (row.trace.story.query_axis, row.trace.story.key_axis)
    labels = axes[1].labels
    key_names = key_names or {(key,): labels[key].strip() or labels[key] for key in row.keys}
    widget, chosen = row.chosen(key_names)
    keys_of = {key: keys for keys in key_names for key in keys}

    def on_choose(query: int, key: int) -> None:
        if member:
            key += query * len(member)
        set_widget(widget, keys_of.get(key, (key,)))
        if not member and query not in row.queries:
            choose(query)

    if max(trace.n_queries, len(member or labels)) <= MAX_RECT_SIDE:
        each = np.stack([masked_weights(trace, head) for head in row.heads])
        mean = np.where(np.isnan(each).all(0), np.nan, np.nan_to_num(each).mean(0))
        style, fields = StepLook(row.queries[0], chosen[0], 250), {}
        if member:
            mean = mean[row.queries[0]].reshape(len(member), -1)
            style = StepLook(*divmod(chosen[0], len(member)), 250, n_keys=int(np.isfinite(mean).sum()))
            fields = dict(zip(("row_axis", "col_axis"), pair_axes(member), strict=True))
        show_numbers(trace, mean, f"{page}_weights", style, fields, on_choose=on_choose)
    if trace.n_queries > 1 and not member:  # for who has no pointer
        names, follows = dict(enumerate(distinct(axes[0].labels))), following(f"{page}_asks", row.queries[0], choose)
        st.selectbox("Row", list(names), format_func=names.__getitem__, width=190, **follows)
    weight_editor(row, key_names, rows)
    row.edits.draw(trace, hint=hint)
