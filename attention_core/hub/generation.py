"""A text that a model writes on, token by token.

Each new token is run alone, over the keys and values that the model has kept (its KV cache). A model whose cache is of
another kind (state spaces and other hybrids), that has none, or whose code bypasses the library's attention interface,
runs the whole text for every token, and the note says so. Positions that a model stretches as the text grows stay in
the cache as they were when a key was kept.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.explain.heads import kind_of
from attention_core.hub import model as models
from attention_core.hub.outputs import log_probabilities
from attention_core.hub.tracing import UnsupportedError, run_model

KEEPS_NOTHING = "The model keeps no keys and values that could be used here: the whole text runs again for every token."


@dataclass(frozen=True, eq=False)
class Generation:
    """A text and a model's run over it so far; grow() returns another one and changes nothing here."""

    pretrained: models.Pretrained = field(repr=False)
    ids: tuple[int, ...]  # tokens of the text; of the decoder's where there is an encoder too
    n_prompt: int  # how many of them ran together at the beginning
    source: Mapping[str, Tensor] = field(repr=False)  # what the encoder is called with; empty for a decoder alone
    bits: tuple[float, ...]  # how surprising each token but the first was, -log2 of its probability
    note: str
    logits: tuple[Tensor, ...] = field(repr=False)  # (n_tokens,) per position, of the token that comes after it
    cache: Any = field(repr=False)
    encoded: Any = field(repr=False)

    @property
    def uses_cache(self) -> bool:
        return self.cache is not None

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return models.readable(self.pretrained.tokenizer, self.ids)

    @cached_property
    def recording(self) -> Recording:
        """Every attention of the text so far, in a run of the whole text; errors as of begin."""
        recording, _ = _run_whole(self.pretrained, self.ids, self.source)
        if self.source:
            read = models.readable(self.pretrained.tokenizer, self.source["input_ids"][0].tolist())
            recording.label(read, self.tokens)
        else:
            recording.label(self.tokens)
        return recording


def begin(pretrained: models.Pretrained, ids: Sequence[int], source: Mapping[str, Tensor] | None = None) -> Generation:
    """Run a text of one token or more at once; its keys and values are kept for what comes.

    A decoder that has an encoder begins with its start token; `source` is what that encoder is called with, a batch
    of one. NoMemory where the text is too long for the device, a ModelError for a model that does not write, or a text
    beyond its length.
    """
    if pretrained.kind not in (models.ModelKind.DECODER, models.ModelKind.ENCODER_DECODER) or not models.predicts_words(
        pretrained
    ):
        raise models.ModelError(f"{pretrained.name} does not write: it has no decoder that expects a next word.")
    if not ids:
        raise models.ModelError("There is no token to begin with.")
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise models.ModelError(f"The text has {len(ids)} tokens, and the model knows {most} positions.")
    source = dict(source or {})
    recording, output = _run_whole(pretrained, ids, source, use_cache=True)
    cache = getattr(output, "past_key_values", None)
    cache = cache if _is_plain(cache) and "bypasses" not in recording.note else None
    return Generation(
        pretrained=pretrained,
        ids=tuple(ids),
        n_prompt=len(ids),
        source=source,
        bits=_bits(output.logits[0], ids),
        note="" if cache is not None else KEEPS_NOTHING,
        logits=tuple(output.logits[0]),
        cache=cache,
        encoded=output.encoder_last_hidden_state if source else None,
    )


def _run_whole(
    pretrained: models.Pretrained, ids: Sequence[int], source: Mapping[str, Tensor], **more: bool
) -> tuple[Recording, Any]:
    """Return every attention of a text that runs at once, and the model's output."""
    tokens = torch.tensor([list(ids)], device=pretrained.model.device)
    alone = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    inputs = {**source, "decoder_input_ids": tokens} if source else alone
    with models.as_model_errors(pretrained, "write on", UnsupportedError):
        return run_model(pretrained.model, {**inputs, **more})


