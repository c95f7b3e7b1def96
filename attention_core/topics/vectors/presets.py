"""Problems to start from, each with a line that says what to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from attention_core.topics.vectors.problem import MAX_COLUMNS, MAX_ROWS, TABLES, Mode, Problem, Settings


@dataclass(frozen=True)
class ProblemPreset:
    """A problem with a name; mode, labels and settings as in Problem."""

    title: str  # in the list
    line: str  # what it shows, one or two sentences
    mode: Mode
    tables: tuple[str, ...]  # in the order of TABLES, with ; between their rows
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    step: str = "inputs"  # the step to open on

    def problem(self) -> Problem:
        rows = {name: text.split(";") for name, text in zip(TABLES[self.mode], self.tables, strict=True)}
        tables = {name: np.array([row.split() for row in texts], dtype=np.float64) for name, texts in rows.items()}
        return Problem(self.mode, tables, dict(self.labels), self.settings)


EYE = "1 0; 0 1"
PRESETS = {
    "pairs": ProblemPreset(
        "Three inputs, nine pairs",
        "Every pair gets a weight of its own, made from the inputs. A neuron has one weight per input, and none for a "
        "pair.",
        Mode.SELF,
        ("1 0.5; -0.5 1; 1 1.5", "1 0.5; 0 1", "0.5 -1; 1 0.5", EYE, EYE),
    ),
    "orthogonal": ProblemPreset(
        "Orthogonal keys",
        "A query along one key scores zero with the key at right angles, and gets nearly its own key's value alone: "
        "attention as a dictionary.",
        Mode.DIRECT,
        ("4 0; 0 4; 2 2", "2 0; 0 2", "1 0; 0 1"),
        {"Q": ("like k1", "like k2", "between")},
        step="weights",
    ),
    "equal": ProblemPreset(
        "Two equal keys",
        "k1 and k2 are the same, so no query can tell them apart: each gets the same weight. Drag one away to separate "
        "them.",
        Mode.DIRECT,
        ("2 1; -1 2", "1 1; 1 1; -1 0.5", "2 0; 0 2; -1 -1"),
        step="weights",
    ),
    "huge": ProblemPreset(
        "One huge key",
        "k3 is ten times as long as the others: the two queries that point its way see nothing else. Choose the score "
        "*cosine*, which knows no lengths, or a high temperature.",
        Mode.DIRECT,
        ("1 0.5; 0.5 1; -1 0.5", "1 0; 0 1; 8 6", "1 0; 0 1; 1 1"),
        step="weights",
    ),
    "unread": ProblemPreset(
        "A value that nobody reads",
        "No query points towards k4, so its weight is almost zero everywhere. Its value may be 100: the context hardly "
        "changes.",
        Mode.DIRECT,
        ("3 1; 2 2; 1 3", "2 0; 1 1; 0 2; -8 -8", "1 0; 0 1; 1 1; 100 -100"),
        step="context",
    ),
    "projections": ProblemPreset(
        "A projection turns the question",
        "Without projections every word would ask for its like. Here W_Q turns every question by a quarter: cat asks "
        "for sat, sat for mat, and mat for nobody.",
        Mode.SELF,
        ("2 0; 0 2; -2 0", "0 1; -1 0", EYE, EYE, EYE),
        {"X": ("cat", "sat", "mat")},
    ),
    "causal": ProblemPreset(
        "Causal",
        "A row may only look back, as in a model that writes from left to right. What comes later gets the weight 0, "
        "so that the first row can only look at itself.",
        Mode.SELF,
        ("1 0.5; -0.5 1; 1 1; 0.5 -1", "1 0.5; 0 1", "0.5 -1; 1 0.5", EYE, EYE),
        {"X": ("I", "saw", "a", "duck")},
        Settings(mask="causal"),
        step="mask",
    ),
    "cross": ProblemPreset(
        "Cross-attention",
        "Two rows ask, four others are asked. They need not be equally many or equally wide: W_Q and W_K only have to "
        "lead to the same number of columns.",
        Mode.CROSS,
        ("1 0 2; 0 1 -1", "2 0; 0 2; 1 1; -1 1", "1 0; 0 1; 0.5 0.5", EYE, EYE, "1 0 0; 0 1 0"),
        {"X": ("le", "chat"), "Y": ("the", "small", "black", "cat")},
    ),
}
"""Name in the address -> preset. One more comes from the digit page's model: pixel_problem."""

