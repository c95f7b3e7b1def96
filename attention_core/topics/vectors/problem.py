"""A small attention problem that a person typed: what does not fit together in it, and its trace with every step."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.attend import split_heads
from attention_core.attention.scores import SCORES, Scaled, Score, parameter_names
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, Text, always
from attention_core.bounds import TABLE_COLUMNS, TABLE_ROWS

SCALES = ("none", "sqrt(d_k)", "free")
MASKS = ("none", "causal", "padding", "drawn")
MAX_ROWS, MAX_COLUMNS = TABLE_ROWS.most, TABLE_COLUMNS.most
"""What a page still draws pair by pair; more is cut and told."""
MAX_LABEL = 40  # characters of a row's label
LARGEST = 1e12
"""Numbers beyond it, in size, would overflow on the way to the scores."""


class Mode(StrEnum):
    """Where queries, keys and values come from."""

    SELF = "self"
    CROSS = "cross"
    DIRECT = "direct"


TABLES = {
    Mode.SELF: ("X", "W_Q", "W_K", "W_V", "W_O"),
    Mode.CROSS: ("X", "Y", "W_Q", "W_K", "W_V", "W_O"),
    Mode.DIRECT: ("Q", "K", "V"),
}


def table_names() -> set[str]:
    """Return the names of everything that can be a table, parameters of scoring functions too."""
    return {*TABLES[Mode.CROSS], *TABLES[Mode.DIRECT], *parameter_names()}


@dataclass(frozen=True)
class Settings:
    """Everything about a problem that is not a table; a wrong name, or a number out of range, is a ValueError."""

    scoring: str = "dot"  # one of SCORES
    scale: str = "sqrt(d_k)"  # one of SCALES
    factor: float = 1.0  # of the free scale
    temperature: float = 1.0  # above 0
    mask: str = "none"  # one of MASKS; "drawn" reads Problem.drawn
    n_padding: int = 1  # how many keys, from the last one, are padding under the mask "padding"
    n_heads: int = 1  # queries, keys and values are split into this many parts
    softmax: bool = True  # whether weights are the softmax of the scores, else the scores themselves

    def __post_init__(self) -> None:
        for name, allowed in (("scoring", SCORES), ("scale", SCALES), ("mask", MASKS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if not (np.isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        if not np.isfinite(self.factor):
            raise ValueError(f"factor must be a finite number, got {self.factor}")
        if self.n_heads < 1 or self.n_padding < 0:
            raise ValueError(f"n_heads must be at least 1 and n_padding 0, got {self.n_heads} and {self.n_padding}")

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Tables that the scoring function reads; those that are not given are plain ones."""
        return SCORES[self.scoring].parameter_names()


@dataclass(frozen=True)
class Fault:
    """Something that does not fit, in words for the person who typed it."""

    tables: tuple[str, ...]  # the tables beside which it should be said
    message: str  # which table, what was expected, what came


