"""A small attention problem that a person typed: tables and settings, and whatever does not fit together in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import torch

from attention_core.attention.score import Scaled, Score
from attention_core.attention.scores import SCORES
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


@dataclass(frozen=True)
class Settings:
    """Everything about a problem that is not a table.

    Raises:
        ValueError: a name that is not one of these, or a number out of range.
    """

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
    def widths(self) -> tuple[int, int, int]:
        """(d_q, d_k, d_v) before the heads are split."""
        names = ("Q", "K", "V") if self.mode == Mode.DIRECT else ("W_Q", "W_K", "W_V")
        d_q, d_k, d_v = (self.tables[name].shape[1] for name in names)
        return d_q, d_k, d_v

    def row_labels(self, table: str) -> tuple[str, ...]:
        """Return the labels of a table's rows; x1, x2, ... for those without one."""
        given = self.labels.get(table, ())
        n = len(self.tables[table])
        return tuple(given[row] if row < len(given) and given[row] else f"{table.lower()}{row + 1}" for row in range(n))

    def fingerprint(self) -> str:
        """Return a text that changes whenever anything that is computed changes."""
        digest = hashlib.sha256(json.dumps([self.mode, asdict(self.settings)]).encode())
        used = (*TABLES[Mode(self.mode)], *self.settings.parameter_names)
        for name in used:
            if name in self.tables:
                digest.update(f"{name}{self.tables[name].shape}".encode() + self.tables[name].tobytes())
        if self.settings.mask == "drawn":
            digest.update(self.mask().tobytes())  # type: ignore[union-attr]
        return digest.hexdigest()

    def mask(self) -> np.ndarray | None:
        """Return the mask, bool (n_queries, n_keys), True = may attend, or None."""
        n_queries, n_keys = self.n_queries, self.n_keys
        kind = self.settings.mask
        if kind == "causal":
            return np.tri(n_queries, n_keys, dtype=bool)
        if kind == "padding":
            return np.broadcast_to(np.arange(n_keys) < n_keys - self.settings.n_padding, (n_queries, n_keys)).copy()
        if kind == "drawn":
            mask = np.ones((n_queries, n_keys), dtype=bool)
            if self.drawn is not None:
                rows, cols = min(n_queries, self.drawn.shape[0]), min(n_keys, self.drawn.shape[1])
                mask[:rows, :cols] = self.drawn[:rows, :cols]
            return mask
        return None

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the scoring function's tables: those given, and plain ones of the fitting size."""
        plain = self.plain_parameters()
        return {name: self.tables.get(name, np.atleast_2d(parameter.numpy())) for name, parameter in plain.items()}

    def plain_parameters(self, hidden: int | None = None) -> dict[str, torch.Tensor]:
        """Return plain parameters of the scoring function: identities and ones, so that nothing is hidden in them.

        The first one has `hidden` rows, where they can be chosen.
        """
        d_q, d_k, _ = (width // self.settings.n_heads for width in self.widths)
        kind = SCORES[self.settings.scoring]
        plain = kind.plain_parameters(d_q, d_k, max(self.n_keys, hidden or 0), hidden)
        return dict(zip(kind.parameter_names(), plain.values(), strict=True))

    def score(self) -> Score:
        """Return the scoring function with its scale and temperature."""
        settings = self.settings
        tables = (torch.from_numpy(np.ascontiguousarray(table)) for table in self.parameters().values())
        plain = self.plain_parameters().values()
        base = SCORES[settings.scoring](
            *(table[0] if parameter.ndim == 1 else table for table, parameter in zip(tables, plain, strict=True))
        )
        temperature = None if settings.temperature == 1 else settings.temperature
        if temperature is None and settings.scale == "none":
            return base
        scale = {"none": 1.0, "sqrt(d_k)": None, "free": settings.factor}[settings.scale]
        return Scaled(base, scale, temperature)

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values and arrays, for the session's memory."""
        return {
            "mode": str(self.mode),
            "tables": dict(self.tables),
            "labels": dict(self.labels),
            "settings": asdict(self.settings),
            "drawn": self.drawn,
        }

    def to_json(self) -> dict[str, Any]:
        plain, drawn = self.to_plain(), None if self.drawn is None else self.drawn.astype(int).tolist()
        return plain | {"tables": {name: table.tolist() for name, table in self.tables.items()}, "drawn": drawn}

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Problem:
        return Problem(
            Mode(plain["mode"]), plain["tables"], plain["labels"], Settings(**plain["settings"]), plain["drawn"]
        )


def shape_words(matrix: np.ndarray) -> str:
    """Return "3 × 2"."""
    return f"{matrix.shape[0]} × {matrix.shape[1]}"


def find_faults(problem: Problem) -> list[Fault]:
    """Return everything that keeps a problem from being computed, in words; empty = it can be computed."""
    tables = problem.tables
    names = TABLES[Mode(problem.mode)]
    faults = [Fault((name,), f"{name} is missing.") for name in names if name not in tables]
    for name in (*names, *problem.settings.parameter_names):
        if name in tables:
            faults += table_faults(name, tables[name])
    if faults:
        return faults
    faults += _direct_faults(tables) if problem.mode == Mode.DIRECT else _projection_faults(problem)
    faults += _width_faults(problem)
    return faults or _parameter_faults(problem)


def table_faults(name: str, matrix: np.ndarray) -> list[Fault]:
    """Return what is wrong with one table by itself: no rows, no columns, too many, numbers that are none."""
    if matrix.ndim != 2:
        return [Fault((name,), f"{name} must have rows and columns, got an array of shape {matrix.shape}.")]
    if not len(matrix):
        return [Fault((name,), f"{name} has no rows: add at least one.")]
    if not matrix.shape[1]:
        return [Fault((name,), f"{name} has no columns: add at least one.")]
    if matrix.shape[0] > MAX_ROWS or matrix.shape[1] > MAX_COLUMNS:
        return [Fault((name,), f"{name} is {shape_words(matrix)}; at most {MAX_ROWS} × {MAX_COLUMNS} can be shown.")]
    sound = np.abs(matrix) <= LARGEST
    if not sound.all():
        row, column = np.argwhere(~sound)[0] + 1
        message = f"{matrix[row - 1, column - 1]:g} is no number between ±{LARGEST:g}"
        return [Fault((name,), f"{name}, row {row}, column {column}: {message}.")]
    return []


def _direct_faults(tables: Mapping[str, np.ndarray]) -> list[Fault]:
    if len(tables["K"]) == len(tables["V"]):
        return []
    message = (
        f"K is {shape_words(tables['K'])} and V is {shape_words(tables['V'])}: every key hands over one value, so they "
        "need the same number of rows."
    )
    return [Fault(("K", "V"), message)]


def _projection_faults(problem: Problem) -> list[Fault]:
    tables, faults = problem.tables, []
    for source, projection in ((problem.query_table, "W_Q"), (problem.key_table, "W_K"), (problem.key_table, "W_V")):
        left, right = tables[source], tables[projection]
        if left.shape[1] != right.shape[0]:
            message = (
                f"{source} is {shape_words(left)} and {projection} is {shape_words(right)}: {source} {projection} "
                f"needs as many rows in {projection} as {source} has columns ({left.shape[1]})."
            )
            faults.append(Fault((source, projection), message))
    values, back, inputs = tables["W_V"], tables["W_O"], tables["X"]
    if back.shape != (values.shape[1], inputs.shape[1]):
        message = (
            f"W_O is {shape_words(back)} and must be {values.shape[1]} × {inputs.shape[1]}: it leads from the columns "
            f"of W_V ({shape_words(values)}) back to the columns of X ({shape_words(inputs)})."
        )
        faults.append(Fault(("W_O",), message))
    return faults


def _width_faults(problem: Problem) -> list[Fault]:
    d_q, d_k, d_v = problem.widths
    names = ("Q", "K", "V") if problem.mode == Mode.DIRECT else ("W_Q", "W_K", "W_V")
    shapes = [f"{name} is {shape_words(problem.tables[name])}" for name in names]
    missing = SCORES[problem.settings.scoring].common_width
    if missing and d_q != d_k:
        message = (
            f"{shapes[0]} and {shapes[1]}: a query of {d_q} numbers and a key of {d_k} have no {missing}. "
            f"Give {names[0]} and {names[1]} the same number of columns (d_k), or choose the scoring function general, "
            "additive or concat."
        )
        return [Fault((names[0], names[1]), message)]
    heads = problem.settings.n_heads
    uneven = [place for place, width in enumerate((d_q, d_k, d_v)) if width % heads]
    if not uneven:
        return []
    message = (
        f"{heads} heads share the columns evenly, but {' and '.join(shapes[place] for place in uneven)}. Choose a "
        f"number of heads that divides {' and '.join(sorted({str((d_q, d_k, d_v)[place]) for place in uneven}))}."
    )
    return [Fault(tuple(names[place] for place in uneven), message)]


def _parameter_faults(problem: Problem) -> list[Fault]:
    given = problem.parameters()
    d_q, d_k, _ = (width // problem.settings.n_heads for width in problem.widths)
    plain = problem.plain_parameters(hidden=len(next(iter(given.values()), ())))
    faults = []
    for name, matrix in given.items():
        rows, columns = (1, *plain[name].shape)[-2:]
        if matrix.shape != (rows, columns):
            message = (
                f"{name.split('.')[1]} of the scoring function is {shape_words(matrix)} and must be "
                f"{rows} × {columns} for queries of {d_q} and keys of {d_k} numbers in each head."
            )
            faults.append(Fault((name,), message))
    return faults
