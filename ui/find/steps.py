"""The steps from a drawing to its mask and answer: channels as small pictures, their weighted sum, what it lets by."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import contact_sheet, picture, signed_ramp, weights_ramp
from attention_core.charts.channels import channel_bars
from attention_core.device import to_array
from attention_core.topics.find import channel_maps, n_for_share, order_of, partial_scores, pulls, score_formula
from ui.step_view import show_matrix

FEW, SHEET = 24, 500
STRONGEST = 4
SIGNED = "On all these pictures orange is above 0 and blue below."


def chosen_channel(name: str, order: list[int]) -> int:
    """Return the channel that was clicked, or the one that moves the map most."""
    chosen = st.session_state.get(f"{name}_channel")
    return chosen if chosen in order else order[0]


def step_body(trace: AttentionTrace, step: Step, region: int, name: str) -> None:
    """Draw what a step computed, in the form that suits it."""
    order = order_of(trace)
    if step.name in ("key", "masked"):
        _sheet(trace, step, region, name, order)
    elif step.name == "query":
        _query_bars(trace, name, order)
    elif step.name == "scores":
        _weighted_sum(trace, region, name, order)
    elif step.name == "weights":
        _mask(trace, region, name)
    elif step.name == "context":
        _context_bars(trace, name, order)
    else:
        show_matrix(step, 0, None, name, size=SHEET - 40)


def channel_card(trace: AttentionTrace, region: int, name: str) -> None:
    """Draw the chosen channel's picture, its weight, and their product."""
    order = order_of(trace)
    channel = chosen_channel(name, order)
    weight = float(trace.query[0, 0, channel])
    maps = to_array(channel_maps(trace)[channel])
    pair = np.stack((maps, weight * maps))
    st.markdown(
        f"**Channel {channel}** {'lifts' if weight >= 0 else 'lowers'} the score where it is active. "
        f"By how much it moves the map it is number {order.index(channel) + 1} of {len(order)}."
    )
    labels = [f"its picture F[:, {channel}]", f"{weight:+.2f} × its picture"]
    st.container(key=f"{name}_channel_card").altair_chart(
        contact_sheet(pair, labels, signed_ramp(pair), title="feature, product", columns=2, size=132, marked=region),
        width="content",
        key=f"{name}_card",
        alt=f"Channel {channel}, and the same times its weight",
    )


def _sheet(trace: AttentionTrace, step: Step, region: int, name: str, order: list[int]) -> None:
    masked = step.name == "masked"
    first = "by size in the sum" if masked else "by pull on the map"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        by = st.segmented_control(
            "Order",
            [first, "by number"],
            default=None if f"{name}_order_{step.name}" in st.session_state else first,
            key=f"{name}_order_{step.name}",
            required=True,
            persist_state="session",
            label_visibility="collapsed",
        )
        every = st.toggle(f"Show all {len(order)}", key=f"{name}_all", persist_state="session")
    maps = channel_maps(trace)
    if masked:
        maps = maps * trace.weights(0, [0])[0].reshape(maps.shape[1:])
    ranked = trace.context()[0].argsort(descending=True).tolist() if masked else order
    shown = ranked if by == first else sorted(order)
    shown = shown if every else shown[:FEW]
    columns = 8 if every else 6
    labels = [f"{one}: sum {float(maps[one].sum()):.2f}" if masked else f"F[:, {one}]" for one in shown]
    key, chosen = f"{name}_sheet_{step.name}", chosen_channel(name, order)
    marked = None if masked else region  # a mark would cover the few cells that are left
    _clickable_sheet(to_array(maps[shown]), labels, shown, name, key, columns=columns, marked=marked, chosen=chosen)
    if masked:
        st.caption(
            "What is left of each channel under the mask. Its sum, above it, is one number of the context. " + SIGNED
        )
    else:
        st.caption(f"Click a channel. {SIGNED}")


def _clickable_sheet(
    pictures: np.ndarray,
    labels: list[str],
    channels: list[int],
    name: str,
    key: str,
    *,
    columns: int,
    marked: int | None,
    chosen: int,
) -> None:
    st.session_state[f"{key}_channels"] = channels  # what a click's number stands for
    st.altair_chart(
        contact_sheet(
            pictures,
            labels,
            signed_ramp(pictures),
            title="feature",
            columns=columns,
            size=SHEET // columns - 8,
            marked=marked,
            chosen=channels.index(chosen) if chosen in channels else None,
            select="picked",
        ),
        width="content",
        key=key,
        on_select=lambda: _take_number(name, key),
        selection_mode="picked",
        alt="Feature channels as small pictures; click one to see its weight and its product",
    )


