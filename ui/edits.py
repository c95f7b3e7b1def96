"""Attention changed by hand: a page's list of edits in plain words, each with a switch; undo, redo, reset.

What a page does with it:

    EDITS = EditList(NAME)  # beside its fields: it is in the page's address, and so in links and session files

    plain = explain(model, text)  # as learned
    edits = EDITS.fitting(plain, of=text)  # the library's own edits, those that fit; others stay listed
    now = explain(model, text, edits) if edits else plain  # what the page shows; its script and notebook have the edits

    def try_tab():
        EDITS.add(edit, says="in words")  # in a button's callback, or by weight_editor
        EDITS.draw(now)
        show_outcome(NAME, labels, before, after)  # both answers, and what changed most
        show_weights_difference(NAME, plain, now)  # by how much each weight changed

Where a page has several attentions, each has a name, `where`, and its own edits. `of` is the input to which positions
belong: another sentence's words stand elsewhere.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Axis, Role
from attention_core.attention import edits as core
from attention_core.attention.wording import percent
from attention_core.bounds.limits import EDITS
from attention_core.charts import signed_ramp
from attention_core.charts.bars import BEFORE_AFTER, bar_table
from attention_core.charts.heads import masked_weights
from attention_core.charts.matrix import MAX_RECT_SIDE, pair_axes
from attention_core.charts.ramps import Ramp
from attention_core.device import to_array
from attention_core.links import pack, unpack
from ui.chart import note_picture
from ui.hosting.bounds import EDIT_LETTERS
from ui.labels import distinct, error_markdown, number
from ui.layout import bar_rows, figures_table
from ui.lecture.mode import LECTURE
from ui.parts import BODY, changing, run_parts
from ui.player import StepLook, show_numbers
from ui.state import Field, following, set_widget, widget_value

NAMES = ("as learned", "changed")
COMPUTED = ("as computed", "changed")  # the same where nothing was learned
N_SHOWN = 6
LEAST = 0.005  # a change of a probability below which it is said not to change
FAINT = 0.02
"""Of the largest weight: a change that is as large has at most the strongest colour, and smaller ones stay faint."""
ELSEWHERE = "the attention that it changes is not here"


class ListedEdit(NamedTuple):
    """An edit that a person made."""

    edit: core.Edit  # what it is
    says: str  # the same in words, as things were called when it was made
    where: str = ""  # which of the page's attentions it changes; "" = the only one
    of: str = ""  # tells the input to which its positions belong from others; "" = they mean the same in all
    is_on: bool = True  # whether it is applied


class EditList:
    """The edits of a page, see PageEntry.name; `formerly` reads edits from older parts of its address, by name."""

    def __init__(self, page: str, **formerly: Callable[[str], Sequence[ListedEdit]]) -> None:
        self.page = page
        self._formerly: list[Field[Sequence[ListedEdit]]] = [
            Field(page, f"edits_{name}", (), address=name, parse=parse) for name, parse in formerly.items()
        ]
        self._list: Field[tuple[ListedEdit, ...]] = Field(page, "edits", (), address="edits", parse=_parse, text=_text)
        self._past: Field[list[tuple[ListedEdit, ...]]] = Field(page, "edits_past", list)
        self._future: Field[list[tuple[ListedEdit, ...]]] = Field(page, "edits_future", list)
        self._reasons: Field[dict[ListedEdit, str]] = Field(page, "edits_reasons", dict)
        """Why each cannot be applied; "" = it can."""
        self.weighed = Field(page, "edits_weighed", "")
        """The input of which a weight was chosen last."""

    @property
    def changes(self) -> tuple[ListedEdit, ...]:
        for field in self._formerly:
            if field.value:
                self._list.value, field.value = (*self._list.value, *field.value), ()
        return self._list.value

    def fitting(
        self,
        attention: AttentionTrace,  # without edits
        where: str = "",  # its name, where the page has several
        of: str | Sequence[str] = "",  # its input, see ListedEdit; or several things of which an edit may be
        runs: Callable[[core.HeadRef], Any] | None = None,  # finds what an edit takes from another run, see with_runs
        grows: bool = False,  # whether queries may come that it has not; their edits are returned too
    ) -> core.Edits:
        """Return the edits that are on and can be applied to an attention, given as learned; note why others cannot."""
        fit: core.Edits = ()
        for change in self.changes:
            if change.where != where or not change.is_on:
                continue
            try:
                if change.of and change.of not in map(input_mark, [of] if isinstance(of, str) else of):
                    raise core.EditError("it was made for another input" + " or model" * (not isinstance(of, str)))
                edit = core.with_runs((change.edit,), runs) if runs else (change.edit,)
                tried = (*fit, *edit)
                attention.replace(core.restrict_queries(tried, 0, attention.n_queries) if grows else tried)
                fit = tried
                self._reasons.value[change] = ""
            except core.EditError as error:
                self._reasons.value[change] = str(error)
            except LookupError:  # of another run that there is not
                self._reasons.value[change] = "the attention that it copies is not here"
        return fit

    def fitting_each(
        self, learned: Callable[[], Mapping[tuple[str, int], AttentionTrace]], of: str | Sequence[str] = ""
    ) -> dict[tuple[str, int], core.Edits]:
        """Return the edits that fit each of several attentions, by (kind, layer), asked for if there are any."""
        self._reasons.value = {}
        attentions = learned() if self.changes else {}
        fit = {place: self.fitting(trace, where_in_stack(*place), of) for place, trace in attentions.items()}
        return {place: edits for place, edits in fit.items() if edits}

    def add(self, *edits: core.Edit, says: str = "", where: str = "", of: str = "") -> None:
        """Add edits, for a callback; one that is there already is switched on, and a weight has one number."""
        new = [
            ListedEdit(edit, (says or edit.describe())[: EDIT_LETTERS.maximum], where, input_mark(of)) for edit in edits
        ]
        self._put(new)

    def _put(self, new: Sequence[ListedEdit]) -> None:
        others = [old for old in self.changes if not any(_replaces(one, old) for one in new)]
        if len(others) + len(new) <= EDITS.maximum:
            self._set((*others, *new))

    def remove(self, *edits: core.Edit, where: str = "") -> None:
        self._set(tuple(one for one in self.changes if one.where != where or one.edit not in edits))

    def toggle(self, change: ListedEdit) -> None:
        """Add an edit, or remove it if it is there and on; for a callback."""
        if change in self.changes:
            self._set(tuple(one for one in self.changes if one != change))
        else:
            self._put([change])

    def reset(self) -> None:
        if self.changes:
            self._set(())

    def draw(self, *now: AttentionTrace, hint: str = "") -> None:
        """Draw the list, and say which rows of the attentions, as they are with the edits, have nothing left.

        The hint stands there while there is no edit; not in a lecture, whose screen is about what an edit does.
        """
        with st.container(horizontal=True, gap="xsmall", key=f"{self.page}_edit_tools"):
            for label, icon, act, may in (
                ("Undo", "undo", partial(self._back, self._past, self._future), bool(self._past.value)),
                ("Redo", "redo", partial(self._back, self._future, self._past), bool(self._future.value)),
                ("Reset", "restart_alt", self.reset, bool(self.changes)),
            ):
                key = f"{self.page}_edits_{icon}"
                st.button(
                    label, key=key, icon=f":material/{icon}:", on_click=changing(act), disabled=not may, width="content"
                )
        if not self.changes and hint and not LECTURE.value:
            st.caption(hint)
        for place, change in enumerate(self.changes):
            misfit = self._reasons.value.get(change, ELSEWHERE) if change.is_on else ""
            says = error_markdown(change.says[:1].upper() + change.says[1:])
            switch = changing(partial(self._switch, place))
            st.checkbox(says, **following(f"{self.page}_edit_{place}", change.is_on, switch))
            if misfit:
                st.caption(f"Not applied: {error_markdown(misfit)}.")
        if any(isinstance(edit, core.SetWeights) for trace in now if not trace.has_softmax for edit in trace.edits):
            st.caption("Without a softmax nothing is shared: the other weights stay as they are.")
        for trace in now:
            if empty := _empty_rows(trace):
                st.caption(f"Nothing is left to look at for {error_markdown(', '.join(empty))}: only zeros come out.")

    def _set(self, changes: tuple[ListedEdit, ...]) -> None:
        self._past.value, self._future.value = [*self._past.value, self.changes], []
        self._list.value = changes

    def _switch(self, place: int, is_on: bool) -> None:
        changes = list(self.changes)
        changes[place] = changes[place]._replace(is_on=is_on)
        self._set(tuple(changes))

    def _back(self, taken: Field[list[tuple[ListedEdit, ...]]], given: Field[list[tuple[ListedEdit, ...]]]) -> None:
        given.value = [*given.value, self.changes]
        *taken.value, self._list.value = taken.value


def where_in_stack(kind: str, layer: int) -> str:
    """Return the name, in the list of edits, of an attention in a stack, its layer from 0."""
    return f"{kind}-{layer + 1}"


def _replaces(new: ListedEdit, old: ListedEdit) -> bool:
    """Return whether an edit leaves nothing of an older one: it sets the same weights, or is the same."""
    one, other = new.edit, old.edit
    is_same = one == other
    if isinstance(one, core.SetWeights) and isinstance(other, core.SetWeights):
        covers = dict(one.weights).keys() >= dict(other.weights).keys()
        is_same = covers and (one.query, one.head) == (other.query, other.head)
    return is_same and (new.where, new.of) == (old.where, old.of)


def input_mark(text: str) -> str:
    """Return what tells an input from others in a link."""
    return f"{zlib.crc32(text.encode()):x}" if text else ""


def _text(changes: Sequence[ListedEdit]) -> str:
    return pack([[one.edit.to_json_value(), one.says, one.where, one.of, one.is_on] for one in changes])


def _parse(text: str) -> tuple[ListedEdit, ...]:
    rows = unpack(text)
    edits = core.edits_from_json([row[0] for row in rows])
    for _, says, where, of, is_on in rows:
        if {*map(type, (says, where, of))} != {str} or type(is_on) is not bool:
            raise ValueError("an edit has words, a place, an input and a switch")
        if max(map(len, (says, where, of))) > EDIT_LETTERS.maximum:
            raise ValueError(f"the words of an edit have at most {EDIT_LETTERS} letters")
    return tuple(ListedEdit(edit, *row[1:]) for edit, row in zip(edits, rows, strict=True))


def _empty_rows(trace: AttentionTrace) -> list[str]:
    """Return the queries that see no key any more."""
    labels, empty = trace.story.query_axis.labels, []
    for head in range(trace.n_heads if any(edit.hides for edit in trace.edits) else 0):
        seen, seen_as_learned = trace.allowed(head), trace.mask_before_edits(head)
        none = torch.zeros(0) if seen is None else ~seen.any(-1)
        rows = (none if seen_as_learned is None else none & seen_as_learned.any(-1)).nonzero().flatten().tolist()
        of_head = f" (head {head + 1})" if trace.n_heads > 1 else ""
        empty += [f"{labels[row]}{of_head}" for row in rows]
    return empty if len(empty) <= N_SHOWN else [f"{len(empty)} of {trace.n_heads * trace.n_queries} queries"]


class WeightsRow(NamedTuple):
    """What a query gives the keys, for a person to change."""

    edits: EditList  # the page's
    trace: AttentionTrace  # the attention as it is now
    asks: Sequence[int] = (0,)  # the queries that are changed: the pieces of a word
    head: int | None = 0  # the one that is changed; None = all, and their mean is shown
    where: str = ""  # see ListedEdit
    of: str = ""  # see ListedEdit
    begins: str = ""  # words with which its lines in the list begin
    name: str = ""  # of the query, where it is not its axis' label

    @property
    def who(self) -> str:
        return self.name or "".join(self.trace.story.query_axis.labels[query] for query in self.asks).strip()

    @property
    def seen(self) -> list[int]:
        """The keys that the query may look at, were nothing changed."""
        return self.trace.visible_keys(self.head or 0, self.asks[0])

    @property
    def heads(self) -> Sequence[int]:
        return range(self.trace.n_heads) if self.head is None else [self.head]

    def weights(self, query: int) -> Tensor:
        """Return a query's weights, (n_keys,) float64."""
        return torch.stack([self.trace.weights(one, [query])[0].double() for one in self.heads]).mean(0)

    def chosen(self, words: Mapping[tuple[int, ...], str]) -> tuple[str, tuple[int, ...]]:
        """Return the key of the box that chooses whose weight is set, and the present choice: at first the heaviest."""
        key, weights = f"{self.edits.page}_weight_of", self.weights(self.asks[0])
        chosen: tuple[int, ...] = widget_value(key) if self.edits.weighed.value == self.of else ()
        if chosen not in words:
            chosen = max(words, key=lambda keys: float(weights[list(keys)].sum()))
        self.edits.weighed.value = self.of
        set_widget(key, chosen)  # always: the browser keeps the words of another input else
        return key, chosen

    def set_weight(self, keys: Sequence[int], weight: float | None, name: str = "") -> None:
        """Give keys, the pieces of a word, this weight together, as far as others that were set leave it.

        For a callback. The weight is from 0 to 1; None = it is cut, or given back if it is cut. The keys have a name
        where they are not called as their axis labels them.
        """
        keys, trace = list(keys), self.trace
        cuts = [core.SetWeights(query, tuple((key, 0.0) for key in keys), self.head) for query in self.asks]
        if weight is None and all(cut in trace.edits for cut in cuts):
            return self.edits.remove(*cuts, where=self.where)
        given, new = weight or 0.0, []
        changed: Sequence[int]
        for query in self.asks:
            row, place = self.weights(query), (query, self.head)
            rows = (one for one in trace.edits if isinstance(one, core.SetWeights) and (one.query, one.head) == place)
            are_set = {key: share for one in rows for key, share in one.weights}
            if sum(are_set.values()) > 1 - 1e-6:  # the whole row was set: it is written anew
                changed = range(trace.n_keys)
                at = torch.tensor(keys, device=row.device)
                others = row.index_fill(0, at, 0)
                if not others.any():  # they share as they would have
                    others = self._replace(trace=trace.replace(())).weights(query).index_fill(0, at, 0)
                after = others * (1 - given) / others.sum().clamp(min=1e-9)
            else:
                given = min(given, 1 - sum(share for key, share in are_set.items() if key not in keys))
                changed, after = keys, torch.zeros_like(row)
            shares = row[keys] + 1e-9
            after[keys] = given * shares / shares.sum()
            new.append(core.SetWeights(query, tuple((key, round(float(after[key]), 9)) for key in changed), self.head))
        what = name or "".join(trace.story.key_axis.labels[key] for key in keys)
        done = f"takes {percent(given)} from {what}" if given else f"no longer looks at {what}"
        rest = "; the others share the rest" if given < 1 else "; nothing from the others"
        self._add(new, done + rest * any(key not in keys for key in self.seen))

    def take(self, other: int, name: str) -> None:
        """Give the query the row of another one; for a callback."""
        taken = self.weights(other)
        pairs = tuple((key, round(share, 9)) for key, share in enumerate((taken / taken.sum()).tolist()))
        self._add([core.SetWeights(query, pairs, self.head) for query in self.asks], f"looks where {name} does")

    def _add(self, new: Sequence[core.SetWeights], says: str) -> None:
        self.edits.add(*new, says=f"{self.begins}{self.who} {says}", where=self.where, of=self.of)


