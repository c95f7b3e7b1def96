"""A text that a model writes on, token by token, with its traces growing.

Each new token is run alone, over the keys and values that the model has kept (its KV cache); the grown traces are those
of the whole text run at once, up to rounding. A model whose cache is of another kind (state spaces and other hybrids),
that has none, or whose code bypasses the library's attention interface, runs the whole text for every token, and the
note says so. Positions that a model stretches as the text grows stay in the cache as they were when a key was kept.
"""

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from attention_core.hub.language import log_probabilities
from attention_core.hub.model import (
    ModelError,
    ModelKind,
    NoMemory,
    Pretrained,
    as_model_errors,
    predicts_words,
    readable,
)
from attention_core.hub.tracing import UnsupportedError, run_model


class CannotGrowError(ValueError):
    """A step whose attention is no further row of the trace before it."""


@dataclass(frozen=True, eq=False)
class NewRow:
    """What one step adds to one attention: a query (n_heads, 1, d_q) over n_seen keys, the new one last.

    The key and value (n_key_heads, 1, d) of the new position are None for an attention to another sequence. Mask and
    bias are broadcastable to (n_heads, 1, n_seen), sinks and normaliser are (n_heads, 1).
    """

    query: Tensor
    key: Tensor | None
    value: Tensor | None
    n_seen: int
    mask: Tensor | None
    bias: Tensor | None
    sinks: Tensor | None
    normaliser: Tensor | None


def is_cross(trace: AttentionTrace) -> bool:
    """Return whether the keys are another sequence, which stays as it is while queries come."""
    return trace.story.name.partition(" ")[0].endswith(".cross")


def new_row(first: AttentionTrace, n_before: int, step: AttentionTrace) -> NewRow:
    """Return what a step adds after n_before rows to an attention whose trace at the beginning was `first`."""
    same_kind = (
        step.n_heads == first.n_heads
        and step.key.shape[::2] == first.key.shape[::2]
        and step.value.shape[::2] == first.value.shape[::2]
        and (step.sinks is None) == (first.sinks is None)
    )
    n_most = first.n_keys if is_cross(first) else n_before + 1
    n_least = first.n_keys if is_cross(first) else 1
    if step.n_queries != 1 or not same_kind or not n_least <= step.n_keys <= n_most:
        raise CannotGrowError(
            f"{first.story.name} of {n_before} rows was given {step.n_queries} queries and {step.n_keys} keys of "
            f"{step.n_heads} heads"
        )
    return NewRow(
        query=step.query,
        key=None if is_cross(first) else step.key[:, -1:].clone(),
        value=None if is_cross(first) else step.value[:, -1:].clone(),
        n_seen=step.n_keys,
        mask=step.mask,
        bias=step.bias,
        sinks=step.sinks,
        normaliser=None if first.normaliser is None else step.log_normaliser,
    )


def grown(
    first: AttentionTrace, rows: Sequence[NewRow], query_axis: Axis, key_axis: Axis | None = None
) -> AttentionTrace:
    """Return the trace of the whole text: the first one and every later row; the key axis is the query axis if None."""
    key_axis = key_axis or query_axis
    if not rows:
        return first.with_story(query_axis=query_axis, key_axis=key_axis)
    cross = is_cross(first)
    key, value = (
        getattr(first, name) if cross else torch.cat([getattr(first, name), *(getattr(row, name) for row in rows)], 1)
        for name in ("key", "value")
    )
    everything_seen = all(
        row.mask is None and row.n_seen == first.n_keys + place for place, row in enumerate(rows, start=1)
    )
    plain = not cross and everything_seen and first.mask is None and (first.is_causal or first.n_queries == 1)
    return replace(
        first,
        query=torch.cat([first.query, *(row.query for row in rows)], 1),
        key=key,
        value=value,
        story=replace(first.story, query_axis=query_axis, key_axis=key_axis),
        is_causal=plain,
        mask=None if plain else _pairs("mask", first, rows, key.shape[1]),
        bias=_pairs("bias", first, rows, key.shape[1]),
        sinks=_per_row(first, [row.sinks for row in rows], first.sinks),
        normaliser=_per_row(first, [row.normaliser for row in rows], first.normaliser),
    )