class ProblemError(ValueError):
    """A problem that cannot be computed; `faults` says why, table by table."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(" ".join(fault.message for fault in faults))
        self.faults = faults


@dataclass(frozen=True, eq=False)
class Problem:
    """What a person gave."""

    mode: Mode  # which tables are read
    tables: Mapping[str, np.ndarray]  # name -> float64 (n_rows, n_columns), see TABLES and Settings.parameter_names
    # table of rows ("X", "Y", "Q" or "K") -> one text per row
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)  # scoring function, scale, mask, heads
    # bool (n_queries, n_keys), the hand-drawn mask, True = may attend; cells beyond it are True
    drawn: np.ndarray | None = None

    @property
    def query_table(self) -> str:
        return "Q" if self.mode == Mode.DIRECT else "X"

    @property
    def key_table(self) -> str:
        return {Mode.SELF: "X", Mode.CROSS: "Y", Mode.DIRECT: "K"}[Mode(self.mode)]

    @property
    def n_queries(self) -> int:
        return len(self.tables[self.query_table])

    @property
    def n_keys(self) -> int:
        return len(self.tables[self.key_table])

    @property
    def widths(self) -> dict[str, int]:
        """d_q, d_k and d_v before the heads are split, by the table whose columns they count."""
        names = ("Q", "K", "V") if self.mode == Mode.DIRECT else ("W_Q", "W_K", "W_V")
        return {name: self.tables[name].shape[1] for name in names}

    @property
    def widths_of_a_head(self) -> list[int]:
        return [width // self.settings.n_heads for width in self.widths.values()]

    def row_labels(self, table: str) -> tuple[str, ...]:
        """Return the labels of a table's rows; x1, x2, ... for those without one."""
        given = self.labels.get(table, ())
        n = len(self.tables[table])
        return tuple(given[row] if row < len(given) and given[row] else f"{table.lower()}{row + 1}" for row in range(n))

    def fingerprint(self) -> str:
        """Return a text that changes whenever anything that is computed changes."""
        digest = hashlib.sha256(json.dumps([self.mode, asdict(self.settings)]).encode())
        for name in (*TABLES[Mode(self.mode)], *self.settings.parameter_names):
            if name in self.tables:
                digest.update(f"{name}{self.tables[name].shape}".encode() + self.tables[name].tobytes())
        if self.settings.mask == "drawn":
            digest.update(self.mask().tobytes())  # type: ignore[union-attr]
        return digest.hexdigest()

    def mask(self) -> np.ndarray | None:
        """Return the mask, bool (n_queries, n_keys), True = may attend, or None."""
        kind, mask = self.settings.mask, np.ones((self.n_queries, self.n_keys), dtype=bool)
        if kind == "causal":
            mask = np.tri(*mask.shape, dtype=bool)
        elif kind == "padding":
            mask[:, max(0, self.n_keys - self.settings.n_padding) :] = False
        elif kind == "drawn" and self.drawn is not None:
            drawn = self.drawn[: self.n_queries, : self.n_keys]
            mask[: drawn.shape[0], : drawn.shape[1]] = drawn
        return None if kind == "none" else mask

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the scoring function's tables: those given, and plain ones of the fitting size."""
        plain = self.plain_parameters()
        return {name: self.tables.get(name, np.atleast_2d(parameter.numpy())) for name, parameter in plain.items()}

    def plain_parameters(self, hidden: int | None = None) -> dict[str, torch.Tensor]:
        """Return plain parameters of the scoring function: identities and ones, so that nothing is hidden in them.

        The first one has `hidden` rows, where they can be chosen.
        """
        d_q, d_k, _ = self.widths_of_a_head
        kind = SCORES[self.settings.scoring]
        plain = kind.plain_parameters(d_q, d_k, max(self.n_keys, hidden or 0), hidden)
        return dict(zip(kind.parameter_names(), plain.values(), strict=True))

    def score(self) -> Score:
        """Return the scoring function with its scale and temperature."""
        settings = self.settings
        given = zip(self.parameters().values(), self.plain_parameters().values(), strict=True)
        tables = (np.ascontiguousarray(table[0] if plain.ndim == 1 else table) for table, plain in given)
        base = SCORES[settings.scoring](*map(torch.from_numpy, tables))
        temperature = None if settings.temperature == 1 else settings.temperature
        if temperature is None and settings.scale == "none":
            return base
        scale = {"none": 1.0, "sqrt(d_k)": None, "free": settings.factor}[settings.scale]
        return Scaled(base, scale, temperature)

    def to_json(self) -> dict[str, Any]:
        """Return it as lists and plain values, for links; linked_problem reads them."""
        drawn = None if self.drawn is None else self.drawn.astype(int).tolist()
        tables = {name: table.tolist() for name, table in self.tables.items()}
        plain = {"mode": str(self.mode), "settings": asdict(self.settings), "drawn": drawn}
        return vars(self) | plain | {"tables": tables}


