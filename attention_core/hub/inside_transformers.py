"""The hub's way into transformers' inside; its test says what an upgrade has moved."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def model_class(auto: Any, config: Any) -> Any | None:
    """Return the class that an AutoModel class would build from a config, the first of several; None = it has none."""
    if type(config) not in auto._model_mapping:
        return None
    classes = auto._model_mapping[type(config)]
    return classes[0] if isinstance(classes, tuple | list) else classes


def has_attention_interface(model: type) -> bool:
    return bool(model._can_set_attn_implementation())  # type: ignore[attr-defined]


def knows_fused_attention(model: type) -> bool:
    return bool(model._supports_sdpa)  # type: ignore[attr-defined]


@contextmanager
def attn_implementation(configs: Sequence[Any], name: str) -> Iterator[None]:
    """Let models of these configs take the attention function of a name, unchecked; as before afterwards."""
    before = [config._attn_implementation_internal for config in configs]
    try:
        for config in configs:
            config._attn_implementation_internal = name
        yield
    finally:
        for config, old in zip(configs, before, strict=True):
            config._attn_implementation_internal = old
