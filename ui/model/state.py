"""Which head of a run, and which of its queries, a visitor looks at; both are in the page's address."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import far_look, groups
from attention_core.hub.model import Kind
from attention_core.hub.run import ModelRun
from ui.state import Field, whole_number
from ui.stepper import Stepper

NAME = "model"


class Place(NamedTuple):
    """A head as it was chosen.

    Attributes:
        trace: the name of its layer's trace, which the address tells.
        head: of the layer, from 0.
        group: see Chosen; "" = known by the trace's name alone.
        layer: of the group, from 0.
    """

    trace: str = ""
    head: int = 0
    group: str = ""
    layer: int = 0


class Chosen(NamedTuple):
    """What is looked at; always inside the run for which it was asked.

    Attributes:
        group: one of attention_core.explain.heads.groups, such as "encoder self".
        layer: of the group, from 0.
        head: of the layer, from 0.
        query: row of the weights, from 0.
    """

    group: str
    layer: int
    head: int
    query: int


def _place(text: str) -> Place:
    trace, _, head = text.rpartition(":")
    with suppress(ValueError):
        return Place(trace, whole_number(head))
    return Place()


STEPS = Stepper(NAME)
HEAD = Field[Place | None](
    NAME, "chosen", None, address="head", parse=_place, text=lambda place: f"{place.trace}:{place.head}"
)
TOKEN = Field[int | None](NAME, "query", None, address="token", parse=whole_number)
FRAMED = Field[Place | None](NAME, "framed", None)
"""The head that is framed on the first screen."""
TAB = Field(NAME, "tab", "", address="tab")
VIEW = Field(NAME, "view", "", address="view", text=lambda slug: "")
"""The tab of older links; it is read and never written."""


def open_on_a_far_look(run: ModelRun) -> None:
    """Open on the head in which one word looks hardest at another far away, unless somebody has chosen already."""
    if run.patch_grid is not None or (HEAD.value is not None and TOKEN.value is not None):
        return
    group, layers = next(iter(groups(run.recording).items()))
    signs = {place for place, label in enumerate(run.tokens) if not any(map(str.isalnum, label))}
    first = next((place for place in range(len(run.tokens)) if place not in run.special), 0)
    sinks = {first} if run.kind is Kind.DECODER else set()  # where heads of decoders look that find nothing
    found = far_look(layers, run.special | signs | sinks)
    if found is None:
        return
    if HEAD.value is None:
        HEAD.among([Place(layers[found.layer].story.name, found.head, group, found.layer)])
    if TOKEN.value is None:
        TOKEN.among([found.query])


def chosen(run: ModelRun) -> Chosen:
    """Return what is looked at; what the run does not have is brought inside it.

    So a choice survives another text or another model.
    """
    found = groups(run.recording)
    if not found:
        raise ValueError("run must have at least one trace, got none")
    place = HEAD.value or Place()
    if not place.group:
        place = _named(found, place)
    group = place.group if place.group in found else next(iter(found))
    layer = min(place.layer, len(found[group]) - 1)
    trace = found[group][layer]
    head, query = min(place.head, trace.n_heads - 1), min(TOKEN.value or 0, trace.n_queries - 1)
    HEAD.among([Place(trace.story.name, head, group, layer)])
    TOKEN.among([query])
    return Chosen(group, layer, head, query)


def _named(found: dict[str, list[AttentionTrace]], place: Place) -> Place:
    """Return the head that an address names, or the first one of all."""
    for group, layers in found.items():
        for layer, trace in enumerate(layers):
            if trace.story.name == place.trace:
                return place._replace(group=group, layer=layer)
    return Place()


def chosen_trace(run: ModelRun) -> AttentionTrace:
    """Return the trace of the layer that is looked at."""
    now = chosen(run)
    return groups(run.recording)[now.group][now.layer]


def choose(*, query: int | None = None, **place: Any) -> None:
    """Look at something else; what is not given stays as it is. For callbacks.

    Args:
        query: see Chosen.
        place: group, layer and head, see Place.
    """
    HEAD.value = (HEAD.value or Place())._replace(**place)
    if query is not None:
        TOKEN.value = query


def clicked(chart: str, selection: str) -> dict[str, Any] | None:
    """Return what was clicked in a chart, by the chart's key and the selection's name; None after a click beside it."""
    found = st.session_state[chart]["selection"].get(selection)
    return found[0] if found else None
