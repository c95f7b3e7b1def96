"""The KV cache for what it is: the keys and values that a language model keeps so as not to compute them again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attention_core.explain.heads.summary import kind_of
from attention_core.hub.generation import Generation, most_positions


@dataclass(frozen=True)
class KeptLayer:
    """What one layer keeps: n_kept positions now, at most `window` of them (None = all).

    Groups of query heads share the keys and values of one head where there are fewer key heads.
    """

    n_query_heads: int
    n_key_heads: int
    n_kept: int
    window: int | None
    bytes_per_token: int

    def bytes_at(self, n_tokens: int) -> int:
        return self.bytes_per_token * (n_tokens if self.window is None else min(n_tokens, self.window))


@dataclass(frozen=True)
class KeyValueCache:
    """What a model keeps of the text that it writes, n_tokens so far, and of the one that its encoder read (source).

    `most_tokens` are the positions that the model knows; None = any number.
    """

    layers: tuple[KeptLayer, ...]
    source_layers: tuple[KeptLayer, ...]
    n_tokens: int
    most_tokens: int | None

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one more token takes while no window is full."""
        return sum(layer.bytes_per_token for layer in self.layers)

    @property
    def bytes_of_source(self) -> int:
        return sum(layer.bytes_at(layer.n_kept) for layer in self.source_layers)

    def bytes_at(self, n_tokens: int) -> int:
        """Return the bytes that a text of n tokens takes, without what the encoder read."""
        return sum(layer.bytes_at(n_tokens) for layer in self.layers)

    @property
    def saving(self) -> float:
        """How many times more would be kept if every query head had keys and values of its own."""
        own = sum(layer.bytes_per_token * layer.n_query_heads // layer.n_key_heads for layer in self.layers)
        return own / self.bytes_per_token

    @property
    def window(self) -> int | None:
        """The shortest window of any layer; None where every layer keeps everything."""
        return min((layer.window for layer in self.layers if layer.window is not None), default=None)


def cache_of(generation: Generation) -> KeyValueCache | None:
    """Return what the model keeps of a text; None where it keeps nothing, see Generation.uses_cache."""
    if not generation.uses_cache:
        return None
    traces = generation.recording.traces
    own, cross = (
        [trace.n_heads for trace in traces if kind_of(trace.story.name).endswith("cross") is crosses]
        for crosses in (False, True)
    )
    cache = getattr(generation.cache, "self_attention_cache", generation.cache)
    return KeyValueCache(
        layers=_layers(cache, own[-len(cache.layers) :]),
        source_layers=_layers(generation.cache.cross_attention_cache, cross) if cross else (),
        n_tokens=len(generation.ids),
        most_tokens=most_positions(generation.pretrained),
    )


def _layers(cache: Any, n_query_heads: Sequence[int]) -> tuple[KeptLayer, ...]:
    layers = []
    for layer, n_heads in zip(cache.layers, n_query_heads, strict=False):
        if layer.keys is not None and layer.keys.ndim == 4:
            _, n_key_heads, n_kept, d_k = layer.keys.shape
            window = layer.sliding_window - 1 if getattr(layer, "sliding_window", None) else None
            n_bytes = n_key_heads * (d_k + layer.values.shape[3]) * layer.keys.element_size()
            layers.append(KeptLayer(n_heads, n_key_heads, n_kept, window, n_bytes))
    return tuple(layers)
