"""Names for the attentions of a model, such as "encoder.0.self" and "decoder.3.cross", from where their modules are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from attention_core.recording import unique
from attention_core.trace import AttentionTrace

CROSS = ("cross", "encoder_attn", "encdec", "enc_dec")
"""What models call the attention of a decoder to its encoder."""


def named(calls: Sequence[tuple[str, nn.Module, AttentionTrace]], model: Any) -> list[AttentionTrace]:
    """Return the traces with names, each as short as it can be while all differ.

    Args:
        calls: (dotted place of the module in the model, the module, its trace), in the order of execution.
        model: the model.
    """
    places = [place for place, _, _ in calls]
    kinds = [_kind(place, module) for place, module, _ in calls]
    stacks = [_stack(place, module, trace, kind) for (place, module, trace), kind in zip(calls, kinds, strict=True)]
    if len(set(places)) < len(places):  # layers that share one module: they are numbered as they run
        seen: dict[tuple[str, str], int] = {}
        numbers = []
        for group in zip(stacks, kinds, strict=True):
            seen[group] = seen.get(group, -1) + 1
            numbers.append([str(seen[group])])
    else:
        numbers = [[part for part in place.split(".") if part.isdigit()] or ["0"] for place in places]
    towers = [_tower(place) for place in places]
    rows = list(zip(towers, stacks, numbers, kinds, strict=True))
    short = [f"{stack}.{number[0]}.{kind}" for _, stack, number, kind in rows]
    longer = [f"{stack}.{'.'.join(number)}.{kind}" for _, stack, number, kind in rows]
    with_tower = [f"{tower}{name}" for (tower, _, _, _), name in zip(rows, short, strict=True)]
    longest = [f"{tower}{name}" for (tower, _, _, _), name in zip(rows, longer, strict=True)]
    names = next(
        (all_ for all_ in (short, with_tower, longer, longest) if len(set(all_)) == len(all_)), unique(longest)
    )
    return [replace(trace, name=name) for (_, _, trace), name in zip(calls, names, strict=True)]


def _kind(place: str, module: nn.Module) -> str:
    asked = getattr(module, "is_cross_attention", None)
    if isinstance(asked, bool):
        return "cross" if asked else "self"
    text = f"{place} {type(module).__name__}".lower()
    return "cross" if any(word in text for word in CROSS) else "self"


def _stack(place: str, module: nn.Module, trace: AttentionTrace, kind: str) -> str:
    """Return "encoder" or "decoder": what crosses or is set up as a decoder, else as the place says, else if causal."""
    if kind == "cross" or getattr(getattr(module, "config", None), "is_decoder", False) is True:
        return "decoder"
    for part in place.lower().split("."):
        if "decoder" in part:
            return "decoder"
        if "encoder" in part:
            return "encoder"
    return "decoder" if trace.is_causal or getattr(module, "is_causal", False) is True else "encoder"


def _tower(place: str) -> str:
    """Return what stands before the layers, such as "vision_model.", for models of several towers."""
    before = []
    for part in place.split("."):
        if part.isdigit() or part in ("encoder", "decoder", "layers", "layer", "blocks", "h"):
            break
        if part != "model":
            before.append(part)
    return "".join(f"{part}." for part in before)
