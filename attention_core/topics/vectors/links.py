"""A problem in a link, read with mistrust: whatever is no table, no label or no mask is a ValueError."""

from typing import Any

import numpy as np

from attention_core.topics.vectors.problem import MAX_COLUMNS, MAX_ROWS, Problem, find_faults, table_names

LONGEST_CELL = 60


def linked_cells(tables: Any) -> dict[str, list[list[str]]]:
    """Return tables as they were typed: name -> rows of texts, as many in each."""
    for rows in _by_name(tables).values():
        _check(_is_table(rows) and all(_is_text(cell) for row in rows for cell in row), "a table is rows of texts")
    return tables


def linked_labels(tables: Any) -> dict[str, list[str]]:
    """Return the names of tables' rows."""
    for labels in _by_name(tables).values():
        _check(isinstance(labels, list) and len(labels) <= MAX_ROWS and all(map(_is_text, labels)), "labels are texts")
    return tables


def linked_mask(rows: Any) -> np.ndarray:
    """Return a mask, bool (n_queries, n_keys), from rows of 0 and 1."""
    _check(_is_table(rows) and bool(rows) and all(cell in (0, 1) for row in rows for cell in row), "a mask is 0 and 1")
    return np.array(rows, dtype=bool)


def linked_problem(plain: Any) -> Problem:
    """Return a problem from Problem.to_json that can be computed."""
    tables = {name: np.array(rows, dtype=float) for name, rows in _by_name(plain["tables"]).items()}
    _check(all(table.ndim == 2 and max(table.shape) <= MAX_ROWS for table in tables.values()), "tables are matrices")
    drawn = None if plain["drawn"] is None else linked_mask(plain["drawn"])
    labels = {name: tuple(texts) for name, texts in linked_labels(plain["labels"]).items()}
    problem = Problem.from_plain(plain | {"tables": tables, "labels": labels, "drawn": drawn})
    _check(not find_faults(problem), "the problem cannot be computed")
    return problem


def _by_name(tables: Any) -> dict[str, Any]:
    _check(isinstance(tables, dict) and tables.keys() <= table_names(), "tables have names")
    return tables


def _is_table(rows: Any) -> bool:
    if not (isinstance(rows, list) and len(rows) <= MAX_ROWS and all(isinstance(row, list) for row in rows)):
        return False
    return len({len(row) for row in rows}) <= 1 and all(len(row) <= MAX_COLUMNS for row in rows)


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) <= LONGEST_CELL


def _check(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
