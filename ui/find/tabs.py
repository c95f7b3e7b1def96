"""The tabs: the steps from a drawing to its mask and answer, and the mask without what it looks at."""

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import BlockKeys, Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import contact_sheet, overlay, picture, signed_ramp
from attention_core.device import to_array
from attention_core.hub.catalogue import SUGGESTIONS
from attention_core.hub.model import ModelKind
from attention_core.topics.find import channel_maps, largest_weights, order_of, others_at_random, score_formula
from attention_core.topics.find.charts import channel_bars
from ui.chart import click, draw_chart
from ui.find.first_screen import MODEL, NAME, REGION, FindReading, mask_of, try_edits
from ui.player import Stepper, show_step_chart, show_words
from ui.state import Field, between

STEPS = Stepper(NAME)
COLUMNS, ROWS, SHEET = 6, 3, 510
N_DRAWS = 20
PHOTOGRAPHS = next(model for model in SUGGESTIONS if model.kind is ModelKind.VISION)
BLOCKED = Field(NAME, "blocked", 6, address="blocked", parse=between(1, 60))


def find_steps(reading: FindReading) -> None:
    """Step from the drawing to the answer, the mask over the drawing, with the chosen region, always beside it."""
    trace, region = reading.trace, reading.region
    if not (step := STEPS.draw(trace)):
        return
    words, numbers = st.columns([0.8, 1], gap="large")
    with words:
        small, hint = st.columns([1, 1.1], vertical_alignment="center")
        with small:
            chart = overlay(
                reading.canvas, mask_of(trace), size=168, opacity=0.85, select="region", marked=region, bar=False
            )
            looks = click("find_small", "region", "position", REGION)
            draw_chart(chart, **looks, width="content", alt="The mask, small; click a region")
        with hint:
            st.caption(f"Region {region + 1} is framed; click another.")
        show_words(trace, step, 0, 0, region, score_formula(trace, region) if step.name == "scores" else None)
    with numbers:
        maps = channel_maps(trace)
        if step.name == "key":
            _channels(trace, maps, region)
            st.caption("The channels that move the mask most. Orange is above 0, blue below.")
        elif step.name == "query":
            _query_bars(trace)
        elif step.name == "scores":
            scores = to_array(trace.scores()[0].reshape(maps.shape[1:]))
            chart = picture(scores, signed_ramp(scores), title="score", size=SHEET - 60, marked=region)
            draw_chart(chart, width="content", key="find_scores", alt="The score of every region")
        elif step.name == "weights":
            chart = overlay(reading.canvas, mask_of(trace), size=SHEET - 60, smooth=False, marked=region)
            draw_chart(chart, width="content", key="find_mask", alt="The weight of every region")
        elif step.name == "masked":
            _channels(trace, maps * trace.weights()[0].reshape(maps.shape[1:]), None)
            st.caption("What is left of each channel under the mask; its sum is one number of the context.")
        elif step.name == "context":
            _context_bars(trace)
        else:
            show_step_chart(trace, step, 0, None, NAME, size=SHEET - 40)
    with st.container(key="desk_find_photograph"):
        st.caption(
            "The models that come along know digits alone. Take "
            f"`{PHOTOGRAPHS.name}` ({PHOTOGRAPHS.megabytes} MB) from *Small models to try*, then upload:"
        )
        st.page_link(
            "pages/model.py",
            label="Take a photograph of your own",
            query_params={"picture": "upload"},
            icon=":material/arrow_forward:",
        )


def _channels(trace: AttentionTrace, maps: Tensor, marked: int | None) -> None:
    """Draw the channels that move the map most as small pictures."""
    shown = order_of(trace)[: COLUMNS * ROWS]
    pictures, labels = to_array(maps[shown]), [f"channel {channel + 1}" for channel in shown]
    size = SHEET // COLUMNS - 8
    chart = contact_sheet(
        pictures, labels, signed_ramp(pictures), title="feature", columns=COLUMNS, size=size, marked=marked
    )
    draw_chart(chart, width="content", key=f"find_channels_{marked is None}", alt="Feature channels")


def _query_bars(trace: AttentionTrace) -> None:
    query = to_array(trace.query[0, 0])
    up = int((query > 0).sum())
    draw_chart(channel_bars(query, np.argsort(-query), title="weight"), key="find_query_bars", alt="Query, by channel")
    st.caption(f"{up} channels lift a region's score, {len(query) - up} lower it, whatever you draw.")


def _context_bars(trace: AttentionTrace) -> None:
    plain = to_array(trace.value[0].mean(0))
    chart = channel_bars(to_array(trace.context()[0]), order_of(trace), title="context", beside=plain)
    draw_chart(chart, key="find_context_bars", alt="Context, by channel")
    st.caption("All that the classifier gets. Grey: the plain average, clutter and paper included.")


def block_section(reading: FindReading) -> None:
    """Draw the mask as it is, without its heaviest regions and without random ones, with the answers."""
    trace = reading.trace
    n = BLOCKED.widget(st.slider, "Regions to block", 1, 60, width=420)
    heaviest = largest_weights(trace, n)
    at_random = [(BlockKeys(others_at_random(trace, n, seed)),) for seed in range(N_DRAWS)]
    edits: list[Edits] = [(), (BlockKeys(heaviest),), *at_random]
    masks, probabilities = try_edits(MODEL, reading.picture, edits)
    before, after, *draws = probabilities
    digit, now = int(before.argmax()), int(after.argmax())
    same = sum(draw.argmax() == digit for draw in draws)
    share = float(masks[0].ravel()[list(heaviest)].sum())
    lost = "" if now == digit else f"; the {digit} gets {after[digit]:.0%}"
    cases = (
        ("As it is", masks[0], f"Reads **{digit}** ({before.max():.0%})."),
        (f"Without the {n} heaviest", masks[1], f"They held {share:.0%}. Reads **{now}** ({after.max():.0%}){lost}."),
        (f"Without {n} at random", masks[2], f"Reads **{digit}** in {same} of {N_DRAWS} draws."),
    )
    for number, (column, (title, mask, words)) in enumerate(zip(st.columns(3, gap="medium"), cases, strict=True)):
        with column:
            st.markdown(f"**{title}**")
            chart = overlay(reading.canvas, mask, size=280, opacity=0.85, bar=False)
            draw_chart(chart, width="content", key=f"find_case_{number}", alt=title)
            st.markdown(words)