def parse_number(text: str) -> float:
    """Return the number that a cell holds; a decimal comma and the typographic minus are understood.

    Raises:
        ValueError: empty, not a number, not finite, or beyond LARGEST; the message follows "row 1, column 2".
    """
    plain = str(text).strip().replace("−", "-")
    if not plain:
        raise ValueError("is empty")
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        value = float(plain.replace("_", "x"))
    except ValueError:
        raise ValueError(f"“{str(text).strip()[:MAX_LABEL]}” is not a number") from None
    if not math.isfinite(value):
        kind = "not a number (NaN)" if math.isnan(value) else "infinite"
        raise ValueError(f"is {kind}; only finite numbers can be computed with")
    if abs(value) > LARGEST:
        raise ValueError(f"is {value:g}, too large to compute with: at most ±{LARGEST:g}")
    return value


def read_otherwise(cells: Sequence[Sequence[str]]) -> str:
    """Say which cells were read as another number than an English reader sees in them, such as 1,5; "" = none."""
    found = []
    for row, texts in enumerate(cells, 1):
        for column, text in enumerate(texts, 1):
            plain = str(text).strip().replace("−", "-")
            if "," in plain or not plain.isascii():
                with suppress(ValueError):
                    found.append(f"row {row}, column {column}: “{plain}” is read as {parse_number(plain):g}")
    more = f"; and {len(found) - 2} more" if len(found) > 2 else ""
    return f"{'; '.join(found[:2])}{more}." if found else ""


def parse_cells(name: str, cells: Sequence[Sequence[str]]) -> tuple[np.ndarray | None, list[Fault]]:
    """Return a table from the texts of its cells, or None and what is wrong with it."""
    if not cells:
        return None, [Fault((name,), f"{name} has no rows: add at least one.")]
    wrong: list[str] = []
    values = np.zeros((len(cells), len(cells[0])))
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            try:
                values[row, column] = parse_number(text)
            except ValueError as error:
                wrong.append(f"row {row + 1}, column {column + 1} {error}")
    if not wrong:
        return values, []
    more = f" And {len(wrong) - 2} more cells." if len(wrong) > 2 else ""
    return None, [Fault((name,), f"{name}, {'; '.join(wrong[:2])}.{more}")]


def find_faults(problem: Problem) -> list[Fault]:
    """Return everything that keeps a problem from being computed, in words; empty = it can be computed."""
    tables, names = problem.tables, TABLES[Mode(problem.mode)]
    faults = [Fault((name,), f"{name} is missing.") for name in names if name not in tables]
    for name in (*names, *problem.settings.parameter_names):
        if name in tables and (message := _table_fault(tables[name])):
            faults.append(Fault((name,), f"{name}{message}."))
    return faults or [*_row_faults(problem), *_width_faults(problem)] or list(_parameter_faults(problem))


def _table_fault(matrix: np.ndarray) -> str:
    if matrix.ndim != 2:
        return f" must have rows and columns, got an array of shape {matrix.shape}"
    if not matrix.size:
        return f" has no {'columns' if len(matrix) else 'rows'}: add at least one"
    if matrix.shape[0] > MAX_ROWS or matrix.shape[1] > MAX_COLUMNS:
        return f" is {_size(matrix)}; at most {MAX_ROWS} × {MAX_COLUMNS} can be shown"
    for row, column in np.argwhere(~(np.abs(matrix) <= LARGEST))[:1]:
        wrong = f"{matrix[row, column]:g} is no number between ±{LARGEST:g}"
        return f", row {row + 1}, column {column + 1}: {wrong}"
    return ""


def _size(matrix: np.ndarray) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"


