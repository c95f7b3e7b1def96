"""An attention problem of small tables that a person types, and its trace with every step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.scores import SCORES, Scaled, Score
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, Text, always

MAX_ROWS, MAX_COLUMNS = 6, 6
"""What a page still draws pair by pair, with a number in every cell."""
LARGEST = 1000.0
"""Numbers of a link and of a page's tables are not beyond it, in size."""


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
    """What a person gave: Q, K and V; or X with projections, which asks itself, or the rows of Y if there are any."""

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
        given = self.labels.get(table, ())
        more = range(len(given), len(self.tables[table]))
        return (*given[: len(self.tables[table])], *(f"{table.lower()}{row + 1}" for row in more))

    def score(self) -> Score:
        """Return the scoring function with its scale and temperature."""
        sizes, kind = sizes_of(self.tables), SCORES[self.settings.scoring]
        n_keys = sizes.get("n_keys", sizes["n_queries"])
        base = kind(*kind.plain_parameters(sizes["d_k"], sizes["d_k"], n_keys).values())
        temperature = None if self.settings.temperature == 1 else self.settings.temperature
        if temperature is None and not self.settings.scaled:
            return base
        return Scaled(base, None if self.settings.scaled else 1.0, temperature)


def neighbours(problem: Problem) -> list[tuple[int, int]]:
    """Return the edges between rows of X, as pairs of rows from 0; none where X asks the rows of another table."""
    n = len(problem.tables["X"]) if problem.key_table == "X" else 0
    pairs = [divmod(edge, 10) for edge in problem.settings.edges]
    return [(first - 1, second - 1) for first, second in pairs if 0 < first < second <= n]


def mask_of(problem: Problem) -> Tensor | None:
    """Return who may see whom, bool (n_queries, n_keys), or None where all see all."""
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
    """Return the tables that a problem needs, by name, and what the rows and columns of each count."""
    if "Q" in tables:
        return {"Q": ("n_queries", "d_k"), "K": ("n_keys", "d_k"), "V": ("n_keys", "d_v")}
    asked = "d_memory" if "Y" in tables else "d_model"
    inputs = {"X": ("n_queries", "d_model")} | ({"Y": ("n_keys", "d_memory")} if "Y" in tables else {})
    projected = {"W_Q": ("d_model", "d_k"), "W_K": (asked, "d_k"), "W_V": (asked, "d_v"), "W_O": ("d_v", "d_model")}
    return inputs | projected


def sizes_of(tables: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Return how many rows and columns tables have, by what they count; a ValueError names one that does not fit."""
    sizes: dict[str, int] = {}
    for name, counted in table_dimensions(tables).items():
        if name not in tables or np.ndim(tables[name]) != 2 or not np.size(tables[name]):
            raise ValueError(f"{name} must be a matrix of at least 1 × 1")
        shape = np.shape(tables[name])
        for what, size in zip(counted, shape, strict=True):
            if sizes.setdefault(what, size) != size:
                raise ValueError(f"{name} is {shape[0]} × {shape[1]}, but {what} is {sizes[what]} elsewhere")
    return sizes


def linked_tables(plain: Mapping[str, Any]) -> dict[str, list[list[float]]]:
    """Return the tables of a link, which a problem can be made of; those that it does not need are left out.

    A ValueError refuses tables that do not fit together, or hold other things than numbers in bounds.
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
    kept = table[:n_rows, :n_columns]
    new[: len(kept), : kept.shape[1]] = kept
    return new


X = Text(
    "inputs",
    "Inputs",
    "X",
    r"X \in \mathbb{R}^{$rows \times $columns}",
    "X = torch.tensor(rows, dtype=torch.float64)",
    "One input per row. Every row asks, is asked, and hands something over.",
    Role.INPUT,
)
ASKING = replace(X, explanation="The rows that ask.")
ASKED = Text(
    "memory",
    "The other inputs",
    "Y",
    r"Y \in \mathbb{R}^{$rows \times $columns}",
    "Y = torch.tensor(rows, dtype=torch.float64)",
    "The rows that are asked: they give the keys and the values.",
    Role.INPUT,
)
OUTPUT = Text(
    "output",
    "Output: a last projection",
    "W_O",
    r"O = C\, W_O",
    "output = context @ W_O",
    "It leads from the values back to the columns of X.",
    Role.OUTPUT,
)
RESIDUAL = Text(
    "residual",
    "Residual",
    "+X",
    r"Z = X + O",
    "Z = X + output",
    "What was found is added to the row that asked. Z has the shape of X: the next layer can start here.",
    Role.OUTPUT,
)


def trace_of(problem: Problem, edits: Edits = ()) -> AttentionTrace:
    """Return a problem's trace in float64, with steps from its tables to the residual, its attention perhaps edited.

    For a ValueError see sizes_of. Source: Vaswani et al. 2017, section 3.2.
    """
    sizes_of(problem.tables)
    tables = {name: torch.from_numpy(np.array(table, dtype=np.float64)) for name, table in problem.tables.items()}
    asks, asked = tables[problem.query_table], tables[problem.key_table]
    sources = zip((asks, asked, asked), "QKV", strict=True)
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
    steps = (
        OUTPUT.step(output, queries, _numbered(output), W_O=tables["W_O"]),
        RESIDUAL.step(tables["X"] + output, queries, _numbered(output)),
    )
    return computed.with_story(steps_after=steps)


def _numbered(matrix: Tensor) -> Axis:
    return Axis.numbered("columns", matrix.shape[-1])


def _steps_before(
    problem: Problem, tables: dict[str, Tensor], vectors: list[Tensor], queries: Axis, keys: Axis
) -> tuple[Step, ...]:
    steps, x, y = [], problem.query_table, problem.key_table
    inputs = ((X, queries),) if x == y else ((ASKING, queries), (ASKED, keys))
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
    projected = projections(
        vectors,
        (queries, keys, keys),
        [_numbered(vector) for vector in vectors],
        formula=formula,
        code=code,
        explanation=words,
        inputs=partial(always, named),
        x=(x, y, y),
    )
    return (*steps, *projected)
