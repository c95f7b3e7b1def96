"""Which head of a run, and which of its queries, a visitor looks at: plain values, kept in the page's address too."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import far_look, groups
from attention_core.hub.model import Kind
from attention_core.hub.run import ModelRun


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


def begin(name: str, run: ModelRun) -> None:
    """Open on the head in which one word looks hardest at another far away, unless somebody has chosen already.

    Args:
        name: prefix of the page's state.
        run: what is on the page.
    """
    if st.session_state.get(_key(name)) is not None or "head" in st.query_params:
        return
    group, layers = next(iter(groups(run.recording).items()))
    signs = {place for place, label in enumerate(run.tokens) if not any(map(str.isalnum, label))}
    first = next((place for place in range(len(run.tokens)) if place not in run.special), 0)
    sinks = {first} if run.kind is Kind.DECODER else set()  # where heads of decoders look that find nothing
    found = far_look(layers, run.special | signs | sinks) if run.patch_grid is None else None
    if found is not None:
        choose(name, group=group, layer=found.layer, head=found.head, query=found.query)


def chosen(name: str, run: ModelRun) -> Chosen:
    """Return what is looked at: as chosen last, else as the address says (?head=encoder.3.self:5&token=7).

    What the run does not have is brought inside it, so that a choice survives another text or another model.

    Args:
        name: prefix of the page's state.
        run: what is on the page now.
    """
    found = groups(run.recording)
    if not found:
        raise ValueError("run must have at least one trace, got none")
    kept = st.session_state.get(_key(name))
    if kept is None:
        kept = _from_address(found)
    group, layer, head, query = kept
    group = group if group in found else next(iter(found))
    layers = found[group]
    layer = min(max(layer, 0), len(layers) - 1)
    trace = layers[layer]
    return Chosen(group, layer, min(max(head, 0), trace.n_heads - 1), min(max(query, 0), trace.n_queries - 1))


def choose(
    name: str,
    *,
    group: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    query: int | None = None,
) -> None:
    """Look at something else; what is not given stays as it is. For callbacks.

    Args:
        name: prefix of the page's state.
        group: see Chosen.
        layer: see Chosen.
        head: see Chosen.
        query: see Chosen.
    """
    before = st.session_state.get(_key(name)) or ["", 0, 0, 0]
    given = (group, layer, head, query)
    st.session_state[_key(name)] = [old if new is None else new for old, new in zip(before, given, strict=True)]


def chosen_trace(name: str, run: ModelRun) -> AttentionTrace:
    """Return the trace of the layer that is looked at."""
    now = chosen(name, run)
    return groups(run.recording)[now.group][now.layer]


def choose_clicked(name: str, group: str, key: str) -> None:
    """Look at the head that was clicked in a map of layers and heads, a selection "cell". For callbacks.

    Args:
        name: prefix of the page's state.
        group: see Chosen.
        key: of the chart.
    """
    cell = st.session_state[key]["selection"].get("cell")
    if cell:
        choose(name, group=group, layer=int(cell[0]["row"]), head=int(cell[0]["col"]))


def write_address(name: str, run: ModelRun) -> None:
    """Put the chosen head and token into the page's address, and into the state from which the next click goes on."""
    now = chosen(name, run)
    st.session_state[_key(name)] = list(now)
    address = f"{groups(run.recording)[now.group][now.layer].story.name}:{now.head}"
    for field, value in (("head", address), ("token", str(now.query))):
        if st.query_params.get(field) != value:
            st.query_params[field] = value


def _key(name: str) -> str:
    return f"{name}_chosen"


def _from_address(found: dict[str, list[AttentionTrace]]) -> tuple[str, int, int, int]:
    place, _, head = st.query_params.get("head", "").rpartition(":")
    token = st.query_params.get("token", "")
    query = int(token) if token.isdecimal() and len(token) < 9 else 0
    for group, layers in found.items():
        for layer, trace in enumerate(layers):
            if trace.story.name == place and head.isdecimal() and len(head) < 9:
                return group, layer, int(head), query
    return "", 0, 0, query
