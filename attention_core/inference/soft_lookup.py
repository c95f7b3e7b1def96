"""Soft look-up: attention as a dictionary that can almost match.

Source: Graves et al. 2014, "Neural Turing machines", section 3.3.1.

Texts become vectors of length 1 in two ways: by how they are spelled, and by what they mean.
By spelling, runs of letters are counted, and a hash decides which number each adds to: no dictionary is needed.
Sources: hashing, Weinberger et al. 2009, "Feature hashing for large scale multitask learning", eq. 1 and 2; runs of
letters with word boundaries, Bojanowski et al. 2017, "Enriching word vectors with subword information", section 3.2;
by meaning, Reimers and Gurevych 2019, "Sentence-BERT", section 3, the mean of all tokens' states.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.scores import Dot, Scaled
from attention_core.attention.steps import projection_steps
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story, always
from attention_core.hub.model import Pretrained

SIZES = (2, 3)  # letters in a run
WIDTH = 512
"""Numbers in a vector. Two runs that share one by accident add to the same number, with a sign that is also hashed."""


def plain(text: str) -> str:
    """Return the text in lower case, without accents, its words separated by single spaces."""
    bare = (sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return " ".join("".join(sign if sign.isalnum() else " " for sign in bare).split())


def ngrams(text: str) -> Counter[str]:
    """Return how often each run of letters occurs; "_" stands for the beginning and the end of a word."""
    marked = [f"_{word}_" for word in plain(text).split()]
    return Counter(
        word[start : start + size] for word in marked for size in SIZES for start in range(len(word) - size + 1)
    )


@lru_cache(maxsize=50_000)
def hash_run(run: str, width: int = WIDTH) -> tuple[int, int]:
    """Return the column that a run adds to, 0 to width - 1, and its sign, +1 or -1; the same on every machine."""
    digest = hashlib.blake2b(run.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little") % width, 1 - 2 * (digest[4] & 1)


def embed(texts: Sequence[str], width: int = WIDTH) -> Tensor:
    """Return one vector of length 1 per text, float64 (n, width); zeros for a text without letters or digits.

    A run that occurs c times adds the square root of c, so that a long text is not all "the" and "and".
    """
    vectors = np.zeros((len(texts), width))  # adds one number at a time much faster than torch
    for row, text in enumerate(texts):
        for run, count in ngrams(text).items():
            column, sign = hash_run(run, width)
            vectors[row, column] += sign * count**0.5
    return torch.nn.functional.normalize(torch.from_numpy(vectors), dim=1, eps=1e-12)


def shared_runs(first: str, second: str) -> list[str]:
    """Return the runs that two texts have in common, the longest first: what their cosine rests on."""
    return sorted(ngrams(first).keys() & ngrams(second).keys(), key=lambda run: (-len(run), run))


MAX_TOKENS = 256  # pieces of a text that are read for its meaning, as the encoder was made for


class Encoder(NamedTuple):
    """How texts become vectors."""

    embed: Callable[[Sequence[str]], Tensor]  # n texts -> float64 (n, width), each row of length 1
    numbers: str  # what the columns are, plural
    formula: str  # with {} for the letter of the vector
    code: str  # with {name} for the vector and {texts} for what is turned into one
    explanation: str  # for people
    named: Mapping[str, Any]  # what the code refers to


SPELLING = Encoder(
    embed,
    "hashed numbers",
    r"{} = \frac{{n}}{{\lVert n \rVert}}, \qquad n_b = \sum_{{g:\, h(g) = b}} \sigma(g) \sqrt{{\text{{count}}_g}}",
    "{name} = embed({texts})  # runs of 2 and 3 letters, hashed into 512 numbers",
    "Runs of two and three letters are counted; a hash decides which of 512 numbers each adds to. Texts spelled alike "
    "lie close, whatever they mean.",
    {"embed": embed},
)


def meaning(pretrained: Pretrained, embed: Callable[[Sequence[str]], Tensor] | None = None) -> Encoder:
    """Return the encoder by meaning of a loaded model; `embed` gives its sentence_vectors if they are cached."""
    return Encoder(
        embed or (lambda texts: sentence_vectors(pretrained, texts)),
        "numbers of meaning",
        r"{} = \frac{{s}}{{\lVert s \rVert}}, \qquad s = \sum_{{t}} h_t",
        f"tokens = tokenizer({{texts}}, padding=True, truncation=True, max_length={_max_tokens(pretrained)}, "
        'return_tensors="pt")\n'
        'states = model(**tokens.to(model.device))[0] * tokens["attention_mask"][..., None]\n'
        "{name} = F.normalize(states.sum(dim=1)).cpu().double()",
        "A transformer reads the text. Trained on pairs of texts that belong together, it puts like meanings close.",
        {"tokenizer": pretrained.tokenizer, "model": pretrained.model},
    )


@torch.no_grad()
def sentence_vectors(pretrained: Pretrained, texts: Sequence[str]) -> Tensor:
    """Return one vector of length 1 per text by its meaning, float64 (n, d_model) on the CPU.

    Of each text the first MAX_TOKENS pieces are read.
    """
    model: Any = pretrained.model
    settings = {"padding": True, "truncation": True, "max_length": _max_tokens(pretrained)}
    tokens = pretrained.tokenizer(list(texts), return_tensors="pt", **settings).to(model.device)
    states = model(**tokens)[0] * tokens["attention_mask"][..., None]
    return F.normalize(states.sum(1)).cpu().double()


def _max_tokens(pretrained: Pretrained) -> int:
    return min(MAX_TOKENS, pretrained.max_tokens or MAX_TOKENS)


MAX_LABEL = 44  # characters of a record shown at an axis
MAX_WORDS = 200  # of all keys that are weighed one by one
VALUE_EXPLANATION = "Texts cannot be averaged, so each different one gets a column: 1 in the records that hold it."


@dataclass(frozen=True)
class Records:
    """What is looked up: texts as keys, and as many as values."""

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
    query, key = (encoder.embed(texts) for texts in (queries, records.keys))
    vectors, labels = Axis.numbered(encoder.numbers, key.shape[1]), value_labels(records)
    columns = [labels.index(text) for text in records.values]
    value, value_axis = F.one_hot(torch.tensor(columns)).double(), _axis(f"different {records.value_name}", labels)
    formula, code, explanation = encoder.formula, encoder.code, encoder.explanation
    value_code = "value = F.one_hot(torch.tensor(columns)).double()  # columns: which text each record holds"
    shape = rf"V \in \mathbb{{R}}^{{{len(records.keys)} \times {len(value_axis)}}}"
    texts = {"queries": list(queries), "keys": list(records.keys), "values": list(records.values)}
    steps = projection_steps(
        (query, key, value),
        (query_axis, key_axis, key_axis),
        (vectors, vectors, value_axis),
        formula="$vectors",
        code="$computed",
        explanation="$sentences",
        inputs=partial(always, {**encoder.named, **texts, "columns": columns}),
        vectors=(formula.format("q"), formula.format("k"), shape),
        computed=(code.format(name="query", texts="queries"), code.format(name="key", texts="keys"), value_code),
        sentences=(explanation, explanation, VALUE_EXPLANATION),
    )
    return AttentionTrace(
        query=query[None],
        key=key[None],
        value=value[None],
        score=Scaled(Dot(), 1.0, temperature),
        story=Story(mechanism="soft look-up", query_axis=query_axis, key_axis=key_axis, steps_before=steps),
    )


PLANE_HEIGHT = 0.56
"""Of the plane below, in its widths."""
MIDDLE = 0.15  # of the way to the rim, on which a key of cosine 1 lies


def points_around_queries(vectors: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Return where keys lie around each query, which is in the middle of that plane, (n_queries, n_keys, 2).

    The larger a cosine (n_queries, n_keys), the nearer; the smallest of all lies on the rim. The direction of a key is
    the same for all queries, and beside those of the keys whose vectors (n_keys, d) are like its own.
    """
    centred = vectors - vectors.mean(0)
    components = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    components = np.pad(components, ((0, 0), (0, 2 - components.shape[1])))
    order = np.arctan2(*components.T).argsort(kind="stable").argsort(kind="stable")
    angles = 2 * np.pi * (order + 0.5) / len(vectors)
    distances = (1 - cosines) / max(1 - cosines.min(), 1e-9)
    radii = PLANE_HEIGHT / 2 * (MIDDLE + (1 - MIDDLE) * distances.clip(0))
    return np.array([0.5, PLANE_HEIGHT / 2]) + radii[..., None] * np.stack([np.cos(angles), np.sin(angles)], -1)


class WeighedWord(NamedTuple):
    """A word of a key, and its weight."""

    text: str
    key: int  # in which key it stands
    weight: float  # of all words' weights, which sum to 1


def weigh_words(records: Records, query: str, temperature: float, encoder: Encoder = SPELLING) -> list[WeighedWord]:
    """Let a query look at the words of text keys instead of at whole ones, as in soft_lookup; the first MAX_WORDS.

    Every word is a key of its own: its vector is that of the word alone.
    """
    words = [(word, index) for index, key in enumerate(records.keys) for word in re.findall(r"\w+", key)]
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
    return Axis(name, labels, full_labels=list(texts))
