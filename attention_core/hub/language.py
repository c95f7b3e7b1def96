"""What a language model expects: the next token, or the one that is hidden from it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.hub.model import ONLY_SPACES, SPACE, ModelError, Pretrained, as_model_errors, readable
from attention_core.hub.tracing import UnsupportedError, run_model

SEED_STEP = 1_000_003  # spreads the seeds of neighbouring positions


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
    rest: float
    n_rest: int
    entropy: float


def token_text(tokenizer: Any, token: int) -> str:
    """Return one token that may come, for people: where it brings a space, it begins with ␣."""
    (text,) = readable(tokenizer, [token])
    brings_space = str(tokenizer.convert_ids_to_tokens(token)).startswith(SPACE)
    text = text if text.startswith(" ") or not brings_space else f" {text}"
    return text.replace(" ", ONLY_SPACES)


def probabilities(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the probabilities of logits (..., n_tokens) in float32; a temperature below 1 sharpens, above flattens."""
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    return (logits.float() / temperature).softmax(-1)


def log_probabilities(logits: Tensor, ids: Sequence[int]) -> Tensor:
    """Return the log-probability, in bits, of every token but the first, (n_tokens - 1,), as a decoder expected it."""
    following = torch.tensor(list(ids[1:]), device=logits.device)
    shares = logits[: len(following)].float().log_softmax(-1)
    return shares.gather(-1, following[:, None])[:, 0] / math.log(2)


def expected(logits: Tensor, tokenizer: Any, *, n: int = 10, temperature: float = 1.0) -> NextTokens:
    """Return the n likeliest tokens of one position, from its logits (n_tokens,)."""
    shares = probabilities(logits, temperature)
    top = shares.topk(min(n, len(shares)))
    likeliest = tuple(
        TokenProbability(token, token_text(tokenizer, token), share)
        for share, token in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    )
    rest, entropy = 1 - sum(top.values.tolist()), -float(torch.xlogy(shares, shares).sum()) / math.log(2)
    return NextTokens(likeliest, max(0.0, rest), len(shares) - len(likeliest), max(0.0, entropy))


def pick(logits: Tensor, *, temperature: float = 0.0, seed: int = 0, place: int = 0) -> int:
    """Return a next token from logits (n_tokens,): the likeliest if temperature is 0, else drawn by its probability.

    The same seed and place, the position of the new token, draw the same token from the same probabilities.
    """
    if temperature == 0:
        return int(logits.argmax())
    generator = torch.Generator().manual_seed(seed * SEED_STEP + place)
    return int(torch.multinomial(probabilities(logits, temperature).cpu(), 1, generator=generator))


def expected_in_place(
    pretrained: Pretrained, inputs: Mapping[str, Tensor], position: int, *, edits: Mapping[int, Edits] | None = None
) -> Tensor:
    """Return the logits (n_tokens,) of a masked-language model at a position whose token is hidden from it.

    The first item of the inputs counts; edits are as in run_model. ModelError = the tokenizer has no token that stands
    for a hidden one, or the model's code fails.
    """
    mask = pretrained.tokenizer.mask_token_id
    if mask is None:
        raise ModelError("This model has no [MASK] token, so no word can be hidden from it.")
    ids = inputs["input_ids"].clone()
    if not 0 <= position < ids.shape[1]:
        raise ValueError(f"position must be from 0 to {ids.shape[1] - 1}, got {position}")
    ids[:, position] = mask
    with as_model_errors(pretrained, "be run with a hidden word", UnsupportedError):
        return run_model(pretrained.model, {**inputs, "input_ids": ids}, edits=edits)[1].logits[0, position]
