"""Figures in sentences: a number with what it counts, and a share that is never rounded to all or nothing."""


def counted(n: int, name: str) -> str:
    """Return a number with what it counts, "1 query" or "225 regions"."""
    one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("es" if name.endswith("ches") else "s")
    return f"{n:,} {one if n == 1 else name}"


def percent(share: float) -> str:
    """Return a share as a percentage, "83%"; one that would be rounded to 0% or 100% has a decimal, "99.6%"."""
    whole = f"{share:.0%}"
    return f"{share:.1%}".replace(".0%", "%") if whole in ("0%", "100%") else whole
