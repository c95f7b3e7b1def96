"""Records for the soft look-up: those that a visitor typed, as far as they can be read, and tables to begin with."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attention_core.files import find_file
from attention_core.inference.soft_lookup import Records
from ui.hosting.bounds import QUERIES, QUERY_LETTERS, RECORD_LETTERS, RECORDS

MAX_RECORDS, MAX_TEXT, MAX_QUERIES, MAX_QUERY_TEXT = (
    bound.maximum for bound in (RECORDS, RECORD_LETTERS, QUERIES, QUERY_LETTERS)
)
MAX_LETTERS = 2 * MAX_RECORDS * MAX_TEXT  # of all records


class ValidRecords(NamedTuple):
    records: Records | None  # None when nothing is left
    remarks: tuple[str, ...]  # what was left out or changed, for people; the reason when nothing is left


def read_records(text: str, key_name: str = "keys", value_name: str = "values") -> ValidRecords:
    """Parse one record per line, a key, then "=" or a tab, then a value; never raises.

    Lines without both are left out, long texts cut, and only the first MAX_RECORDS used.
    """
    remarks: list[str] = []
    lines = {number: line for number, line in enumerate(text[:MAX_LETTERS].splitlines(), 1) if line.strip()}
    if len(lines) > MAX_RECORDS:
        remarks.append(f"The first {MAX_RECORDS} of {len(lines):,} records are used.")
    split = {number: re.split("[=\t]", line, maxsplit=1) for number, line in [*lines.items()][:MAX_RECORDS]}
    cells = {number: [" ".join(cell.split()) for cell in record] for number, record in split.items()}
    pairs = [record for record in cells.values() if len(record) == 2 and all(record)]
    if bad := [str(number) for number, record in cells.items() if record not in pairs]:
        which = f"line {bad[0]}, which is" if len(bad) == 1 else f"lines {', '.join(bad)}, which are"
        remarks.append(f"Left out: {which} not of the form key = value.")
    if not pairs:
        remarks.append("There is no record to look up in. Write one as key = value.")
        return ValidRecords(None, tuple(remarks))
    if any(len(cell) > MAX_TEXT for record in pairs for cell in record):
        remarks.append(f"Texts are read up to {MAX_TEXT} characters.")
    keys, values = (tuple(cell[:MAX_TEXT] for cell in column) for column in zip(*pairs, strict=True))
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        remarks.append(
            f"“{twice[:40]}” is the key of several records: a dictionary keeps only the last, the soft look-up "
            "mixes them."
        )
    return ValidRecords(Records(keys, values, key_name, value_name), tuple(remarks))


class QueryTable(NamedTuple):
    """The queries that can be asked, as typed."""

    queries: tuple[str, ...]  # may be empty
    remarks: tuple[str, ...] = ()  # what was left out or changed


def read_queries(text: str) -> QueryTable:
    """Parse one query per line; never raises. Empty lines are skipped, and only the first MAX_QUERIES are used."""
    remarks: list[str] = []
    lines = [" ".join(line.split()) for line in text[: 2 * MAX_QUERIES * MAX_QUERY_TEXT].splitlines() if line.strip()]
    if len(lines) > MAX_QUERIES:
        remarks.append(f"The first {MAX_QUERIES} of {len(lines)} queries are asked.")
        lines = lines[:MAX_QUERIES]
    if any(len(line) > MAX_QUERY_TEXT for line in lines):
        remarks.append(f"Queries are read up to {MAX_QUERY_TEXT} characters.")
        lines = [line[:MAX_QUERY_TEXT] for line in lines]
    if not lines:
        remarks.append("Type a query.")
    return QueryTable(tuple(lines), tuple(remarks))


@dataclass(frozen=True)
class LookupPreset:
    """A table that the page brings, with its first queries and settings."""

    text: str  # the records, see read_records
    names: Sequence[str]  # what the keys are, plural, and what a value is
    queries: Sequence[str]
    temperature: float
    by: str = "spelling"  # how texts are compared: "spelling" or "meaning"

    @property
    def records(self) -> Records:
        records = read_records(self.text, *self.names).records
        assert records is not None  # every preset can be parsed
        return records


_FILE = find_file("pages/lookup/tables.toml")
PRESETS = {name: LookupPreset(**table) for name, table in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}
"""The tables that the page brings, by their titles."""
