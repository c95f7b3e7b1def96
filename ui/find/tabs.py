"""The tabs: the steps from a drawing to its mask and answer, and the mask without what it looks at."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import UNIFORM, BlockKeys, Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.charts import contact_sheet, overlay, picture, signed_ramp, weights_ramp
from attention_core.charts.vega import Chart
from attention_core.device import to_array
from attention_core.models.feature_mask import LAYERS
from attention_core.topics.find import (
    channel_maps,
    largest_weights,
    n_for_share,
    order_of,
    others_at_random,
    partial_scores,
    pulls,
    score_formula,
)
from attention_core.topics.find.charts import channel_bars
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.find.first_screen import MODEL, NAME, PLAIN, FindReading, chosen_region, mask_of, mask_over, try_edits
from ui.player import Stepper, show_step_chart, show_words
from ui.skeleton import note
from ui.state import Field, between, chart_selection, named, single_choice

STEPS = Stepper(NAME)
N_CHANNELS = LAYERS[-1].channels
CHANNEL = Field(NAME, "channel", None, address="channel", parse=between(0, N_CHANNELS - 1))
ALL_CHANNELS = Field(NAME, "all", False, address="all")
IN_SUM = Field(NAME, "in_sum", N_CHANNELS, address="sum", parse=between(1, N_CHANNELS))
BY_NUMBER = "by number"
ORDERS = {
    step: Field(NAME, f"order_{step}", by, address=f"order_{step}", **named(n=BY_NUMBER))
    for step, by in {"key": "by pull on the map", "masked": "by size in the sum"}.items()
}
"""How the channels are sorted at these steps, at first by what counts there."""
FEW, STRONGEST, COLUMNS, SHEET = 24, 4, 8, 510
SIGNED = "On all these pictures orange is above 0 and blue below."
N_DRAWS = 20
MAX_BLOCKED = 60
BLOCKED = Field(NAME, "blocked", 6, address="blocked", parse=between(1, MAX_BLOCKED))
CASE = 236


def find_steps(trace: AttentionTrace, drawing: np.ndarray, region: int) -> None:
    """Step from the drawing to the answer, the mask over the drawing, with the chosen region, always beside it."""
    if chosen_region(trace) != region:
        st.rerun()  # its numbers are on the first screen too
    step = STEPS.draw(trace)
    hidden = STEPS.draw_guess(trace, step)
    words, numbers = st.columns([0.8, 1], gap="large")
    with words:
        if not hidden:
            small, channel = st.columns([150, 260])
            with small:
                mask_over(drawing, mask_of(trace), key="find_small", size=150, framed=region, bar=False)
                st.caption(f"Region {region + 1} is framed; click another. The arrow keys step.")
            if step.name in ("key", "query", "scores", "masked", "context"):
                with channel:
                    _channel_card(trace, region)
            show_words(trace, step, 0, 0, region, score_formula(trace, region) if step.name == "scores" else None)
    if not hidden:
        with numbers:
            if step.name in ORDERS:
                _sheet(trace, step, region)
            elif step.name == "query":
                _query_bars(trace)
            elif step.name == "scores":
                _weighted_sum(trace, region)
            elif step.name == "weights":
                _mask(trace, region)
            elif step.name == "context":
                _context_bars(trace)
            else:
                show_step_chart(step, 0, None, NAME, size=SHEET - 40)
    label = "Which part of a photograph matters most? Upload one for a vision transformer"
    st.page_link("pages/model.py", label=label, icon=":material/arrow_forward:")


def chosen_channel(trace: AttentionTrace) -> int:
    return order_of(trace)[0] if CHANNEL.value is None else CHANNEL.value


def _channel_card(trace: AttentionTrace, region: int) -> None:
    order, channel = order_of(trace), chosen_channel(trace)
    weight = float(trace.query[0, 0, channel])
    maps = to_array(channel_maps(trace)[channel])
    pair = np.stack((maps, weight * maps))
    st.markdown(
        f"**Channel {channel + 1}** {'lifts' if weight >= 0 else 'lowers'} the score where it is active. "
        f"By how much it moves the map it is number {order.index(channel) + 1} of {len(order)}."
    )
    labels = ["its picture", f"{weight:+.2f} × its picture"]
    chart = contact_sheet(pair, labels, signed_ramp(pair), title="feature, product", columns=2, size=110, marked=region)
    words = f"Channel {channel + 1}, and the same times its weight"
    draw_chart(chart, width="content", key="find_card", alt=words, on=st.container(key="find_channel_card"))


def _sheet(trace: AttentionTrace, step: Step, region: int) -> None:
    masked, order, by = step.name == "masked", order_of(trace), ORDERS[step.name]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        single_choice("Order", by, [by.default, BY_NUMBER], label_visibility="collapsed")
        every = ALL_CHANNELS.widget(st.toggle, f"Show all {len(order)}")
    maps = channel_maps(trace)
    if masked:
        maps = maps * trace.weights(0, [0])[0].reshape(maps.shape[1:])
    ranked = trace.context()[0].argsort(descending=True).tolist() if masked else order
    shown = ranked if by.value == by.default else sorted(order)
    shown = shown if every else shown[:FEW]
    labels = [
        f"{channel + 1}: sum {float(maps[channel].sum()):.2f}" if masked else f"channel {channel + 1}"
        for channel in shown
    ]
    marked = None if masked else region  # a mark would cover the few cells that are left
    _channel_sheet(trace, maps, shown, labels, f"find_sheet_{step.name}", marked)
    if masked:
        st.caption(
            "What is left of each channel under the mask. Its sum, above it, is one number of the context. " + SIGNED
        )
    else:
        st.caption(f"Click a channel. {SIGNED}")


def _clickable(chart: Chart, key: str, words: str, shown: Sequence[int] = ()) -> None:
    """Draw a chart in which a click chooses a channel: a bar has its number, a picture its place among those shown."""

    def take_click() -> None:
        for clicked in chart_selection(key, "picked"):
            CHANNEL.value = shown[int(clicked["number"])] if shown else int(clicked["channel"])

    width = "content" if shown else "stretch"
    draw_chart(chart, key=key, width=width, on_select=take_click, selection_mode="picked", alt=words)


def _channel_sheet(
    trace: AttentionTrace, maps: Tensor, shown: list[int], labels: list[str], key: str, marked: int | None
) -> None:
    pictures, chosen = to_array(maps[shown]), chosen_channel(trace)
    chart = contact_sheet(
        pictures,
        labels,
        signed_ramp(pictures),
        title="feature",
        columns=COLUMNS,
        size=SHEET // COLUMNS - 8,
        marked=marked,
        chosen=shown.index(chosen) if chosen in shown else None,
        select="picked",
    )
    words = "Feature channels as small pictures; click one to see its weight and its product"
    _clickable(chart, key, words, shown)


def _query_bars(trace: AttentionTrace) -> None:
    query = to_array(trace.query[0, 0])
    up = int((query > 0).sum())
    order, chosen = np.argsort(-query).tolist(), chosen_channel(trace)
    chart = channel_bars(query, order, title="weight of the channel", chosen=chosen, select="picked", height=300)
    _clickable(chart, "find_query_bars", "The learned constant: one weight per channel, largest first; click one")
    st.caption(
        f"{up} channels lift the score of the regions that have them, {len(query) - up} lower it. Draw what you like: "
        "these bars stay as they are. Click one to see what it looks for."
    )


def _weighted_sum(trace: AttentionTrace, region: int) -> None:
    pull, order = pulls(trace), order_of(trace)
    up = [channel for channel in order if pull[channel] > 0][:STRONGEST]
    down = [channel for channel in order if pull[channel] < 0][:STRONGEST]
    n = IN_SUM.widget(st.slider, "Channels in the sum, the strongest first", 1, len(order))
    shown, maps = up + down, channel_maps(trace, weighted=True)
    labels = [f"{float(trace.query[0, 0, channel]):+.2f} × channel {channel + 1}" for channel in shown]
    _channel_sheet(trace, maps, shown, labels, "find_products_sheet", region)
    st.caption(f"First what pushes the map up most, then what pushes it down most. {SIGNED}")
    sums = np.stack([to_array(partial_scores(trace, some)) for some in (order[:n], order)])
    words = [f"sum of {n} channel{'s' if n > 1 else ''}", f"S, the sum of all {len(order)}"]
    chart = contact_sheet(sums, words, signed_ramp(sums), title="score", columns=2, size=SHEET // 2 - 8, marked=region)
    draw_chart(chart, width="content", key="find_sums", alt="The scores from some channels alone, and from all")


def _mask(trace: AttentionTrace, region: int) -> None:
    weights = mask_of(trace)
    ramp = weights_ramp(trace.n_keys, float(weights.max()))
    chart = picture(weights, ramp, title="weight", size=SHEET - 60, marked=region)
    words = "The mask: a weight for each of the 225 regions, together 1"
    draw_chart(chart, width="content", key="find_mask", alt=words)
    most = n_for_share(trace, 0.9)
    st.caption(
        f"All {weights.size} weights sum to {weights.sum():.2f}. The largest is {weights.max():.0%}; the "
        f"{most} largest make up nine tenths."
    )


def _context_bars(trace: AttentionTrace) -> None:
    chart = channel_bars(
        to_array(trace.context()[0]),
        order_of(trace),
        title="context",
        beside=to_array(trace.value[0].mean(0)),
        beside_title="plain average",
        chosen=chosen_channel(trace),
        select="picked",
        height=300,
    )
    words = "The context: one number per channel, beside the plain average over all regions"
    _clickable(chart, "find_context_bars", words)
    st.caption(
        "Bars: the sum of the masked features, all that the classifier gets. Grey: the plain average over all regions, "
        "clutter and empty paper included."
    )


def block_section(reading: FindReading, picture: np.ndarray, drawing: np.ndarray) -> None:
    """Draw the mask as it is, without its heaviest regions, without random ones, and uniform, with the answers."""
    trace = reading.trace
    label = "Regions to block, those that the mask looks at most"
    n = BLOCKED.widget(st.slider, label, 1, MAX_BLOCKED, width=420)
    heaviest = largest_weights(trace, n)
    at_random = [(BlockKeys(others_at_random(trace, n, seed)),) for seed in range(N_DRAWS)]
    edits: list[Edits] = [(), (BlockKeys(heaviest),), UNIFORM, *at_random]
    masks, probabilities = try_edits(MODEL, picture, edits)
    before, after, uniform, *draws = probabilities
    digit = int(before.argmax())
    same = sum(draw.argmax() == digit for draw in draws)
    share = float(masks[0].ravel()[list(heaviest)].sum())
    cases = (
        ("The mask as it is", masks[0], f"Reads **{digit}** ({before.max():.0%})."),
        (
            f"Its {n} heaviest regions blocked" if n > 1 else "Its heaviest region blocked",
            masks[1],
            f"They held {share:.0%} of the mask. {_now(before, after)}",
        ),
        (
            f"{n} random regions blocked" if n > 1 else "A random region blocked",
            masks[3],
            f"Reads **{digit}** in {same} of {N_DRAWS} draws ({np.mean(draws, 0)[digit]:.0%} on average).",
        ),
        ("Uniform mask, same network", masks[2], f"Every region counts 1/{trace.n_keys}. {_now(before, uniform)}"),
    )
    for number, (column, (title, mask, words)) in enumerate(zip(st.columns(4, gap="medium"), cases, strict=True)):
        peak = float(mask.max())
        with column:
            st.markdown(f"**{title}**")
            chart = overlay(drawing, mask, size=CASE, opacity=0.8, bar=False)
            draw_chart(chart, width="content", key=f"find_case_{number}", alt=f"{title}: the mask over the drawing")
            st.markdown(words)
            st.caption(f"Its largest weight is {peak:.1%}.")
    st.caption("A blocked region gets the score minus infinity, so that the others share its weight.")
    _figures_caption()


def _now(before: np.ndarray, after: np.ndarray) -> str:
    digit, now = int(before.argmax()), int(after.argmax())
    if digit == now:
        return f"Still answers **{now}** ({after.max():.0%})."
    return f"Now answers **{now}** ({after.max():.0%}); the {digit} of before gets {after[digit]:.0%}."


def _figures_caption() -> None:
    networks = {"with attention": MODEL, "without": PLAIN}
    errors = {words: card_or_empty(name).get("cluttered_translated_mnist_error") for words, name in networks.items()}
    rates = [f"{error:.1%} {words}" for words, error in errors.items() if isinstance(error, float)]
    if rates:
        note(
            f"Errors on 10,000 test digits among eight pieces of clutter (60 x 60 pixels): {', '.join(rates)}. "
            "Mnih et al. 2014 report 4.0% for a recurrent model of eight glimpses and 8.1% for their convolutional one."
        )