def weight_editor(
    row: WeightsRow, words: Mapping[tuple[int, ...], str], others: Mapping[int, str] | None = None
) -> None:
    """Let a person cut what a query gives a key, set it to a number, or give the query another one's row.

    Words are names of the keys, by the pieces of each; others are queries whose row can be taken, with their names.
    """
    page, weights, who = row.edits.page, row.weights(row.asks[0]), error_markdown(row.who)
    named = {keys: f"{number}: {word}" for number, (keys, word) in enumerate(words.items(), 1)}

    def take(key: str) -> None:
        other = widget_value(key)
        if other is not None:
            row.take(other, others[other])  # type: ignore[index]
            set_widget(key, None)  # it can be chosen again
            run_parts(BODY)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{page}_weight_editor"):
        at, chosen = row.chosen(words)
        label = "Weight of" if row.trace.n_queries == 1 else f"{who} takes from"
        st.selectbox(label, list(words), key=at, format_func=named.__getitem__, width=190)
        weight = float(weights[list(chosen)].sum())
        set_to = changing(lambda typed: row.set_weight(chosen, float(typed) / 100, words[chosen]))
        follows = following(f"{page}_weight", round(100 * weight, 2), set_to)
        st.number_input("in percent", 0.0, 100.0, step=5.0, width=130, **follows)
        cut = changing(partial(row.set_weight, chosen, 0.0, words[chosen]))
        st.button("Cut it", key=f"{page}_cut", on_click=cut, disabled=not weight)
        if others:
            key, label = f"{page}_row_of", f"Or {who} looks where"
            named_as = dict(zip(others, distinct([*others.values()]), strict=True)).__getitem__
            choose = partial(st.selectbox, label, list(others), None, named_as, key, placeholder="…", width=170)
            choose(on_change=take, args=(key,))


