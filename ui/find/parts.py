"""Parts of the page on finding a digit: the pad with its clutter, the answers, the mask over the drawing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
import torch

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import overlay, probability_bars
from attention_core.charts.channels import product_bars
from attention_core.charts.palette import INK
from attention_core.data.drawing import ink_of
from attention_core.data.scenes import FIND_SIDE
from attention_core.device import to_array
from attention_core.log import log
from attention_core.models.feature_mask import LAYERS, FeatureMask
from attention_core.models.features import receptive_field
from attention_core.topics.find import most_looked_at, n_for_share, products_of
from attention_core.weights import WeightsError, read_card
from ui.canvas import PadState
from ui.find.pad import NAME
from ui.layout import role_word
from ui.models import COMPUTE, model_or_none, model_or_stop

DIGITS = [str(digit) for digit in range(10)]
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


@dataclass(frozen=True, eq=False)
class Seen:
    """What the networks make of a drawing.

    Attributes:
        model: the network with attention.
        trace: of it.
        probabilities: its answer, float (10,).
        plain: the answer of the network without attention, float (10,), or None when it is not there.
        missing: what to do about that.
    """

    model: FeatureMask
    trace: AttentionTrace
    probabilities: np.ndarray
    plain: np.ndarray | None
    missing: str

    @property
    def digit(self) -> int:
        """The most probable digit."""
        return int(self.probabilities.argmax())


def look(picture: np.ndarray) -> Seen:
    """Let the network with attention, and the one without, look at a picture (60, 60)."""
    model = model_or_stop("feature-mask")
    plain, missing = model_or_none("feature-mean")
    with COMPUTE, torch.inference_mode():
        image = torch.from_numpy(picture)
        trace = model.trace(image)
        alone = None if plain is None else to_array(step_of(plain.trace(image), "output").value()[0])
        return Seen(model, trace, to_array(step_of(trace, "output").value()[0]), alone, missing)


def answers(seen: Seen) -> None:
    """Draw both networks' probabilities."""
    series = {"with attention": seen.probabilities}
    if seen.plain is not None:
        series["without"] = seen.plain
    words = f"The mask leads to <b>{seen.digit}</b> ({seen.probabilities.max():.0%})."
    if seen.plain is not None:
        words += f" Without attention: <b>{int(seen.plain.argmax())}</b> ({seen.plain.max():.0%})."
    st.html(f'<p class="verdict">{words}</p>')
    st.container(key=f"{NAME}_answer").altair_chart(
        probability_bars(series, DIGITS, height=205),
        key=f"{NAME}_bars",
        alt="Probabilities of the ten digits, with and without attention",
    )
    if seen.plain is None:
        st.caption(f"The same network without attention is not here to compare. {seen.missing}")


def drawn(pad: PadState) -> np.ndarray:
    """Return the drawing as grey ink on white paper, uint8 (height, width, 3), whatever the pad's colours."""
    lightest, darkest = ([int(one[i : i + 2], 16) for i in (1, 3, 5)] for one in (INK[0], INK[-2]))
    ink = ink_of(pad.canvas)[..., None]
    return np.rint(ink * darkest + (1 - ink) * lightest).astype(np.uint8)


def chosen_region(trace: AttentionTrace) -> int:
    """Return the region that was clicked, or that the address names, or the peak of the mask."""
    asked = st.query_params.get("region", "")
    chosen = st.session_state.get(f"{NAME}_region", int(asked) if asked.isdecimal() and len(asked) < 4 else None)
    return chosen if chosen is not None and 0 <= chosen < trace.n_keys else most_looked_at(trace, 1)[0]


