"""Tables of records for the soft look-up: presets, and what can be used of a table that somebody edited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attention_core.lookup import Records

MAX_RECORDS = 64
"""Records that are looked at; every one is a column of the heatmaps."""
MAX_TEXT = 600
"""Characters of a cell."""
MAX_QUERIES = 12
MAX_QUERY_TEXT = 200
"""Characters of a query."""
Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """Columns with names, and rows of cells.

    Attributes:
        columns: their names, such as "title".
        numeric: per column whether it holds numbers.
        rows: one tuple of cells per record.
    """

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Preset:
    """A table with something to ask it.

    Attributes:
        table: the records.
        key: the column that is asked.
        value: the column that is handed over.
        queries: to begin with.
        temperature: to begin with; for numeric keys the width of the bump.
        note: what there is to see.
    """

    table: Table
    key: str
    value: str
    queries: tuple[str, ...]
    temperature: float
    note: str


class Usable(NamedTuple):
    """What can be computed with.

    Attributes:
        records: None when nothing is left.
        remarks: what was left out or changed, for people; the reason when nothing is left.
    """

    records: Records | None
    remarks: tuple[str, ...] = ()


def usable_records(table: Table, key: str, value: str) -> Usable:
    """Take the key and value columns of the rows that have both; never raises on what people type.

    Rows with an empty, NaN or infinite cell are left out, long texts cut, and only the first MAX_RECORDS rows kept.
    """
    remarks: list[str] = []
    places = table.columns.index(key), table.columns.index(value)
    rows = table.rows
    if len(rows) > MAX_RECORDS:
        remarks.append(f"{len(rows):,} rows are more than can be drawn: the first {MAX_RECORDS} are used.")
        rows = rows[:MAX_RECORDS]
    pairs: list[tuple[Cell, Cell]] = []
    faulty: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = [_clean(row[place], table.numeric[place]) for place in places]
        for place, cell in zip(places, cells, strict=True):
            if cell is None:
                faulty.append(f"row {number} ({table.columns[place]})")
                break
        else:
            pairs.append((cells[0], cells[1]))
    if faulty:
        more = f" and {len(faulty) - 3} more" if len(faulty) > 3 else ""
        remarks.append(f"Left out, because a cell is empty or not a finite number: {', '.join(faulty[:3])}{more}.")
    if not pairs:
        remarks.append("There is no record to look up in. Add a row with a key and a value, or take a preset.")
        return Usable(None, tuple(remarks))
    keys, values = (tuple(part) for part in zip(*pairs, strict=True))
    if any(isinstance(cell, str) and len(cell) == MAX_TEXT for cell in (*keys, *values)):
        remarks.append(f"Texts are read up to {MAX_TEXT} characters.")
    if len(set(keys)) < len(keys):
        twice = next(one for one in keys if keys.count(one) > 1)
        remarks.append(
            f"“{str(twice)[:40]}” is the key of several records: a dictionary keeps only the last, the soft look-up "
            "mixes them."
        )
    records = Records(keys, values, _plural(key), value)  # type: ignore[arg-type]
    return Usable(records, tuple(remarks))


def _clean(cell: Cell, numeric: bool) -> Cell:
    if numeric:
        try:
            number = float(cell) if cell is not None else math.nan
        except (TypeError, ValueError):
            return None
        return number if math.isfinite(number) and abs(number) < 1e12 else None
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return " ".join(str(cell).split())[:MAX_TEXT] or None


def _plural(name: str) -> str:
    return name if name.endswith("s") else f"{name}s"


class Asked(NamedTuple):
    """The queries that can be asked.

    Attributes:
        queries: texts or numbers, as the keys are; may be empty.
        remarks: what was left out or changed.
    """

    queries: tuple[str, ...] | tuple[float, ...]
    remarks: tuple[str, ...] = ()


def read_queries(text: str, numeric: bool) -> Asked:
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
        return Asked(tuple(lines), tuple(remarks))
    numbers: list[float] = []
    for line in lines:
        number = _number(line)
        if number is None:
            remarks.append(f"“{line[:30]}” is not a finite number; these keys are numbers, so a query must be one.")
        else:
            numbers.append(number)
    return Asked(tuple(numbers), tuple(remarks))


def _number(text: str) -> float | None:
    plain = text.replace("−", "-")
    try:
        number = float(plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain)
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e12 else None


def noisy_series(seed: int = 0, n: int = 40) -> tuple[tuple[float, float], ...]:
    """Return n measurements (time, value) of a slow wave with a step in it, at uneven times, with noise of 0.25."""
    source = np.random.default_rng(seed)
    times = np.sort(source.uniform(0, 10, n)).round(2)
    truth = np.sin(times) + 0.8 * (times > 6.5)
    return tuple(zip(times.tolist(), (truth + source.normal(0, 0.25, n)).round(2).tolist(), strict=True))


def _table(columns: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[Cell]]) -> Table:
    return Table(tuple(columns), tuple(numeric), tuple(tuple(row) for row in rows))


PAPERS = _table(
    ("title", "abstract", "year"),
    (False, False, True),
    (
        (
            "Sequence to sequence learning with neural networks",
            "One recurrent network reads a sentence into a single vector, a second one writes the translation from it.",
            2014,
        ),
        (
            "Neural machine translation by jointly learning to align and translate",
            "The decoder looks back at all words of the source sentence and learns where to look for each new word.",
            2014,
        ),
        (
            "Neural Turing machines",
            "A network with a memory that it reads and writes by attention, addressed by content and by place.",
            2014,
        ),
        (
            "Show, attend and tell",
            "A caption is written word by word while attention moves over the regions of the image.",
            2015,
        ),
        (
            "Effective approaches to attention-based neural machine translation",
            "Global and local attention, and several ways to score a query against a key, are compared.",
            2015,
        ),
        (
            "Attention is all you need",
            "Translation without recurrence and without convolution: layers of self-attention with several heads.",
            2017,
        ),
        (
            "Graph attention networks",
            "Every node of a graph weighs its neighbours by attention.",
            2017,
        ),
        (
            "BERT: pre-training of deep bidirectional transformers",
            "Words are hidden in large amounts of text and guessed from both sides; the model is then tuned to tasks.",
            2018,
        ),
        (
            "An image is worth 16 x 16 words",
            "Pictures are cut into patches, and a plain transformer classifies them.",
            2020,
        ),
        (
            "Attention is not explanation",
            "Weights can often be changed a great deal without a change of the answer.",
            2019,
        ),
        (
            "Logic and the 2-simplicial transformer",
            "Attention over pairs of entities, for reasoning that needs three at once.",
            2019,
        ),
        (
            "FlashAttention",
            "Exact attention, computed tile by tile in fast memory, without writing the matrix down.",
            2022,
        ),
    ),
)
PHONE_BOOK = _table(
    ("name", "number"),
    (False, False),
    (
        ("Ada Lovelace", "555-0118"),
        ("Alan Turing", "555-0123"),
        ("Grace Hopper", "555-0106"),
        ("Katherine Johnson", "555-0126"),
        ("Catherine Johnston", "555-0199"),
        ("Emmy Noether", "555-0182"),
        ("Srinivasa Ramanujan", "555-0187"),
        ("Sofia Kovalevskaya", "555-0150"),
        ("René Descartes", "555-0159"),
        ("Leonhard Euler", "555-0107"),
    ),
)
PRESETS = {
    "Papers": Preset(
        PAPERS,
        "title",
        "year",
        ("Attention is all you need", "atention is all yuo need", "neural machine translation"),
        0.05,
        "The first query is spelled as in the table, the second is not: a dictionary finds the one and not the other.",
    ),
    "What a paper says": Preset(
        PAPERS,
        "abstract",
        "title",
        ("translation without recurrence", "regions of an image", "a memory addressed by content"),
        0.03,
        "Keys may be long texts, and what is asked need not be what is handed over.",
    ),
    "Phone book": Preset(
        PHONE_BOOK,
        "name",
        "number",
        ("Grace Hopper", "Katharine Johnston", "Rene Descartes"),
        0.05,
        "Katherine Johnson or Catherine Johnston? Half of each number would ring nowhere: texts are shared, not mixed.",
    ),
    "Noisy time series": Preset(
        _table(("time", "measured"), (True, True), noisy_series()),
        "time",
        "measured",
        ("2", "5", "6.5"),
        0.4,
        "Keys are times, and so is the query: the weights are a bump around it, and a local average comes back.",
    ),
}
