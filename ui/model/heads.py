"""What the heads of a whole model do: numbers for each, which are alike, and attention followed through the layers."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.head_maps import distance_chart
from attention_core.charts.heatmap import MAX_RECT_SIDE, matrix_chart
from attention_core.charts.palette import weights_ramp
from attention_core.device import to_array
from attention_core.explain.heads import METRICS, distances, distances_from, groups, habit, rollout
from attention_core.explain.heads.similarity import MOST_HEADS, Distances
from attention_core.explain.heads.summary import summarised_queries
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.layout import section
from ui.model.glance import summaries_of
from ui.model.head_map import head_map
from ui.model.kept import kept
from ui.model.patches import patch_view
from ui.model.state import Chosen, choose, chosen
from ui.model.token_component import Tokens, token_component
from ui.model.tokens import WINDOW

EXPLAINED = {
    "entropy": "0 bits: each query looks at one key. Mean over the queries.",
    "relative_entropy": "1: everywhere alike among the keys that a query may see; 0: at one key.",
    "distance": "How far from itself a query looks on average, weighted by the weights; of a picture in patches.",
    "first": "Weight on the first token, mean over the queries after it: often where heads look that find nothing.",
    "itself": "Weight of each token on itself, mean over the queries that have a choice.",
    "previous": "Weight of each token on the one before it.",
    "following": "Weight of each token on the one after it; always 0 where a decoder may not look ahead.",
    "special": "Weight on tokens that are no words, such as [CLS] and [SEP], together.",
    "unspent": "What a learned sink keeps, so that it goes to no token.",
    "largest": "The largest weight of each row, mean over the queries.",
}
SHARES = {"relative_entropy", "first", "itself", "previous", "following", "special", "unspent", "largest"}
N_SIMILAR = 6


def heads_section(run: ModelRun, name: str) -> None:
    """Draw a number for every head of the chosen kind of attention; a click chooses a head."""
    section("What each head does")
    st.markdown("One number for every layer and head, over the whole input. A click chooses the head.")
    now = chosen(name, run)
    found = summaries_of(run, now.group)
    known = [field for field in METRICS if _is_told(found, field)]
    metric = st.selectbox(
        "Number", known, format_func=METRICS.get, key=f"{name}_metric", persist_state="session", width=420
    )
    values = [[getattr(one, metric) for one in layer] for layer in found]
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        key = f"{name}_numbers_{now.group}_{len(values)}_{len(values[0])}"
        head_map(name, key, values, now, title=METRICS[metric], high=1.0 if metric in SHARES else None)
    with right:
        st.caption(EXPLAINED[metric] + _sampled(groups(run.recording)[now.group]))
        own = found[now.layer][now.head]
        st.markdown(f"**Layer {now.layer + 1}, head {now.head + 1}**: {habit(own)}")
        rows = [(METRICS[field], _number(field, getattr(own, field))) for field in known]
        st.dataframe(
            {"": [row[0] for row in rows], "this head": [row[1] for row in rows]}, hide_index=True, width="stretch"
        )


def similar_section(run: ModelRun, name: str) -> None:
    """Draw how far all heads are from each other, and list those that look most like the chosen one."""
    section("Heads that look alike")
    st.markdown(
        "Two heads are near each other if the same queries look at the same keys: the Jensen-Shannon distance of their "
        "rows (Lin 1991), mean over the queries; 0 is the same, 1 has nothing in common."
    )
    now, layers = chosen(name, run), groups(run.recording)[chosen(name, run).group]
    n_heads = [trace.n_heads for trace in layers]
    own = sum(n_heads[: now.layer]) + now.head
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        if sum(n_heads) > MOST_HEADS:
            st.info(f"{sum(n_heads):,} heads have too many pairs for a matrix; the list is complete.")
            found = kept(run, ("apart", now.group, own), lambda: distances_from(layers, now.layer, now.head))
            row = to_array(found.matrix[0])
        else:
            found = kept(run, ("distances", now.group), lambda: distances(layers))
            row = to_array(found.matrix[own])
            _all_distances(name, now.group, found, n_heads, own)
        if not found.is_exact:
            st.caption(f"Compared on {found.n_sampled:,} of {found.n_queries:,} queries, evenly spaced.")
    with right:
        st.markdown(f"**Most like layer {now.layer + 1}, head {now.head + 1}**")
        _most_similar(run, name, now, row, n_heads, own)


def _all_distances(name: str, group: str, found: Distances, n_heads: list[int], own: int) -> None:
    """Draw the matrix of distances; a click on a cell of a small one chooses the head of its column."""
    small = sum(n_heads) <= MAX_RECT_SIDE
    key = f"{name}_distances_{group}_{sum(n_heads)}"
    take = {"on_select": partial(_take_column, name, group, key, n_heads), "selection_mode": "cell"}
    with st.container(key=f"{name}_distances"):
        st.altair_chart(
            distance_chart(found, n_heads, own, select="cell" if small else None),
            key=key,
            width="content",
            alt="Distances of all heads to all heads, layer by layer" + "; click a column's head" * small,
            **(take if small else {}),
        )


def _take_column(name: str, group: str, key: str, n_heads: list[int]) -> None:
    cell = st.session_state[key]["selection"].get("cell")
    if cell:
        layer, head = [(layer, head) for layer, n in enumerate(n_heads) for head in range(n)][int(cell[0]["col"])]
        choose(name, group=group, layer=layer, head=head)


def _most_similar(run: ModelRun, name: str, now: Chosen, row: np.ndarray, n_heads: list[int], own: int) -> None:
    notes = summaries_of(run, now.group)
    places = [(layer, head) for layer, n in enumerate(n_heads) for head in range(n)]
    nearest = [one for one in np.argsort(row, kind="stable").tolist() if one != own][:N_SIMILAR]
    if not nearest:
        st.caption("There is no other head.")
    for one in nearest:
        layer, head = places[one]
        st.button(
            f"Layer {layer + 1}, head {head + 1}: {row[one]:.2f} away, {habit(notes[layer][head])}",
            key=f"{name}_like_{now.group}_{layer}_{head}",
            type="tertiary",
            on_click=partial(choose, name, group=now.group, layer=layer, head=head),
        )


def rollout_section(run: ModelRun, name: str) -> None:
    """Draw attention rolled out through all layers beside the last layer's; below, where the chosen token came from."""
    section("Followed through all layers")
    st.markdown(
        "Attention rollout multiplies the layers' mean weights, half of each position passing by on the residual "
        "connection (Abnar and Zuidema 2020): an account of the weights, not of what the model makes of the values."
    )
    now, layers = chosen(name, run), groups(run.recording)[chosen(name, run).group]
    try:
        found = kept(run, ("rollout", now.group), lambda: rollout(layers))
    except ValueError as error:
        st.info(_why_not(str(error), layers[0]))
        return
    query = min(now.query, layers[0].n_queries - 1)
    both = {"After all layers": found.rolled, "The last layer alone, mean of its heads": found.last}
    both = {title: to_array(matrix.nan_to_num()) for title, matrix in both.items()}
    high = max(float(np.quantile(one, 0.999)) for one in both.values())
    for place, (title, matrix) in zip(st.columns(2, gap="large"), both.items(), strict=True):
        with place:
            st.markdown(f"**{title}**")
            with st.container(key=f"{name}_rollout_{len(title)}"):
                st.altair_chart(
                    matrix_chart(
                        matrix,
                        layers[0].story.query_axis,
                        layers[0].story.key_axis,
                        Role.WEIGHTS,
                        title="share",
                        size=400,
                        marked_row=query,
                        ramp=weights_ramp(layers[0].n_keys, high),
                    ),
                    width="content",
                    alt=f"{title}: rows are positions after the layers, columns positions of the input",
                )
    patches = patches_of(run, layers[0])
    if patches is not None and run.picture is not None:
        patch_view(f"{name}_rolled", run, patches, query, both["After all layers"][query], None, chooses=name)
        return
    _rolled_tokens(run, name, layers[0], both["After all layers"], query)


