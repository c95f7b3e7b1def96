"""Tables of records for the soft look-up: what can be used of what somebody typed, and what to say about the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attention_core.bounds import QUERIES, QUERY_LETTERS, RECORD_LETTERS, RECORDS
from attention_core.topics.lookup.soft_lookup import Records

MAX_RECORDS, MAX_TEXT, MAX_QUERIES, MAX_QUERY_TEXT = (
    bound.most for bound in (RECORDS, RECORD_LETTERS, QUERIES, QUERY_LETTERS)
)
Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """Columns with names, and rows of cells."""

    columns: tuple[str, ...]  # their names, such as "title"
    numeric: tuple[bool, ...]  # per column whether it holds numbers
    rows: tuple[tuple[Cell, ...], ...]  # one tuple of cells per record


class ValidRecords(NamedTuple):
    """What can be computed with."""

    records: Records | None  # None when nothing is left
    remarks: tuple[str, ...] = ()  # what was left out or changed, for people; the reason when nothing is left


def usable_records(table: Table, key: str | Sequence[str], value: str) -> ValidRecords:
    """Take the key and value columns of the rows that have all of them; never raises on what people type.

    Several key columns make one text. Rows with an empty, NaN or infinite cell are left out, long texts cut, and only
    the first MAX_RECORDS rows kept.
    """
    remarks: list[str] = []
    asked = [key] if isinstance(key, str) else [*key]
    if not asked:
        return ValidRecords(None, ("Nothing is asked: choose at least one column as the key.",))
    places = [table.columns.index(column) for column in (*asked, value)]
    rows = table.rows
    if len(rows) > MAX_RECORDS:
        remarks.append(f"{len(rows):,} rows are more than can be drawn: the first {MAX_RECORDS} are used.")
        rows = rows[:MAX_RECORDS]
    found: list[list[Cell]] = []
    faulty: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = [_clean(row[place], table.numeric[place]) for place in places]
        for place, cell in zip(places, cells, strict=True):
            if cell is None:
                faulty.append(f"row {number} ({table.columns[place]})")
                break
        else:
            found.append(cells)
    if faulty:
        more = f" and {len(faulty) - 3} more" if len(faulty) > 3 else ""
        remarks.append(f"Left out, because a cell is empty or not a finite number: {', '.join(faulty[:3])}{more}.")
    if not found:
        remarks.append("There is no record to look up in. Add a row with a key and a value, or take a preset.")
        return ValidRecords(None, tuple(remarks))
    keys, values = tuple(_together(cells[:-1]) for cells in found), tuple(cells[-1] for cells in found)
    if any(isinstance(cell, str) and len(cell) == MAX_TEXT for cells in found for cell in cells):
        remarks.append(f"Texts are read up to {MAX_TEXT} characters.")
    if len(set(keys)) < len(keys):
        twice = next(cell for cell in keys if keys.count(cell) > 1)
        remarks.append(
            f"“{str(twice)[:40]}” is the key of several records: a dictionary keeps only the last, the soft look-up "
            "mixes them."
        )
    records = Records(keys, values, " and ".join(name if name.endswith("s") else f"{name}s" for name in asked), value)  # type: ignore[arg-type]
    return ValidRecords(records, tuple(remarks))


def _clean(cell: Cell, numeric: bool) -> Cell:
    if numeric:
        return _finite(cell)
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return " ".join(str(cell).split())[:MAX_TEXT] or None


def _finite(cell: Cell) -> float | None:
    try:
        number = math.nan if cell is None else float(cell)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e12 else None


def _together(cells: Sequence[Cell]) -> Cell:
    """Return the cells of a key as one; several become one text."""
    if len(cells) == 1:
        return cells[0]
    return ". ".join(cell.rstrip(".") if isinstance(cell, str) else f"{cell:.6g}" for cell in cells)


class QueryTable(NamedTuple):
    """The queries that can be asked."""

    queries: tuple[str, ...] | tuple[float, ...]  # texts or numbers, as the keys are; may be empty
    remarks: tuple[str, ...] = ()  # what was left out or changed


def read_queries(text: str, numeric: bool) -> QueryTable:
    """Understand one query per line; never raises.

    Empty lines are skipped, lines that are no finite number are left out where keys are numbers, and only the first
    MAX_QUERIES are kept.
    """
    remarks: list[str] = []
    lines = [" ".join(line.split()) for line in text[: 2 * MAX_QUERIES * MAX_QUERY_TEXT].splitlines() if line.strip()]
    if len(lines) > MAX_QUERIES:
        remarks.append(f"The first {MAX_QUERIES} of {len(lines)} queries are asked.")
        lines = lines[:MAX_QUERIES]
    if any(len(line) > MAX_QUERY_TEXT for line in lines):
        remarks.append(f"Queries are read up to {MAX_QUERY_TEXT} characters.")
        lines = [line[:MAX_QUERY_TEXT] for line in lines]
    if not lines:
        remarks.append("Type a query, one per line.")
    if not numeric:
        return QueryTable(tuple(lines), tuple(remarks))
    numbers: list[float] = []
    for line in lines:
        number = _number(line)
        if number is None:
            remarks.append(f"“{line[:30]}” is not a finite number; these keys are numbers, so a query must be one.")
        else:
            numbers.append(number)
    return QueryTable(tuple(numbers), tuple(remarks))


def _number(text: str) -> float | None:
    plain = text.replace("−", "-")
    return _finite(plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain)