def _pairs(name: str, first: AttentionTrace, rows: Sequence[NewRow], n_keys: int) -> Tensor | None:
    """Return the "mask" or "bias" (n_heads or 1, n_queries, n_keys), or None where every pair is as any other."""
    is_mask = name == "mask"
    parts = [getattr(one, name) for one in (first, *rows)]
    known = [part for part in parts if part is not None]
    if not known and (is_cross(first) or not is_mask):
        return None
    n_heads = max((part.shape[0] for part in known if part.ndim == 3), default=1)
    dtype = torch.bool if is_mask else known[0].dtype
    whole = torch.zeros(n_heads, first.n_queries + len(rows), n_keys, dtype=dtype, device=first.query.device)
    block = whole[:, : first.n_queries, : first.n_keys]
    block[:] = is_mask if parts[0] is None else parts[0]
    if is_mask and first.is_causal:
        block &= torch.ones(block.shape[1:], dtype=torch.bool, device=whole.device).tril()
    for place, (row, part) in enumerate(zip(rows, parts[1:], strict=True)):
        end = n_keys if is_cross(first) else first.n_keys + place + 1
        seen = whole[:, first.n_queries + place, end - row.n_seen : end]
        seen[:] = is_mask if part is None else part[..., 0, :]
    return whole


def _per_row(first: AttentionTrace, of_rows: Sequence[Tensor | None], at_first: Tensor | None) -> Tensor | None:
    """Return (n_heads, n_queries) of what every row has one of, or None where they have none."""
    if at_first is None:
        return None
    parts = [at_first.expand(first.n_heads, first.n_queries)]
    return torch.cat([*parts, *(row.expand(first.n_heads, 1) for row in of_rows if row is not None)], 1)


KEEPS_NOTHING = "The model keeps no keys and values that could be used here: the whole text runs again for every token."


@dataclass(frozen=True, eq=False)
class Generation:
    """A text and a model's run over it so far; grow() returns another one and changes nothing here.

    Attributes:
        ids: tokens of the text; of the decoder's where there is an encoder too.
        n_prompt: how many of them ran together at the beginning.
        source: what the encoder is called with; empty for a decoder alone.
        bits: how surprising each token but the first was, -log2 of its probability.
        seconds: per run, the first of the n_prompt tokens together.
    """

    pretrained: Pretrained = field(repr=False)
    ids: tuple[int, ...]
    n_prompt: int
    source: Mapping[str, Tensor] = field(repr=False)
    bits: tuple[float, ...]
    seconds: tuple[float, ...]
    note: str
    first: Recording = field(repr=False)
    rows: tuple[tuple[NewRow, ...], ...] = field(repr=False)
    logits: tuple[Tensor, ...] = field(repr=False)
    cache: Any = field(repr=False)
    encoded: Any = field(repr=False)

    @property
    def uses_cache(self) -> bool:
        return self.cache is not None

    @property
    def next_logits(self) -> Tensor:
        """Logits (n_tokens,) of the token that comes after the last."""
        return self.logits[-1][-1]

    def logits_at(self, position: int) -> Tensor:
        if not 0 <= position < len(self.ids):
            raise ValueError(f"position must be from 0 to {len(self.ids) - 1}, got {position}")
        n_first = len(self.logits[0])
        return self.logits[0][position] if position < n_first else self.logits[position - n_first + 1][-1]

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return readable(self.pretrained.tokenizer, self.ids)

    @cached_property
    def source_tokens(self) -> tuple[str, ...]:
        """The encoder's tokens for people; none for a decoder alone."""
        return readable(self.pretrained.tokenizer, self.source["input_ids"][0].tolist()) if self.source else ()

    @property
    def recording(self) -> Recording:
        """Every attention of the text so far, as if it had run at once."""
        return Recording([self.trace(number) for number in range(len(self.first))], self.first.note)

    def trace(self, number: int) -> AttentionTrace:
        """Return one attention of the text so far, by its number in recording.traces."""
        trace, start = self.first.traces[number], _n_of_encoder(self.first)
        read = _fitting(Axis("source tokens", self.source_tokens), trace.n_keys)
        if number < start:
            return trace.with_story(query_axis=_fitting(read, trace.n_queries), key_axis=read)
        rows = [step[number - start] for step in self.rows]
        written = _fitting(Axis("tokens", self.tokens), trace.n_queries + len(rows))
        own = written if trace.n_keys == trace.n_queries else trace.story.key_axis
        return grown(trace, rows, written, read if is_cross(trace) else own)