def _rolled_tokens(run: ModelRun, name: str, trace: AttentionTrace, rolled: np.ndarray, query: int) -> None:
    start = min(max(query - WINDOW // 2, 0), max(trace.n_queries - WINDOW, 0))
    window = slice(start, min(start + WINDOW, trace.n_queries))
    special = frozenset(one - start for one in special_keys(run, trace) if start <= one < window.stop)
    shown = Tokens(
        matrix=rolled[window, window],
        queries=list(trace.story.query_axis.labels[window]),
        keys=None,
        names=("Positions after all layers", "Positions of the input"),
        muted=(special, special),
        verbs=("comes from", "goes into"),
        legend=("where it comes from", "where it goes"),
        start=(start, start),
        n_keys=trace.n_keys,
        outside=None if window == slice(0, trace.n_queries) else 1 - rolled[window, window].sum(1),
    )
    token_component(f"{name}_rolled", shown, query, on_choose=lambda row: choose(name, query=row))


def _why_not(reason: str, trace: AttentionTrace) -> str:
    if "self-attention" in reason:
        return "Only self-attention can be followed from layer to layer: choose another kind above."
    return f"Rollout multiplies whole matrices and is drawn for up to 1,024 positions; here are {trace.n_queries:,}."


def _sampled(layers: list[AttentionTrace]) -> str:
    n_queries, n_counted = layers[0].n_queries, len(summarised_queries(layers))
    return "" if n_counted == n_queries else f" Over {n_counted:,} of {n_queries:,} queries, evenly spaced."


def _is_told(found: list[list], field: str) -> bool:
    values = [getattr(one, field) for layer in found for one in layer]
    if field == "unspent":
        return any(value > 1e-6 for value in values)
    return not all(math.isnan(value) for value in values)


def _number(field: str, value: float) -> str:
    if math.isnan(value):
        return "none"
    return f"{value:.1%}" if field in SHARES else f"{value:.2f}"
