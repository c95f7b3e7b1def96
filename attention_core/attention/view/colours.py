"""The colours of roles, weights and signed numbers, and how weights become colours: once for Python and for scripts.

Scripts import them from colours.js, which is written from here and is no file.
"""

import json

from attention_core.attention.role import Role

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

PINK = "#d13b9b"
"""The weights' own hue, so that they are never mistaken for ink; it stands out from light and from dark paper."""
STRONGEST = 0.85  # opacity of the strongest colour: letters can be read on it
PINKS = (f"{PINK}00", f"{PINK}d9")
"""Sequential, for weights: from the page's own paper, light or dark, to a pink on which its letters can be read."""
DOWN, UP = "#2f79ad", "#b4610e"
"""Below and above 0."""
BELOW_ZERO, ABOVE_ZERO = ((f"{hue}00", f"{hue}85", f"{hue}d9") for hue in (DOWN, UP))
BLUE_ORANGE = (*BELOW_ZERO[::-1], *ABOVE_ZERO[1:])
"""Diverging, for signed values: 0 is the page's own paper, light or dark, and letters can be read on both ends."""
MASKED_COLOUR = "#9aa1aa55"  # of a cell without a value

CLEARNESS = 0.6  # exponent of the opacity of a map over a picture: no weight is clear, and small ones can still be seen
UNIFORM_AT = 0.3  # where on a ramp the weight of looking everywhere alike lies, if it is not linear
LINEAR_FROM, MIN_EXPONENT = 0.12, 0.25
"""A ramp is linear if the uniform weight is at least that share of its high end; else it has an exponent, not below."""
MIN_RANGE = 10
"""The strongest colour of one of many heads is at least so many times the uniform weight: else it stays dull."""


def colours_script() -> str:
    """Return colours.js, a module in one of the forms that assets.py reads."""
    constants = {
        "ROLE_COLOURS": ROLE_COLOURS,
        "PINK": PINK,
        "PINKS": PINKS,
        "BELOW_ZERO": BELOW_ZERO,
        "ABOVE_ZERO": ABOVE_ZERO,
        "MASKED_COLOUR": MASKED_COLOUR,
        "STRONGEST": STRONGEST,
        "CLEARNESS": CLEARNESS,
        "UNIFORM_AT": UNIFORM_AT,
        "LINEAR_FROM": LINEAR_FROM,
        "MIN_EXPONENT": MIN_EXPONENT,
        "MIN_RANGE": MIN_RANGE,
    }
    return "\n".join(f"export const {name} = {json.dumps(value)};" for name, value in constants.items())