def matrix_editor(
    row: WeightsRow,
    choose: Callable[[int], None],
    words: Mapping[tuple[int, ...], str] | None = None,
    others: Mapping[int, str] | None = None,
    hint: str = "Click a weight to change it.",
    member: Axis | None = None,
) -> None:
    """Draw a small attention's weights; a click chooses one, whose query `choose` gets, and a number sets it.

    For words, by default the labels of the keys, and others see weight_editor; the hint stands there while there is no
    edit. Where keys are pairs, `member` says what one of two can be, and the map is that of the query. Of a large
    attention no map is drawn.
    """
    page, trace, axes = row.edits.page, row.trace, (row.trace.story.query_axis, row.trace.story.key_axis)
    labels = axes[1].labels
    words = words or {(place,): labels[place].strip() or labels[place] for place in row.seen}
    at, chosen = row.chosen(words)
    keys_of = {place: keys for keys in words for place in keys}

    def take(asks: int, place: int) -> None:
        if member:
            place += asks * len(member)
        set_widget(at, keys_of.get(place, (place,)))
        if not member and asks not in row.asks:
            choose(asks)

    if max(trace.n_queries, len(member or labels)) <= MAX_RECT_SIDE:
        each = np.stack([masked_weights(trace, head) for head in row.heads])
        mean = np.where(np.isnan(each).all(0), np.nan, np.nan_to_num(each).mean(0))
        look, about = StepLook(row.asks[0], chosen[0], 250), {}
        if member:
            mean = mean[row.asks[0]].reshape(len(member), -1)
            look = StepLook(*divmod(chosen[0], len(member)), 250, n_keys=int(np.isfinite(mean).sum()))
            about = dict(zip(("row_axis", "col_axis"), pair_axes(member), strict=True))
        show_numbers(trace, mean, f"{page}_weights", look, about, on_choose=take)
    if trace.n_queries > 1 and not member:  # for who has no pointer
        names, follows = dict(enumerate(distinct(axes[0].labels))), following(f"{page}_asks", row.asks[0], choose)
        st.selectbox("Row", list(names), format_func=names.__getitem__, width=190, **follows)
    weight_editor(row, words, others)
    row.edits.draw(trace, hint=hint)


