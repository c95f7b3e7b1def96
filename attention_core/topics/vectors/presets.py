"""Problems to start from, each with a line that says what to look at."""

from dataclasses import dataclass, field, replace

import numpy as np

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
