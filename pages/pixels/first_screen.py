"""The first screen: the drawing on its pad with one pixel's weights over it, and what the network reads."""

import base64
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core import UNIFORM, AttentionTrace
from attention_core.attention.view.colours import CLEARNESS, DOWN, PINK, UP
from attention_core.attention.view.scene import picture_scene_data
from attention_core.charts import signed_ramp
from attention_core.charts.chart import Chart
from attention_core.charts.overlay import image_png, overlay
from attention_core.charts.pictures import picture
from attention_core.charts.ramps import CHOSEN, GREY
from attention_core.data.drawing import CanvasRemark, Drawing
from attention_core.device import to_array
from attention_core.faithfulness.subjects import ink_mask
from attention_core.inference.digits import Answer
from attention_core.inference.pixel_readout import ink_taken, product_means, quantise_queries_and_keys
from ui.canvas import INK, PAPER, Pad, PadContent, digit_presets, readable_content
from ui.chart import draw_map, note_picture, picture_address
from ui.component import component
from ui.computed import cached_computation, card_or_empty
from ui.digits import draw_reading, inked, likeliest_digits, prepared, read_image, remark_on
from ui.edits import EditList
from ui.lecture.mode import LECTURE
from ui.player import Stepper
from ui.scene import draw_picture_scene
from ui.state import Field, component_message, one_of, single_choice, slugs, whole_number

NAME = "pixels"
PAD = Pad(NAME, digit_presets(), first="7")
STEPS = Stepper(NAME)
EDITS = EditList(NAME)
REMARKS = {
    CanvasRemark.EMPTY: "Draw a digit on the empty picture, or take one of the ten.",
    CanvasRemark.DOT: "That is a dot. Keep drawing.",
    CanvasRemark.SEVERAL: "This looks like several digits; the network takes all ink as one.",
}
GUIDED, PLAIN, INK_ONLY, NO_SOFTMAX = "pixel-classifier", "pixel-notes", "pixel-notes-ink", "pixel-notes-product"
SELF_ONLY, NO_ATTENTION, EQUAL_FROM_START = "pixel-notes-self", "pixel-notes-alone", "pixel-notes-uniform"
"""Controls: every pixel takes from itself alone; no attention; every weight equal from the start."""
LAYERS = {
    PLAIN: "ink and position",
    INK_ONLY: "ink only",
    NO_SOFTMAX: "without softmax",
    GUIDED: "with a head start",
}
LAYER = Field(NAME, "layer", PLAIN, address="layer", parse=one_of(LAYERS))
IS_EVEN = Field(NAME, "even", False, address="even")
"""Whether the scene shows what comes of equal weights."""
HAD_SCENE = Field[bool | None](NAME, "had_scene", None)
QUERY = Field(NAME, "query", None, address="pixel", parse=whole_number)
"""The pixel that is the query, from 0; None until one was chosen."""
SINGLE_QUERY, COLUMN_MEANS, ROW_MEANS = "one pixel", "who is looked at", "who looks"
MAP = Field(NAME, "map", SINGLE_QUERY, address="map", **slugs(one=SINGLE_QUERY, columns=COLUMN_MEANS, rows=ROW_MEANS))
EXPLANATIONS = {
    COLUMN_MEANS: "Orange: on average, pixels score this one above 0.",
    ROW_MEANS: "Orange: on average, this pixel scores the others above 0.",
    PLAIN: "A pixel hands over its ink and its position.",
    INK_ONLY: "To the attention a pixel is its ink; only the layers after it know where it stands.",
    NO_SOFTMAX: "The scores themselves are the weights, Q Kᵀ / 784. What is blue is taken away.",
    GUIDED: "A pixel hands over its position alone. Before training, near pixels and ink were already preferred.",
}
LEGEND = {
    COLUMN_MEANS: "Looked at: column means of Q Kᵀ, blue below 0",
    ROW_MEANS: "Looking: row means of Q Kᵀ, blue below 0",
}
MAP_LABEL = "The drawing, pixel by pixel. "
QUERY_LABEL = "The framed pixel asks all others; the pinker one is, the more it takes from it."
MAP_SIZE = 320  # screen pixels of a map
MAX_MAP_WEIGHT = 0.03
"""From which on maps of this page have their strongest pink, all on one scale, on which equal weights look alike."""
FULL_INK = 0.95  # of the darkest pixel
LIGHT_INK = 0.45  # of its darkness, under a map of weights
SCALE = 12  # pixels of the scene's picture for one of the drawing
PIECE_SIDE = 0.8
"""Side of the piece that stands for a pixel, in pixels: less than 1, so that smoothing mixes in no neighbour."""
QUERY_SENTENCE = "The **framed pixel** asks **every pixel**: its query meets the key of each of them."
TAKEN_NOTE = "The map on the right shows the ink alone."
CLAIM = "Each pixel becomes a mixture of all 784, by learned weights."
_map, _scene = (component(name, folder="pages/pixels") for name in ("pixel_map", "pixel_scene"))
quantised_qk = cached_computation()(quantise_queries_and_keys)
ink_of_mixtures = cached_computation()(ink_taken)