def show_contexts(before: AttentionTrace, after: AttentionTrace, query: int) -> None:
    """Draw the numbers that a query is handed, without the edits and with them."""
    contexts = [trace.context(0)[query].tolist() for trace in (before, after)]
    rows = [[name, *(number(value, ".3f") for value in row)] for name, row in zip(COMPUTED, contexts, strict=True)]
    columns = [str(place + 1) for place in range(len(contexts[0]))]
    shown = rows if before.edits != after.edits else rows[:1]
    figures_table([f"{after.story.query_axis.labels[query]} is handed", *columns], *shown)


def show_outcome(
    page: str,
    labels: Sequence[str],
    before: Sequence[float] | np.ndarray,
    after: Sequence[float] | np.ndarray,
    names: tuple[str, str] = NAMES,
) -> None:
    """Draw an answer's probabilities as learned and changed, beside each other, and say what changed most."""
    one, other = (np.asarray(probabilities, float) for probabilities in (before, after))
    st.markdown(what_changed(labels, one, other))
    shown = sorted(np.argsort(-np.maximum(one, other))[:N_SHOWN].tolist())
    words, *both = [labels[place] for place in shown], one[shown].tolist(), other[shown].tolist()
    alt = "The answer's probabilities as learned and changed"
    note_picture(lambda: bar_table(words, dict(zip(names, both, strict=True)), BEFORE_AFTER), alt)
    meanings = dict(zip(BEFORE_AFTER, names, strict=True))
    legend = " ".join(f'<u style="--line:{line}">{name}</u>' for line, name in meanings.items())
    lines = (
        line
        for word, *shares in zip(words, *both, strict=True)
        for line in zip((word, ""), shares, BEFORE_AFTER, strict=True)
    )
    st.html(f'<div role="group" aria-label="{alt}">{legend}{bar_rows(lines, meanings)}</div>')


