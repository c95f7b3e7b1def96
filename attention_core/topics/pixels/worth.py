"""What attention over pixels is worth: test accuracies of the notes' layer beside its controls, in one sentence."""

import math

N_TEST = 10_000
"""Test digits that the accuracies are measured on."""


def error_of_difference(one: float, other: float) -> float:
    """Return the standard error of the difference of two shares, each of N_TEST digits."""
    return math.sqrt((one * (1 - one) + other * (1 - other)) / N_TEST)


def verdict(plain: float, alone: float) -> str:
    """Say how much work attention did: the plain layer against the network alone, within two standard errors.

    Given are the shares of the test digits that each reads right.
    """
    gain = plain - alone
    figures = f"with attention {plain:.1%} of the test digits are read right, without any {alone:.1%}"
    if abs(gain) <= 2 * error_of_difference(plain, alone):
        return (
            f"**Attention did next to none of the work**: {figures}, a difference that chance alone could make. The "
            "network on top sees every pixel's ink in its place in any case, and passes the attention by."
        )
    if gain < 0:
        return (
            f"**Attention cost more than it gave**: {figures}. The network on top sees every pixel's ink in its place "
            "in any case; mixing the pixels before it only blurs them."
        )
    share = gain / (1 - alone)
    part = "a small" if share < 1 / 3 else "a good"
    return (
        f"**Attention did {part} part of the work**: {figures}; it takes away {share:.0%} of the errors. The rest is "
        "done by the network on top, which sees every pixel's ink in its place in any case."
    )