def _take_number(name: str, key: str) -> None:
    clicked = st.session_state[key]["selection"].get("picked")
    if clicked:
        st.session_state[f"{name}_channel"] = st.session_state[f"{key}_channels"][int(clicked[0]["number"])]


def _take_channel(name: str, key: str) -> None:
    clicked = st.session_state[key]["selection"].get("picked")
    if clicked:
        st.session_state[f"{name}_channel"] = int(clicked[0]["channel"])


def _query_bars(trace: AttentionTrace, name: str, order: list[int]) -> None:
    query = to_array(trace.query[0, 0])
    up = int((query > 0).sum())
    key = f"{name}_query_bars"
    st.altair_chart(
        channel_bars(
            query,
            np.argsort(-query).tolist(),
            title="weight of the channel",
            chosen=chosen_channel(name, order),
            select="picked",
            height=300,
        ),
        key=key,
        on_select=lambda: _take_channel(name, key),
        selection_mode="picked",
        alt="The learned constant: one weight per channel, largest first; click one",
    )
    st.caption(
        f"{up} channels lift the score of the regions that have them, {len(query) - up} lower it. Draw what you like: "
        "these bars stay as they are. Click one to see what it looks for."
    )


def _weighted_sum(trace: AttentionTrace, region: int, name: str, order: list[int]) -> None:
    pull = pulls(trace)
    up = [one for one in order if pull[one] > 0][:STRONGEST]
    down = [one for one in order if pull[one] < 0][:STRONGEST]
    n = st.slider(
        "Channels in the sum, the strongest first",
        1,
        len(order),
        len(order),
        key=f"{name}_in_sum",
        persist_state="session",
    )
    maps = to_array(channel_maps(trace, weighted=True)[up + down])
    labels = [f"{float(trace.query[0, 0, one]):+.2f} × F[:, {one}]" for one in up + down]
    key, chosen = f"{name}_products_sheet", chosen_channel(name, order)
    _clickable_sheet(maps, labels, up + down, name, key, columns=STRONGEST, marked=region, chosen=chosen)
    st.caption(f"First row: what pushes the map up most. Second row: what pushes it down most. {SIGNED}")
    sums = np.stack([to_array(partial_scores(trace, some)) for some in (order[:n], order)])
    words = [f"sum of {n} channel{'s' if n > 1 else ''}", f"S, the sum of all {len(order)}"]
    st.altair_chart(
        contact_sheet(sums, words, signed_ramp(sums), title="score", columns=2, size=SHEET // 2 - 8, marked=region),
        width="content",
        key=f"{name}_sums",
        alt="The scores from some channels alone, and from all",
    )


def _mask(trace: AttentionTrace, region: int, name: str) -> None:
    weights = to_array(trace.weights(0, [0])[0].reshape(trace.story.key_axis.grid))  # type: ignore[arg-type]
    ramp = weights_ramp(trace.n_keys, float(weights.max()))
    st.altair_chart(
        picture(weights, ramp, title="weight", size=SHEET - 60, marked=region),
        width="content",
        key=f"{name}_mask",
        alt="The mask: a weight for each of the 225 regions, together 1",
    )
    half, most = n_for_share(trace, 0.5), n_for_share(trace, 0.9)
    st.caption(
        f"All {weights.size} weights sum to {weights.sum():.2f}. The heaviest "
        f"{'holds' if half == 1 else f'{half} hold'} half of the mask, the heaviest {most} nine tenths."
    )


def _context_bars(trace: AttentionTrace, name: str, order: list[int]) -> None:
    key = f"{name}_context_bars"
    st.altair_chart(
        channel_bars(
            to_array(trace.context()[0]),
            order,
            title="context",
            beside=to_array(trace.value[0].mean(0)),
            beside_title="plain average",
            chosen=chosen_channel(name, order),
            select="picked",
            height=300,
        ),
        key=key,
        on_select=lambda: _take_channel(name, key),
        selection_mode="picked",
        alt="The context: one number per channel, beside the plain average over all regions",
    )
    st.caption(
        "Bars: the sum of the masked features, all that the classifier gets. Grey: the plain average over all regions, "
        "in which clutter and empty paper have their say."
    )


def words_of_region(trace: AttentionTrace, step: Step, region: int) -> str | None:
    """Return the chosen region's numbers where there are better ones than a row's first, else None."""
    return score_formula(trace, region) if step.name == "scores" else None
