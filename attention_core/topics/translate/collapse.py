"""Any number of states in, one vector out: what that saves over laying all end to end, and what adds up to it."""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import END, MOST_WORDS, START, bare, english_words, pieces
from attention_core.device import device_of
from attention_core.models.translator import Translator

LONGEST = MOST_WORDS


class ReadOutCost(NamedTuple):
    """Sizes of what the read-out is given and of the matrix that takes it in, for n states of d numbers."""

    attention: int  # numbers handed over by attention: d, whatever n is
    concatenation: int  # numbers of all states laid end to end: n d
    attention_matrix: int  # parameters of the read-out for state and context, (d + d) d_out
    concatenation_matrix: int  # parameters of the read-out for state and all states, (d + n d) d_out


class Collapse(NamedTuple):
    """n encoder states and the vector that became of them."""

    words: list[str]  # n texts
    states: Tensor  # (n, d)
    weights: Tensor  # (n,), the first decoder state's; they sum to 1
    context: Tensor  # (d,), the weighted sum


def cost(n: int, d_state: int, d_out: int) -> ReadOutCost:
    """Return what n states cost with attention and laid end to end; ValueError for a size below 1."""
    if min(n, d_state, d_out) < 1:
        raise ValueError(f"n, d_state and d_out must be at least 1, got {n}, {d_state} and {d_out}")
    return ReadOutCost(d_state, n * d_state, 2 * d_state * d_out, (1 + n) * d_state * d_out)


def grown(words: Sequence[str], n: int) -> list[str]:
    if not words or n < 1:
        raise ValueError(f"words and n must be at least one, got {len(words)} and {n}")
    return list(islice(cycle(words), n))


@torch.inference_mode()
def collapse(model: Translator, text: str, n: int) -> Collapse:
    """Read n words, and let the first decoder state of a translator with attention collect from their states.

    The sentence begins again where it ends. A word of several pieces counts with the state of its last piece; the
    sentence's end is read but not counted.

    Raises:
        ValueError: n out of bounds, or no words.
    """
    if not 1 <= n <= LONGEST:
        raise ValueError(f"n must be from 1 to {LONGEST}, got {n}")
    taken = grown(english_words(text), n)
    cut = pieces().cut([word.lower() for word in taken])
    device = device_of(model)
    encoding = model.encode(torch.tensor([[*cut.ids, END]], device=device))
    last_piece = {word: piece for piece, word in enumerate(cut.word_of)}
    states = encoding.states[0, [last_piece[word] for word in range(n)]]
    start = model.start(encoding.last).tanh()
    query, _ = model.decoder(model.embedding(torch.tensor([[START]], device=device)), start[None])
    weights = model.score()(query[0], states)[0].softmax(-1)
    return Collapse([bare(word) for word in taken], states, weights, weights @ states)


class ContextParts(NamedTuple):
    """A context and what it is the sum of."""

    vectors: Tensor  # (n_keys, d), weight times value; their sum is the context
    context: Tensor  # (d,)
    shares: Tensor  # (n_keys,), how far each part goes along the context, of its length; they sum to 1


def parts_of_context(trace: AttentionTrace, head: int, query: int) -> ContextParts:
    """Return the values times their weights for one query of a head.

    The share of a part is its dot product with the context over that of the context with itself: negative where it
    points the other way. A context of zeros has shares of 0.
    """
    vectors = trace.weights(head, [query])[0][:, None] * trace.value_of(head)
    context = trace.context(head)[query]
    return ContextParts(vectors, context, vectors @ context / (context @ context).clamp(min=1e-30))
