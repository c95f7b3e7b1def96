"""Joins attentions that are pieces of one, such as the steps in which a decoder says its tokens."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis

NOT_JOINED = "Not joined: {}, of which later calls do not go on with the keys of earlier ones."
BEAMS = "Of beams, capture(item='all') has those that each step went on with."


def join_steps(traces: Sequence[AttentionTrace]) -> tuple[list[AttentionTrace], str]:
    """Return the calls of each module as one attention, and a note on those that remain as they were.

    A call belongs to a later one whose first keys and values are its own: those of a cache, or of an encoder. So beams
    are followed, where all items of the batch were recorded, back through the steps that they went on with. A later
    call that computes all queries anew stands for the earlier ones.
    """
    calls: dict[str, dict[str, list[AttentionTrace]]] = {}
    for trace in traces:
        path, number, _ = NAME.match(trace.story.name).groups("")  # type: ignore[union-attr]
        calls.setdefault(path, {}).setdefault(number, []).append(trace)
    joined_traces: list[AttentionTrace] = []
    apart: list[str] = []
    for path, by_number in calls.items():
        *earlier, last = by_number.values()
        steps = [_steps_to(trace, earlier) for trace in last]
        if all(steps):
            joined_traces += map(_join, steps)
        else:
            apart.append(path)
            joined_traces += [trace for call in by_number.values() for trace in call]
    has_beams = any("items of the batch" in trace.story.note for trace in joined_traces)
    notes = [NOT_JOINED.format(", ".join(apart)), *([BEAMS] if has_beams else [])] if apart else []
    return joined_traces, " ".join(notes)


NAME = re.compile(r"(attention(?=\.\d+)|.*?)((?: \(\d+\)|(?<=attention)\.\d+)?)((?: \((?:item|window) .*\))?)$")
"""The path of a module, or "attention" outside of all, the number of its call, and the item of the batch."""


def _steps_to(last: AttentionTrace, earlier: Sequence[Sequence[AttentionTrace]]) -> list[AttentionTrace]:
    """Return the trace of each call that goes on in the last one, and that; none where a call has none."""
    steps = [next((trace for trace in call if _goes_on_in(trace, last)), None) for call in earlier]
    matched = [step for step in steps if step is not None]
    if len(matched) < len(steps):
        return []
    is_anew = last.n_queries == last.n_keys and all(step.n_queries < last.n_queries for step in matched)
    return [last] if is_anew else [*matched, last]


def _goes_on_in(trace: AttentionTrace, last: AttentionTrace) -> bool:
    scores = [step.score.to_json_value() for step in (trace, last)]
    if trace.n_keys > last.n_keys or trace.n_heads != last.n_heads or scores[0] != scores[1]:
        return False
    visible, n_heads = _allowed(trace).flatten(0, 1).any(0), max(len(trace.key), len(last.key))  # some share theirs
    pairs = [
        [tensor[:, : trace.n_keys][:, visible].repeat_interleave(n_heads // len(tensor), 0) for tensor in sides]
        for sides in ((trace.key, last.key), (trace.value, last.value))
    ]
    return all(ours.shape == theirs.shape and torch.allclose(ours, theirs, 1e-3, 1e-5) for ours, theirs in pairs)


def _allowed(trace: AttentionTrace) -> Tensor:
    """Return which keys a query may attend to, bool (n_heads or 1, n_queries, n_keys)."""
    masks = [trace.mask_before_edits(head) for head in trace.heads_of_mask]
    shape = 1, trace.n_queries, trace.n_keys
    allowed = [mask for mask in masks if mask is not None]
    return torch.stack(allowed) if allowed else torch.ones(shape, dtype=torch.bool, device=trace.query.device)


def _join(steps: list[AttentionTrace]) -> AttentionTrace:
    last = steps[-1]
    joined = join_traces([_with_keys_of(last, step) for step in steps], 1) if len(steps) > 1 else last
    path, _, item = NAME.match(last.story.name).groups("")  # type: ignore[union-attr]
    return joined.with_story(name=path + item, note=last.story.note)


def _with_keys_of(last: AttentionTrace, step: AttentionTrace) -> AttentionTrace:
    """Return a step with the keys of the last one, of which it sees its own alone."""
    widen = partial(torch.nn.functional.pad, pad=(0, last.n_keys - step.n_keys))
    return replace(
        step,
        key=last.key,
        value=last.value,
        mask=widen(_allowed(step)),
        bias=None if step.bias is None else widen(step.bias.expand(*step.bias.shape[:-1], step.n_keys)),
        is_causal=False,
        window=None,
        fused_context=None,
        story=replace(step.story, key_axis=last.story.key_axis),
    )


def join_traces(traces: Sequence[AttentionTrace], axis: int) -> AttentionTrace:
    """Return attentions of the same keys as one, along heads (axis 0) or queries (axis 1); none is causal."""
    first = traces[0]

    def concatenate(name: str, missing: Any, size: Sequence[int] = ()) -> Tensor | None:
        tensors = [getattr(trace, name) for trace in traces]
        if all(tensor is None for tensor in tensors):
            return None
        neutral = torch.full((1,), missing, device=first.query.device)
        is_shared = axis == 1 and all(tensor is None or len(tensor) == 1 for tensor in tensors)
        sizes = [(1 if is_shared else trace.n_heads, trace.n_queries, *size) for trace in traces]
        return torch.cat(
            [(neutral if t is None else t).expand(size) for t, size in zip(tensors, sizes, strict=True)], axis
        )

    query = torch.cat([trace.query for trace in traces], axis)
    has_normalisers = all(trace.normaliser is not None for trace in traces)
    return replace(
        first,
        query=query,
        key=first.key if axis else torch.cat([trace.key for trace in traces]),
        value=first.value if axis else torch.cat([trace.value for trace in traces]),
        mask=concatenate("mask", True, (first.n_keys,)),
        bias=concatenate("bias", 0.0, (first.n_keys,)),
        sinks=concatenate("sinks", -math.inf),
        normaliser=concatenate("normaliser", 0.0) if has_normalisers else None,
        story=replace(first.story, query_axis=Axis.numbered("queries", query.shape[1])),
    )