def mask_over(
    picture: np.ndarray, trace: AttentionTrace, *, key: str, size: int, framed: int | None, **more: Any
) -> None:
    """Draw the mask over the drawing, perhaps with a region framed; a click on a region chooses it."""
    weights = to_array(trace.weights(0, [0])[0].reshape(trace.story.key_axis.grid))  # type: ignore[arg-type]
    st.altair_chart(
        overlay(picture, weights, size=size, select="region", marked=framed, **more),
        key=key,
        on_select=partial(_take_click, key),
        selection_mode="region",
        width="content",
        alt="The mask over the drawing: the darker a region glows, the more it counts; click one to choose it",
    )


def _take_click(key: str) -> None:
    clicked = st.session_state[key]["selection"].get("region")
    if clicked:
        st.session_state[f"{NAME}_region"] = int(clicked[0]["position"])
        st.query_params["region"] = str(clicked[0]["position"])
        st.session_state[f"{NAME}_clicked"] = key


def follow_click(key: str) -> None:
    """Run the whole page again after a click on a map inside a fragment, whose region stands outside it too."""
    if st.session_state.pop(f"{NAME}_clicked", "") == key:
        st.rerun()


def _follow_peak() -> None:
    st.session_state.pop(f"{NAME}_region", None)
    st.query_params.pop("region", None)


def hero(picture: np.ndarray, trace: AttentionTrace, region: int) -> None:
    """Draw the mask over the drawing, large, with its opacity to choose and how narrow it is in words."""
    strength = st.session_state.get(f"{NAME}_opacity", 80) / 100
    clicked = region if region != most_looked_at(trace, 1)[0] else None
    mask_over(picture, trace, key=f"{NAME}_hero", size=372, opacity=strength, framed=clicked)
    st.slider("Opacity of the mask", 0, 100, 80, 5, format="%d %%", key=f"{NAME}_opacity", persist_state="session")
    half = n_for_share(trace, 0.5)
    st.caption(
        f"Half of the mask lies on {half} of {trace.n_keys} regions. Features see far beyond their own region, up to "
        f"{receptive_field(LAYERS)} of the {FIND_SIDE} pixels along a side: one good place can be enough."
    )


def region_numbers(trace: AttentionTrace, region: int) -> None:
    """Draw the chosen region's score as a dot product, its largest products first, and the weight it becomes."""
    row, column = divmod(region, trace.story.key_axis.grid[1])  # type: ignore[index]
    peak = most_looked_at(trace, 1)[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<p class="region">{role_word(Role.SCORES, f"Score of row {row}, column {column}")}</p>')
        if region != peak:
            st.button("To the peak", key=f"{NAME}_peak", on_click=_follow_peak, type="tertiary")
    products = products_of(trace, region, 5)
    whose = "the mask's peak" if region == peak else "the framed region"
    st.caption(f"Query · features of {whose}, channel by channel. Click any region on the drawing.")
    st.altair_chart(
        product_bars(products, trace.key.shape[-1], height=132),
        key=f"{NAME}_products",
        alt="The largest products of the region's score",
    )
    weight = float(trace.weights(0, [0], [region]))
    share = f"{weight:.2%}" if weight >= 5e-5 else "below 0.01%"
    st.html(
        f'<p class="region">Sum: {role_word(Role.SCORES, f"score {products.score:.2f}")}; softmax over all regions: '
        f"{role_word(Role.WEIGHTS, f'weight {share}')}.</p>"
    )


def figures_caption() -> None:
    """Say how well the two networks do on digits that they were not trained on, as far as their cards tell."""
    rates = []
    for name, words in (("feature-mask", "with attention"), ("feature-mean", "without")):
        try:
            card = read_card(name)
        except WeightsError:
            log.warning("The card of %s cannot be read", name, exc_info=True)
            continue
        error = card.get("cluttered_translated_mnist_error")
        if isinstance(error, float):
            rates.append(f"{error:.1%} {words}")
    if rates:
        st.caption(
            f"Errors on 10,000 test digits among eight pieces of clutter (60 x 60 pixels): {', '.join(rates)}. "
            "Mnih et al. 2014 report 4.0% for a recurrent model of eight glimpses and 8.1% for their convolutional one."
        )
