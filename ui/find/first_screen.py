"""The first screen: a digit off the middle, clutter to scatter and to erase, the mask over it, the answers."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from PIL import ImageColor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import overlay
from attention_core.charts.vega import INK_COLOURS
from attention_core.data.canvases import CanvasRemark, InkPicture, PartsRemark, ink_picture, parts_remark
from attention_core.data.drawing import Stroke, ink_of
from attention_core.data.presets import CLUTTER_WIDTH, clutter_strokes, hidden_digit
from attention_core.data.scenes import FIND_SIDE
from attention_core.device import to_array
from attention_core.models.feature_mask import LAYERS, FeatureMask
from attention_core.models.features import receptive_field
from attention_core.topics.find import largest_weights, n_for_share, products_of
from attention_core.topics.find.charts import product_bars
from ui.canvas import Pad, PadState, drawing_pad, put_strokes, remove_strokes
from ui.chart import click, draw_chart
from ui.computed import cached_computation, model_or_none
from ui.digits import by_model, digit_bars
from ui.layout import role_word
from ui.skeleton import abbr
from ui.state import Field, between, whole_number

NAME, MODEL, PLAIN = "find", "feature-mask", "feature-mean"
trace_picture = by_model(FeatureMask.trace)
"""What a network, with attention or without, does with a picture (60, 60)."""
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
OPACITY = Field(NAME, "opacity", 80, address="opacity", parse=between(0, 100))
SIDE = 256
MAX_CLUTTER, PIECES_AT_ONCE = 96, 8
PLACES = (
    (0.74, 0.27, 0.3), (0.2, 0.66, 0.36), (0.72, 0.7, 0.28), (0.27, 0.3, 0.27), (0.7, 0.62, 0.48),
    (0.33, 0.62, 0.56), (0.66, 0.3, 0.38), (0.24, 0.24, 0.31), (0.47, 0.76, 0.29), (0.6, 0.42, 0.62),
)  # fmt: skip
"""Of the ten ready drawings: the digit's middle, x and y, and its height, as shares of the canvas."""
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit anywhere on the pad, or take one of the ten below it. Then scatter clutter.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: a digit needs a stroke or two.",
    CanvasRemark.FULL: "Most of the canvas is ink, so there is hardly a shape left to find. The network answers all "
    "the same; Undo brings back what was there.",
    PartsRemark.SMALL: "Nothing here is as tall as the digits that the network knows, a quarter of the canvas or "
    "more. It must name one of ten all the same.",
    PartsRemark.LARGE: "Something reaches across the canvas. The network knows digits up to three quarters of its "
    "height, but it answers all the same.",
    PartsRemark.SEVERAL: "These look like several digits. The network was taught to name one: see which of them "
    "the mask takes, or whether it is torn.",
}
ONE_COLOUR = (
    "The whole canvas is one colour, so there is nothing to find. Undo takes the last stroke away, nothing is lost."
)
STYLE = """<style>
.st-key-find_clutter_examples { max-width: 258px; }
.st-key-find_clutter_examples button { padding: 0.05rem 0.28rem; }
.st-key-find_clutter_examples p { font-size: 0.8rem; white-space: nowrap; }
.verdict { font-size: 1.02rem; margin: 0; line-height: 1.5; }
.st-key-find_undo button, .st-key-find_clear button { padding-left: 0.4rem; padding-right: 0.4rem; }
[data-testid="stColumn"]:has(.st-key-find_undo) [data-testid="stPopover"] button { padding: 0 0.4rem; }
.region { margin: 0; }
.st-key-find_small [data-testid="stElementToolbar"] { display: none; }
.verdict b { font-size: 1.5rem; line-height: 1.2; }
</style>"""


def _hidden(digit: int) -> list[Stroke]:
    x, y, height = (share * SIDE for share in PLACES[digit])
    return hidden_digit(digit, (x, y), height, SIDE, np.random.default_rng(digit))


PRESETS = {str(digit): partial(_hidden, digit) for digit in range(10)}
PAD = Pad(NAME, PRESETS, first="3", size=(SIDE, SIDE), help="Hide a {} for me", pen_width=12, eraser=True)


def digit_pad() -> PadState:
    """Draw the pad, and the buttons that strew clutter over it, take it away, and hide a digit anew."""
    st.html(STYLE)
    pad = drawing_pad(PAD)
    objects = PAD.drawing.value.get("objects", [])
    there = sum(abs(stroke.get("strokeWidth", 0) - CLUTTER_WIDTH) < 1e-6 for stroke in objects)
    with st.container(horizontal=True, gap="xsmall", key="find_clutter_examples"):
        told = f"{PIECES_AT_ONCE} more bits of digits, anywhere, also across the digit"
        st.button("Scatter clutter", key="find_scatter", on_click=_scatter, disabled=there >= MAX_CLUTTER, help=told)
        st.button(
            "Erase clutter", key="find_erase", on_click=remove_strokes, args=(PAD, CLUTTER_WIDTH), disabled=there == 0
        )
        st.button("Hide a random digit", key="find_hide", on_click=_hide, help="Any digit, anywhere, in any size")
    return pad


