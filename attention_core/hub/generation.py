"""A text that a model writes on, token by token, with its traces growing.

Each new token is run alone: the keys and values of the text before are kept by the model (its KV cache). The grown
traces are those of the whole text run at once, up to rounding. A model whose cache is of another kind (state spaces
and other hybrids), that has none, or whose code bypasses the library's attention interface, runs the whole text for
every token, and the generation's note says so. Positions that a model stretches as the text grows (dynamic scaling of
rotary positions) stay in the cache as they were when a key was kept, in the library as here.
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
from attention_core.hub.faults import worded
from attention_core.hub.growing import CannotGrowError, NewRow, grown, is_cross, new_row
from attention_core.hub.language import log_probabilities, predicts_words
from attention_core.hub.model import Kind, ModelError, Pretrained
from attention_core.hub.room import NoMemory
from attention_core.hub.tokens import readable
from attention_core.hub.tracing import UnsupportedError, run_model

KEEPS_NOTHING = "The model keeps no keys and values that could be used here: the whole text runs again for every token."


@dataclass(frozen=True, eq=False)
class Generation:
    """A text and what the model made of it so far; growing it gives another one and leaves this as it is.

    Attributes:
        pretrained: the model.
        ids: tokens of the text; of the decoder's where there is an encoder too.
        n_prompt: how many of them ran together at the beginning.
        source: what the encoder is called with; empty for a decoder alone.
        bits: how surprising each token but the first was, -log2 of its probability.
        seconds: per run, the first of the n_prompt tokens together.
        note: what a reader has to know, such as that the whole text runs every time.
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
        """Return the logits (n_tokens,) after the token at a position, from 0."""
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
        read = Axis("source tokens", self.source_tokens)
        if number < start:
            return trace.retold(query_axis=_fitting(read, trace.n_queries), key_axis=_fitting(read, trace.n_keys))
        rows = [step[number - start] for step in self.rows]
        written = _fitting(Axis("tokens", self.tokens), trace.n_queries + len(rows))
        if is_cross(trace):
            return grown(trace, rows, written, _fitting(read, trace.n_keys))
        return grown(trace, rows, written, written if trace.n_keys == trace.n_queries else trace.story.key_axis)


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
    if pretrained.kind not in (Kind.DECODER, Kind.ENCODER_DECODER) or not predicts_words(pretrained):
        raise ModelError(f"{pretrained.name} does not write: it has no decoder that expects a next word.")
    if not ids:
        raise ModelError("There is no token to begin with.")
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise ModelError(f"The text has {len(ids)} tokens, and the model knows {most} positions.")
    source = dict(source or {})
    began = time.perf_counter()
    with worded(pretrained, "write on", UnsupportedError):
        recording, output = run_model(pretrained.model, {**_text_inputs(pretrained, ids, source), "use_cache": True})
    seconds = time.perf_counter() - began
    cache = getattr(output, "past_key_values", None)
    cache = cache if _is_plain(cache) and "bypasses" not in recording.note else None
    return Generation(
        pretrained=pretrained,
        ids=tuple(ids),
        n_prompt=len(ids),
        source=source,
        bits=_bits(output.logits[0], ids),
        seconds=(seconds,),
        note="" if cache is not None else KEEPS_NOTHING,
        first=recording,
        rows=(),
        logits=(output.logits[0],),
        cache=cache,
        encoded=_encoded(output) if source else None,
    )


def grow(generation: Generation, token: int) -> Generation:
    """Return the generation with one more token, run alone where the model's cache allows it.

    Raises:
        NoMemory: the text is too long for the device.
        ModelError: the text has reached the model's length.
    """
    pretrained, ids = generation.pretrained, (*generation.ids, token)
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise ModelError(f"The text has reached the {most} positions that the model knows.")
    if generation.cache is not None:
        try:
            with worded(pretrained, "go on with its cache", CannotGrowError, UnsupportedError):
                return _grow_by_row(generation, token)
        except NoMemory:  # the whole text would take more
            raise
        except ModelError:
            pass  # it is logged; the whole text runs again, and the note says so
    began = time.perf_counter()
    with worded(pretrained, "write on", UnsupportedError):
        recording, output = run_model(pretrained.model, _text_inputs(pretrained, ids, generation.source))
    return replace(
        generation,
        ids=ids,
        bits=_bits(output.logits[0], ids),
        seconds=(*generation.seconds, time.perf_counter() - began),
        note=KEEPS_NOTHING,
        first=recording,
        rows=(),
        logits=(output.logits[0],),
        cache=None,
    )


def _grow_by_row(generation: Generation, token: int) -> Generation:
    cache, began = own_cache(generation.cache), time.perf_counter()
    recording, output = run_model(generation.pretrained.model, step_inputs(generation, token, cache))
    seconds = time.perf_counter() - began
    start = len(generation.first) - len(recording)
    n_before = len(generation.ids)
    if start != _n_of_encoder(generation.first):
        raise CannotGrowError(f"{len(generation.first)} attentions at first, {len(recording)} in a step")
    return replace(
        generation,
        ids=(*generation.ids, token),
        bits=(*generation.bits, *_bits(generation.next_logits[None], (generation.ids[-1], token))),
        seconds=(*generation.seconds, seconds),
        rows=(
            *generation.rows,
            tuple(
                new_row(first, n_before, step)
                for first, step in zip(generation.first.traces[start:], recording.traces, strict=True)
            ),
        ),
        logits=(*generation.logits, output.logits[0]),
        cache=output.past_key_values,
    )


def _bits(logits: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
    return tuple((-log_probabilities(logits, ids)).tolist())


def _n_of_encoder(recording: Recording) -> int:
    """Return how many attentions ran in the encoder, before the decoder's."""
    names = [kind.split(".") for kind in recording.names]
    if not any("cross" in name[-1] for name in names):
        return 0
    return sum("encoder" in name for name in names)


def step_inputs(generation: Generation, token: int, cache: Any) -> dict[str, Any]:
    """Return what the model is called with to run one more token alone, on a cache that the run will change."""
    device = generation.pretrained.model.device
    new = torch.tensor([[token]], device=device)
    if not generation.source:
        mask = torch.ones(1, len(generation.ids) + 1, dtype=torch.long, device=device)
        return {"input_ids": new, "attention_mask": mask, "past_key_values": cache, "use_cache": True}
    rest = {name: value for name, value in generation.source.items() if name == "attention_mask"}
    given = {"decoder_input_ids": new, "past_key_values": cache, "use_cache": True}
    return {**rest, **given, "encoder_outputs": generation.encoded}


def whole_inputs(generation: Generation, token: int) -> dict[str, Any]:
    """Return what the model is called with to run the whole text and one more token without a cache."""
    inputs = _text_inputs(generation.pretrained, (*generation.ids, token), generation.source)
    return {**inputs, "use_cache": False}


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
    found: set[int] = set()
    for settings in (pretrained.model.generation_config, pretrained.model.config, pretrained.tokenizer):
        end = getattr(settings, "eos_token_id", None)
        found.update([end] if isinstance(end, int) else [] if end is None else end)
    return frozenset(found)


def most_positions(pretrained: Pretrained) -> int | None:
    """Return how many positions the writing part of the model knows; None = any number."""
    if pretrained.kind is Kind.DECODER:
        return pretrained.most_tokens
    config = pretrained.model.config
    most = getattr(config, "max_position_embeddings", None)
    return (
        most if isinstance(most, int) and most > 0 and not hasattr(config, "relative_attention_num_buckets") else None
    )
