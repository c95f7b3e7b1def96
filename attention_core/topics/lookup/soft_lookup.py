"""Look-up, exact and soft: a dictionary, and attention as a dictionary that can almost match.

Source: soft look-up, Graves et al. 2014, "Neural Turing machines", section 3.3.1; for numbers it is the kernel
regression of Nadaraya 1964 and Watson 1964.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.scores import L2, Dot, Scaled
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Step, Story, always
from attention_core.topics.lookup.encoders import SPELLING, Encoder

MAX_LABEL = 44  # characters of a record shown at an axis
MAX_WORDS = 200  # of all keys that are weighed one by one


@dataclass(frozen=True)
class Records:
    """What is looked up in."""

    keys: tuple[str, ...] | tuple[float, ...]  # all texts, or all numbers
    values: tuple[str, ...] | tuple[float, ...]  # all texts, or all numbers; as many
    key_name: str = "keys"  # plural noun for the axis
    value_name: str = "values"  # of the values

    def __post_init__(self) -> None:
        if not self.keys or len(self.keys) != len(self.values):
            raise ValueError(
                f"keys and values must be as many, at least one; got {len(self.keys)} and {len(self.values)}"
            )

    @property
    def numeric_keys(self) -> bool:
        return not isinstance(self.keys[0], str)

    @property
    def numeric_values(self) -> bool:
        return not isinstance(self.values[0], str)


class Hit(NamedTuple):
    found: bool  # whether the key is there, letter by letter
    value: str | float | None = None  # what is stored under it, or None


def exact_lookup(records: Records, queries: Sequence[str] | Sequence[float]) -> list[Hit]:
    """Look every query up in a dictionary: the same key, or nothing; of equal keys the last one counts."""
    table: dict[str | float, str | float] = dict(zip(records.keys, records.values, strict=True))
    return [Hit(True, table[query]) if query in table else Hit(False) for query in queries]


def soft_lookup(
    records: Records, queries: Sequence[str] | Sequence[float], temperature: float, encoder: Encoder = SPELLING
) -> AttentionTrace:
    """Let every query look at all keys at once, and take from each record as much as its key resembles the query.

    Args:
        records: text keys are compared by the cosine of their vectors, numbers by their distance.
        queries: texts or numbers, as the keys are; at least one.
        temperature: above 0; what the scores are divided by. For numbers it is the width of the bump, squared.
        encoder: turns texts into vectors.

    Returns:
        a trace of one head. Its value has one column for numbers; for texts one column per different text, so that the
        context says how much of each text comes back.

    Raises:
        ValueError: no query, queries of the other kind, or a temperature that is not above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    if not len(queries) or any(isinstance(query, str) == records.numeric_keys for query in queries):
        kind = "numbers" if records.numeric_keys else "texts"
        raise ValueError(f"queries must be {kind}, as the keys are, and at least one; got {list(queries)[:3]}")
    query_axis, key_axis = _axis("queries", queries), _axis(records.key_name, records.keys)
    if records.numeric_keys:
        query, key = (torch.tensor(list(part), dtype=torch.float64)[:, None] for part in (queries, records.keys))
        vectors = Axis("numbers", ["as typed"])
    else:
        query, key = (encoder.embed([str(text) for text in part]) for part in (queries, records.keys))
        vectors = Axis.numbered(encoder.numbers, key.shape[1])
    value, value_axis = _values(records)
    axes = query_axis, key_axis, vectors, value_axis
    return AttentionTrace(
        query=query[None],
        key=key[None],
        value=value[None],
        score=Scaled(L2() if records.numeric_keys else Dot(), 1.0, temperature),
        story=Story(
            mechanism="soft look-up by nearness" if records.numeric_keys else "soft look-up",
            query_axis=query_axis,
            key_axis=key_axis,
            steps_before=_steps_before(records, queries, (query, key, value), axes, encoder),
        ),
    )