def _fitting(axis: Axis, n: int) -> Axis:
    """Return the axis if it has n positions, else numbers: some models compare other things than tokens."""
    return axis if len(axis) == n else Axis.numbered("positions", n)


def begin(pretrained: Pretrained, ids: Sequence[int], source: Mapping[str, Tensor] | None = None) -> Generation:
    """Run a text of one token or more at once; its keys and values are kept for what comes.

    A decoder that has an encoder begins with its start token; `source` is what that encoder is called with, a batch
    of one.

    Raises:
        NoMemory: the text is too long for the device.
        ModelError: a model that does not write, or a text beyond its length.
    """
    if pretrained.kind not in (ModelKind.DECODER, ModelKind.ENCODER_DECODER) or not predicts_words(pretrained):
        raise ModelError(f"{pretrained.name} does not write: it has no decoder that expects a next word.")
    if not ids:
        raise ModelError("There is no token to begin with.")
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise ModelError(f"The text has {len(ids)} tokens, and the model knows {most} positions.")
    source = dict(source or {})
    parts, seconds, output = _run_whole(pretrained, ids, source, use_cache=True)
    cache = getattr(output, "past_key_values", None)
    cache = cache if _is_plain(cache) and "bypasses" not in parts["first"].note else None
    return Generation(
        pretrained=pretrained,
        n_prompt=len(ids),
        source=source,
        seconds=(seconds,),
        note="" if cache is not None else KEEPS_NOTHING,
        cache=cache,
        encoded=_encoded(output) if source else None,
        **parts,
    )


def _run_whole(
    pretrained: Pretrained, ids: Sequence[int], source: Mapping[str, Tensor], **more: bool
) -> tuple[dict[str, Any], float, Any]:
    """Return the fields of a Generation for a text that runs at once, the seconds, and the model's output."""
    began = time.perf_counter()
    with as_model_errors(pretrained, "write on", UnsupportedError):
        recording, output = run_model(pretrained.model, {**_text_inputs(pretrained, ids, source), **more})
    seconds, logits = time.perf_counter() - began, output.logits[0]
    parts = {"ids": tuple(ids), "bits": _bits(logits, ids), "first": recording, "rows": (), "logits": (logits,)}
    return parts, seconds, output


def grow(generation: Generation, token: int) -> Generation:
    """Return the generation with one more token, run alone where the model's cache allows it; errors as of begin."""
    pretrained, ids = generation.pretrained, (*generation.ids, token)
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise ModelError(f"The text has reached the {most} positions that the model knows.")
    if generation.cache is not None:
        try:
            with as_model_errors(pretrained, "go on with its cache", CannotGrowError, UnsupportedError):
                return _grow_by_row(generation, token)
        except NoMemory:  # the whole text would take more
            raise
        except ModelError:
            pass  # it is logged; the whole text runs again, and the note says so
    parts, seconds, _ = _run_whole(pretrained, ids, generation.source)
    return replace(generation, seconds=(*generation.seconds, seconds), note=KEEPS_NOTHING, cache=None, **parts)


