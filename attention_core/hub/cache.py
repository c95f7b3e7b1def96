"""The KV cache for what it is: the keys and values that a language model keeps so as not to compute them again."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.device import to_array
from attention_core.hub.generation import Generation, most_positions, own_cache, step_inputs, whole_inputs
from attention_core.hub.growing import is_cross

REPEATS = 5
"""Runs of which the median is told."""


@dataclass(frozen=True)
class KeptLayer:
    """What one layer keeps.

    Attributes:
        n_query_heads: heads that ask.
        n_key_heads: heads whose keys and values are kept; groups of query heads share one where they are fewer.
        d_k: width of a key.
        d_v: width of a value.
        n_kept: positions that are kept now.
        window: positions that are kept at most; None = all.
        n_bytes_each: of one number.
    """

    n_query_heads: int
    n_key_heads: int
    d_k: int
    d_v: int
    n_kept: int
    window: int | None
    n_bytes_each: int

    @property
    def bytes_per_token(self) -> int:
        return self.n_key_heads * (self.d_k + self.d_v) * self.n_bytes_each

    def bytes_at(self, n_tokens: int) -> int:
        return self.bytes_per_token * (n_tokens if self.window is None else min(n_tokens, self.window))


@dataclass(frozen=True)
class Kept:
    """What a model keeps of a text.

    Attributes:
        layers: of the text that it writes.
        source_layers: of the text that its encoder read: kept once, and never growing.
        n_tokens: of the text that it writes, so far.
        most_tokens: positions that the model knows; None = any number.
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
    def bytes_now(self) -> int:
        """Bytes that the text takes now, without what the encoder read."""
        return self.bytes_at(self.n_tokens)

    @property
    def bytes_of_source(self) -> int:
        """Bytes of what the encoder read."""
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


def kept(generation: Generation) -> Kept | None:
    """Return what the model keeps of a text; None where it keeps nothing, see Generation.uses_cache."""
    if not generation.uses_cache:
        return None
    heads = [trace.n_heads for trace in _decoder_traces(generation) if not is_cross(trace)]
    cross_heads = [trace.n_heads for trace in _decoder_traces(generation) if is_cross(trace)]
    return Kept(
        layers=tuple(_layers(_self_cache(generation), heads)),
        source_layers=tuple(_layers(generation.cache.cross_attention_cache, cross_heads)) if cross_heads else (),
        n_tokens=len(generation.ids),
        most_tokens=most_positions(generation.pretrained),
    )


def _decoder_traces(generation: Generation) -> list[Any]:
    traces = generation.first.traces
    own = [trace for trace in traces if not is_cross(trace)]
    n_layers = len(_self_cache(generation).layers)
    return [*own[len(own) - n_layers :], *(trace for trace in traces if is_cross(trace))]


def _self_cache(generation: Generation) -> Any:
    return getattr(generation.cache, "self_attention_cache", generation.cache)


def _layers(cache: Any, n_query_heads: Sequence[int]) -> list[KeptLayer]:
    found = []
    for layer, n_heads in zip(cache.layers, n_query_heads, strict=False):
        if layer.keys is None or layer.keys.ndim != 4:
            continue
        window = getattr(layer, "sliding_window", None)
        found.append(
            KeptLayer(
                n_query_heads=n_heads,
                n_key_heads=layer.keys.shape[1],
                d_k=layer.keys.shape[3],
                d_v=layer.values.shape[3],
                n_kept=layer.keys.shape[2],
                window=None if window is None else window - 1,
                n_bytes_each=layer.keys.element_size(),
            )
        )
    return found


def lengths_kept(generation: Generation, what: str = "keys") -> np.ndarray:
    """Return how long each vector is ("keys" or "values") that the model keeps of the text it writes.

    Returns:
        float (n_layers * n_key_heads, n_tokens), the heads of a layer below each other; NaN where a sliding window
        has forgotten.

    Raises:
        ValueError: what is neither; the generation has no cache.
    """
    if what not in ("keys", "values"):
        raise ValueError(f"what must be 'keys' or 'values', got {what!r}")
    if not generation.uses_cache:
        raise ValueError("generation must use a cache, this model keeps nothing")
    rows = []
    for layer in _self_cache(generation).layers:
        vectors: Tensor | None = getattr(layer, what)
        if vectors is None or vectors.ndim != 4:
            continue
        lengths = to_array(vectors[0].float().norm(dim=-1))
        row = np.full((lengths.shape[0], len(generation.ids)), np.nan)
        if lengths.shape[1]:
            row[:, -lengths.shape[1] :] = lengths
        rows.append(row)
    return np.concatenate(rows)


class StepCost(NamedTuple):
    """What one more token costs.

    Attributes:
        seconds: median of REPEATS runs.
        n_multiplications: multiply-adds in matrix products and attention, as torch counts them.
    """

    seconds: float
    n_multiplications: int


def measure_step(generation: Generation, token: int) -> tuple[StepCost, StepCost]:
    """Return what one more token costs with the cache, and what it costs to run the whole text again.

    Both are the model's own runs, with the library's fused attention and without traces; the generation stays.

    Raises:
        ValueError: the generation has no cache.
    """
    if not generation.uses_cache:
        raise ValueError("generation must use a cache, this model keeps nothing")
    model = generation.pretrained.model

    def with_cache() -> None:
        model(**step_inputs(generation, token, own_cache(generation.cache)))

    def without() -> None:
        model(**whole_inputs(generation, token))

    seconds: tuple[list[float], list[float]] = ([], [])
    with torch.no_grad():
        counts = [_n_multiplications(run) for run in (with_cache, without)]
        for _ in range(REPEATS):  # in turn, so that what else the machine does meets both
            for run, times in zip((with_cache, without), seconds, strict=True):
                times.append(_seconds(run, model.device.type))
    first, second = (StepCost(statistics.median(times), n) for times, n in zip(seconds, counts, strict=True))
    return first, second


def _n_multiplications(run: Callable[[], None]) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    with FlopCounterMode(display=False, custom_mapping={attention: _attention_operations}) as counter:
        run()
    return counter.get_total_flops() // 2


def _seconds(run: Callable[[], None], device: str) -> float:
    began = time.perf_counter()
    run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def _attention_operations(query: Any, key: Any, value: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    """Return additions and multiplications of attention on a CPU, for the shapes (batch, n_heads, n, d)."""
    batch, n_heads, n_queries, d_k = query
    return 2 * batch * n_heads * n_queries * key[2] * (d_k + value[3])
