"""All the numbers, from a drawing to its mask and answer."""

from collections import defaultdict

import streamlit as st

from attention_core.attention.types import Step
from attention_core.hub.catalogue import SUGGESTIONS
from attention_core.hub.model import ModelKind
from attention_core.inference.feature_channels import order_of, score_formula
from pages.find.first_screen import NAME, REGION, FindReading, mask_of
from ui.chart import draw_map
from ui.player import Stepper, StepStyle, show_all_numbers

STEPS = Stepper(NAME)
MAX_CHANNELS = 18
PHOTOGRAPHS = next(model for model in SUGGESTIONS if model.kind is ModelKind.VISION)


def draw_numbers(reading: FindReading) -> None:
    """Draw the steps, the mask over the drawing, with the chosen region, always beside them."""
    trace, region = reading.trace, reading.region
    regions = trace.story.key_axis
    styles = defaultdict(
        StepStyle,
        key=StepStyle(region, column_indices=order_of(trace)[:MAX_CHANNELS]),
        scores=StepStyle(column=region),
        weights=StepStyle(column=region, over=reading.canvas),
    )

    def draw_mask(_: Step) -> None:
        small, hint = st.columns([1, 1.1], vertical_alignment="center")
        with small:
            alt, on_region = "The mask, small; click a region", REGION.set
            draw_map(mask_of(trace), reading.canvas, "find_small", alt, size=168, chosen=region, on_choose=on_region)
        with hint:
            st.caption(f"Region {region + 1} is framed; click another.")

    def on_cell(step: Step, row: int, column: int) -> None:
        if regions in (step.row_axis, step.col_axis):
            REGION.set(row if regions is step.row_axis else column)

    def name_channels(step: Step) -> None:
        if step.name == "key":
            st.caption("The channels that move the mask most.")

    show_all_numbers(
        trace,
        STEPS,
        NAME,
        style_of=lambda step: styles[step.name],
        on_cell=on_cell,
        above_text=draw_mask,
        below_picture=name_channels,
        widths=(0.8, 1),
        key=region,
        formulas={"scores": score_formula(trace, region)},
    )
    with st.container(key="desk_find_photograph"):
        st.caption(f"Take `{PHOTOGRAPHS.name}` ({PHOTOGRAPHS.megabytes} MB) from *Small models to try*, then upload:")
        st.page_link(
            "pages/model/page.py",
            label="Look at a photograph with another model",
            query_params={"model": "digit-vit", "picture": "upload"},
            icon=":material/arrow_forward:",
        )
