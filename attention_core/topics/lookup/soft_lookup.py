"""Soft look-up: attention as a dictionary that can almost match.

Source: Graves et al. 2014, "Neural Turing machines", section 3.3.1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F

from attention_core.attention.scores import Dot, Scaled
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story, always
from attention_core.topics.lookup.encoders import SPELLING, Encoder

MAX_LABEL = 44  # characters of a record shown at an axis
MAX_WORDS = 200  # of all keys that are weighed one by one


@dataclass(frozen=True)
class Records:
    """What is looked up in."""

    keys: tuple[str, ...]
    values: tuple[str, ...]  # as many
    key_name: str = "keys"  # plural noun for the axis
    value_name: str = "values"  # of the values


def soft_lookup(
    records: Records, queries: Sequence[str], temperature: float, encoder: Encoder = SPELLING
) -> AttentionTrace:
    """Let every query look at all keys at once, and take from each record as much as its key resembles the query.

    Texts are compared by the cosine of their vectors, divided by the temperature, which is above 0. The trace's value
    has one column per different text, so that the context says how much of each comes back.
    """
    query_axis, key_axis = _axis("queries", queries), _axis(records.key_name, records.keys)
    query, key = (encoder.embed(part) for part in (queries, records.keys))
    vectors, labels = Axis.numbered(encoder.numbers, key.shape[1]), value_labels(records)
    columns = [labels.index(text) for text in records.values]
    value, value_axis = F.one_hot(torch.tensor(columns)).double(), _axis(f"different {records.value_name}", labels)
    letter, made, words = encoder.formula, encoder.code, encoder.words
    one_hot = "value = F.one_hot(torch.tensor(columns)).double()  # columns: which text each record holds"
    handed = "Texts cannot be averaged, so each different one gets a column of its own: 1 in the records that hold it."
    shape = rf"V \in \mathbb{{R}}^{{{len(records.keys)} \times {len(value_axis)}}}"
    given = {"queries": list(queries), "keys": list(records.keys), "values": list(records.values), "columns": columns}
    steps = projections(
        (query, key, value),
        (query_axis, key_axis, key_axis),
        (vectors, vectors, value_axis),
        formula="$set",
        code="$made",
        explanation="$words",
        inputs=partial(always, {**encoder.named, **given}),
        set=(letter.format("q"), letter.format("k"), shape),
        made=(made.format(name="query", texts="queries"), made.format(name="key", texts="keys"), one_hot),
        words=(words, words, handed),
    )
    return AttentionTrace(
        query=query[None],
        key=key[None],
        value=value[None],
        score=Scaled(Dot(), 1.0, temperature),
        story=Story(mechanism="soft look-up", query_axis=query_axis, key_axis=key_axis, steps_before=steps),
    )


class WeighedWord(NamedTuple):
    text: str
    key: int  # in which key it stands
    weight: float  # of all words' weights, which sum to 1


def weigh_words(records: Records, query: str, temperature: float, encoder: Encoder = SPELLING) -> list[WeighedWord]:
    """Let a query look at the words of text keys instead of at whole ones, as in soft_lookup; the first MAX_WORDS.

    Every word is a key of its own: its vector is that of the word alone.
    """
    words = [(word, place) for place, key in enumerate(records.keys) for word in re.findall(r"\w+", key)]
    words = words[:MAX_WORDS]
    if not words:
        return []
    texts = tuple(word for word, _ in words)
    weights = soft_lookup(Records(texts, texts), [query], temperature, encoder).weights()[0].tolist()
    return [WeighedWord(*word, weight) for word, weight in zip(words, weights, strict=True)]


def value_labels(records: Records) -> list[str]:
    """Return what the columns of the context stand for: every different value once."""
    return list(dict.fromkeys(records.values))


def _axis(name: str, texts: Sequence[str]) -> Axis:
    labels = [text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…" for text in texts]
    return Axis(name, labels, whole=list(texts))
