"""Ablation of heads: how a model's output changes when a head hands over nothing.

Source: Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?".
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from attention_core.attention.edits import drop_heads
from attention_core.hub.model import ModelError, ModelKind, Pretrained, as_model_errors
from attention_core.hub.tracing import UnsupportedError, run_items

Head = tuple[int, int]  # (number of the trace in Recording.traces, head)
MAX_NUMBERS = 16_000_000  # logits that one batch may return, 64 MB
ROW_NUMBERS = 1_000_000  # logits that are compared at once, which bounds memory for a large vocabulary
MAX_ITEMS = 16  # runs in one batch


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


def effects(pretrained: Pretrained, inputs: Mapping[str, Tensor], heads: Sequence[Head]) -> list[float]:
    """Return how much the output for a batch of one changes without each head alone, mean over all positions.

    With logits it is the divergence of the probabilities at each position, or at as many of the last ones as
    MAX_NUMBERS allows; else 1 - cosine of the last layer. All run in one batch, and beside them the input with every
    head. A ModelError where the model cannot be run so, or returns neither logits nor a last layer.
    """
    device, n = pretrained.model.device, 1 + len(heads)
    batch: dict[str, Any] = repeated({name: value.to(device) for name, value in inputs.items()}, n)
    n_tokens = inputs["input_ids"].shape[1] if pretrained.kind is ModelKind.DECODER else 0
    batch |= pretrained.fewer_logits(n_tokens, MAX_NUMBERS)
    with as_model_errors(pretrained, "be run without a head", UnsupportedError):
        output = run_items(pretrained.model, batch, [{}, *(drop_heads([head]) for head in heads)])
    logits, hidden = output.get("logits"), output.get("last_hidden_state")
    if logits is not None:
        before, *after = logits.float().reshape(n, -1, logits.shape[-1])
        return [float(divergence(before, one).mean()) for one in after]
    if hidden is None or hidden.ndim != 3:
        raise ModelError("The model hands out nothing that could be compared.")
    before, *after = hidden.float()
    return [float(cosine_change(before, one).mean()) for one in after]
