"""The KV cache for what it is: the keys and values that a language model keeps so as not to compute them again."""

from typing import NamedTuple

from attention_core.explain.heads.summary import kind_of
from attention_core.hub.generation import Generation


class KeyValueCache(NamedTuple):
    """What a model keeps of the text that it writes.

    Groups of query heads share the keys and values of one head where there are fewer key heads.
    """

    n_bytes: int
    n_layers: int
    n_query_heads: int  # of a layer
    n_key_heads: int  # of a layer
    windows: tuple[int, ...]  # tokens that are kept at most, of each layer that does not keep all


def cache_of(generation: Generation) -> KeyValueCache | None:
    """Return what the model keeps of a text; None where it keeps nothing, see Generation.uses_cache."""
    if not generation.uses_cache:
        return None
    cache = getattr(generation.cache, "self_attention_cache", generation.cache)
    layers = [layer for layer in cache.layers if layer.keys is not None]  # one that shares another's keys has none
    own = [trace for trace in generation.recording.traces if not kind_of(trace.story.name).endswith("cross")]
    return KeyValueCache(
        n_bytes=sum(layer.keys.nbytes + layer.values.nbytes for layer in layers),
        n_layers=len(layers),
        n_query_heads=own[-1].n_heads,
        n_key_heads=layers[-1].keys.shape[1],
        windows=tuple(layer.sliding_window - 1 for layer in layers if getattr(layer, "sliding_window", None)),
    )
