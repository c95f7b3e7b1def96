"""A small network of neurons."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class FeedForward:
    """One neuron, w1 x1 + w2 x2 + ..., or a layer of them that another neuron adds up."""

    weights: np.ndarray  # (n_units, n, d) one weight per number of each of n inputs
    second: np.ndarray | None = None  # (n_units,) of the neuron that adds the units up; None = there is one unit
    bends: bool = False  # whether each neuron sends its sum through a tanh

    def units(self, inputs: np.ndarray) -> np.ndarray:
        """Return what the neurons of the first layer say of inputs (n, d), (n_units,)."""
        return self._bent((self.weights * inputs).sum((1, 2)))

    def answer(self, inputs: np.ndarray) -> float:
        units = self.units(inputs)
        return float(units[0] if self.second is None else self._bent(units @ self.second))

    def effect(self, inputs: np.ndarray, first: int, without: int | None = None) -> float:
        """Return what an input adds to the answer: with it minus with zeros in its place; another may be zeros too."""
        kept = inputs.copy()
        if without is not None:
            kept[without] = 0
        alone = kept.copy()
        alone[first] = 0
        return self.answer(kept) - self.answer(alone)

    def mixed_effect(self, inputs: np.ndarray, first: int, second: int) -> float:
        """Return how much of one input's effect hangs on another; exactly 0 where nothing bends.

        Rounded to 12 decimals: sums in another order differ below.
        """
        return round(self.effect(inputs, first) - self.effect(inputs, first, second), 12) + 0.0

    def _bent(self, sums: np.ndarray) -> np.ndarray:
        return np.tanh(sums) if self.bends else sums


def feed_forward(n: int, d: int, *, bends: bool, deep: bool) -> FeedForward:
    """Return a network for n inputs of d numbers with plain fixed weights; deep = in two layers."""
    n_units = 2 if deep else 1
    weights = np.round(0.9 * np.cos(1.7 * np.arange(n_units * n * d) + 0.4), 1).reshape(n_units, n, d) + 0.0
    return FeedForward(weights, np.array([1.2, -0.8]) if deep else None, bends)
