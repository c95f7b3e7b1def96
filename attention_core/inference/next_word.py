"""A typed line before the small language models: any mask, what they foresee, what they write by themselves."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.data.next_words import CLOSING_MARKS, MAX_WORDS, N_WORDS, START, UNKNOWN, Line, vocabulary
from attention_core.data.pieces import join_words, strip_space_mark
from attention_core.device import device_of
from attention_core.models.encoder_stack import EditsByLayer
from attention_core.models.next_word import NextWordTransformer
from attention_core.models.transformer import EncoderLayer

MASKS = {
    "none": "everybody sees everybody",
    "causal": "nobody sees what comes later",
    "padding": "nobody sees the last {size}, which only fill the line",
    "sliding window": "everybody sees the last {size} up to itself",
    "prefix": "all see the first {size}, and beyond them nobody sees what comes later",
    "two documents": "the first {size} and the rest do not see each other, and nobody sees what comes later",
}
"""The names of masks, and what they do; `size` is that of named_mask()."""
PAD_LABEL = "pad"


class Foresight(NamedTuple):
    """What a model makes of a line."""

    traces: tuple[AttentionTrace, ...]  # of each layer
    states: Tensor  # (n_layers, n, d_model), the residual stream behind each layer
    probabilities: Tensor  # (n, N_WORDS), of the word after each position

    def likeliest(self, position: int, n: int = 5) -> list[tuple[str, float]]:
        """Return the n words that most probably follow a position, with their probabilities."""
        probabilities, numbers = self.probabilities[position].topk(n)
        words = (strip_space_mark(vocabulary()[number]) for number in numbers.tolist())
        return list(zip(words, probabilities.tolist(), strict=True))


def named_mask(name: str, n: int, size: int = 3) -> Tensor:
    """Return one of MASKS over n positions, bool (n, n), True = may attend; for `size` see there, 1 at least.

    ValueError where there is no such mask.
    """
    if name not in MASKS:
        raise ValueError(f"mask must be one of {', '.join(MASKS)}, got {name!r}")
    everything = torch.ones(n, n, dtype=torch.bool)
    causal, is_first = everything.tril(), torch.arange(n) < max(size, 1)
    return {
        "none": everything,
        "causal": causal,
        "padding": everything & ~is_first.flip(0),
        "sliding window": causal.triu(1 - max(size, 1)),
        "prefix": causal | is_first,
        "two documents": causal & (is_first[:, None] == is_first),
    }[name]


def padded(line: Line, n: int = 3) -> Line:
    """Return a line that is filled up behind with n positions of no word."""
    return line._replace(ids=[*line.ids, *[UNKNOWN] * n], labels=[*line.labels, *[PAD_LABEL] * n])


@torch.inference_mode()
def foresee(model: NextWordTransformer, line: Line, mask: Tensor | None = None, edits: EditsByLayer = ()) -> Foresight:
    """Let a model read a line with any mask, bool (n, n); None = the one that it was trained with."""
    output = model.run(torch.tensor([line.ids], device=device_of(model)), mask, edits)
    states = torch.stack([of_layer[0] for of_layer in output.states])
    probabilities = model.logits(states[-1]).softmax(-1)
    return Foresight(model.traces(output, line.labels, edits), states, probabilities)


@torch.inference_mode()
def foresee_unseen(model: NextWordTransformer, line: Line) -> Tensor:
    """Return the probabilities (n, N_WORDS) of the word after each position, read without what comes after it."""
    beginnings = [line._replace(ids=line.ids[:n], labels=line.labels[:n]) for n in range(1, len(line.ids) + 1)]
    return torch.stack([foresee(model, beginning).probabilities[-1] for beginning in beginnings])


@torch.inference_mode()
def foresee_word_by_word(model: NextWordTransformer, line: Line) -> Tensor:
    """Return the probabilities (n, N_WORDS) of the word after each position, read one after the other without a mask.

    Keys and values of those before are caches, and what a mask would hide is not there yet.
    """
    ids = torch.tensor([line.ids], device=device_of(model))
    layers = cast(Sequence[EncoderLayer], model.stack.layers)
    caches: list[Tensor | None] = [None] * len(layers)
    probabilities = []
    for position in range(len(line.ids)):
        x = model.embed(ids[:, position : position + 1], position)
        for index, layer in enumerate(layers):
            activations = layer.attention(x, layer.attention_norm, cache=caches[index])
            caches[index] = torch.stack((activations.memory.key, activations.memory.value), 1)
            x = layer.add_feed_forward(x + activations.output)
        probabilities.append(model.logits(x[0, 0]).softmax(-1))
    return torch.stack(probabilities)


@torch.inference_mode()
def write(model: NextWordTransformer, line: Line, n: int = MAX_WORDS) -> str:
    """Return the line as the model goes on with it, always by the likeliest word, up to n words or a closing mark.

    Of each word it sees those before alone, whatever its mask: there are no others.
    """
    ids = list(line.ids)
    while len(ids) <= n:
        ids.append(int(model(torch.tensor([ids], device=device_of(model))).logits[0, -1].argmax()))
        if vocabulary()[ids[-1]] in CLOSING_MARKS:
            break
    return join_words([vocabulary()[number] if number < N_WORDS else "▁…" for number in ids if number != START])
