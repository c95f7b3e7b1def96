"""The trace of a call of torch's flex_attention that runs as it is written, without a compiler."""

from typing import Any

import torch
from torch import Tensor

from attention_core.attention.capture.checking import agrees_in_context
from attention_core.attention.capture.keeper import Keeper, MaskParts, from_weights, item_note
from attention_core.attention.trace import AttentionTrace

FLEX = "flex_attention"
MECHANISM = "flex attention"
CHANGED = "Its score_mod does more than add to the scores: these are its weights, with their logarithms."


def flex_trace(
    keeper: Keeper,
    context: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Any,
    block_mask: tuple[Any, ...],
    scale: float,
    kernel_options: Any,
    score_mod_other_buffers: tuple[Any, ...] = (),
    mask_mod_other_buffers: tuple[Any, ...] = (),
) -> AttentionTrace:
    """Return the trace of one item of a call; arguments are those of the operation, which gave this context.

    What score_mod adds becomes the bias. Where it does more, weights and values are kept. A ValueError says that the
    trace would not be what the model did.
    """
    item = min(keeper.item, len(query) - 1)
    n_heads, n_queries, n_keys = query.shape[1], query.shape[2], key.shape[2]
    device = query.device
    places = [
        torch.full((1, 1, 1), item, device=device),
        torch.arange(n_heads, device=device)[:, None, None],
        torch.arange(n_queries, device=device)[:, None],
        torch.arange(n_keys, device=device),
    ]
    pairs = (n_heads, n_queries, n_keys)
    allowed = _everywhere(block_mask[-1], places, mask_mod_other_buffers, pairs)
    query, key, value = query[item], key[item], value[min(item, len(value) - 1)]
    shared = n_heads // key.shape[0]
    dots = query @ key.repeat_interleave(shared, 0).mT * scale
    scores = _everywhere(lambda *at: score_mod(dots, *at), places, score_mod_other_buffers, pairs)
    masks = [] if allowed.all() else [MaskParts(allowed)]
    bias = scores - dots
    if bias.abs().max() > 0:
        at_zero = _everywhere(
            lambda *at: score_mod(torch.zeros_like(dots), *at), places, score_mod_other_buffers, pairs
        )
        barred = at_zero == -torch.inf
        masks += [MaskParts(~barred)] if barred.any() else []
        masks.append(MaskParts(None, at_zero.masked_fill(barred, 0)))
    notes = [item_note(keeper.item, len(context))]
    trace = keeper.keep(query, key, value, masks=masks, scale=scale, mechanism=MECHANISM, notes=notes)
    if not agrees_in_context(trace, context[item]):
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num()
        note = " ".join(filter(None, [*notes, CHANGED]))
        own = value.repeat_interleave(shared, 0)
        trace = from_weights(weights, name="", note=note, mechanism=MECHANISM, value=own)
        if not agrees_in_context(trace, context[item]):
            raise ValueError("what it computes could not be followed")
    return trace


def _everywhere(function: Any, places: list[Tensor], more: tuple[Any, ...], pairs: tuple[int, int, int]) -> Tensor:
    every = [place.expand(pairs) for place in places]
    return torch.as_tensor(function(*every, *more), device=places[0].device).expand(pairs)
