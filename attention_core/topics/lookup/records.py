"""Tables of records for the soft look-up: what can be used of what somebody typed, and tables to begin with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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


@dataclass(frozen=True)
class LookupPreset:
    """A table that comes along, and how it is asked at first."""

    table: Table  # the records
    key: tuple[str, ...]  # the columns that are asked
    value: str  # the column that is handed over
    queries: tuple[str, ...]  # to begin with
    temperature: float  # to begin with; for numeric keys the width of the bump
    note: str  # what there is to see
    by: str = "spelling"  # how texts are compared, or by their "meaning"


def noisy_series() -> tuple[tuple[float, float], ...]:
    """Return 40 measurements (time, value) of a slow wave with a step in it, at uneven times, with noise of 0.25."""
    source = np.random.default_rng(0)
    times = np.sort(source.uniform(0, 10, 40)).round(2)
    truth = np.sin(times) + 0.8 * (times > 6.5)
    return tuple(zip(times.tolist(), (truth + source.normal(0, 0.25, 40)).round(2).tolist(), strict=True))


def _table(columns: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[Cell]]) -> Table:
    return Table(tuple(columns), tuple(numeric), tuple(tuple(row) for row in rows))


PAPERS_TEXT = """\
2014 Sequence to sequence learning with neural networks
One recurrent network reads a sentence into a single vector, a second one writes the translation from it.
2014 Neural machine translation by jointly learning to align and translate
The decoder looks back at all words of the source sentence and learns where to look for each new word.
2014 Neural Turing machines
A network with a memory that it reads and writes by attention, addressed by content and by place.
2015 Show, attend and tell
A caption is written word by word while attention moves over the regions of the image.
2015 Effective approaches to attention-based neural machine translation
Global and local attention, and several ways to score a query against a key, are compared.
2017 Attention is all you need
Translation without recurrence and without convolution: layers of self-attention with several heads.
2017 Graph attention networks
Every node of a graph weighs its neighbours by attention.
2018 BERT: pre-training of deep bidirectional transformers
Words are hidden in large amounts of text and guessed from both sides; the model is then tuned to tasks.
2020 An image is worth 16 x 16 words
Pictures are cut into patches, and a plain transformer classifies them.
2019 Attention is not explanation
Weights can often be changed a great deal without a change of the answer.
2019 Logic and the 2-simplicial transformer
Attention over pairs of entities, for reasoning that needs three at once.
2022 FlashAttention
Exact attention, computed tile by tile in fast memory, without writing the matrix down.
"""
"""Year and title of a paper, and below it what it says."""
LINES = PAPERS_TEXT.splitlines()
PAPERS = _table(
    ("title", "abstract", "year"),
    (False, False, True),
    [(head[5:], abstract, int(head[:4])) for head, abstract in zip(LINES[::2], LINES[1::2], strict=True)],
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
STORY = (
    "On Monday the old car would not start.",
    "Anna phoned a garage, and a mechanic came before noon.",
    "He found a flat battery and put in a new one.",
    "It cost ninety euros, which she paid in cash.",
    "Meanwhile her son had missed his train to school.",
    "His teacher was not angry: the whole class was still outside, playing in the snow.",
    "In the evening they baked bread and listened to the radio.",
    "By Tuesday the snow had melted.",
)
WORDS = (
    ("car", "a road vehicle with four wheels and an engine"),
    ("train", "carriages that a locomotive pulls over rails"),
    ("bread", "food baked from flour and water"),
    ("snow", "frozen water that falls in flakes"),
    ("teacher", "someone who helps others to learn"),
    ("radio", "a device that makes music out of waves"),
    ("money", "coins and notes to pay with"),
    ("garage", "a house for cars"),
)
PRESETS = {
    "Eight words": LookupPreset(
        _table(("word", "meaning"), (False, False), WORDS),
        ("word",),
        "meaning",
        ("automobile", "instructor", "car"),
        0.1,
        "None of the eight is *automobile*.",
        "meaning",
    ),
    "Ask a text": LookupPreset(
        _table(("sentence", "line"), (False, False), [(said, f"line {line}") for line, said in enumerate(STORY, 1)]),
        ("sentence",),
        "line",
        ("Why did the automobile break down?", "What was the weather like?", "Which meal did they prepare?"),
        0.05,
        "A story, read with a question in mind: every sentence is weighed by its meaning.",
        "meaning",
    ),
    "Papers": LookupPreset(
        PAPERS,
        ("title", "abstract"),
        "title",
        ("translation without recurrence", "regions of an image", "a memory addressed by content"),
        0.05,
        "An archive of papers: title and abstract are the key. What you search in need not be what you get.",
    ),
    "Phone book": LookupPreset(
        PHONE_BOOK,
        ("name",),
        "number",
        ("Grace Hopper", "Katharine Johnston", "Rene Descartes"),
        0.05,
        "One letter is wrong. Katherine Johnson or Catherine Johnston? A share of each.",
    ),
    "Noisy time series": LookupPreset(
        _table(("time", "measured"), (True, True), noisy_series()),
        ("time",),
        "measured",
        ("2", "5", "6.5"),
        0.4,
        "Keys and queries are times. The weights form a bump around the query: the answer is a local average.",
    ),
}