def _grow_by_row(generation: Generation, token: int) -> Generation:
    cache, began = own_cache(generation.cache), time.perf_counter()
    recording, output = run_model(generation.pretrained.model, step_inputs(generation, token, cache))
    seconds = time.perf_counter() - began
    start = len(generation.first) - len(recording)
    n_before = len(generation.ids)
    if start != _n_of_encoder(generation.first):
        raise CannotGrowError(f"{len(generation.first)} attentions at first, {len(recording)} in a step")
    steps = zip(generation.first.traces[start:], recording.traces, strict=True)
    rows = tuple(new_row(first, n_before, step) for first, step in steps)
    return replace(
        generation,
        ids=(*generation.ids, token),
        bits=(*generation.bits, *_bits(generation.next_logits[None], (generation.ids[-1], token))),
        seconds=(*generation.seconds, seconds),
        rows=(*generation.rows, rows),
        logits=(*generation.logits, output.logits[0]),
        cache=output.past_key_values,
    )


def _bits(logits: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
    return tuple((-log_probabilities(logits, ids)).tolist())


def _n_of_encoder(recording: Recording) -> int:
    names = [kind.split(".") for kind in recording.names]
    if not any("cross" in name[-1] for name in names):
        return 0
    return sum("encoder" in name for name in names)


def step_inputs(generation: Generation, token: int, cache: Any) -> dict[str, Any]:
    """Return what the model is called with to run one more token alone, on a cache that the run will change."""
    device = generation.pretrained.model.device
    new, given = torch.tensor([[token]], device=device), {"past_key_values": cache, "use_cache": True}
    if not generation.source:
        mask = torch.ones(1, len(generation.ids) + 1, dtype=torch.long, device=device)
        return {"input_ids": new, "attention_mask": mask, **given}
    rest = {name: value for name, value in generation.source.items() if name == "attention_mask"}
    return {**rest, **given, "decoder_input_ids": new, "encoder_outputs": generation.encoded}


def _text_inputs(pretrained: Pretrained, ids: Sequence[int], source: Mapping[str, Tensor]) -> dict[str, Any]:
    tokens = torch.tensor([list(ids)], device=pretrained.model.device)
    if source:
        return {**source, "decoder_input_ids": tokens}
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def _encoded(output: Any) -> Any:
    from transformers.modeling_outputs import BaseModelOutput

    return BaseModelOutput(last_hidden_state=output.encoder_last_hidden_state)


def _is_plain(cache: Any) -> bool:
    """Return whether a cache keeps keys and values and nothing else, and adds to them without changing what it has."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer, EncoderDecoderCache

    if isinstance(cache, EncoderDecoderCache):
        return _is_plain(cache.self_attention_cache) and _is_plain(cache.cross_attention_cache)
    layers = getattr(cache, "layers", None) or []
    return bool(layers) and all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)


def own_cache(cache: Any) -> Any:
    """Return a cache that a step may change; its keys and values are shared, since steps only put new ones in place."""
    from transformers.cache_utils import EncoderDecoderCache

    own = copy.copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        own.self_attention_cache = own_cache(cache.self_attention_cache)
        own.cross_attention_cache = own_cache(cache.cross_attention_cache)
        own.is_updated = dict(cache.is_updated)
    else:
        own.layers = [copy.copy(layer) for layer in cache.layers]
    return own


def end_tokens(pretrained: Pretrained) -> frozenset[int]:
    """Return the tokens that end a text."""
    settings = (pretrained.model.generation_config, pretrained.model.config, pretrained.tokenizer)
    ends = [getattr(one, "eos_token_id", None) for one in settings]
    return frozenset(token for end in ends for token in ([end] if isinstance(end, int) else end or ()))


def most_positions(pretrained: Pretrained) -> int | None:
    """Return how many positions the writing part of the model knows; None = any number."""
    if pretrained.kind is ModelKind.DECODER:
        return pretrained.most_tokens
    most = getattr(pretrained.model.config, "max_position_embeddings", None)
    is_endless = hasattr(pretrained.model.config, "relative_attention_num_buckets")
    return most if isinstance(most, int) and most > 0 and not is_endless else None
