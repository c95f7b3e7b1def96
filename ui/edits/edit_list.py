"""A page's list of edits in plain words, each with a switch; undo, redo, reset."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from attention_core import AttentionTrace
from attention_core.attention import edits as core
from attention_core.bounds.limits import EDITS
from attention_core.links import pack, unpack
from ui.fragments import with_rerun
from ui.hosting.bounds import EDIT_LETTERS
from ui.labels import error_markdown
from ui.lecture.mode import LECTURE
from ui.state import Field, controlled

MAX_NAMED_QUERIES = 6  # without a key; more are counted
ATTENTION_MISSING = "the attention that it changes is not here"


class ListedEdit(NamedTuple):
    """An edit that a person made."""

    edit: core.Edit
    description: str  # in words, as things were called when it was made
    attention: str = ""  # which of the page's attentions it changes; "" = the only one
    input_hash: str = ""  # of the input to which its positions belong; "" = they mean the same in all
    is_on: bool = True  # whether it is applied


class EditList:
    """The edits of a page, see PageEntry.name; `formerly` parses edits of old addresses, by their names there."""

    def __init__(self, page: str, **formerly: Callable[[str], Sequence[ListedEdit]]) -> None:
        self.page = page
        self._formerly: list[Field[Sequence[ListedEdit]]] = [
            Field(page, f"edits_{name}", (), address=name, parse=parse) for name, parse in formerly.items()
        ]
        self._list: Field[tuple[ListedEdit, ...]] = Field(
            page, "edits", (), address="edits", parse=_parse, text=_format
        )
        self._past: Field[list[tuple[ListedEdit, ...]]] = Field(page, "edits_past", list)
        self._future: Field[list[tuple[ListedEdit, ...]]] = Field(page, "edits_future", list)
        self._reasons: Field[dict[ListedEdit, str]] = Field(page, "edits_reasons", dict)
        """Why each cannot be applied; "" = it can."""
        self.weighted_input = Field(page, "edits_weighed", "")
        """The id of the input of which a weight was chosen last."""

    @property
    def changes(self) -> tuple[ListedEdit, ...]:
        for field in self._formerly:
            if field.value:
                self._list.value, field.value = (*self._list.value, *field.value), ()
        return self._list.value

    def fitting(
        self,
        attention: AttentionTrace,  # without edits
        name: str = "",  # of the attention, where the page has several
        input_id: str | Sequence[str] = "",  # its input, as text; or several texts, such as input and model
        grows: bool = False,  # whether it will have further queries; edits of these are returned too
    ) -> core.Edits:
        """Return the edits that are on and can be applied to an attention, given as learned; note why others cannot."""
        fit: core.Edits = ()
        for change in self.changes:
            if change.attention != name or not change.is_on:
                continue
            try:
                ids = [input_id] if isinstance(input_id, str) else input_id
                if change.input_hash and change.input_hash not in map(input_hash, ids):
                    raise core.EditError("it was made for another input" + " or model" * (len(ids) > 1))
                if isinstance(change.edit, core.PatternFrom | core.OutputFrom):
                    raise core.EditError("the attention that it copies is not here")
                tried = (*fit, change.edit)
                attention.replace(core.restrict_queries(tried, 0, attention.n_queries) if grows else tried)
                fit = tried
                self._reasons.value[change] = ""
            except core.EditError as error:
                self._reasons.value[change] = str(error)
        return fit

    def fitting_each(
        self, compute: Callable[[], Mapping[tuple[str, int], AttentionTrace]], input_id: str | Sequence[str] = ""
    ) -> dict[tuple[str, int], core.Edits]:
        """Return the edits that fit each of several attentions, by (kind, layer), which are computed if need be."""
        self._reasons.value = {}
        attentions = compute() if self.changes else {}
        fit = {layer: self.fitting(trace, name_in_stack(*layer), input_id) for layer, trace in attentions.items()}
        return {layer: edits for layer, edits in fit.items() if edits}

    def add(self, *edits: core.Edit, description: str = "", attention: str = "", input_id: str = "") -> None:
        """Add edits, in place of equal ones and of those that set the same weights; for a callback."""
        texts = ((description or edit.describe())[: EDIT_LETTERS.maximum] for edit in edits)
        pairs = zip(edits, texts, strict=True)
        self._append([ListedEdit(edit, text, attention, input_hash(input_id)) for edit, text in pairs])

    def _append(self, new: Sequence[ListedEdit]) -> None:
        unchanged = [old for old in self.changes if not any(_replaces(change, old) for change in new)]
        if len(unchanged) + len(new) <= EDITS.maximum:
            self._set((*unchanged, *new))

    def remove(self, *edits: core.Edit, attention: str = "") -> None:
        self._set(tuple(old for old in self.changes if old.attention != attention or old.edit not in edits))

    def toggle(self, change: ListedEdit) -> None:
        """Add an edit, or remove it if it is there and on; for a callback."""
        if change in self.changes:
            self._set(tuple(old for old in self.changes if old != change))
        else:
            self._append([change])

    def reset(self) -> None:
        if self.changes:
            self._set(())

    def draw(self, *traces: AttentionTrace, hint: str = "") -> None:
        """Draw the list, and say which queries of these traces, which have the edits, see no key any more.

        The hint is drawn while there is no edit; not in a lecture, whose screen is about what an edit does.
        """
        with st.container(horizontal=True, gap="xsmall", key=f"{self.page}_edit_tools"):
            for label, icon, act, is_possible in (
                ("Undo", "undo", partial(self._travel, self._past, self._future), bool(self._past.value)),
                ("Redo", "redo", partial(self._travel, self._future, self._past), bool(self._future.value)),
                ("Reset", "restart_alt", self.reset, bool(self.changes)),
            ):
                key, symbol, on_click = f"{self.page}_edits_{icon}", f":material/{icon}:", with_rerun(act)
                st.button(label, key=key, icon=symbol, on_click=on_click, disabled=not is_possible, width="content")
        if not self.changes and hint and not LECTURE.value:
            st.caption(hint)
        for index, change in enumerate(self.changes):
            misfit = self._reasons.value.get(change, ATTENTION_MISSING) if change.is_on else ""
            label = error_markdown(change.description[:1].upper() + change.description[1:])
            switch = with_rerun(partial(self._switch, index))
            st.checkbox(label, **controlled(f"{self.page}_edit_{index}", change.is_on, switch))
            if misfit:
                st.caption(f"Not applied: {error_markdown(misfit)}.")
        if any(isinstance(edit, core.SetWeights) for trace in traces if not trace.has_softmax for edit in trace.edits):
            st.caption("Without a softmax nothing is shared: the other weights stay as they are.")
        for trace in traces:
            if empty := _empty_rows(trace):
                st.caption(f"Nothing is left to look at for {error_markdown(', '.join(empty))}: only zeros come out.")

    def _set(self, changes: tuple[ListedEdit, ...]) -> None:
        self._past.value, self._future.value = [*self._past.value, self.changes], []
        self._list.value = changes

    def _switch(self, index: int, is_on: bool) -> None:
        changes = list(self.changes)
        changes[index] = changes[index]._replace(is_on=is_on)
        self._set(tuple(changes))

    def _travel(self, source: Field[list[tuple[ListedEdit, ...]]], target: Field[list[tuple[ListedEdit, ...]]]) -> None:
        target.value = [*target.value, self.changes]
        source.value, self._list.value = source.value[:-1], source.value[-1]


def name_in_stack(kind: str, layer: int) -> str:
    """Return the name, in the list of edits, of an attention in a stack, its layer from 0."""
    return f"{kind}-{layer + 1}"


def _replaces(new: ListedEdit, old: ListedEdit) -> bool:
    """Return whether an edit leaves nothing of an older one: it sets the same weights, or is the same."""
    edit, former = new.edit, old.edit
    is_same = edit == former
    if isinstance(edit, core.SetWeights) and isinstance(former, core.SetWeights):
        covers = dict(edit.weights).keys() >= dict(former.weights).keys()
        is_same = covers and (edit.query, edit.head) == (former.query, former.head)
    return is_same and (new.attention, new.input_hash) == (old.attention, old.input_hash)


def input_hash(text: str) -> str:
    """Return a short hash of an input, "" for none; links have it."""
    return f"{zlib.crc32(text.encode()):x}" if text else ""


def _format(changes: Sequence[ListedEdit]) -> str:
    return pack([[change.edit.to_json_value(), *change[1:]] for change in changes])


def _parse(text: str) -> tuple[ListedEdit, ...]:
    rows = unpack(text)
    edits = core.edits_from_json([row[0] for row in rows])
    for _, *texts, is_on in rows:
        if [*map(type, texts)] != [str, str, str] or type(is_on) is not bool:
            raise ValueError("an edit has words, a place, an input and a switch")
        if max(map(len, texts)) > EDIT_LETTERS.maximum:
            raise ValueError(f"the words of an edit have at most {EDIT_LETTERS} letters")
    return tuple(ListedEdit(edit, *row[1:]) for edit, row in zip(edits, rows, strict=True))


def _empty_rows(trace: AttentionTrace) -> list[str]:
    """Return the queries that see no key any more."""
    labels, empty = trace.story.query_axis.labels, []
    for head in range(trace.n_heads) if any(edit.hides for edit in trace.edits) else ():
        mask, learned_mask = trace.allowed(head), trace.mask_before_edits(head)
        if mask is None:
            continue
        is_empty = ~mask.any(-1) if learned_mask is None else ~mask.any(-1) & learned_mask.any(-1)
        of_head = f" (head {head + 1})" if trace.n_heads > 1 else ""
        empty += [f"{labels[row]}{of_head}" for row in is_empty.nonzero().flatten().tolist()]
    return empty if len(empty) <= MAX_NAMED_QUERIES else [f"{len(empty)} of {trace.n_heads * trace.n_queries} queries"]
