"""Which attentions of a transformers model turn their queries and keys by rotary positions, from how it is built."""

import re
from typing import Any

from torch import nn

ROTARY = re.compile("Rotary|Rope|RoPE|RoFormerSinusoidal")
"""What modules are called that hold the angles."""
ONLY_IN_WINDOWS = ("cohere2", "exaone", "kolibri")
"""Kinds of models whose layers without a window have no positions, where some layers have one."""


def rotary_holders(model: nn.Module) -> list[str]:
    """Return the dotted places of the modules that hold angles for all attentions inside them."""
    return [name.rpartition(".")[0] for name, module in model.named_modules() if ROTARY.search(type(module).__name__)]


def is_rotated(holders: list[str], path: str, module: nn.Module) -> bool:
    """Return whether the self-attention at a dotted place turns its queries and keys."""
    config = getattr(module, "config", None)
    is_inside = any(not holder or f"{path}.".startswith(f"{holder}.") for holder in holders)
    return (is_inside or hasattr(config, "rotary_dim")) and _uses_rotation(module, config)


def _uses_rotation(module: nn.Module, config: Any) -> bool:
    if not getattr(module, "use_rope", True) or getattr(config, "alibi", False) is True:
        return False
    windows = getattr(config, "sliding_window", None) is not None
    if windows and str(getattr(config, "model_type", "")).startswith(ONLY_IN_WINDOWS):
        return bool(getattr(module, "is_sliding", getattr(module, "sliding_window", None) is not None))
    return True
