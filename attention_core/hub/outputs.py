"""What a model's outputs say: the token that it expects, and how far two outputs are apart."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.hub.model import ONLY_SPACES, SPACE, readable


class TokenProbability(NamedTuple):
    """A token that may come, as its number in the vocabulary and for people."""

    id: int
    text: str
    probability: float


class NextTokens(NamedTuple):
    """What a model expects at one position: the likeliest, best first, and the probability of the n_rest others.

    The entropy is of all, in bits; 0 = certain.
    """

    likeliest: tuple[TokenProbability, ...]
    remainder: float
    n_remaining: int
    entropy: float


def token_text(tokenizer: Any, token: int) -> str:
    """Return one token that may come, for people: where it brings a space, it begins with ␣."""
    (text,) = readable(tokenizer, [token])
    brings_space = str(tokenizer.convert_ids_to_tokens(token)).startswith(SPACE)
    text = text if text.startswith(" ") or not brings_space else f" {text}"
    return text.replace(" ", ONLY_SPACES)


def log_probabilities(logits: Tensor, ids: Sequence[int]) -> Tensor:
    """Return the log-probability, in bits, of every token but the first, (n_tokens - 1,), as a decoder expected it."""
    following = torch.tensor(list(ids[1:]), device=logits.device)
    shares = logits[: len(following)].float().log_softmax(-1)
    return shares.gather(-1, following[:, None])[:, 0] / math.log(2)


def expected(logits: Tensor, tokenizer: Any, *, n: int = 10) -> NextTokens:
    """Return the n likeliest tokens of one position, from its logits (n_tokens,)."""
    shares = logits.float().softmax(-1)
    top = shares.topk(min(n, len(shares)))
    likeliest = tuple(
        TokenProbability(token, token_text(tokenizer, token), share)
        for share, token in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    )
    remainder, entropy = 1 - sum(top.values.tolist()), -float(torch.xlogy(shares, shares).sum()) / math.log(2)
    return NextTokens(likeliest, max(0.0, remainder), len(shares) - len(likeliest), max(0.0, entropy))


MAX_NUMBERS = 16_000_000  # logits that one batch may return, 64 MB
MAX_ITEMS = 16  # runs in one batch


def cosine_change(before: Tensor, after: Tensor) -> Tensor:
    """Return 1 - cosine of each row (n_rows, d_model), from 0 = the same direction to 2 = the opposite one."""
    before, after = before.cpu().double(), after.cpu().double()  # MPS has no float64
    return (1 - torch.cosine_similarity(before, after, dim=-1)).clamp(0, 2).float()


def sentence_change(before: Tensor, after: Tensor) -> float:
    """Return 1 - cosine of the mean over all tokens, with which sentence encoders represent a sentence."""
    return float(cosine_change(before.float().mean(0, keepdim=True), after.float().mean(0, keepdim=True)))


def items_at_once(logits: Tensor | None) -> int:
    """Return how many items a batch may have, so that logits like these of each stay in bounds."""
    n_numbers = 1 if logits is None else max(logits.numel(), 1)
    return max(1, min(MAX_ITEMS, MAX_NUMBERS // n_numbers))


def repeated(inputs: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return inputs of one item as those of n; patches of one picture below each other are repeated as a whole."""
    return {
        name: value.repeat(n, *[1] * (value.ndim - 1)) if isinstance(value, Tensor) and value.ndim else value
        for name, value in inputs.items()
    }
