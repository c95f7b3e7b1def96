"""What a model expects, in words."""

from __future__ import annotations

import math

from attention_core.pretrained.language import Expected


def rest_words(found: Expected) -> str:
    """Return what is beyond the likeliest tokens, and how unsure the model is, in words."""
    as_many = 2**found.entropy
    unsure = f"As unsure as between {as_many:,.0f} equally likely ones" if as_many >= 1.95 else "Almost sure"
    return f"The other {found.n_rest:,} tokens together: {percent(found.rest)}. {unsure} ({found.entropy:.1f} bits)."


def percent(share: float) -> str:
    """Return a probability for people."""
    if not math.isfinite(share):
        return "nothing"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}" if share >= 0.0005 else "under 0.1%"