def grow(generation: Generation, token: int) -> Generation:
    """Return the generation with one more token, run alone where the model's cache allows it; errors as of begin."""
    pretrained, ids = generation.pretrained, (*generation.ids, token)
    most = most_positions(pretrained)
    if most is not None and len(ids) > most:
        raise models.ModelError(f"The text has reached the {most} positions that the model knows.")
    if generation.cache is not None:
        try:
            return _grow_by_cache(generation, token)
        except models.NoMemory:  # the whole text would take more
            raise
        except models.ModelError:
            pass  # it is logged; the whole text runs again, and the note says so
    logits = _run_whole(pretrained, ids, generation.source)[1].logits[0]
    return _grown(generation, token, logits, note=KEEPS_NOTHING, cache=None)


def _grow_by_cache(generation: Generation, token: int) -> Generation:
    cache = _own_cache(generation.cache)
    with models.as_model_errors(generation.pretrained, "go on with its cache", UnsupportedError):
        recording, output = run_model(generation.pretrained.model, _step_inputs(generation, token, cache))
        if any(trace.n_queries != 1 for trace in recording.traces):
            raise UnsupportedError("it compares other things than tokens")
    return _grown(generation, token, output.logits[0], cache=output.past_key_values)


def _grown(generation: Generation, token: int, logits: Tensor, **more: Any) -> Generation:
    """Return the generation with one more token; the last of the logits are what comes after it."""
    return replace(
        generation,
        ids=(*generation.ids, token),
        bits=(*generation.bits, *_bits(generation.logits[-1][None], (generation.ids[-1], token))),
        logits=(*generation.logits, logits[-1]),
        **more,
    )


def _bits(logits: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
    return tuple((-log_probabilities(logits, ids)).tolist())


def _step_inputs(generation: Generation, token: int, cache: Any) -> dict[str, Any]:
    """Return what the model is called with to run one more token alone, on a cache that the run will change."""
    from transformers.modeling_outputs import BaseModelOutput

    device = generation.pretrained.model.device
    new, given = torch.tensor([[token]], device=device), {"past_key_values": cache, "use_cache": True}
    if not generation.source:
        mask = torch.ones(1, len(generation.ids) + 1, dtype=torch.long, device=device)
        return {"input_ids": new, "attention_mask": mask, **given}
    rest = {name: value for name, value in generation.source.items() if name == "attention_mask"}
    encoded = BaseModelOutput(last_hidden_state=generation.encoded)
    return {**rest, **given, "decoder_input_ids": new, "encoder_outputs": encoded}


def _is_plain(cache: Any) -> bool:
    """Return whether a cache keeps keys and values and nothing else, and adds to them without changing what it has."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer, EncoderDecoderCache

    if isinstance(cache, EncoderDecoderCache):
        return _is_plain(cache.self_attention_cache) and _is_plain(cache.cross_attention_cache)
    layers = getattr(cache, "layers", None) or []
    return bool(layers) and all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)


def _own_cache(cache: Any) -> Any:
    """Return a cache that a step may change; its keys and values are shared, since steps only put new ones in place."""
    from transformers.cache_utils import EncoderDecoderCache

    own = copy.copy(cache)
    if isinstance(cache, EncoderDecoderCache):
        own.self_attention_cache = _own_cache(cache.self_attention_cache)
        own.cross_attention_cache = _own_cache(cache.cross_attention_cache)
        own.is_updated = dict(cache.is_updated)
    else:
        own.layers = [copy.copy(layer) for layer in cache.layers]
    return own


class KeyValueCache(NamedTuple):
    """The keys and values that a language model keeps of the text that it writes so as not to compute them again.

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


def end_tokens(pretrained: models.Pretrained) -> frozenset[int]:
    """Return the tokens that end a text."""
    settings = (pretrained.model.generation_config, pretrained.model.config, pretrained.tokenizer)
    ends = [getattr(one, "eos_token_id", None) for one in settings]
    return frozenset(token for end in ends for token in ([end] if isinstance(end, int) else end or ()))


def most_positions(pretrained: models.Pretrained) -> int | None:
    """Return how many positions the writing part of the model knows; None = any number."""
    if pretrained.kind is models.ModelKind.DECODER:
        return pretrained.most_tokens
    most = getattr(pretrained.model.config, "max_position_embeddings", None)
    is_endless = hasattr(pretrained.model.config, "relative_attention_num_buckets")
    return most if isinstance(most, int) and most > 0 and not is_endless else None