class Reading(NamedTuple):
    """What the chosen layer reads in the drawing."""

    drawing: Drawing
    image: Tensor  # (28, 28)
    learned: Answer
    equal: Answer  # with every weight equal
    edited: Answer  # with the visitor's edits

    @property
    def trace(self) -> AttentionTrace:
        return self.edited.traces[0]

    @property
    def query(self) -> int:
        """The pixel that was clicked or is in the address, else the one of full ink nearest to the ink's centre."""
        if QUERY.value is not None and QUERY.value < self.drawing.image.size:
            return QUERY.value
        return central_pixel(self.drawing.image)


def central_pixel(ink: np.ndarray) -> int:
    """Return the pixel of full ink that is nearest to the ink's centre."""
    rows, columns = np.nonzero(ink > 0.5)
    if not len(rows):
        return ink.size // 2
    is_full = ink[rows, columns] >= FULL_INK * ink.max()
    far = (rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2
    nearest = np.where(is_full, far, np.inf).argmin()
    return int(rows[nearest] * ink.shape[1] + columns[nearest])


def read_pad(pad: PadContent) -> tuple[Reading, bool, str]:
    """Return what is read on a pad, of an empty one the last drawing, whether that is so, and a remark or ""."""
    drawing = prepared(pad.canvas)
    is_empty = drawing.remark is CanvasRemark.EMPTY
    reading = _read_drawing(prepared(readable_content(PAD, pad, is_empty).canvas))
    return reading, is_empty, remark_on(REMARKS, drawing.remark, bool(pad.strokes))


def _read_drawing(drawing: Drawing) -> Reading:
    """Let the chosen layer read a drawing: as learned, with every weight equal, and with the visitor's edits."""
    name, image = LAYER.value, torch.from_numpy(drawing.image)
    learned, equal = (read_image(name, image, edits) for edits in ((), UNIFORM))
    edits = EDITS.fitting(learned.traces[0])
    return Reading(drawing, image, learned, equal, read_image(name, image, edits) if edits else learned)


def has_scene() -> bool:
    """Return whether the map of the chosen layer is that of one softmax, which a scene shows."""
    return LAYER.value != NO_SOFTMAX and MAP.value == SINGLE_QUERY


def mount_pad_anew() -> None:
    """Mount the pad anew with its drawing where it has another place than before."""
    if HAD_SCENE.value not in (None, has_scene()):
        PAD.generation.value += 1
    HAD_SCENE.value = has_scene()


def draw_pixel_scene(reading: Reading, paper: str, *, is_empty: bool) -> None:
    """Draw how one pixel takes from all others; the pad `is_empty` where an earlier drawing is shown."""
    trace, query, image = reading.trace, reading.query, reading.drawing.image
    note_picture(partial(_query_chart, reading), "Where one pixel looks")
    learned, equal, edited = (
        likeliest_digits(answer.probabilities) for answer in (reading.learned, reading.equal, reading.edited)
    )
    picture = picture_address(image_png(inked(image).repeat(SCALE, 0).repeat(SCALE, 1)))
    data = picture_scene_data([trace], picture, [[("this pixel", 0)]], edited, equal, queries=[query])
    data["looks"][0]["asks"] = QUERY_SENTENCE
    is_ink = ink_mask(reading.image).flatten()
    data |= {
        "asker": query,
        "nouns": ("pixel", "pixel"),
        "near": PIECE_SIDE,
        "taken": to_array(ink_of_mixtures(trace, is_ink)).round(3).tolist(),
        "inks": (PAPER[paper], INK[paper]),
        "ink": is_ink.int().tolist(),
        "note": f"{EXPLANATIONS[LAYER.value]} {TAKEN_NOTE}",
    }
    data |= {"isEven": IS_EVEN.value, "plays": LECTURE.value}
    data |= {"pad": NAME, "paper": PAPER[paper], "isEmpty": is_empty}
    if trace.edits:
        data["learned"] = learned

    def on_even(is_even: bool) -> None:
        IS_EVEN.value = is_even
        if not is_even:
            EDITS.reset()

    draw_picture_scene(NAME, data, on_even=on_even, on_query=QUERY.set, scene=_scene)


def draw_pixel_map(reading: Reading, pad: PadContent) -> None:
    """Lay the map of weights over the pad: the pixel under the pointer is the query, a click keeps it."""
    drawing, trace = reading.drawing, reading.trace
    packed_numbers, unit = quantised_qk(trace)
    data = {
        "numbers": _base64(packed_numbers),
        "unit": unit,
        "ink": _base64(np.rint(255 * drawing.image).astype(np.uint8).tobytes()),
        "query": reading.query,
        "stays": QUERY.value is not None,
        "legend": LEGEND.get(MAP.value, ""),
        "about": MAP_LABEL + LEGEND.get(MAP.value, QUERY_LABEL),
        "map": None if MAP.value == SINGLE_QUERY else _relative_means(trace),
        "colours": {
            "ink": (PAPER[pad.paper], GREY),
            "positive": PINK if MAP.value == SINGLE_QUERY else UP,
            "negative": DOWN,
        },
        "clearness": CLEARNESS,
        "frame": CHOSEN,
    }

    def on_ask() -> None:
        pixel = (component_message("pixels_looks", "asked") or {}).get("query")
        if isinstance(pixel, int) and 0 <= pixel < drawing.image.size:
            QUERY.value = pixel

    if trace.edits:
        data["row"] = to_array(trace.weights(0, [reading.query])[0]).tolist()  # the browser computes rows as learned
    note_picture(partial(_query_chart, reading), "Where one pixel looks")
    _map(key="pixels_looks", data=data, default={"asked": None}, on_asked_change=on_ask)


def _query_chart(reading: Reading) -> Chart:
    row = to_array(reading.trace.weights(0, [reading.query])[0])
    return map_chart(reading.trace, row, reading.drawing.image, size=MAP_SIZE, marked=reading.query)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _relative_means(trace: AttentionTrace) -> list[float]:
    """Return the mean of each column or row of Q K^T, one per pixel, as shares of the largest."""
    column_means, row_means = product_means(trace)
    means = to_array(column_means if MAP.value == COLUMN_MEANS else row_means)
    return (means / max(float(np.abs(means).max()), 1e-9)).round(3).tolist()


def draw_equal_map(reading: Reading) -> None:
    """Draw the same network's map and answer with every weight equal."""
    with st.container(key="pixels_said_equal", gap="xsmall"):
        draw_reading(f"Every weight {equal_weight()}:", reading.equal.probabilities)
    weights, image = to_array(reading.equal.traces[0].weights(0, [0])[0]), reading.drawing.image
    values, ink = weights.reshape(image.shape), light_ink(image)
    alt = f"Every weight {equal_weight()}: where one pixel looks"
    draw_map(values, ink, "pixels_equal_map", alt, size=MAP_SIZE, high=MAX_MAP_WEIGHT, axis="pixels", smooth=False)


def pad_heading() -> str:
    """Return the heading above the pad."""
    return "Draw your own, or click a pixel" if MAP.value == SINGLE_QUERY else "Draw your own"


def equal_weight() -> str:
    """Return the word for equal weights: without softmax, scores of 0 are weights of 0."""
    return "0" if LAYER.value == NO_SOFTMAX else "equal"


def control() -> str:
    """Return the name of the layer's control, in which no pixel looks at another."""
    return "ffn-classifier" if LAYER.value == GUIDED else SELF_ONLY


def control_accuracy() -> float | None:
    """Return how often the layer's control is right; None where no card says it."""
    return card_or_empty(control()).get("test_accuracy")


def choose_layer() -> None:
    """Draw the choice of the layer."""
    single_choice("Attention layer", LAYER, LAYERS, wrap=True)


def draw_layer_choice() -> None:
    """Draw the choice of the layer and of what its map shows."""
    single_choice("The map shows", MAP, (SINGLE_QUERY, COLUMN_MEANS, ROW_MEANS), wrap=True)
    choose_layer()
    st.caption(EXPLANATIONS.get(MAP.value) or EXPLANATIONS[LAYER.value])


def attention_received(trace: AttentionTrace, image: Tensor) -> Tensor:
    """Return the mean weight that each pixel receives from the ink queries, (28, 28)."""
    return trace.summary(0, ink_mask(image).flatten()).received.reshape(image.shape).cpu()


def map_chart(trace: AttentionTrace, values: np.ndarray, image: np.ndarray, **style: Any) -> Chart:
    """Return a chart of weights or their means, (784,) or (28, 28), over the ink; without softmax they have signs.

    The style is that of picture and overlay: size, marked, bar.
    """
    values = values.reshape(image.shape)
    if trace.has_softmax:
        return overlay(light_ink(image), values, smooth=False, opacity=1, high=MAX_MAP_WEIGHT, **style)
    return picture(values, signed_ramp(values), title="weight", outline=image, **style)


def light_ink(image: np.ndarray) -> np.ndarray:
    """Return a drawing, (28, 28), in light ink, for a map over it: uint8 (168, 168, 3)."""
    return inked(LIGHT_INK * image).repeat(6, 0).repeat(6, 1)
