"""What pages about digits share: what a model reads in a picture, which pixel asks, and maps of where pixels look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.charts.palette import INK_RAMP, VIRIDIS, Ramp, signed_ramp, weights_ramp
from attention_core.charts.picture import picture
from attention_core.data.drawing import prepare
from attention_core.device import device_of, to_array
from ui.chart import draw_chart
from ui.computed import computed
from ui.glossary import note, say
from ui.models import model_or_stop
from ui.state import Field, whole_number

FRAME = (200, 205, 211)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about one picture.

    Attributes:
        probabilities: float (10,).
        traces: one per attention layer.
    """

    probabilities: np.ndarray
    traces: tuple[AttentionTrace, ...]

    @property
    def digit(self) -> int:
        """The most probable digit."""
        return int(self.probabilities.argmax())

    @property
    def confidence(self) -> float:
        """Its probability."""
        return float(self.probabilities.max())


@computed(by_model=True)
def ask(name: str, image: Tensor, intervention: Intervention = NO_INTERVENTION, trace: bool = True) -> Answer:
    """Let a model read one picture, float (28, 28)."""
    model = model_or_stop(name)
    device = device_of(model)
    prediction = model(image[None].to(device), intervention=intervention, trace=trace)
    return Answer(to_array(prediction.logits.softmax(-1)[0]), prediction.traces)


prepared = computed()(prepare)
"""A canvas, uint8 (height, width, 4), as the models see it."""


def read_digit(image: np.ndarray) -> Answer:
    """Return what the attention model says about a prepared picture, float (28, 28)."""
    return ask("pixel-classifier", torch.from_numpy(image))


def inked(image: np.ndarray) -> np.ndarray:
    """Return a picture of ink, from 0 to 1, in its colours, uint8 (rows, columns, 3)."""
    return INK_RAMP.lookup()[np.rint(image * 255).astype(int)].astype(np.uint8)


def ink_image(image: np.ndarray, size: int, words: str) -> None:
    """Draw a 28 x 28 picture as a plain image with a thin frame: nothing in it answers the mouse, so it is cheap."""
    factor = size // image.shape[0]
    pixels = inked(image).repeat(factor, 0).repeat(factor, 1)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        edge[:] = FRAME
    st.image(pixels, width=size, output_format="PNG", alt=words)


def query_field(name: str) -> Field[int | None]:
    """Return which pixel asks, from 0; None until one was chosen."""
    return Field(name, "query", None, address="pixel", parse=whole_number)


def chosen_query(image: np.ndarray, name: str) -> int:
    """Return the position that was clicked, or that the address names, or the ink pixel nearest the ink's centre."""
    chosen = query_field(name).value
    return chosen if chosen is not None and chosen < image.size else central_ink(image)


def pick_pixel(image: np.ndarray, name: str, size: int, key: str = "pick") -> None:
    """Draw the picture as the model sees it, the query framed; a click on a pixel makes it the query."""
    query, key = chosen_query(image, name), f"{name}_{key}"
    draw_chart(
        picture(image, INK_RAMP, title="ink", size=size, marked=query, select="pixel", bar=False),
        key=key,
        on_select=lambda: _take_click(name, key),
        selection_mode="pixel",
        width="content",
        alt="The 28 x 28 picture that the model sees; click a pixel to make it the query",
    )


def _take_click(name: str, key: str) -> None:
    """Make the clicked pixel the query; runs before the page does."""
    clicked = st.session_state[key]["selection"].get("pixel")
    if clicked:
        query_field(name).value = int(clicked[0]["position"])


def central_ink(image: np.ndarray) -> int:
    """Return the position of the ink pixel nearest the ink's centre, or the middle of an empty picture."""
    rows, cols = np.nonzero(image > 0.5)
    if not len(rows):
        return image.size // 2 + image.shape[1] // 2
    nearest = np.argmin((rows - rows.mean()) ** 2 + (cols - cols.mean()) ** 2)
    return int(rows[nearest] * image.shape[1] + cols[nearest])


def looks_at_map(trace: AttentionTrace, head: int, query: int, image: np.ndarray, size: int) -> None:
    """Draw where one query looks: its row of the weights as a picture."""
    weights = to_array(trace.weights(head, [query])[0])
    ramp = weights_ramp(trace.n_keys, float(weights.max()))
    chart = picture(
        weights.reshape(trace.story.key_axis.grid), ramp, title="weight", size=size, marked=query, outline=image
    )
    draw_chart(chart, width="content", alt="Where the chosen pixel looks: a map of its weights")


def query_maps(trace: AttentionTrace, head: int, query: int, image: np.ndarray, size: int, name: str) -> None:
    """Draw where this pixel looks and which pixels look at it, on one colour scale."""
    grid = trace.story.key_axis.grid
    looks_at = to_array(trace.weights(head, [query])[0])
    looked_at = to_array(trace.weights(head, cols=[query])[:, 0])
    ramp = weights_ramp(trace.n_keys, float(max(looks_at.max(), looked_at.max())))
    maps = (
        (
            "looks_at",
            "This pixel looks at",
            f"row {query + 1} of A",
            looks_at,
            f"its row of the weights; sums to {looks_at.sum():.2f}",
        ),
        (
            "looked_at",
            "Looks at this pixel",
            f"column {query + 1} of A",
            looked_at,
            f"its column of the weights; sums to {looked_at.sum():.2f}",
        ),
    )
    for column, (key, title, symbol, values, words) in zip(st.columns(2), maps, strict=True):
        with column, st.container(key=f"{name}_{key}"):
            st.markdown(f"**{title}**, {symbol}")
            chart = picture(values.reshape(grid), ramp, title="weight", size=size, marked=query, outline=image)
            draw_chart(chart, width="content", alt=f"{title}: 28 x 28 map of weights")
            st.caption(words)


def whole_maps(trace: AttentionTrace, head: int, query: int, image: np.ndarray, ink_only: bool, size: int) -> None:
    """Draw the averages over the whole matrix: what is received, the scores' row mean, the weights' row entropy."""
    grid = trace.story.key_axis.grid
    queries = torch.from_numpy(image.flatten() > 0.3) if ink_only else None
    summary = trace.summary(head, queries if queries is None or queries.any() else None)
    received, means, entropy = (to_array(part) for part in (summary.received, summary.score_row_mean, summary.entropy))
    most = float(np.log2(trace.n_keys))
    who = "over the ink queries" if ink_only else "over all queries"
    maps = (
        (
            "Column attention",
            f"received on average, {who}",
            received,
            weights_ramp(trace.n_keys, float(received.max())),
            "weight",
            "Bright pixels are looked at by many.",
        ),
        (
            "Row attention: mean score",
            "mean of each row of the scaled scores",
            means,
            signed_ramp(means),
            "score",
            "The softmax ignores exactly this: a constant added to a row changes none of its weights. "
            "After the softmax the row mean is 1/784 everywhere.",
        ),
        (
            "Row attention: entropy",
            "of each row of the weights, in bits",
            entropy,
            Ramp(VIRIDIS[::-1], float(entropy.min()), most),
            "bits",
            f"Bright: looks narrowly. Dark: looks everywhere alike (log2 {trace.n_keys} = {most:.1f} bits).",
        ),
    )
    for column, (title, symbol, values, ramp, unit, words) in zip(st.columns(3), maps, strict=True):
        with column:
            say(f"**{title}**  \n{symbol}")
            chart = picture(values.reshape(grid), ramp, title=unit, size=size, marked=query, outline=image)
            draw_chart(chart, width="content", alt=f"{title}: 28 x 28 map")
            note(words)
