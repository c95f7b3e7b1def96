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
from attention_core.hub.faults import worded
from attention_core.hub.growing import CannotGrowError, NewRow, grown, is_cross, new_row
from attention_core.hub.language import log_probabilities, predicts_words
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.room import NoMemory
from attention_core.hub.tokens import readable
from attention_core.hub.tracing import UnsupportedError, run_model

KEEPS_NOTHING = "The model keeps no keys and values that could be used here: the whole text runs again for every token."


@dataclass(frozen=True, eq=False)
class Generation:
    """A text and what the model made of it so far; growing it gives another one and leaves this as it is.

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
            return trace.retold(query_axis=_fitting(read, trace.n_queries), key_axis=read)
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
    made, seconds, output = _run_whole(pretrained, ids, source, use_cache=True)
    cache = getattr(output, "past_key_values", None)
    cache = cache if _is_plain(cache) and "bypasses" not in made["first"].note else None
    return Generation(
        pretrained=pretrained,
        n_prompt=len(ids),
        source=source,
        seconds=(seconds,),
        note="" if cache is not None else KEEPS_NOTHING,
        cache=cache,
        encoded=_encoded(output) if source else None,
        **made,
    )


def _run_whole(
    pretrained: Pretrained, ids: Sequence[int], source: Mapping[str, Tensor], **more: bool
) -> tuple[dict[str, Any], float, Any]:
    """Return what a Generation tells of a text that runs at once, the seconds, and the model's output."""
    began = time.perf_counter()
    with worded(pretrained, "write on", UnsupportedError):
        recording, output = run_model(pretrained.model, {**_text_inputs(pretrained, ids, source), **more})
    seconds, logits = time.perf_counter() - began, output.logits[0]
    made = {"ids": tuple(ids), "bits": _bits(logits, ids), "first": recording, "rows": (), "logits": (logits,)}
    return made, seconds, output


def grow(generation: Generation, token: int) -> Generation:
    """Return the generation with one more token, run alone where the model's cache allows it; errors as of begin."""
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
    made, seconds, _ = _run_whole(pretrained, ids, generation.source)
    return replace(generation, seconds=(*generation.seconds, seconds), note=KEEPS_NOTHING, cache=None, **made)


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


def whole_inputs(generation: Generation, token: int) -> dict[str, Any]:
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