PIXELS = "pixels"
PIXELS_TITLE = "Three pixels of a digit"
PIXELS_LINE = (
    "Three pixels of a drawn digit, with the queries, keys and values that the trained model made of them. Their nine "
    "scores are nine cells of the digit page's 784 × 784."
)


def pixel_problem(query: np.ndarray, key: np.ndarray, value: np.ndarray, positions: Sequence[int]) -> Problem:
    """Return the pixels at some positions of the digit model's layer, (n_pixels, d), as a problem in DIRECT mode."""
    chosen, parts = list(positions), zip("QKV", (query, key, value), strict=True)
    tables = {name: np.round(part[chosen].astype(np.float64), 4) for name, part in parts}
    return Problem(Mode.DIRECT, tables, dict.fromkeys("QKV", tuple(f"pixel {place + 1}" for place in chosen)))


def spread_positions(ink: np.ndarray) -> list[int]:
    """Return three ink pixels spread along a drawing, from its first row to its last, as positions in reading order."""
    inked = np.flatnonzero(ink.ravel() > 0.9)
    if len(inked) < 3:
        inked = np.argsort(ink.ravel(), kind="stable")[-3:]
    return sorted(int(place) for place in inked[np.linspace(0, len(inked) - 1, 3).round().astype(int)])


def _sizes(inputs: dict[str, tuple[str, str]], d_asked: str) -> dict[str, tuple[str, str]]:
    projections = {"W_Q": ("d_model", "d_k"), "W_K": (d_asked, "d_k"), "W_V": (d_asked, "d_v")}
    return {"X": ("n_queries", "d_model"), **inputs, **projections, "W_O": ("d_v", "d_model")}


SIZES: dict[Mode, dict[str, tuple[str, str]]] = {
    Mode.SELF: _sizes({}, "d_model"),
    Mode.CROSS: _sizes({"Y": ("n_keys", "d_memory")}, "d_memory"),
    Mode.DIRECT: {"Q": ("n_queries", "d_k"), "K": ("n_keys", "d_k"), "V": ("n_keys", "d_v")},
}
"""Mode -> table -> what its rows and its columns count; tables that share a size change together."""


def resize_cells(
    cells: Sequence[Sequence[str]], n_rows: int, n_columns: int, identity: bool = False
) -> list[list[str]]:
    """Return a table of texts with other numbers of rows and columns; what was typed stays.

    New cells are 0, but for 1 on the diagonal of an identity (projections).
    """
    n_rows, n_columns = min(max(n_rows, 1), MAX_ROWS), min(max(n_columns, 1), MAX_COLUMNS)
    resized = [["1" if identity and row == column else "0" for column in range(n_columns)] for row in range(n_rows)]
    for new, old in zip(resized, cells, strict=False):
        new[: len(old)] = old[:n_columns]
    return resized


def in_mode(problem: Problem, mode: Mode) -> Problem:
    """Return the problem in another mode, keeping every table that fits and deriving the others from it.

    Going to given Q, K, V takes the projections' results; going back takes Q (or K) as inputs and identities as
    projections, so that the numbers of the attention stay what they were where they can.
    """
    mode, old = Mode(mode), Mode(problem.mode)
    if mode == old:
        return problem
    tables, labels = dict(problem.tables), dict(problem.labels)
    if mode == Mode.DIRECT:
        asks, asked = tables[problem.query_table], tables[problem.key_table]
        tables |= {"Q": asks @ tables["W_Q"], "K": asked @ tables["W_K"], "V": asked @ tables["W_V"]}
        labels |= {"Q": problem.row_labels(problem.query_table), "K": problem.row_labels(problem.key_table)}
    elif old == Mode.DIRECT:
        asks, asked, values = tables["Q"], tables["K"], tables["V"]
        joined = asked if mode == Mode.CROSS else asks
        d_k, d_v = asks.shape[1], values.shape[1]
        tables |= {"X": asks, "W_Q": np.eye(d_k), "W_K": np.eye(joined.shape[1], d_k)}
        tables |= {"W_V": np.eye(joined.shape[1], d_v), "W_O": np.eye(d_v, d_k)}
        labels |= {"X": problem.row_labels("Q")}
        if mode == Mode.CROSS:
            tables["Y"], labels["Y"] = asked, problem.row_labels("K")
    elif mode == Mode.CROSS:
        tables["Y"], labels["Y"] = tables["X"].copy(), problem.row_labels("X")
    else:
        width = tables["X"].shape[1]
        if width != tables["Y"].shape[1]:
            tables |= {name: np.eye(width, tables[name].shape[1]) for name in ("W_K", "W_V")}
    return Problem(mode, tables, labels, problem.settings, problem.drawn)
