"""One trace of several that are parts of one call: its chunks of queries, or its heads one by one."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis


def with_note(trace: AttentionTrace, note: str) -> AttentionTrace:
    return trace.with_story(note=f"{trace.story.note} {note}".strip())


def joined(several: Sequence[list[AttentionTrace]], how: str) -> list[AttentionTrace]:
    """Return the traces of a call whose "queries" or "heads" are those of several; none where they are of no one call.

    Each of the several has a trace of each part of the batch that is kept.
    """
    if len({len(traces) for traces in several}) > 1:
        return []
    together = list(zip(*several, strict=True))
    if not all(_fit(one, traces[0], how) for traces in together for one in traces):
        return []
    return [_joined(traces, 0 if how == "heads" else 1) for traces in together]


def _fit(one: AttentionTrace, other: AttentionTrace, how: str) -> bool:
    settings = [(t.score.to_plain(), t.has_softmax, t.dropout, t.query.shape[-1], t.n_keys) for t in (one, other)]
    if how == "heads":
        fits = one.query.shape == other.query.shape and one.value.shape == other.value.shape and one.n_heads == 1
    else:
        fits = torch.equal(one.key, other.key) and torch.equal(one.value, other.value)
    return fits and settings[0] == settings[1] and not one.is_causal


def _joined(traces: Sequence[AttentionTrace], axis: int) -> AttentionTrace:
    first = traces[0]

    def together(name: str, missing: Any, size: Sequence[int] = ()) -> Tensor | None:
        parts = [getattr(one, name) for one in traces]
        if all(part is None for part in parts):
            return None
        parts = [torch.full((1,), missing, device=first.query.device) if part is None else part for part in parts]
        sizes = [(one.n_heads, one.n_queries, *size) for one in traces]
        return torch.cat([part.expand(size) for part, size in zip(parts, sizes, strict=True)], axis)

    query = torch.cat([one.query for one in traces], axis)
    is_known = all(one.normaliser is not None for one in traces)
    return replace(
        first,
        query=query,
        key=first.key if axis else torch.cat([one.key for one in traces]),
        value=first.value if axis else torch.cat([one.value for one in traces]),
        mask=together("mask", True, (first.n_keys,)),
        bias=together("bias", 0.0, (first.n_keys,)),
        sinks=together("sinks", -math.inf),
        normaliser=together("normaliser", 0.0) if is_known else None,
        story=replace(first.story, query_axis=Axis.numbered("queries", query.shape[1])),
    )