def _scatter() -> None:
    put_strokes(PAD, clutter_strokes(PIECES_AT_ONCE, SIDE, np.random.default_rng()), add=True)


def _hide() -> None:
    rng = np.random.default_rng()
    height = SIDE * rng.uniform(0.26, 0.55)
    x, y = rng.uniform(0.55 * height, SIDE - 0.55 * height, 2).tolist()
    put_strokes(PAD, hidden_digit(int(rng.integers(10)), (x, y), height, SIDE, rng))


@cached_computation()
def prepare_pad(pad: PadState) -> tuple[InkPicture, np.ndarray, str]:
    """Return what the networks see of the drawing, it in grey, and what a person should be told about it, or ""."""
    seen = ink_picture(pad.canvas, (FIND_SIDE, FIND_SIDE))
    remark = seen.remark or parts_remark(seen.picture)
    told = REMARKS[remark] if remark else ""
    return seen, _in_grey(pad), ONE_COLOUR if seen.remark is CanvasRemark.EMPTY and pad.strokes else told


def _in_grey(pad: PadState) -> np.ndarray:
    lightest, darkest = (np.array(ImageColor.getrgb(colour)) for colour in (INK_COLOURS[0], INK_COLOURS[-2]))
    ink = ink_of(pad.canvas)[..., None]
    return np.rint(ink * darkest + (1 - ink) * lightest).astype(np.uint8)


def mask_of(trace: AttentionTrace) -> np.ndarray:
    """Return the weights as a picture, float (rows, columns)."""
    return to_array(trace.weights(0, [0])[0].reshape(trace.story.key_axis.grid))  # type: ignore[arg-type]


def answers(picture: np.ndarray) -> None:
    """Draw both networks' probabilities."""
    plain, missing = model_or_none(PLAIN)
    traces = {"with attention": trace_picture(MODEL, picture)} | (
        {"without": trace_picture(PLAIN, picture)} if plain else {}
    )
    series = {name: to_array(step_of(trace, "output").value()[0]) for name, trace in traces.items()}
    words = [f"<b>{int(said.argmax())}</b> ({said.max():.0%})." for said in series.values()]
    st.html(f'<p class="verdict">The mask leads to {" Without attention: ".join(words)}</p>')
    digit_bars(series, 160, "with and without attention", key="find_bars", on=st.container(key="find_answer"))
    if missing:
        st.caption(f"The same network without attention is not here to compare. {missing}")


def chosen_region(trace: AttentionTrace) -> int:
    """Return the region that was clicked, or that the address names, or the peak of the mask."""
    region = REGION.value
    return region if region is not None and region < trace.n_keys else largest_weights(trace, 1)[0]


def mask_over(
    drawing: np.ndarray, trace: AttentionTrace, *, key: str, size: int, framed: int | None, **more: Any
) -> None:
    chart = overlay(drawing, mask_of(trace), size=size, select="region", marked=framed, **more)
    words = "The mask over the drawing: the darker a region glows, the more it counts; click one to choose it"
    draw_chart(chart, **click(key, "region", "position", REGION), width="content", alt=words)


def mask_section(drawing: np.ndarray, trace: AttentionTrace, region: int) -> None:
    """Draw the mask over the drawing, large, with its opacity to choose and how narrow it is in words."""
    clicked = region if region != largest_weights(trace, 1)[0] else None
    mask_over(drawing, trace, key="find_hero", size=316, opacity=OPACITY.value / 100, framed=clicked)
    OPACITY.widget(st.slider, "Opacity of the mask", 0, 100, step=5, format="%d %%")
    half = n_for_share(trace, 0.5)
    st.caption(
        f"{'One region receives' if half == 1 else f'{half} regions receive'} half of all attention, out of "
        f"{trace.n_keys}. A region sees up to "
        f"{receptive_field(LAYERS)} of the {FIND_SIDE} pixels of a side: one good place can be enough."
    )


def region_numbers(trace: AttentionTrace, region: int) -> None:
    """Draw the chosen region's score as a dot product, its largest products first, and the weight it becomes."""
    row, column = divmod(region, trace.story.key_axis.grid[1])  # type: ignore[index]
    peak = largest_weights(trace, 1)[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<p class="region">{role_word(Role.SCORES, f"Score of row {row + 1}, column {column + 1}")}</p>')
        if region != peak:
            st.button("To the peak", key="find_peak", on_click=REGION.reset, type="tertiary")
    products = products_of(trace, region, 5)
    whose = "the mask's peak" if region == peak else "the framed region"
    st.caption(f"The query times the features of {whose}, number by number. Click any region on the drawing.")
    chart = product_bars(products, trace.key.shape[-1], height=132)
    draw_chart(chart, key="find_products", alt="The largest products of the region's score")
    weight = float(trace.weights(0, [0], [region]))
    share = f"{weight:.2%}" if weight >= 5e-5 else "below 0.01%"
    st.html(
        f'<p class="region">Sum: {role_word(Role.SCORES, f"score {products.score:.2f}")}; '
        f"{abbr('softmax')} over all regions: "
        f"{role_word(Role.WEIGHTS, f'weight {share}')}.</p>"
    )
