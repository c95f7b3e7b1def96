"""Ablation of heads: how a model's output changes when a head hands over nothing.

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
from attention_core.hub.model import ModelError, ModelKind, Pretrained, as_model_errors
from attention_core.hub.tracing import UnsupportedError, run_ablations

Head = tuple[int, int]
"""(Number of the trace in Recording.traces, head)."""
MAX_NUMBERS = 16_000_000
"""Logits that one batch may return, 64 MB."""
ROW_NUMBERS = 1_000_000
"""Logits that are compared at once, which bounds memory for a large vocabulary."""
MAX_ITEMS = 16
"""Runs in one batch."""


class Outcome(NamedTuple):
    """What a model returns for one item: logits (n_positions or 1, n_outputs), hidden (n_positions, d_model)."""

    logits: Tensor | None
    hidden: Tensor | None


def divergence(before: Tensor, after: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of logits (n_rows, n_outputs) in bits: 0 = equal, 1 = nothing in common.

    Source: Lin 1991, "Divergence Measures Based on the Shannon Entropy", equation 3.8.
    """
    n_at_once = max(1, ROW_NUMBERS // max(before.shape[-1], 1))
    return torch.cat([*map(_divergence, before.split(n_at_once), after.split(n_at_once))])


def _divergence(before: Tensor, after: Tensor) -> Tensor:
    before, after = before.float().log_softmax(-1), after.float().log_softmax(-1)
    log_ratio = before - after
    # log(2 p / (p + q)) as log 2 - softplus(log(q / p)): exact for small differences, too.
    terms = ((before, -log_ratio), (after, log_ratio))
    one, other = ((logs.exp() * (math.log(2) - softplus(ratio))).nansum(-1) for logs, ratio in terms)
    return ((one + other) / 2 / math.log(2)).clamp(0, 1)


def cosine_change(before: Tensor, after: Tensor) -> Tensor:
    """Return 1 - cosine of each row (n_rows, d_model), from 0 = the same direction to 2 = the opposite one."""
    before, after = before.cpu().double(), after.cpu().double()  # MPS has no float64
    return (1 - torch.cosine_similarity(before, after, dim=-1)).clamp(0, 2).float()


def sentence_change(before: Tensor, after: Tensor) -> float:
    """Return 1 - cosine of the mean over all tokens, with which sentence encoders represent a sentence."""
    return float(cosine_change(before.float().mean(0, keepdim=True), after.float().mean(0, keepdim=True)))


def effect(before: Outcome, after: Outcome) -> float:
    """Return how much an output has changed, mean over all positions.

    With logits it is the divergence of the probabilities at each position, or at as many of the last ones as
    MAX_NUMBERS allows; else 1 - cosine of the last layer.

    Raises:
        ModelError: the model returns neither logits nor a last layer.
    """
    if before.logits is not None and after.logits is not None:
        return float(divergence(before.logits, after.logits).mean())
    if before.hidden is None or after.hidden is None:
        raise ModelError("The model hands out nothing that could be compared.")
    return float(cosine_change(before.hidden, after.hidden).mean())


@dataclass
class AblationMap:
    """The effect of ablating each head alone, filled in head by head while it is computed.

    `before` is the output with every head, kept only while the map is being computed.
    """

    heads: tuple[Head, ...]
    effects: list[float] = field(default_factory=list)
    before: Outcome | None = field(default=None, repr=False)

    @property
    def share(self) -> float:
        return len(self.effects) / max(len(self.heads), 1)

    @property
    def is_whole(self) -> bool:
        return len(self.effects) == len(self.heads)


def items_at_once(logits: Tensor | None) -> int:
    """Return how many items a batch may have, so that logits like these of each stay in bounds."""
    n_numbers = 1 if logits is None else max(logits.numel(), 1)
    return max(1, min(MAX_ITEMS, MAX_NUMBERS // n_numbers))


def every_head(recording: Recording) -> tuple[Head, ...]:
    """Return (number of the trace, head) of every head of a recording, in the order of execution."""
    return tuple((number, head) for number, trace in enumerate(recording.traces) for head in range(trace.n_heads))


def fill(pretrained: Pretrained, inputs: Mapping[str, Tensor], ablations: AblationMap) -> Iterator[float]:
    """Continue a map, a few heads at a time; yields the share that is done and may be stopped at any time.

    Each run ablates several heads, each in an item of its own of the batch; the inputs are a batch of one.
    """
    if ablations.is_whole:
        return
    if ablations.before is None:
        ablations.before = outcomes(pretrained, inputs, [()])[0]
    before = ablations.before
    n_at_once = items_at_once(before.logits)
    while not ablations.is_whole:
        n_done = len(ablations.effects)
        heads = ablations.heads[n_done : n_done + n_at_once]
        new = [effect(before, after) for after in outcomes(pretrained, inputs, [(head,) for head in heads])]
        if len(ablations.effects) == n_done:  # no other thread has continued it meanwhile
            ablations.effects.extend(new)
        if ablations.is_whole:
            ablations.before = None
        yield ablations.share


def outcomes(
    pretrained: Pretrained, inputs: Mapping[str, Tensor], ablations: Sequence[Collection[Head]]
) -> list[Outcome]:
    """Return what the model returns for a batch of one, once for each choice of heads that are switched off."""
    device, n = pretrained.model.device, len(ablations)
    batch: dict[str, Any] = {name: value.to(device).expand(n, *value.shape[1:]) for name, value in inputs.items()}
    n_tokens = inputs["input_ids"].shape[1] if pretrained.kind is ModelKind.DECODER else 0
    with as_model_errors(pretrained, "be run without a head", UnsupportedError):
        output = run_ablations(pretrained.model, batch | pretrained.fewer_logits(n_tokens, MAX_NUMBERS), ablations)
    logits, hidden = output.get("logits"), output.get("last_hidden_state")
    item_logits = [None] * n if logits is None else logits.float().reshape(n, -1, logits.shape[-1])
    item_states = [None] * n if hidden is None or hidden.ndim != 3 else hidden.float()
    return [Outcome(*both) for both in zip(item_logits, item_states, strict=True)]
