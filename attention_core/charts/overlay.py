"""A map of weights laid over the picture that it looks at: one large, or a strip with one for every look."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from PIL import Image, ImageFilter
from PIL.ImageColor import getrgb

from attention_core.attention.view.colours import CLEARNESS, LINEAR_FROM, PINK
from attention_core.charts import layers
from attention_core.charts.chart import Chart, compiled
from attention_core.charts.columns import grid_layout, rectangles
from attention_core.charts.layers import CORNERS, EDGE, Bar, named
from attention_core.charts.pictures import position_cells, position_data, position_tooltip
from attention_core.charts.png import cached_by_content, image_file
from attention_core.charts.ramps import CHOSEN, FAINT, LABEL_COLOUR, Ramp, weights_ramp

GLOW = tuple(f"{PINK}{round(255 * (eighth / 8) ** CLEARNESS):02x}" for eighth in range(9))
"""From no weight to the largest: one hue, more and more opaque."""
FULL_STRENGTH = 8
"""A map's strongest colour stands for at least so many times the uniform weight: one that is uniform stays faint."""
SMOOTH_SIDE = 256  # pixels along the longer side of the smooth map


def overlay(
    picture: np.ndarray,
    weights: np.ndarray,
    *,
    size: int = 320,
    opacity: float = 0.75,
    smooth: bool = True,
    high: float | None = None,
    bar: bool = True,
    marked: int | None = None,
) -> Chart:
    """Draw a map of weights (rows, columns) over a picture, uint8 (height, width, 3 or 4).

    `smooth` interpolates between regions; `high` is the weight of the strongest colour, None = the largest of these,
    see strongest_weight. The marked region, in reading order, is framed.
    """
    rows, columns = weights.shape
    ramp = glow_ramp(weights.size, float(weights.max()) if high is None else high, float(weights.max()))
    width, height = _screen_size(picture, size)
    pictures = {"picture": image_png(picture), "map": map_png(weights, ramp, smooth)}
    data = {"image": rectangles(0, 0, columns, rows, **pictures), **position_data(weights, "weight")}
    if marked is not None:
        data["marked"] = rectangles(marked % columns, marked // columns)
    if bar:
        data["bar"] = layers.bar_data(ramp)
    title = f"weight (all equal: {1 / weights.size:.2g})"
    spec = _overlay(
        cells=(columns, rows),
        smooth=smooth,
        opacity=opacity,
        is_marked=marked is not None,
        bar=Bar.of(ramp, title, min(width - 20, 260)) if bar else None,
        size=(width, height),
    )
    return Chart(spec, data)


@compiled
def _overlay(
    cells: tuple[int, int], smooth: bool, opacity: float, is_marked: bool, bar: Bar | None, size: tuple[int, int]
) -> alt.LayerChart:
    space = layers.corners(*cells)
    drawing = [
        layers.images("image", space, "picture", clip=True, smooth=True),
        layers.images("image", space, "map", clip=True, smooth=smooth, opacity=opacity),
        named("image").mark_rect(**EDGE).encode(**space),
    ]
    if is_marked:
        drawing.append(layers.outlined("marked", CORNERS, 2))
    if bar:
        drawing.append(layers.bar_layer(bar))
    return layers.fixed_size([*drawing, *position_cells(position_tooltip("weight", ".2%"))], *size)


def overlay_strip(
    picture: np.ndarray,
    weights: np.ndarray,
    labels: Sequence[str],
    *,
    size: int = 200,
    columns: int = 4,
    chosen: int | None = None,
) -> Chart:
    """Draw the same picture several times, each with its own map over it, see overlay, and a label above.

    Weights are (n, rows, columns); the chosen one is framed.
    """
    ramp = glow_ramp(weights[0].size, float(weights.max()))
    width, height = _screen_size(picture, size)
    frames, total_width, total_height = grid_layout(len(weights), columns, width, height, 12, 20)
    maps = [map_png(each, ramp, True) for each in weights]
    looks = {**frames, "label": labels, "map": maps, "chosen": frames["number"] == chosen}
    data = {"looks": looks | {"picture": [image_png(picture)] * len(weights)}}
    return Chart(_overlay_strip(total_width, total_height), data)


@compiled
def _overlay_strip(width: int, height: int) -> alt.LayerChart:
    space = layers.corners(width, height)
    edge = {
        "stroke": alt.condition("datum.chosen", alt.value(CHOSEN), alt.value(FAINT)),
        "strokeWidth": alt.condition("datum.chosen", alt.value(3), alt.value(1)),
        "tooltip": [alt.Tooltip("label:N", title="look")],
    }
    style: dict[str, Any] = {"align": "left", "baseline": "bottom", "dy": -4, "fontSize": 12, "color": LABEL_COLOUR}
    drawing = [
        layers.images("looks", space, "picture", clip=True, smooth=True),
        layers.images("looks", space, "map", clip=True, smooth=True, opacity=0.75),
        layers.texts("looks", space, "label", **style),
        named("looks").mark_rect(fillOpacity=0).encode(**space, **edge),
    ]
    return layers.fixed_size(drawing, width, height)


def glow_ramp(n_regions: int, high: float, largest: float = 0.0) -> Ramp:
    """Return the ramp of a map over a picture: from no weight to the strongest, the uniform weight marked.

    Its end is labelled as cut where the largest weight lies beyond it.
    """
    plain = weights_ramp(n_regions, strongest_weight(n_regions, high))
    has_room = 1 / max(n_regions, 1) > LINEAR_FROM * plain.high  # else its name would lie on that of 0
    marked = plain.reference if has_room else None
    return Ramp(GLOW, 0.0, plain.high, 1.0, marked, plain.reference_label, is_cut=largest > plain.high)


def strongest_weight(n_regions: int, largest: float) -> float:
    """Return the weight that the strongest colour of a map stands for, on every page.

    It is the largest weight, but never below FULL_STRENGTH times 1/n: the colour says how far a weight is from that of
    looking everywhere alike, and not only how it compares with the others.
    """
    return max(largest, min(1.0, FULL_STRENGTH / max(n_regions, 1)))


@cached_by_content
def image_png(picture: np.ndarray) -> bytes:
    """Return a picture, uint8 (height, width, 3 or 4), as a PNG."""
    return image_file(Image.fromarray(picture))


SPOT = (226, 32, 140)
"""The colour around a spot of light, RGB."""


def spot_of_light(picture: np.ndarray, weights: np.ndarray, ground: int = 255) -> np.ndarray:
    """Return a picture, uint8 (height, width, 3), that is seen as it is only where weights (rows, columns) are.

    Around that it fades through pink to the ground, a grey from 0 to 255.
    """
    height, width = picture.shape[:2]
    shares = Image.fromarray((255 * (weights / max(float(weights.max()), 1e-9)) ** 0.6).astype(np.uint8))
    cell = width / weights.shape[1]
    large = shares.resize((width, height), Image.Resampling.BILINEAR).filter(ImageFilter.GaussianBlur(cell))
    lit = np.asarray(large, np.float32)[..., None]
    lit = lit / max(float(lit.max()), 1.0)
    layers = ((np.full_like(picture, ground), 0.6 * np.ones_like(lit)), (SPOT, _rise(lit, 0.1, 0.35)))
    faded = picture.astype(np.float32)
    for colour, opacity in (*layers, (picture, _rise(lit, 0.25, 0.5))):
        faded += (np.asarray(colour, np.float32) - faded) * opacity
    return faded.round().astype(np.uint8)


def _rise(shares: np.ndarray, start: float, end: float) -> np.ndarray:
    return np.clip((shares - start) / (end - start), 0, 1)


@cached_by_content
def map_png(weights: np.ndarray, ramp: Ramp, smooth: bool, opacity: float = 1) -> bytes:
    """Return a map as a PNG whose opacity grows with the weight up to the given one: no weight is clear."""
    share = ramp.position(weights).astype(np.float32)
    if smooth:
        scale = max(1, SMOOTH_SIDE // max(share.shape))
        size = share.shape[1] * scale, share.shape[0] * scale
        share = np.asarray(Image.fromarray(share).resize(size, Image.Resampling.BILINEAR))
    pixels = np.full((*share.shape, 4), (*getrgb(PINK), 255), np.uint8)
    pixels[..., 3] = np.rint(255 * opacity * share**CLEARNESS)
    return image_file(Image.fromarray(pixels))


def _screen_size(picture: np.ndarray, size: int) -> tuple[int, int]:
    """Return width and height on the screen of a picture whose longer side has so many pixels."""
    height, width = picture.shape[:2]
    scale = size / max(width, height)
    return round(width * scale), round(height * scale)
