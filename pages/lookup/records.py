"""Records for the soft look-up: those that a visitor typed, as far as they can be read, and tables to begin with."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from attention_core.inference.soft_lookup import Records
from ui.hosting.bounds import (
    QUERIES,
    QUERY_LETTERS,
    RECORD_LETTERS,
    RECORDS,
)

MAX_RECORDS, MAX_TEXT, MAX_QUERIES, MAX_QUERY_TEXT = (
    bound.maximum for bound in (RECORDS, RECORD_LETTERS, QUERIES, QUERY_LETTERS)
)
MAX_LETTERS = 2 * MAX_RECORDS * MAX_TEXT  # of all records


class ValidRecords(NamedTuple):
    records: Records | None  # None when nothing is left
    remarks: tuple[str, ...]  # what was left out or changed, for people; the reason when nothing is left


def read_records(text: str, key_name: str = "keys", value_name: str = "values") -> ValidRecords:
    """Understand one record per line, a key, then "=" or a tab, then a value; never raises.

    Lines without both are left out, long texts cut, and only the first MAX_RECORDS kept.
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
    """Understand one query per line; never raises. Empty lines are skipped, and only the first MAX_QUERIES are kept."""
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
    """A table that comes along, and how it is asked at first."""

    text: str  # the records, see read_records
    names: tuple[str, str]  # what the keys are, plural, and what a value is
    queries: tuple[str, ...]  # to begin with
    temperature: float  # to begin with
    note: str  # what there is to see
    by: str = "spelling"  # how texts are compared, or by their "meaning"

    @property
    def records(self) -> Records:
        records = read_records(self.text, *self.names).records
        assert records is not None  # every table that comes along can be used
        return records


PAPERS = """\
Sequence to sequence learning with neural networks
One recurrent network reads a sentence into a single vector, a second one writes the translation from it.
arXiv:1409.3215 (Sutskever, Vinyals and Le, 2014)
Neural machine translation by jointly learning to align and translate
The decoder looks back at all words of the source sentence and learns where to look for each new word.
arXiv:1409.0473 (Bahdanau, Cho and Bengio, 2014)
Neural Turing machines
A network with a memory that it reads and writes by attention, addressed by content and by place.
arXiv:1410.5401 (Graves, Wayne and Danihelka, 2014)
Show, attend and tell
A caption is written word by word while attention moves over the regions of the image.
arXiv:1502.03044 (Xu and others, 2015)
Effective approaches to attention-based neural machine translation
Global and local attention, and several ways to score a query against a key, are compared.
arXiv:1508.04025 (Luong, Pham and Manning, 2015)
Attention is all you need
Translation without recurrence and without convolution: layers of self-attention with several heads.
arXiv:1706.03762 (Vaswani and others, 2017)
Graph attention networks
Every node of a graph weighs its neighbours by attention.
arXiv:1710.10903 (Veličković and others, 2017)
BERT: pre-training of deep bidirectional transformers
Words are hidden in large amounts of text and guessed from both sides; the model is then tuned to tasks.
arXiv:1810.04805 (Devlin and others, 2018)
An image is worth 16 x 16 words
Pictures are cut into patches, and a plain transformer classifies them.
arXiv:2010.11929 (Dosovitskiy and others, 2020)
Attention is not explanation
Weights can often be changed a great deal without a change of the answer.
arXiv:1902.10186 (Jain and Wallace, 2019)
Logic and the 2-simplicial transformer
Attention over pairs of entities, for reasoning that needs three at once.
arXiv:1909.00668 (Clift and others, 2019)
FlashAttention
Exact attention, computed tile by tile in fast memory, without writing the matrix down.
arXiv:2205.14135 (Dao and others, 2022)
"""
"""The title of a paper, below it an abstract of ours, and where the paper itself is."""
LINES = PAPERS.splitlines()
PHONE_BOOK = """\
Ada Lovelace = 555-0118
Alan Turing = 555-0123
Grace Hopper = 555-0106
Katherine Johnson = 555-0126
Catherine Johnston = 555-0199
Emmy Noether = 555-0182
Srinivasa Ramanujan = 555-0187
Sofia Kovalevskaya = 555-0150
René Descartes = 555-0159
Leonhard Euler = 555-0107
"""
STORY = """\
On Monday the old car would not start.
Anna phoned a garage, and a mechanic came before noon.
He found a flat battery and put in a new one.
It cost ninety euros, which she paid in cash.
Meanwhile her son had missed his train to school.
His teacher was not angry: the whole class was still outside, playing in the snow.
In the evening they baked bread and listened to the radio.
By Tuesday the snow had melted.
"""
WORDS = """\
car = a road vehicle with an engine
train = carriages on rails
bread = food baked from flour
snow = frozen water that falls in flakes
teacher = someone who helps others learn
radio = a device that receives waves
money = coins and notes
garage = a house for cars
"""
PRESETS = {
    "Eight words": LookupPreset(
        WORDS,
        ("words", "meaning"),
        ("automobile", "instructor", "car"),
        0.1,
        "Eight words with their meanings: what you ask need not be among them.",
        "meaning",
    ),
    "Ask a text": LookupPreset(
        "\n".join(f"{said} = line {line}" for line, said in enumerate(STORY.splitlines(), 1)),
        ("sentences", "line"),
        ("Why did the automobile break down?", "What was the weather like?", "Which meal did they prepare?"),
        0.05,
        "A story, a sentence in each record: your question weighs them all.",
        "meaning",
    ),
    "Papers": LookupPreset(
        "\n".join(
            f"{title}. {says} = {paper}" for title, says, paper in zip(*(LINES[n::3] for n in range(3)), strict=True)
        ),
        ("titles and abstracts", "paper"),
        ("translation without recurrence", "regions of an image", "a memory addressed by content"),
        0.05,
        "An archive is a database: the key is a title with an abstract of ours, the value is where the paper is.",
    ),
    "Phone book": LookupPreset(
        PHONE_BOOK,
        ("names", "number"),
        ("Grace Hopper", "Katharine Johnston", "Rene Descartes"),
        0.05,
        "Ten names with their numbers. A misspelt name gets a share of each that it resembles.",
    ),
}
