"""Tables to look up in, with something to ask them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.topics.lookup.records import Cell, Table


@dataclass(frozen=True)
class LookupPreset:
    table: Table  # the records
    key: tuple[str, ...]  # the columns that are asked
    value: str  # the column that is handed over
    queries: tuple[str, ...]  # to begin with
    temperature: float  # to begin with; for numeric keys the width of the bump
    note: str  # what there is to see
    by: str = "spelling"  # how texts are compared, or by their "meaning"


def noisy_series(n: int = 40) -> tuple[tuple[float, float], ...]:
    """Return n measurements (time, value) of a slow wave with a step in it, at uneven times, with noise of 0.25."""
    source = np.random.default_rng(0)
    times = np.sort(source.uniform(0, 10, n)).round(2)
    truth = np.sin(times) + 0.8 * (times > 6.5)
    return tuple(zip(times.tolist(), (truth + source.normal(0, 0.25, n)).round(2).tolist(), strict=True))


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
PRESETS = {
    "Papers": LookupPreset(
        PAPERS,
        ("title",),
        "year",
        ("Attention is all you need", "atention is all yuo need", "neural machine translation"),
        0.05,
        "The second query has typos. A dictionary finds nothing; soft look-up still does.",
    ),
    "What a paper says": LookupPreset(
        PAPERS,
        ("title", "abstract"),
        "title",
        ("translation without recurrence", "regions of an image", "a memory addressed by content"),
        0.03,
        "As in an archive of papers, title and abstract together are the key. What you search in need not be what you "
        "get (the value).",
    ),
    "Ask a text": LookupPreset(
        _table(("sentence", "line"), (False, False), [(said, f"line {line}") for line, said in enumerate(STORY, 1)]),
        ("sentence",),
        "line",
        ("Why did the automobile break down?", "What was the weather like?", "Which meal did they prepare?"),
        0.05,
        "Read with a question in mind: it weighs every sentence by its meaning, and few of its words need be the same.",
        "meaning",
    ),
    "Phone book": LookupPreset(
        PHONE_BOOK,
        ("name",),
        "number",
        ("Grace Hopper", "Katharine Johnston", "Rene Descartes"),
        0.05,
        "Katherine Johnson or Catherine Johnston? Texts cannot be averaged, so the answer is a share of each number.",
    ),
    "Noisy time series": LookupPreset(
        _table(("time", "measured"), (True, True), noisy_series()),
        ("time",),
        "measured",
        ("2", "5", "6.5"),
        0.4,
        "Keys and queries are times. The weights form a bump around the query, and the answer is a local average.",
    ),
}
