"""An attention problem of small tables that a person types, and its trace with every step."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.scores import SCORES, Scaled, Score
from attention_core.attention.steps import projection_origins, projection_steps
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import NO_ORIGIN, Axis, Role, Step, Story, always, change, product, read_texts
from attention_core.files import find_file

MAX_ROWS, MAX_COLUMNS = 6, 6
"""The largest tables of which a page draws every pair, with a number in every cell."""
LARGEST = 1000.0
"""The largest absolute value of a number in a link or a table."""


@dataclass(frozen=True)
class Settings:
    """Everything about a problem that is not a table."""

    scoring: str = "dot"  # one of SCORES; its parameters are identities and ones
    scaled: bool = True  # whether scores are divided by sqrt(d_k)
    temperature: float = 1.0  # above 0
    causal: bool = False  # whether a row sees only itself and those before it
    softmax: bool = True  # whether weights are the softmax of the scores, else the scores themselves
    # of a graph over the rows of X, whose nodes see themselves and their neighbours: 12 joins rows 1 and 2; none = all
    edges: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Problem:
    """The tables of an attention: Q, K and V; or X with projections, for self-attention or, with Y, cross-attention."""

    tables: Mapping[str, np.ndarray]  # name -> float64 (n_rows, n_columns), see table_dimensions
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # table -> one text per row
    settings: Settings = field(default_factory=Settings)

    @property
    def is_direct(self) -> bool:
        return "Q" in self.tables

    @property
    def query_table(self) -> str:
        return "Q" if self.is_direct else "X"

    @property
    def key_table(self) -> str:
        return "K" if self.is_direct else "Y" if "Y" in self.tables else "X"

    def row_labels(self, table: str) -> tuple[str, ...]:
        """Return the labels of a table's rows; x1, x2, ... for those without one."""
        labels = self.labels.get(table, ())
        unlabelled = range(len(labels), len(self.tables[table]))
        return (*labels[: len(self.tables[table])], *(f"{table.lower()}{row + 1}" for row in unlabelled))

    def score(self) -> Score:
        """Return the scoring function with its scale and temperature."""
        sizes, score = sizes_of(self.tables), SCORES[self.settings.scoring]
        n_keys = sizes.get("n_keys", sizes["n_queries"])
        base = score(*score.plain_parameters(sizes["d_k"], sizes["d_k"], n_keys).values())
        temperature = None if self.settings.temperature == 1 else self.settings.temperature
        if temperature is None and not self.settings.scaled:
            return base
        return Scaled(base, None if self.settings.scaled else 1.0, temperature)


def neighbours(problem: Problem) -> list[tuple[int, int]]:
    """Return the edges between rows of X, as pairs of rows from 0; none in cross-attention."""
    n = len(problem.tables["X"]) if problem.key_table == "X" else 0
    pairs = [divmod(edge, 10) for edge in problem.settings.edges]
    return [(first - 1, second - 1) for first, second in pairs if 0 < first < second <= n]


def mask_of(problem: Problem) -> Tensor | None:
    """Return the mask, bool (n_queries, n_keys), True = may attend; None where every query may attend to every key."""
    n_queries, n_keys = (len(problem.tables[name]) for name in (problem.query_table, problem.key_table))
    edges, mask = neighbours(problem), torch.ones(n_queries, n_keys, dtype=torch.bool)
    if not (edges or problem.settings.causal):
        return None
    if edges:
        mask = torch.eye(n_queries, dtype=torch.bool)
        for first, second in edges:
            mask[first, second] = mask[second, first] = True
    return mask.tril() if problem.settings.causal else mask


