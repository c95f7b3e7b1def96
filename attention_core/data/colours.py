"""The eleven basic colour names and what counts as each, in hue, saturation and value.

Source: the names, Berlin and Kay 1969, "Basic color terms". Between the ranges are colours that have no clear name.
"""

import colorsys
from typing import NamedTuple

import torch
from torch import Tensor


class Range(NamedTuple):
    """A box in hue (degrees), saturation and value, whose colours people call by one name."""

    name: str  # the colour's
    hue: tuple[float, float]  # first and last; below 0 wraps around
    saturation: tuple[float, float]  # least and most
    value: tuple[float, float]  # least and most


COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "grey", "black", "white")
RANGES = (
    Range("red", (-10, 8), (0.68, 1), (0.68, 1)),
    Range("orange", (22, 42), (0.75, 1), (0.85, 1)),
    Range("yellow", (48, 62), (0.5, 1), (0.82, 1)),
    Range("green", (85, 165), (0.4, 1), (0.35, 0.95)),
    Range("blue", (198, 242), (0.55, 1), (0.5, 1)),
    Range("purple", (262, 288), (0.35, 1), (0.4, 0.9)),
    Range("purple", (288, 302), (0.5, 1), (0.35, 0.65)),
    Range("pink", (315, 352), (0.2, 0.6), (0.85, 1)),
    Range("pink", (318, 334), (0.6, 0.95), (0.88, 1)),
    Range("brown", (8, 34), (0.45, 0.9), (0.3, 0.58)),
    Range("grey", (0, 360), (0, 0.08), (0.42, 0.68)),
    Range("black", (0, 360), (0, 0.3), (0, 0.18)),
    Range("white", (0, 360), (0, 0.06), (0.92, 1)),
)
FREQUENCY = {"red": 3, "orange": 2, "yellow": 2, "green": 3, "blue": 3, "purple": 2, "black": 2}
"""How often a colour is drawn, where it is not 1."""
PEN = {
    "red": "#D62728",
    "orange": "#F28E1C",
    "yellow": "#F2C80F",
    "green": "#2CA02C",
    "blue": "#1F5FD0",
    "purple": "#8E3FB5",
    "pink": "#F58AC0",
    "brown": "#7A4A21",
    "grey": "#808080",
    "black": "#15191E",
    "white": "#FFFFFF",
}
"""A colour of each name to draw with."""


def to_rgb(hsv: Tensor) -> Tensor:
    """Return RGB in [0, 1] of hue (degrees), saturation and value, (..., 3) -> (..., 3).

    Source: Smith 1978, "Color gamut transform pairs".
    """
    hue, saturation, value = hsv.unbind(-1)
    sector = (torch.tensor([5.0, 3.0, 1.0]) + (hue / 60)[..., None]) % 6
    chroma = torch.minimum(sector, 4 - sector).clamp(0, 1)
    return value[..., None] * (1 - saturation[..., None] * chroma)


def random_colours(names: Tensor, generator: torch.Generator) -> Tensor:
    """Return a random RGB colour in [0, 1] for each name, int64 (...) -> float (..., 3)."""
    n_ranges = torch.tensor([sum(box.name == name for box in RANGES) for name in COLOURS])
    first = torch.tensor([[box.name for box in RANGES].index(name) for name in COLOURS])
    pick = (torch.rand(names.shape, generator=generator) * n_ranges[names]).long()
    bounds = torch.tensor([[box.hue, box.saturation, box.value] for box in RANGES])[first[names] + pick]
    share = torch.rand(*names.shape, 3, generator=generator)
    return to_rgb(bounds[..., 0] + share * (bounds[..., 1] - bounds[..., 0]))


def nearest_names(rgb: Tensor, n: int = 2) -> list[tuple[str, float]]:
    """Return the n names whose pen colours are nearest to a colour (3,) in [0, 1], with their distances in RGB."""
    pens = torch.stack([hex_to_rgb(PEN[name]) for name in COLOURS])
    distances = (pens - rgb).square().sum(1).sqrt()
    return [(COLOURS[index], float(distances[index])) for index in distances.argsort()[:n].tolist()]


def to_lab(rgb: Tensor) -> Tensor:
    """Return CIE L*a*b*, in which equal distances look alike, of sRGB in [0, 1], (..., 3) -> (..., 3).

    Sources: IEC 61966-2-1 (sRGB); ISO/CIE 11664-4 (L*a*b*), with white as D65.
    """
    light = torch.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = rgb.new_tensor([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = ((light @ to_xyz.T) / to_xyz.sum(1)).unbind(-1)
    x, y, z = (torch.where(share > 216 / 24389, share ** (1 / 3), share * 841 / 108 + 4 / 29) for share in (x, y, z))
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


def name_colour(rgb: Tensor) -> str:
    """Return the name whose pen colour looks most like a colour (3,) in [0, 1]."""
    pens = torch.stack([hex_to_rgb(PEN[name]) for name in COLOURS])
    return COLOURS[int((to_lab(pens) - to_lab(rgb)).square().sum(1).argmin())]


def hex_to_rgb(ink: str) -> Tensor:
    """Return an ink, "#rrggbb", as RGB (3,) in [0, 1]."""
    return torch.tensor([int(ink[start : start + 2], 16) / 255 for start in (1, 3, 5)])


def colour_name(ink: str) -> str | None:
    """Return what people call an ink, "#rrggbb", or None when it lies between two named colours."""
    hue, saturation, value = colorsys.rgb_to_hsv(*hex_to_rgb(ink).tolist())
    for box in RANGES:
        (low, high), degrees = box.hue, 360 * hue
        inside = low <= degrees <= high or low <= degrees - 360 <= high
        if inside and _within(saturation, box.saturation) and _within(value, box.value):
            return box.name
    return None


def _within(share: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] - 0.005 <= share <= bounds[1] + 0.005
