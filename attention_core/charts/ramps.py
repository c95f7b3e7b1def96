"""Colours, and how numbers become colours: of roles, of weights, of signed values, of ink."""

from dataclasses import dataclass

import numpy as np
from PIL.ImageColor import getcolor

from attention_core.attention.types import Role
from attention_core.attention.view.colours import (
    BLUE_ORANGE,
    LINEAR_FROM,
    MIN_EXPONENT,
    PINKS,
    ROLE_COLOURS,
    UNIFORM_AT,
)

CHOSEN = ROLE_COLOURS[Role.QUERY]  # of frames around what is selected

VIRIDIS = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c",
    "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip
"""Sequential, for values from 0 upwards that are no weights. Source: van der Walt and Smith 2015."""
INK_COLOURS = ("#ffffff", "#e3e5e8", "#b9bec5", "#858d98", "#515a66", "#1b1f24")
DARK_INK_COLOURS = ("#11151a", "#2c323a", "#525a65", "#828b97", "#b8bfc8", "#f4f6f8")
"""For pictures: paper to ink, in grey, so that ink is never mistaken for attention; on a light and on a dark page."""
GREY, FAINT = "#8a93a0", "#8a93a066"  # rules and small words; thin edges around pictures
TEXT_COLOUR, LABEL_COLOUR = "#7d8794", "#747b86"
"""Greys between a light and a dark page; ui/styles/readable.css makes words in them readable on both."""
DARK_COLOUR = "#050607"  # numbers on bright cells and frames of selected ones


@dataclass(frozen=True)
class Ramp:
    """A colour scale: how values become colours."""

    colours: tuple[str, ...]  # from the lowest to the highest value: "#rrggbb", or "#rrggbbaa" that lets paper through
    low: float
    high: float
    exponent: float = 1.0  # below 1 spreads small values: colour = ((value - low) / (high - low)) ** exponent
    reference: float | None = None  # a value to mark on the colour bar, such as the uniform weight
    reference_label: str = ""
    is_cut: bool = False  # whether values lie beyond the ends, which are then labelled ≤ and ≥

    def position(self, values: np.ndarray) -> np.ndarray:
        """Return where on the ramp the values lie, from 0 to 1; values beyond an end count as that end."""
        span = max(self.high - self.low, 1e-30)
        inside = np.clip(np.nan_to_num(values, nan=self.low), self.low, self.high)
        share = np.clip((inside - self.low) / span, 0, 1)
        return share**self.exponent

    def lookup(self, n: int = 256) -> np.ndarray:
        """Return n colours along the ramp, uint8 (n, 4), red, green, blue and opacity."""
        anchors = np.array([getcolor(colour, "RGBA") for colour in self.colours])
        stops = np.linspace(0, len(anchors) - 1, n)
        channels = [np.interp(stops, np.arange(len(anchors)), channel) for channel in anchors.T]
        return np.rint(np.stack(channels, 1)).astype(np.uint8)


def signed_ramp(values: np.ndarray) -> Ramp:
    """Return a diverging ramp, symmetric around 0, that ends at the 99.9th percentile of the absolute values."""
    finite = np.abs(values[np.isfinite(values)])
    high = float(np.quantile(finite, 0.999, method="higher")) if finite.size else 1.0
    return Ramp(BLUE_ORANGE, -(high or 1.0), high or 1.0, is_cut=bool((finite > high).any()))


def weights_ramp(n_keys: int, high: float = 1.0) -> Ramp:
    """Return the ramp of weights: sequential from 0, with the uniform weight 1/n marked.

    With many keys most weights are far below the largest; a root-like scale keeps the uniform weight visible.
    """
    uniform = 1 / max(n_keys, 1)
    high = max(high, 1.02 * uniform)
    ratio = uniform / high
    exponent = 1.0 if ratio > LINEAR_FROM else float(np.clip(np.log(UNIFORM_AT) / np.log(ratio), MIN_EXPONENT, 1))
    return Ramp(PINKS, 0.0, high, exponent, uniform, f"1/{n_keys}")


def ramp_for(role: Role, values: np.ndarray, n_keys: int) -> Ramp:
    """Return the ramp for a matrix of this role: weights and probabilities from 0, other values around 0."""
    if role == Role.WEIGHTS:
        return weights_ramp(n_keys, float(np.nanmax(values, initial=0.0)))
    if role == Role.OUTPUT and values.size and np.nanmin(values) >= 0:  # probabilities
        return Ramp(BLUE_ORANGE[2:], 0.0, float(np.nanmax(values)) or 1.0)
    return signed_ramp(values)


FONT_SIZE = 12  # screen pixels, of axes and colour bars, as on the pages
INK_RAMP, DARK_INK_RAMP = Ramp(INK_COLOURS, 0.0, 1.0), Ramp(DARK_INK_COLOURS, 0.0, 1.0)


def mix_with_white(colour: str, share: float) -> str:
    """Return a colour mixed with white: a share of 1 is the colour itself, 0 is white."""
    return "#" + "".join(f"{round(255 - share * (255 - int(colour[i : i + 2], 16))):02x}" for i in (1, 3, 5))


def is_dark(colours: np.ndarray) -> np.ndarray:
    """Return which colours, RGB (..., 3), have a contrast with white of 4.5 or more (WCAG 2.2)."""
    share = colours / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light @ np.array([0.2126, 0.7152, 0.0722]) < 1.05 / 4.5 - 0.05


def bar_ticks(ramp: Ramp) -> list[float]:
    """Return the numbers below a colour bar: its ends, and the reference value, or 0, between them."""
    reference = np.nan if ramp.reference is None else ramp.reference
    if 0.12 < ramp.position(np.array([reference]))[0] < 0.85:  # else the names overlap
        return [ramp.low, reference, ramp.high]
    return [ramp.low, 0.0, ramp.high] if ramp.low < 0 < ramp.high else [ramp.low, ramp.high]