def table_dimensions(tables: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return, by the names of the tables that a problem needs, the names of their two dimensions."""
    if "Q" in tables:
        return {"Q": ("n_queries", "d_k"), "K": ("n_keys", "d_k"), "V": ("n_keys", "d_v")}
    key_width = "d_memory" if "Y" in tables else "d_model"
    inputs = {"X": ("n_queries", "d_model")} | ({"Y": ("n_keys", "d_memory")} if "Y" in tables else {})
    projected = {
        "W_Q": ("d_model", "d_k"),
        "W_K": (key_width, "d_k"),
        "W_V": (key_width, "d_v"),
        "W_O": ("d_v", "d_model"),
    }
    return inputs | projected


def sizes_of(tables: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Return the size of each dimension of tables; a ValueError names a table that does not fit the others."""
    sizes: dict[str, int] = {}
    for name, dimensions in table_dimensions(tables).items():
        if name not in tables or np.ndim(tables[name]) != 2 or not np.size(tables[name]):
            raise ValueError(f"{name} must be a matrix of at least 1 × 1")
        shape = np.shape(tables[name])
        for dimension, size in zip(dimensions, shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise ValueError(f"{name} is {shape[0]} × {shape[1]}, but {dimension} is {sizes[dimension]} elsewhere")
    return sizes


def linked_tables(plain: Mapping[str, Any]) -> dict[str, list[list[float]]]:
    """Return those tables of a link that a problem needs.

    A ValueError refuses tables that do not fit together, or hold anything but numbers in bounds.
    """
    tables = {name: np.array(plain[name], dtype=np.float64) for name in table_dimensions(plain)}
    sizes_of(tables)
    for name, table in tables.items():
        if len(table) > MAX_ROWS or table.shape[1] > MAX_COLUMNS or not (np.abs(table) <= LARGEST).all():
            raise ValueError(f"{name} must have at most {MAX_ROWS} × {MAX_COLUMNS} numbers up to {LARGEST:g}")
    return {name: table.tolist() for name, table in tables.items()}


def resized(table: np.ndarray, n_rows: int, n_columns: int, identity: bool = False) -> np.ndarray:
    """Return a table with other numbers of rows and columns; new cells are 0, or those of an identity."""
    new = np.eye(n_rows, n_columns) if identity else np.zeros((n_rows, n_columns))
    overlap = table[:n_rows, :n_columns]
    new[: len(overlap), : overlap.shape[1]] = overlap
    return new


TEXTS = read_texts(__file__)
QUERY_INPUTS = replace(TEXTS["inputs"], explanation="The rows that ask.")


def trace_of(problem: Problem, edits: Edits = ()) -> AttentionTrace:
    """Return a problem's trace in float64, with steps from its tables to the residual, its attention perhaps edited.

    For a ValueError see sizes_of. Source: Vaswani et al. 2017, section 3.2.
    """
    sizes_of(problem.tables)
    tables = {name: torch.from_numpy(np.array(table, dtype=np.float64)) for name, table in problem.tables.items()}
    query_rows, key_rows = tables[problem.query_table], tables[problem.key_table]
    sources = zip((query_rows, key_rows, key_rows), "QKV", strict=True)
    vectors = [tables[letter] if problem.is_direct else source @ tables[f"W_{letter}"] for source, letter in sources]
    query, key, value = (vector[None] for vector in vectors)
    queries = Axis("queries", problem.row_labels(problem.query_table))
    keys = Axis("keys", problem.row_labels(problem.key_table))
    plain = AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=problem.score(),
        has_softmax=problem.settings.softmax,
        mask=mask_of(problem),
        edits=edits,
        story=Story(
            mechanism="cross-attention" if problem.key_table == "Y" else "self-attention",
            query_axis=queries,
            key_axis=keys,
            value_axis=_numbered(value),
            steps_before=_steps_before(problem, tables, [query, key, value], queries, keys),
        ),
    )
    context = plain.context()
    computed = replace(plain, normaliser=plain.log_normaliser, fused_context=context[None])
    if problem.is_direct:
        return computed
    output = context @ tables["W_O"]
    mixed = product((context, Role.CONTEXT, "C"), (tables["W_O"], Role.OUTPUT, "W_O"))
    steps = (
        TEXTS["output"].step(output, queries, _numbered(output), W_O=tables["W_O"]).with_origin(mixed),
        TEXTS["residual"]
        .step(tables["X"] + output, queries, _numbered(output))
        .with_origin(change(output, Role.OUTPUT)),
    )
    return computed.with_story(steps_after=steps)


def _numbered(matrix: Tensor) -> Axis:
    return Axis.numbered("columns", matrix.shape[-1])


def _steps_before(
    problem: Problem, tables: dict[str, Tensor], vectors: list[Tensor], queries: Axis, keys: Axis
) -> tuple[Step, ...]:
    steps, x, y = [], problem.query_table, problem.key_table
    inputs = ((TEXTS["inputs"], queries),) if x == y else ((QUERY_INPUTS, queries), (TEXTS["memory"], keys))
    for text, axis in () if problem.is_direct else inputs:
        table = tables[text.symbol]
        text = text.filled(rows=table.shape[0], columns=table.shape[1])
        steps.append(text.step(table, axis, _numbered(table), rows=table.tolist()))
    named: dict[str, Any] = tables
    formula, code = "$letter = $x W_$letter", "$name = $x @ W_$letter"
    words = "A projection of the rows of $x: what each row $meaning. Every cell is one dot product."
    if problem.is_direct:
        named = {f"rows_of_{letter}": tables[letter].tolist() for letter in "QKV"}
        formula, code = "$letter", "$name = torch.tensor(rows_of_$letter, dtype=torch.float64)"
        words = "Given directly: what each row $meaning."
    vector_steps = projection_steps(
        vectors,
        (queries, keys, keys),
        [_numbered(vector) for vector in vectors],
        formula=formula,
        code=code,
        explanation=words,
        inputs=partial(always, named),
        origins=[NO_ORIGIN] * 3
        if problem.is_direct
        else projection_origins([tables[x], tables[y], tables[y]], tables, (x, y, y)),
        x=(x, y, y),
    )
    return (*steps, *vector_steps)


@dataclass(frozen=True)
class ProblemPreset:
    """A problem with a name; labels and settings as in Problem."""

    title: str  # in the list
    line: str  # what it shows, one or two sentences
    tables: dict[str, str]  # with ; between their rows
    labels: dict[str, list[str]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)  # that differ from those of Settings
    step: str = "inputs"  # the step to open on

    def problem(self) -> Problem:
        labels = {table: tuple(labels) for table, labels in self.labels.items()}
        return Problem(_parse_tables(self.tables), labels, Settings(**self.settings))


def _parse_tables(tables: dict[str, str]) -> dict[str, np.ndarray]:
    rows = {name: text.split(";") for name, text in tables.items()}
    return {name: np.array([row.split() for row in texts], dtype=np.float64) for name, texts in rows.items()}


_FILE = find_file("pages/vectors/examples.toml")
PRESETS = {name: ProblemPreset(**example) for name, example in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}
"""The examples, by their names in the address."""

MAX_ARROWS = 8
"""The most vectors that can be distinguished in a plane."""


def planar_tables(problem: Problem) -> list[str]:
    """Return the tables whose rows can be drawn as arrows in a plane: X, or Q and K, or those of them that can."""
    names = dict.fromkeys((problem.query_table, problem.key_table))
    tables = [name for name in names if problem.tables[name].shape[1] == 2]
    return tables if sum(len(problem.tables[name]) for name in tables) <= MAX_ARROWS else []


@dataclass(frozen=True, eq=False)
class FeedForward:
    """One neuron, w1 x1 + w2 x2 + ..., or a layer of neurons that a second one adds up."""

    weights: np.ndarray  # (n_units, n, d) one weight per number of each of n inputs
    second: np.ndarray | None = None  # (n_units,) of the neuron that adds the units up; None = there is one unit
    bends: bool = False  # whether each neuron sends its sum through a tanh

    def units(self, inputs: np.ndarray) -> np.ndarray:
        """Return the activations (n_units,) of the first layer for inputs (n, d)."""
        return self._bent((self.weights * inputs).sum((1, 2)))

    def answer(self, inputs: np.ndarray) -> float:
        units = self.units(inputs)
        return float(units[0] if self.second is None else self._bent(units @ self.second))

    def effect(self, inputs: np.ndarray, first: int, without: int | None = None) -> float:
        """Return what an input adds to the answer, compared with zeros in its place; `without` may be zeros in both."""
        present = inputs.copy()
        if without is not None:
            present[without] = 0
        absent = present.copy()
        absent[first] = 0
        return self.answer(present) - self.answer(absent)

    def mixed_effect(self, inputs: np.ndarray, first: int, second: int) -> float:
        """Return how much of the effect of an input depends on a second one; exactly 0 where nothing bends.

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