def _row_faults(problem: Problem) -> Iterator[Fault]:
    tables = problem.tables
    told = {name: f"{name} is {_size(tables[name])}" for name in TABLES[Mode(problem.mode)]}
    if problem.mode == Mode.DIRECT:
        if len(tables["K"]) != len(tables["V"]):
            why = "every key hands over one value, so they need the same number of rows."
            yield Fault(("K", "V"), f"{told['K']} and {told['V']}: {why}")
        return
    for source, projection in ((problem.query_table, "W_Q"), (problem.key_table, "W_K"), (problem.key_table, "W_V")):
        n_columns = tables[source].shape[1]
        if n_columns != len(tables[projection]):
            message = (
                f"{told[source]} and {told[projection]}: {source} {projection} needs as many rows in {projection} as "
                f"{source} has columns ({n_columns})."
            )
            yield Fault((source, projection), message)
    needed = tables["W_V"].shape[1], tables["X"].shape[1]
    if tables["W_O"].shape != needed:
        message = (
            f"{told['W_O']} and must be {needed[0]} × {needed[1]}: it leads from the columns of W_V "
            f"({_size(tables['W_V'])}) back to the columns of X ({_size(tables['X'])})."
        )
        yield Fault(("W_O",), message)


def _width_faults(problem: Problem) -> Iterator[Fault]:
    widths, heads = problem.widths, problem.settings.n_heads
    told = {name: f"{name} is {_size(problem.tables[name])}" for name in widths}
    (asks, d_q), (asked, d_k), _ = widths.items()
    missing = SCORES[problem.settings.scoring].common_width
    uneven = {name: width for name, width in widths.items() if width % heads}
    if missing and d_q != d_k:
        message = (
            f"{told[asks]} and {told[asked]}: a query of {d_q} numbers and a key of {d_k} have no {missing}. "
            f"Give {asks} and {asked} the same number of columns (d_k), or choose the scoring function general, "
            "additive or concat."
        )
        yield Fault((asks, asked), message)
    elif uneven:
        message = (
            f"{heads} heads share the columns evenly, but {' and '.join(told[name] for name in uneven)}. Choose a "
            f"number of heads that divides {' and '.join(sorted(set(map(str, uneven.values()))))}."
        )
        yield Fault(tuple(uneven), message)


def _parameter_faults(problem: Problem) -> Iterator[Fault]:
    given = problem.parameters()
    d_q, d_k, _ = problem.widths_of_a_head
    plain = problem.plain_parameters(hidden=len(next(iter(given.values()), ())))
    for name, matrix in given.items():
        rows, columns = (1, *plain[name].shape)[-2:]
        if matrix.shape != (rows, columns):
            message = (
                f"{name.split('.')[1]} of the scoring function is {_size(matrix)} and must be "
                f"{rows} × {columns} for queries of {d_q} and keys of {d_k} numbers in each head."
            )
            yield Fault((name,), message)


