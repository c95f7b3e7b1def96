"""What a model loses without a head: the same input runs again while the head hands over nothing.

Source: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?".
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from attention_core.attention.recording import Recording
from attention_core.hub.model import ModelError, ModelKind, Pretrained, worded
from attention_core.hub.tracing import UnsupportedError, run_ablations

Head = tuple[int, int]
"""(Number of the trace in Recording.traces, head)."""
MAX_NUMBERS = 16_000_000
"""Numbers of logits that one batch may hand out, 64 MB."""
ROW_NUMBERS = 1_000_000
"""Logits that are compared at one time, so that a large vocabulary takes no more memory."""
MAX_ITEMS = 16
"""Runs in one batch."""


class Effect(NamedTuple):
    """How much one output differs from another.

    Attributes:
        everywhere: mean over all positions; of a long text over a large vocabulary the last ones, as many as
            MAX_NUMBERS allows.
        in_the_end: at the last position, where the next token is expected; of a sentence encoder, of the mean over
            all tokens.
    """

    everywhere: float
    in_the_end: float


class Outcome(NamedTuple):
    """What a model hands out for one item: logits (n_positions or 1, n_outputs), hidden (n_positions, d_model)."""

    logits: Tensor | None
    hidden: Tensor | None


def divergence(before: Tensor, after: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of logits (n_rows, n_outputs) in bits, 0 = the same to 1 = all different.

    Source: Lin 1991, "Divergence Measures Based on the Shannon Entropy", equation 3.8.
    """
    n_at_once = max(1, ROW_NUMBERS // max(before.shape[-1], 1))
    return torch.cat([*map(_divergence, before.split(n_at_once), after.split(n_at_once))])


def _divergence(before: Tensor, after: Tensor) -> Tensor:
    before, after = before.float().log_softmax(-1), after.float().log_softmax(-1)
    lead = before - after
    # log of 2 p / (p + q) for both: small differences do not drown in the logarithms themselves
    sides = ((before, -lead), (after, lead))
    one, other = ((logs.exp() * (math.log(2) - softplus(ratio))).nansum(-1) for logs, ratio in sides)
    return ((one + other) / 2 / math.log(2)).clamp(0, 1)


def cosine_change(before: Tensor, after: Tensor) -> Tensor:
    """Return 1 - cosine of each row (n_rows, d_model), 0 = the same direction to 2 = the opposite one."""
    before, after = before.cpu().double(), after.cpu().double()  # MPS has no float64
    return (1 - torch.cosine_similarity(before, after, dim=-1)).clamp(0, 2).float()


def sentence_change(before: Tensor, after: Tensor) -> float:
    """Return 1 - cosine of the mean over all tokens, which sentence encoders take for the sentence."""
    return float(cosine_change(before.float().mean(0, keepdim=True), after.float().mean(0, keepdim=True)))


def effect(before: Outcome, after: Outcome) -> Effect:
    """Return how much an output has changed; ModelError = the model hands out nothing that tells.

    By the probabilities where it hands out some: the divergence of every position. Else by the last layer: 1 - cosine
    per token, and of the mean over tokens for the whole.
    """
    if before.logits is not None and after.logits is not None:
        per_row = divergence(before.logits, after.logits)
        return Effect(float(per_row.mean()), float(per_row[-1]))
    if before.hidden is None or after.hidden is None:
        raise ModelError("The model hands out nothing that could be compared.")
    hidden = before.hidden, after.hidden
    return Effect(float(cosine_change(*hidden).mean()), sentence_change(*hidden))


@dataclass
class KnockOutMap:
    """What the model loses without each head alone, filled in for one head after the other while it is computed.

    `before` is the output with every head; None before the beginning and after the end.
    """

    heads: tuple[Head, ...]
    effects: list[Effect] = field(default_factory=list)
    before: Outcome | None = field(default=None, repr=False)

    @property
    def share(self) -> float:
        return len(self.effects) / max(len(self.heads), 1)

    @property
    def is_whole(self) -> bool:
        return len(self.effects) == len(self.heads)


def every_head(recording: Recording) -> tuple[Head, ...]:
    """Return (number of the trace, head) of every head of a recording, in the order of execution."""
    return tuple((number, head) for number, trace in enumerate(recording.traces) for head in range(trace.n_heads))


def fill(pretrained: Pretrained, inputs: Mapping[str, Tensor], found: KnockOutMap) -> Iterator[float]:
    """Go on with a map, a few heads at a time; yields how much is done and may be left at any time.

    Several heads are tried in one run, each in an item of its own of the batch; the inputs are a batch of one.
    """
    if found.is_whole:
        return
    if found.before is None:
        found.before = outcomes(pretrained, inputs, [()])[0]
    before = found.before
    n_at_once = max(1, min(MAX_ITEMS, MAX_NUMBERS // max(1 if before.logits is None else before.logits.numel(), 1)))
    while not found.is_whole:
        place = len(found.effects)
        heads = found.heads[place : place + n_at_once]
        new = [effect(before, after) for after in outcomes(pretrained, inputs, [(head,) for head in heads])]
        if len(found.effects) == place:  # nobody else has gone on with it meanwhile
            found.effects.extend(new)
        if found.is_whole:
            found.before = None
        yield found.share


def outcomes(
    pretrained: Pretrained, inputs: Mapping[str, Tensor], ablations: Sequence[Collection[Head]]
) -> list[Outcome]:
    """Return what the model hands out for a batch of one, once for each choice of heads that are switched off."""
    device, n = pretrained.model.device, len(ablations)
    batch: dict[str, Any] = {name: value.to(device).expand(n, *value.shape[1:]) for name, value in inputs.items()}
    n_tokens = inputs["input_ids"].shape[1] if pretrained.kind is ModelKind.DECODER else 0
    with worded(pretrained, "be run without a head", UnsupportedError):
        output = run_ablations(pretrained.model, batch | pretrained.fewer_logits(n_tokens, MAX_NUMBERS), ablations)
    logits, hidden = output.get("logits"), output.get("last_hidden_state")
    of_items = [None] * n if logits is None else logits.float().reshape(n, -1, logits.shape[-1])
    states = [None] * n if hidden is None or hidden.ndim != 3 else hidden.float()
    return [Outcome(*both) for both in zip(of_items, states, strict=True)]
