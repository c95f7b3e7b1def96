"""Problems to start from, experiments with one of them, and arrows in a plane, each with what to look at."""

from dataclasses import dataclass, field, replace

import numpy as np

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.vectors.problem import Problem, Settings


@dataclass(frozen=True)
class ProblemPreset:
    """A problem with a name; labels and settings as in Problem."""

    title: str  # in the list
    line: str  # what it shows, one or two sentences
    tables: dict[str, str]  # with ; between their rows
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    step: str = "inputs"  # the step to open on
    before: dict[str, str] = field(default_factory=dict)  # tables that stood there before something was moved

    def problem(self) -> Problem:
        return Problem(_read(self.tables), self.labels, self.settings)

    def problem_before(self) -> Problem:
        """Return the problem before something was moved: what changed is told since then."""
        return replace(self.problem(), tables=_read(self.tables | self.before))


def _read(tables: dict[str, str]) -> dict[str, np.ndarray]:
    rows = {name: text.split(";") for name, text in tables.items()}
    return {name: np.array([row.split() for row in texts], dtype=np.float64) for name, texts in rows.items()}


EYE = "1 0; 0 1"
PRESETS = {
    "pairs": ProblemPreset(
        "Three inputs, nine pairs",
        "Here x1 was moved. A neuron has one weight for each number that comes in, and keeps it.",
        {"X": "1 0.5; -0.5 1; 1 1.5", "W_Q": "1 0.5; 0 1", "W_K": "0.5 -1; 1 0.5", "W_V": EYE, "W_O": EYE},
        before={"X": "-1.5 0.5; -0.5 1; 1 1.5"},
    ),
    "equal": ProblemPreset(
        "Two equal keys",
        "k1 and k2 are the same, so every query gives them the same weight. Drag one away.",
        {"Q": "2 1; -1 2", "K": "1 1; 1 1; -1 0.5", "V": "2 0; 0 2; -1 -1"},
        step="weights",
    ),
    "huge": ProblemPreset(
        "One huge key",
        "k3 is ten times as long as the others, and two queries see nothing else. Change the score to *cosine*.",
        {"Q": "1 0.5; 0.5 1; -1 0.5", "K": "1 0; 0 1; 8 6", "V": "1 0; 0 1; 1 1"},
        step="weights",
    ),
    "projections": ProblemPreset(
        "A projection turns the question",
        "Without W_Q every word would ask for its like. Here *cat* asks for *sat*, and *sat* for *mat*.",
        {"X": "2 0; 0 2; -2 0", "W_Q": "0 1; -1 0", "W_K": EYE, "W_V": EYE, "W_O": EYE},
        {"X": ("cat", "sat", "mat")},
    ),
    "causal": ProblemPreset(
        "Causal",
        "A row only looks back, as in a model that writes. The first word can only look at itself.",
        {"X": "1 0.5; -0.5 1; 1 1; 0.5 -1", "W_Q": "1 0.5; 0 1", "W_K": "0.5 -1; 1 0.5", "W_V": EYE, "W_O": EYE},
        {"X": ("I", "saw", "a", "duck")},
        Settings(causal=True),
        step="mask",
    ),
    "graph": ProblemPreset(
        "A graph",
        "Five nodes; dotted lines are edges. A node sees itself and its neighbours alone: with such a mask attention "
        "works on any graph.",
        {"X": "-1.6 0.5; -1.2 -1.2; 0.3 1.6; 1.6 0.6; 1.2 -1.2", "W_Q": EYE, "W_K": EYE, "W_V": EYE, "W_O": EYE},
        {"X": ("Ann", "Ben", "Cleo", "Dan", "Eve")},
        Settings(edges=[12, 13, 23, 34, 45]),
        step="mask",
    ),
    "cross": ProblemPreset(
        "Cross-attention",
        "Two words ask, four others are asked. They may have other widths.",
        {
            **{"X": "1 0 2; 0 1 -1", "Y": "2 0; 0 2; 1 1; -1 1", "W_Q": "1 0; 0 1; 0.5 0.5"},
            **{"W_K": EYE, "W_V": EYE, "W_O": "1 0 0; 0 1 0"},
        },
        {"X": ("le", "chat"), "Y": ("the", "small", "black", "cat")},
    ),
}
"""Name in the address -> preset."""


MOST_ARROWS = 8
"""Vectors that still can be told apart in a plane."""


def planar_tables(problem: Problem) -> list[str]:
    """Return the tables whose rows can be drawn as arrows in a plane: X, or Q and K, or those of them that can."""
    names = dict.fromkeys((problem.query_table, problem.key_table))
    tables = [name for name in names if problem.tables[name].shape[1] == 2]
    return tables if sum(len(problem.tables[name]) for name in tables) <= MOST_ARROWS else []


def pair_map(problem: Problem, trace: AttentionTrace) -> np.ndarray | None:
    """Return M (d_x, d_y) with scores = x M yᵀ for rows x that ask and y that are asked; None = no dot product."""
    factor = trace.score.dot_factor(trace.key.shape[-1])
    if factor is None:
        return None
    if problem.is_direct:
        return factor * np.eye(problem.tables["Q"].shape[1])
    return factor * problem.tables["W_Q"] @ problem.tables["W_K"].T


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
