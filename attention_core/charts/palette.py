"""Colours: one per role (Okabe and Ito 2008, safe for colour-blind eyes) and ramps for matrices."""

from dataclasses import dataclass

import numpy as np

from attention_core.attention.types import Role

ROLE_COLOURS = {
    Role.INPUT: "#6B7785",
    Role.QUERY: "#0072B2",
    Role.KEY: "#E69F00",
    Role.VALUE: "#009E73",
    Role.SCORES: "#56B4E9",
    Role.WEIGHTS: "#CC79A7",
    Role.CONTEXT: "#D55E00",
    Role.OUTPUT: "#6B7785",
}
CHOSEN = ROLE_COLOURS[Role.QUERY]  # frames around what is chosen: it asks, or is asked about

VIRIDIS = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c",
    "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip
"""For weights and everything else from 0 upwards. Source: van der Walt and Smith 2015."""
BLUE_ORANGE = (
    "#134b73", "#2a6f9e", "#5b97c0", "#98bfd9", "#cfdfe9", "#f4f2ee",
    "#f5dcbf", "#f0b97c", "#df8f3b", "#b9691a", "#7c4511",
)  # fmt: skip
"""For signed values, 0 in the middle."""
INK = ("#ffffff", "#e3e5e8", "#b9bec5", "#858d98", "#515a66", "#1b1f24")
"""For pictures: paper to ink, in grey, so that ink is never mistaken for attention."""
GREY, FAINT = "#8a93a0", "#8a93a066"  # rules and small words; thin edges around pictures
WORDS, LABELS = "#7d8794", "#747b86"
"""Greys between a light and a dark page; ui/assets/pages/readable.css makes words in them readable on both."""
DARK, MASKED = "#050607", "#9aa1aa"
"""Numbers on bright cells, dark enough to be read on those that are half bright, and frames of chosen ones; cells
without a value."""


@dataclass(frozen=True)
class Ramp:
    """How values become colours."""

    colours: tuple[str, ...]  # from the lowest to the highest value
    low: float
    high: float
    exponent: float = 1.0  # below 1 spreads small values: colour = ((value - low) / (high - low)) ** exponent
    reference: float | None = None  # a value to mark on the colour bar, such as the uniform weight
    reference_label: str = ""
    is_cut: bool = False  # whether there are values beyond the ends, which then say so

    def position(self, values: np.ndarray) -> np.ndarray:
        """Return where on the ramp the values lie, 0 to 1; values beyond the ends are put there."""
        span = max(self.high - self.low, 1e-30)
        inside = np.clip(np.nan_to_num(values, nan=self.low), self.low, self.high)
        share = np.clip((inside - self.low) / span, 0, 1)
        return share**self.exponent

    def lookup(self, n: int = 256) -> np.ndarray:
        anchors = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in self.colours])
        where = np.linspace(0, len(anchors) - 1, n)
        channels = [np.interp(where, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
        return np.rint(np.stack(channels, 1)).astype(np.uint8)


def signed_ramp(values: np.ndarray) -> Ramp:
    """Return a diverging ramp, symmetric around 0; of many values the largest thousandth saturates."""
    finite = np.abs(values[np.isfinite(values)])
    high = float(np.quantile(finite, 0.999, method="higher")) if finite.size else 1.0
    return Ramp(BLUE_ORANGE, -(high or 1.0), high or 1.0, is_cut=bool((finite > high).any()))


def weights_ramp(n_keys: int, high: float = 1.0) -> Ramp:
    """Return the ramp of weights: sequential from 0, with the uniform weight 1/n marked.

    Many keys share 1 among them, so that most weights are far below the largest; the square-root-like scale keeps
    the uniform weight visible beside it.
    """
    uniform = 1 / max(n_keys, 1)
    high = max(high, 1.02 * uniform)
    ratio = uniform / high
    exponent = 1.0 if ratio > 0.12 else float(np.clip(np.log(0.3) / np.log(ratio), 0.25, 1))
    return Ramp(VIRIDIS, 0.0, high, exponent, uniform, f"1/{n_keys}")


def ramp_for(role: Role, values: np.ndarray, n_keys: int) -> Ramp:
    """Return the ramp that a matrix of this role wears: weights and ink from 0, everything else around 0."""
    if role == Role.WEIGHTS:
        return weights_ramp(n_keys, float(np.nanmax(values, initial=0.0)))
    if role == Role.OUTPUT and values.size and np.nanmin(values) >= 0:  # probabilities
        return Ramp(VIRIDIS, 0.0, float(np.nanmax(values)) or 1.0)
    return signed_ramp(values)


INK_RAMP = Ramp(INK, 0.0, 1.0)


def mixed(colour: str, share: float) -> str:
    """Return so much of a colour on white paper, the rest being paper."""
    return "#" + "".join(f"{round(255 - share * (255 - int(colour[at : at + 2], 16))):02x}" for at in (1, 3, 5))
