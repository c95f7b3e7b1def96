"""The tabs: the steps from a drawing to its mask and answer, and the mask changed by hand."""

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.charts import contact_sheet, overlay, picture, signed_ramp
from attention_core.device import to_array
from attention_core.explain.guess import KeyPicture
from attention_core.hub.catalogue import SUGGESTIONS
from attention_core.hub.model import ModelKind
from attention_core.topics.find import channel_maps, order_of, score_formula
from ui.chart import click, draw_chart
from ui.digits import inked
from ui.edits import show_outcome
from ui.find.first_screen import EDITS, NAME, REGION, FindReading, mask_of
from ui.player import StepLook, Stepper, show_step_chart, show_words
from ui.region import Region

STEPS = Stepper(NAME)
COLUMNS, ROWS, SHEET = 6, 3, 510
PHOTOGRAPHS = next(model for model in SUGGESTIONS if model.kind is ModelKind.VISION)
DIGITS = [str(digit) for digit in range(10)]
REGIONS = Region(NAME, EDITS, "regions", copies=DIGITS)


def find_steps(reading: FindReading) -> None:
    """Step from the drawing to the answer, the mask over the drawing, with the chosen region, always beside it."""
    trace, region = reading.trace, reading.region
    keys = KeyPicture(inked(reading.picture), trace.story.key_axis.grid)  # type: ignore[arg-type]
    if not (step := STEPS.draw(trace, picture=keys)):
        return
    words, numbers = st.columns([0.8, 1], gap="large")
    with words:
        small, hint = st.columns([1, 1.1], vertical_alignment="center")
        with small:
            chart = overlay(
                reading.canvas, mask_of(trace), size=168, opacity=0.85, select="region", marked=region, bar=False
            )
            looks = click("find_small", "region", lambda region: REGION.take(int(region["position"])))
            draw_chart(chart, **looks, width="content", alt="The mask, small; click a region")
        with hint:
            st.caption(f"Region {region + 1} is framed; click another.")
        show_words(trace, step, 0, 0, region, score_formula(trace, region) if step.name == "scores" else None)
    with numbers:
        maps = channel_maps(trace)
        if step.name == "key":
            _channels(trace, maps, region)
            st.caption("The channels that move the mask most.")
        elif step.name == "scores":
            scores = to_array(trace.scores()[0].reshape(maps.shape[1:]))
            chart = picture(scores, signed_ramp(scores), title="score", size=SHEET - 60, marked=region)
            draw_chart(chart, width="content", key="find_scores", alt="The score of every region")
        elif step.name == "weights":
            chart = overlay(reading.canvas, mask_of(trace), size=SHEET - 60, smooth=False, marked=region)
            draw_chart(chart, width="content", key="find_mask", alt="The weight of every region")
        elif step.name == "masked":
            _channels(trace, maps * trace.weights()[0].reshape(maps.shape[1:]), None)
            st.caption("Each channel under the mask; its sum is one number of the context.")
        else:
            look = dict.fromkeys(("picture", "query", "context", "output"), StepLook(size=SHEET - 40))
            show_step_chart(trace, step, 0, lambda one: look.get(one.name), NAME, stepper=STEPS)
    with st.container(key="desk_find_photograph"):
        st.caption(
            f"These models know digits alone. Take `{PHOTOGRAPHS.name}` ({PHOTOGRAPHS.megabytes} MB) from *Small "
            "models to try*, then upload:"
        )
        st.page_link(
            "pages/model.py",
            label="Look at a photograph with another model",
            query_params={"model": "digit-vit", "picture": "upload"},
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


def change_section(reading: FindReading) -> None:
    """Let a person brush a region and change the mask there, and draw what the answer becomes."""
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        hint = "Brush over the digit, then let it look away."
        REGIONS.draw(reading.canvas, reading.masks[0], reading.masks[2], reading.trace, hint=hint, size=280)
    with right:
        show_outcome(NAME, DIGITS, reading.probabilities[0], reading.probabilities[2])
