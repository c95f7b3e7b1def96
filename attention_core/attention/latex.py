"""Numbers as short LaTeX, for formulas with the present values filled in."""

import math
from collections.abc import Iterable

from torch import Tensor

MANY = 4  # products written out before the dots


def number(value: float) -> str:
    """Return a number as short LaTeX: three significant digits, powers of ten where needed."""
    if value == 0 or 0.001 <= abs(value) < 999.5:
        return f"{value:.3g}"
    if 999.5 <= abs(value) < 100_000:
        return f"{value:.0f}"
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty"
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def products(left: Tensor, right: Tensor) -> str:
    """Return the products of two vectors (d,) and the plus signs between them."""
    return terms(rf"{_signed(a)} \cdot {_signed(b)}" for a, b in zip(left.tolist(), right.tolist(), strict=True))


def terms(written: Iterable[str]) -> str:
    shown = list(written)
    return " + ".join(shown[:MANY]) + (r" + \dots" if len(shown) > MANY else "")


def _signed(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)
