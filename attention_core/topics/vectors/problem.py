"""A small attention problem that a person typed: tables and settings, and whatever does not fit together in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import torch

from attention_core.attention.scores import SCORES, Scaled, Score, parameter_names
from attention_core.bounds import TABLE_COLUMNS, TABLE_ROWS

SCALES = ("none", "sqrt(d_k)", "free")
MASKS = ("none", "causal", "padding", "drawn")
MAX_ROWS, MAX_COLUMNS = TABLE_ROWS.most, TABLE_COLUMNS.most
"""What a page still draws pair by pair; more is cut and told."""
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

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values and arrays, for the session's memory."""
        return vars(self) | {"mode": str(self.mode), "settings": asdict(self.settings)}

    def to_json(self) -> dict[str, Any]:
        drawn = None if self.drawn is None else self.drawn.astype(int).tolist()
        tables = {name: table.tolist() for name, table in self.tables.items()}
        return self.to_plain() | {"tables": tables, "drawn": drawn}

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Problem:
        return Problem(
            Mode(plain["mode"]), plain["tables"], plain["labels"], Settings(**plain["settings"]), plain["drawn"]
        )


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
