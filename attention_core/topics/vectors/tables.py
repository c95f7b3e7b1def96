"""Tables of numbers from people: text pasted from a spreadsheet, links; bounded.

Links are read with mistrust: whatever is no table, no label or no mask is a ValueError.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mode
from typing import Any

import numpy as np

from attention_core.arrays import FileError
from attention_core.bounds import TABLE_BYTES, escape_hidden, from_cell
from attention_core.topics.vectors.problem import (
    MAX_COLUMNS,
    MAX_LABEL,
    MAX_ROWS,
    Mode,
    Problem,
    Settings,
    find_faults,
    parse_cells,
    read_otherwise,
    table_names,
)

LONGEST_CELL = 60  # characters of a cell in a link


class TableError(FileError):
    """A text that is not a table of numbers; says where and what to do."""


@dataclass(frozen=True, eq=False)
class ReadTable:
    values: np.ndarray  # float64 (n_rows, n_columns)
    labels: tuple[str, ...] = ()  # one text per row if the table had any, else ()
    notes: tuple[str, ...] = ()  # what was left out, in words


def read_csv(data: str | bytes) -> ReadTable:
    """Read a table from text: CSV, tab-separated as a spreadsheet copies it, semicolons, or spaces.

    A first row of headings and a first column of labels are recognised. Beyond 256 rows or 64 columns the rest is left
    out and told.

    Raises:
        TableError: nothing in it, rows of different lengths, text or non-finite numbers in a cell, not a text at all.
    """
    if len(data) > TABLE_BYTES.most:
        raise TableError(f"The text has {len(data):,} bytes; at most {TABLE_BYTES} are read. Paste a smaller part.")
    try:
        rows, n_more = _split(data.decode("utf-8-sig") if isinstance(data, bytes) else data)
    except UnicodeDecodeError:
        raise TableError("The file is not a text in UTF-8. Save it as CSV (UTF-8).") from None
    except csv.Error as error:
        raise TableError(f"The text is not CSV: {error}.") from None
    if not rows:
        raise TableError("There are no rows of numbers in it.")
    if len(rows) > 1 and not any(map(_is_numeric, rows[0])):
        rows = rows[1:]
    labels: tuple[str, ...] = ()
    if len(rows[0]) > 1 and all(row and not _is_numeric(row[0]) for row in rows):
        labels, rows = tuple(from_cell(escape_hidden(row[0]))[:MAX_LABEL] for row in rows), [row[1:] for row in rows]
    usual = mode(map(len, rows))
    for place, row in enumerate(rows):
        if len(row) != usual:
            raise TableError(
                f"Row {place + 1} has {len(row)} numbers, most others have {usual}: every row needs the same number."
            )
    kept = [row[:MAX_COLUMNS] for row in rows[:MAX_ROWS]]
    values, faults = parse_cells("The table", kept)
    if values is None:
        raise TableError(faults[0].message)
    notes = (*_bounds_notes(len(rows) + n_more, usual), read_otherwise(kept))
    return ReadTable(values, labels[:MAX_ROWS], tuple(filter(None, notes)))


def _bounds_notes(n_rows: int, n_columns: int) -> list[str]:
    why = ", because every pair of rows is drawn"
    counted = (n_rows, "rows", MAX_ROWS, why), (n_columns, "columns", MAX_COLUMNS, "")
    return [f"{n:,} {what} came; the first {most} were kept{why}." for n, what, most, why in counted if n > most]


def _split(text: str) -> tuple[list[list[str]], int]:
    """Return the cells of as many rows as may be kept, headings too, and how many rows follow."""
    every = filter(str.strip, io.StringIO(text, newline=None))
    lines = list(islice(every, MAX_ROWS + 1))
    n_more = sum(1 for _ in every)
    there = [sign for sign in "\t;," if any(sign in line for line in lines)]
    delimiter = max(there, key=lambda sign: _share_of_numbers(lines, sign), default=None)
    if delimiter is None:
        return [line.split() for line in lines], n_more
    rows = list(csv.reader(lines, delimiter=delimiter))
    for row in rows:
        for start in range(0, len(row), 4096):  # in its place, piece by piece: a line may have millions
            row[start : start + 4096] = map(str.strip, row[start : start + 4096])
    return rows, n_more


def _share_of_numbers(lines: Sequence[str], delimiter: str) -> float:
    """Return how many of the cells at the beginnings of lines are numbers: a label may hold another delimiter."""
    cells = [cell.strip() for row in csv.reader((line[:1000] for line in lines), delimiter=delimiter) for cell in row]
    return sum(map(_is_numeric, cells)) / len(cells)


def _is_numeric(text: str) -> bool:
    try:
        float(text.replace("−", "-").replace(",", "."))
    except ValueError:
        return False
    return True


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
    problem = Problem(Mode(plain["mode"]), tables, labels, Settings(**plain["settings"]), drawn)
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
