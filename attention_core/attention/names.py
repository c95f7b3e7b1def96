"""Names for the attentions of a model, such as "encoder.0.self" and "decoder.3.cross", from where their modules are."""

from collections.abc import Collection, Sequence

from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace

CROSS = ("cross", "encoder_attn", "encdec", "enc_dec")  # what models call the attention of a decoder to its encoder


def named(calls: Sequence[tuple[str, nn.Module, AttentionTrace]], again: Collection[int] = ()) -> list[AttentionTrace]:
    """Return the traces with names, each as short as it can be while all differ.

    Calls are (dotted place in the model, module, trace), in the order of execution. Those whose numbers are in `again`
    belong to the layer of the call before, and get its name with a number.
    """
    names = iter(_names([call for number, call in enumerate(calls) if number not in again]))
    result = [next(names)] if calls else []
    for number in range(1, len(calls)):
        result.append(result[-1] if number in again else next(names))
    return [trace.retold(name=name) for (_, _, trace), name in zip(calls, _unique(result), strict=True)]


def _unique(names: Sequence[str]) -> list[str]:
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [name if count == 1 else f"{name} ({count})" for name, count in zip(names, counts, strict=True)]


def _names(calls: Sequence[tuple[str, nn.Module, AttentionTrace]]) -> list[str]:
    places = [place for place, _, _ in calls]
    kinds = [_kind(place, module) for place, module, _ in calls]
    stacks = [_stack(place, module, trace, kind) for (place, module, trace), kind in zip(calls, kinds, strict=True)]
    if len(set(places)) < len(places):  # layers that share one module: they are numbered as they run
        layers = list(zip(stacks, kinds, strict=True))
        numbers = [[str(layers[:place].count(layer))] for place, layer in enumerate(layers)]
    else:
        numbers = [[part for part in place.split(".") if part.isdigit()] or ["0"] for place in places]
    rows = list(zip(stacks, numbers, kinds, strict=True))
    short = [f"{stack}.{number[0]}.{kind}" for stack, number, kind in rows]
    longer = [f"{stack}.{'.'.join(number)}.{kind}" for stack, number, kind in rows]
    choices = []
    for stops_at_stack in (True, False):
        towers = _towers(places, stops_at_stack)
        if len(set(towers)) > 1 or stops_at_stack:
            choices += [list(map("".join, zip(towers, names, strict=True))) for names in (short, longer)]
    return next((names for names in (*choices, places) if len(set(names)) == len(names)), choices[-1])


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
    return "decoder" if getattr(module, "is_causal", False) is True or _looks_back(trace) else "encoder"


def _looks_back(trace: AttentionTrace) -> bool:
    """Return whether no query may attend to a key behind itself; those that see no key, or all alike, aside."""
    if trace.is_causal or trace.mask is None:
        return trace.is_causal
    mask = trace.mask[0].expand(trace.n_queries, trace.n_keys)
    return looks_back(mask & ~mask.all(-1, keepdim=True)) or looks_back(mask)


def looks_back(allowed: Tensor) -> bool:
    """Return whether no query of (n_queries, n_keys) attends to a key behind itself, and some do attend."""
    return allowed.shape[0] == allowed.shape[1] > 1 and not bool(allowed.triu(1).any()) and bool(allowed.any())


def _towers(places: Sequence[str], stops_at_stack: bool) -> list[str]:
    """Return what stands before the layers in dotted places, such as "vision_model.", as far as they differ in it.

    A part such as "text_encoder" is no tower where the name has its stack anyway, and so stops_at_stack.
    """
    towers = [_tower(place, stops_at_stack) for place in places]
    while all(towers) and len({tower[0] for tower in towers}) == 1:
        towers = [tower[1:] for tower in towers]
    return ["".join(f"{part}." for part in tower) for tower in towers]


def _tower(place: str, stops_at_stack: bool) -> list[str]:
    before = []
    for part in place.split(".")[:-1]:
        is_stack = stops_at_stack and ("encoder" in part or "decoder" in part)
        if is_stack or part.isdigit() or part in ("encoder", "decoder", "layers", "layer", "blocks", "h"):
            break
        if part != "model":
            before.append(part)
    return before
