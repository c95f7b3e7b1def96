"""What attention over pixels is worth: test accuracies of the notes' layer beside its controls, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

N_TEST = 10_000
"""Test digits that the accuracies are measured on."""


class Worth(NamedTuple):
    """How well a model reads.

    Attributes:
        right: share of the test digits that it reads right.
        uniform: the same with uniform weights in the trained model; None where it has no attention.
    """

    right: float
    uniform: float | None

    @classmethod
    def of(cls, card: Mapping[str, Any]) -> Worth:
        return cls(card["test_accuracy"], card.get("test_accuracy_with_uniform_attention"))


def error_of_difference(one: float, other: float) -> float:
    """Return the standard error of the difference of two shares, each of N_TEST digits."""
    return math.sqrt((one * (1 - one) + other * (1 - other)) / N_TEST)


def verdict(worth: Mapping[str, Worth]) -> str:
    """Say how much work attention did: the plain layer against the network alone, within two standard errors.

    worth has "pixel-notes" and "pixel-notes-alone".
    """
    plain, alone = worth["pixel-notes"], worth["pixel-notes-alone"]
    gain = plain.right - alone.right
    figures = f"with attention {plain.right:.1%} of the test digits are read right, without any {alone.right:.1%}"
    if abs(gain) <= 2 * error_of_difference(plain.right, alone.right):
        return (
            f"**Attention did next to none of the work**: {figures}, a difference that chance alone could make. The "
            "network on top sees every pixel's ink in its place in any case, and passes the attention by."
        )
    if gain < 0:
        return (
            f"**Attention cost more than it gave**: {figures}. The network on top sees every pixel's ink in its place "
            "in any case; mixing the pixels before it only blurs them."
        )
    share = gain / (1 - alone.right)
    part = "a small" if share < 1 / 3 else "a good"
    return (
        f"**Attention did {part} part of the work**: {figures}; it takes away {share:.0%} of the errors. The rest is "
        "done by the network on top, which sees every pixel's ink in its place in any case."
    )