X = Text(
    "inputs",
    "Inputs",
    "X",
    r"X \in \mathbb{R}^{$rows \times $columns}",
    "X = torch.tensor(rows, dtype=torch.float64)",
    "The inputs, one row each. Every row will ask, be asked and hand something over.",
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
MERGED = Text(
    "merged",
    "Heads: side by side",
    "heads",
    r"C = [\,C_1, \dots, C_h\,]",
    "context = torch.cat(contexts, dim=-1)  # of all heads",
    "The contexts of all $n heads are laid end to end, one row per query.",
    Role.CONTEXT,
)
OUTPUT = Text(
    "output",
    "Output: a last projection",
    "W_O",
    r"O = C\, W_O",
    "output = context @ W_O",
    "It leads from the values back to the columns of X$mixes.",
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
RESIDUAL_OF_QUERIES = Text(
    "residual",
    "Residual",
    "+Q",
    r"Z = Q + C",
    "output = $query + context",
    "What was found is added to what asked. Without projections Q is the input itself.",
    Role.OUTPUT,
)


def trace_of(problem: Problem) -> AttentionTrace:
    """Return a problem's trace in float64, with steps from its tables to the residual.

    Raises:
        ProblemError: tables that do not fit together; it names them and their shapes.

    Source: Vaswani et al. 2017, section 3.2.
    """
    faults = find_faults(problem)
    if faults:
        raise ProblemError(faults)
    tables = {
        name: torch.from_numpy(np.ascontiguousarray(table, dtype=np.float64)) for name, table in problem.tables.items()
    }
    direct, n_heads, mask = problem.mode == Mode.DIRECT, problem.settings.n_heads, problem.mask()
    asks, asked = tables[problem.query_table], tables[problem.key_table]
    sources = zip((asks, asked, asked), "QKV", strict=True)
    merged = [tables[letter] if direct else source @ tables[f"W_{letter}"] for source, letter in sources]
    query, key, value = (split_heads(part[None], n_heads)[0] for part in merged)
    queries = Axis("queries", problem.row_labels(problem.query_table))
    keys = Axis("keys", problem.row_labels(problem.key_table))
    plain = AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=problem.score(),
        has_softmax=problem.settings.softmax,
        mask=None if mask is None else torch.from_numpy(mask),
        story=Story(
            mechanism="cross-attention" if problem.mode == Mode.CROSS else "self-attention",
            query_axis=queries,
            key_axis=keys,
            value_axis=_numbered(value),
            steps_before=_steps_before(problem, tables, [query, key, value], queries, keys),
        ),
    )
    contexts = [plain.context(head) for head in range(n_heads)]
    computed = replace(plain, normaliser=plain.log_normaliser, fused_context=torch.stack(contexts))
    return computed.with_story(steps_after=_steps_after(problem, tables, contexts, queries))


def _numbered(matrix: Tensor) -> Axis:
    return Axis.numbered("columns", matrix.shape[-1])


def _steps_before(
    problem: Problem, tables: dict[str, Tensor], vectors: list[Tensor], queries: Axis, keys: Axis
) -> tuple[Step, ...]:
    inputs = {Mode.SELF: ((X, queries),), Mode.CROSS: ((ASKING, queries), (ASKED, keys)), Mode.DIRECT: ()}
    steps = []
    for text, axis in inputs[Mode(problem.mode)]:
        table = tables[text.symbol]
        text = text.filled(rows=table.shape[0], columns=table.shape[1])
        steps.append(text.step(table, axis, _numbered(table), rows=table.tolist()))
    n_heads, x, y = problem.settings.n_heads, problem.query_table, problem.key_table
    part = f".chunk({n_heads}, dim=-1)[head]  # of the columns" if n_heads > 1 else ""
    named: dict[str, Any] = tables
    formula, code = "$letter = $x W_$letter", ("$name = ($x @ W_$letter)" if part else "$name = $x @ W_$letter") + part
    words = "A projection of the rows of $x: what each row $meaning. Every cell is one dot product."
    if problem.mode == Mode.DIRECT:
        named = {f"rows_of_{letter}": tables[letter].tolist() for letter in "QKV"}
        formula, code = "$letter", f"$name = torch.tensor(rows_of_$letter, dtype=torch.float64){part}"
        words = "Given directly, which is the projection by the identity: what each row $meaning."
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


def _steps_after(
    problem: Problem, tables: dict[str, Tensor], contexts: list[Tensor], queries: Axis
) -> tuple[Step, ...]:
    many, context, steps = len(contexts) > 1, torch.cat(contexts, -1), []

    def add(text: Text, matrix: Tensor, **named: Any) -> None:
        steps.append(text.step(matrix, queries, _numbered(matrix), **named))

    if many:
        add(MERGED.filled(n=len(contexts)), context, contexts=contexts)
    if problem.mode != Mode.DIRECT:
        output = context @ tables["W_O"]
        add(OUTPUT.filled(mixes=" and mixes the heads" if many else ""), output, W_O=tables["W_O"])
        add(RESIDUAL, tables["X"] + output)
    elif context.shape == tables["Q"].shape:
        query = "torch.tensor(rows_of_Q, dtype=torch.float64)" if many else "query"
        add(RESIDUAL_OF_QUERIES.filled(query=query), tables["Q"] + context, rows_of_Q=tables["Q"].tolist())
    return tuple(steps)