class WeighedWord(NamedTuple):
    """A word of the keys."""

    text: str
    key: int  # in which key it stands
    weight: float  # of all words' weights, which sum to 1


def weigh_words(records: Records, query: str, temperature: float, encoder: Encoder = SPELLING) -> list[WeighedWord]:
    """Let a query look at the words of text keys instead of at whole ones, as in soft_lookup; the first MAX_WORDS.

    Every word is a key of its own: its vector is that of the word alone.
    """
    words = [(word, place) for place, key in enumerate(records.keys) for word in re.findall(r"\w+", str(key))]
    words = words[:MAX_WORDS]
    if not words:
        return []
    texts = tuple(word for word, _ in words)
    weights = soft_lookup(Records(texts, texts), [query], temperature, encoder).weights()[0].tolist()
    return [WeighedWord(*word, weight) for word, weight in zip(words, weights, strict=True)]


def _steps_before(
    records: Records,
    queries: Sequence[str] | Sequence[float],
    matrices: tuple[Tensor, ...],
    axes: tuple[Axis, ...],
    encoder: Encoder,
) -> tuple[Step, ...]:
    query_axis, key_axis, vectors, value_axis = axes
    as_typed = "{name} = torch.tensor({texts}, dtype=torch.float64)[:, None]"
    letter, made, words = encoder.formula, encoder.code, encoder.words
    if records.numeric_keys:
        letter, made, words = r"{} \in \mathbb{{R}}", as_typed, "A number is compared as it is."
    value = "value = F.one_hot(torch.tensor(columns)).double()  # columns: which text each record holds"
    handed = "Texts cannot be averaged, so each different one gets a column of its own: 1 in the records that hold it."
    if records.numeric_values:
        value, handed = as_typed.format(name="value", texts="values"), "What each record hands over: its number."
    named = {
        **encoder.named,
        "queries": list(queries),
        "keys": list(records.keys),
        "values": list(records.values),
        "columns": matrices[2].argmax(1).tolist(),
    }
    shape = rf"V \in \mathbb{{R}}^{{{len(records.keys)} \times {len(value_axis)}}}"
    return projections(
        matrices,
        (query_axis, key_axis, key_axis),
        (vectors, vectors, value_axis),
        formula="$set",
        code="$made",
        explanation="$words",
        inputs=partial(always, named),
        set=(letter.format("q"), letter.format("k"), shape),
        made=(made.format(name="query", texts="queries"), made.format(name="key", texts="keys"), value),
        words=(words, words, handed),
    )


def value_labels(records: Records) -> list[str]:
    """Return what the columns of the context stand for: the values' name, or every different text once."""
    return [records.value_name] if records.numeric_values else [str(text) for text in dict.fromkeys(records.values)]


def _values(records: Records) -> tuple[Tensor, Axis]:
    labels = value_labels(records)
    if records.numeric_values:
        return torch.tensor(list(records.values), dtype=torch.float64)[:, None], Axis("value", labels)
    column = {text: place for place, text in enumerate(labels)}
    indicator = F.one_hot(torch.tensor([column[str(text)] for text in records.values])).double()
    return indicator, _axis(f"different {records.value_name}", labels)


def _axis(name: str, entries: Sequence[str] | Sequence[float]) -> Axis:
    texts = [entry if isinstance(entry, str) else f"{entry:.4g}" for entry in entries]
    labels = [text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…" for text in texts]
    return Axis(name, labels, whole=[str(entry) for entry in entries])


def regression(records: Records, temperature: float, n: int = 200) -> tuple[Tensor, Tensor]:
    """Return n even queries over the range of numeric keys, and what each gets back; ValueError for texts."""
    if not (records.numeric_keys and records.numeric_values):
        raise ValueError("regression needs numbers for keys and for values, got texts")
    keys = torch.tensor(list(records.keys), dtype=torch.float64)
    grid = torch.linspace(float(keys.min()), float(keys.max()), n, dtype=torch.float64)
    return grid, soft_lookup(records, grid.tolist(), temperature).context()[:, 0]
