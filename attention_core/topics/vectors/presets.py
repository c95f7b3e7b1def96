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


EYE, EYE_3 = "1 0; 0 1", "1 0 0; 0 1 0; 0 0 1"
PRESETS = {
    "pairs": ProblemPreset(
        "Three inputs, nine pairs",
        "Three inputs make nine ordered pairs, and each pair gets a cell of its own. A feed-forward neuron has one "
        "weight per input and none for any pair.",
        Mode.SELF,
        ("1 0.5; -0.5 1; 1 1.5", "1 0.5; 0 1", "0.5 -1; 1 0.5", EYE, EYE),
    ),
    "orthogonal": ProblemPreset(
        "Orthogonal keys",
        "Keys at right angles do not disturb each other: a query along one key scores zero with all the others and "
        "gets nearly that key's value alone. Attention as a dictionary.",
        Mode.DIRECT,
        ("4 0 0; 0 4 0; 2 2 0", "2 0 0; 0 2 0; 0 0 2", "1 0; 0 1; -1 -1"),
        {"Q": ("like k1", "like k2", "between")},
        step="weights",
    ),
    "equal": ProblemPreset(
        "Two equal keys",
        "k1 and k2 are the same, so no query can tell them apart: they share its attention equally, and what comes "
        "back is the mean of their values. Change one number of k2 to separate them.",
        Mode.DIRECT,
        ("2 1; -1 2", "1 1; 1 1; -1 0.5", "2 0; 0 2; -1 -1"),
        step="weights",
    ),
    "huge": ProblemPreset(
        "One huge key",
        "k3 is ten times as long as the others. The softmax saturates: every query that points its way sees nothing "
        "else. Cosine scores do not know lengths; a high temperature helps too.",
        Mode.DIRECT,
        ("1 0.5; 0.5 1; -1 0.5", "1 0; 0 1; 8 6", "1 0; 0 1; 1 1"),
        step="weights",
    ),
    "unread": ProblemPreset(
        "A value that nobody reads",
        "No query points towards k4, so its weight is almost zero everywhere: its value may be 100 and the context "
        "hardly changes. Edit v4, then look at what the last edit changed.",
        Mode.DIRECT,
        ("3 1; 2 2; 1 3", "2 0; 1 1; 0 2; -8 -8", "1 0; 0 1; 1 1; 100 -100"),
        step="context",
    ),
    "projections": ProblemPreset(
        "Without projections",
        "Without projections the scores are X Xᵀ: symmetric, and every row mostly meets itself. Projections make "
        "Q Kᵀ: who looks at whom is no longer the same both ways, and a row need not look at itself.",
        Mode.SELF,
        ("2 0 0; 0 2 0; 0 0 2; 1 1 0", "0 1 0; 0 0 1; 1 0 0", EYE_3, EYE_3, EYE_3),
        {"X": ("cat", "sat", "mat", "both")},
    ),
    "causal": ProblemPreset(
        "Causal",
        "A row may only look back, as in a model that writes from left to right: scores above the diagonal become "
        "minus infinity, their weights exactly zero, and the first row can only look at itself.",
        Mode.SELF,
        (
            "1 0 1; 0 1 1; 1 1 0; 0.5 -1 1",
            "1 0; 0 1; 0.5 0.5",
            "0 1; 1 0; 0.5 -0.5",
            "1 0; 0 1; -1 1",
            "1 0 0.5; 0 1 -0.5",
        ),
        {"X": ("I", "saw", "a", "duck")},
        Settings(mask="causal"),
        step="mask",
    ),
    "cross": ProblemPreset(
        "Cross-attention",
        "Two rows ask, four other rows are asked, and they need not be equally many or equally wide: the weights are "
        "2 × 4. W_Q and W_K only have to lead to the same number of columns.",
        Mode.CROSS,
        ("1 0 2; 0 1 -1", "2 0; 0 2; 1 1; -1 1", "1 0; 0 1; 0.5 0.5", EYE, EYE, "1 0 0; 0 1 0"),
        {"X": ("le", "chat"), "Y": ("the", "small", "black", "cat")},
    ),
}
"""Name in the address -> preset. One more comes from the digit page's model: pixel_problem."""

PIXELS = "pixels"
PIXELS_TITLE = "Three pixels of a digit"
PIXELS_LINE = (
    "x1, x2 and x3 are now three pixels of a drawn digit, with the queries, keys and values that the trained model "
    "made of them. Their nine scores are nine cells of the digit page's 784 × 784."
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


def randomised(problem: Problem, seed: int) -> Problem:
    """Return the problem with every table that is read replaced by normal random numbers, two decimals.

    Projections are divided by the root of their rows, so that the scores keep a readable size.
    """
    random = np.random.default_rng(seed)
    tables = dict(problem.tables)
    for name in TABLES[Mode(problem.mode)]:
        shape = tables[name].shape
        width = np.sqrt(shape[0]) if name.startswith("W") else 1.0
        tables[name] = np.round(random.normal(size=shape) / width, 2) + 0.0
    return Problem(problem.mode, tables, problem.labels, problem.settings, problem.drawn)


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