def what_changed(labels: Sequence[str], before: np.ndarray, after: np.ndarray) -> str:
    """Return what changed most in an answer, in a sentence."""
    change, best, now = after - before, int(before.argmax()), int(after.argmax())
    most = int(np.abs(change).argmax())
    shares = [percent(one[most]) for one in (before, after)]
    if best == now and (abs(change[most]) < LEAST or shares[0] == shares[1]):
        return f"The answer stays **{error_markdown(labels[best])}** ({percent(before[best])})."
    way = "rises" if change[most] > 0 else "falls"
    moved = f"**{error_markdown(labels[most])}** {way} from {shares[0]} to {shares[1]}. "
    answer = (
        f"The answer stays {labels[now]}" if now == best else f"The answer was {labels[best]} and is now {labels[now]}"
    )
    return f"{moved if shares[0] != shares[1] else ''}{error_markdown(answer)}."


def difference(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, Ramp]:
    """Return by how much weights changed, and colours with zero in the middle."""
    change = np.asarray(after, float) - np.asarray(before, float)
    least = FAINT * float(np.abs(before).max())
    return change, signed_ramp(np.append(change, least))


def show_weights_difference(page: str, before: AttentionTrace, after: AttentionTrace, head: int = 0) -> None:
    """Draw where weight came and went in a head, if any did: one that is dropped keeps its weights."""
    if not after.edits:
        return
    change, colours = difference(*(to_array(trace.weights(head)) for trace in (before, after)))
    if change.any():
        show_change(page, after, change, colours)
        say_moved(change, after.n_queries)


def show_change(page: str, trace: AttentionTrace, change: np.ndarray, colours: Ramp, **about: Axis) -> None:
    """Draw by how much weights changed, see difference; about are the axes where they are not those of the trace."""
    look, named = StepLook(size=330, reach=colours.high), {"title": "Change", "role": Role.CONTEXT}
    show_numbers(trace, change, f"{page}_difference", look, named | about)


def say_moved(change: np.ndarray, n_queries: int = 1) -> None:
    """Say how much of the weights of so many queries moved; where no key is left, all that it had is lost."""
    moved = max(float(change.clip(0).sum()), float((-change).clip(0).sum())) / n_queries
    st.caption(f"Orange gained weight, blue lost it: {percent(moved)} of the attention moved.")
