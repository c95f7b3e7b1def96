"""Figures in sentences: a number with what it counts, and a share that is never rounded to all or nothing."""

from decimal import Decimal


def format_count(n: int, name: str) -> str:
    """Return a number with what it counts, "1 query" or "225 regions"."""
    singular = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("es" if name.endswith("ches") else "s")
    return f"{n:,} {singular if n == 1 else name}"


NEGLIGIBLE = 1e-6
"""What is nearer to 1 counts as 1: sums of float32 are no more exact."""


def percent(share: float) -> str:
    """Return a share in whole percents, "83%", "<1%", ">99%": only 0 is "0%", only 1 "100%"."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if share > 0.99 and 1 - share >= NEGLIGIBLE else f"{share:z.0%}"


def fine_percent(share: float) -> str:
    """Return a share as a percentage of one or two figures, "83%", "3.8%", "99.6%", where small shares are compared."""
    left = 1 - share
    if 0 < share < 1e-6:
        return "less than 0.0001%"
    if 1e-6 <= share < 0.0995:
        return f"{Decimal(f'{100 * share:.{1 if share < 0.0095 else 2}g}'):f}%"
    if share >= 0.995 and left >= NEGLIGIBLE:
        return f"{100 - Decimal(f'{100 * left:.1g}'):f}%"
    return f"{share:z.0%}"
