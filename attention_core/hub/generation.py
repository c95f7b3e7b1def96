"""A text that a model writes on.

It writes with its KV cache, the keys and values of what it has read, so that each new token runs alone. Then the text
runs once as a whole, so that each attention is seen; its keys and values tell how large that cache is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import kind_of
from attention_core.hub import model as models
from attention_core.hub.outputs import log_probabilities
from attention_core.hub.tracing import UnsupportedError, run_model


@dataclass(frozen=True, eq=False)
class Generation:
    """A text and a model's run over it."""

    pretrained: models.Pretrained = field(repr=False)
    ids: tuple[int, ...]  # tokens of the text; of the decoder's where there is an encoder too
    logits: Tensor = field(repr=False)  # (n, n_tokens), of the token that comes after each
    recording: Recording = field(repr=False)  # every attention of the text
    n_picture: int = 0  # of the first tokens, those up to the end of a picture

    @cached_property
    def layers(self) -> list[AttentionTrace]:
        """The attentions in which the tokens of the text look at each other."""
        return [trace for trace in self.recording.traces if trace.n_queries == trace.n_keys == len(self.ids)]

    @cached_property
    def bits(self) -> tuple[float, ...]:
        """How surprising each token but the first was, -log2 of its probability."""
        return tuple((-log_probabilities(self.logits, self.ids)).tolist())

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return models.readable(self.pretrained.tokenizer, self.ids)


def generate(
    pretrained: models.Pretrained, ids: Sequence[int], source: Mapping[str, Tensor] | None = None
) -> Generation:
    """Run a text of one token or more; `source` as for write_on.

    NoMemory where the text is too long for the device, a ModelError for a model that does not write, or a text beyond
    its length.
    """
    inputs, picture = _inputs(pretrained, ids, source)
    inputs |= pretrained.without_cache()
    with models.as_model_errors(pretrained, "write on", UnsupportedError):
        recording, output = run_model(pretrained.model, inputs)
    n_picture = 0
    if picture is not None:
        n_picture = 1 + max(at for at, token in enumerate(ids) if token == picture)
        output.logits[..., picture] = -torch.inf  # only a picture has this token
    generation = Generation(pretrained, tuple(ids), output.logits[0], recording, n_picture)
    if source and not n_picture:
        source_tokens = models.readable(pretrained.tokenizer, source["input_ids"][0].tolist())
        recording.label(source_tokens, generation.tokens)
    else:
        recording.label(generation.tokens)
    return generation


NOTHING_FORCED = dict.fromkeys(
    (
        *("forced_bos_token_id", "forced_eos_token_id", "bad_words_ids", "begin_suppress_tokens", "sequence_bias"),
        *("repetition_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "min_length", "min_new_tokens"),
    )
)
"""Settings with which a model would not say the likeliest token."""


def write_on(
    pretrained: models.Pretrained, ids: Sequence[int], n: int, source: Mapping[str, Tensor] | None = None
) -> tuple[int, ...]:
    """Return a text with n tokens more, each the likeliest, or fewer where the model ends it; with its cache.

    `source` is what else the model is called with, a batch of one: what the encoder reads of a decoder that has one,
    which begins with its start token; or the picture of a model that reads one beside a text.
    """
    inputs, picture = _inputs(pretrained, ids, source)
    settings: dict[str, Any] = {"do_sample": False, "num_beams": 1, "max_new_tokens": n, "max_length": None}
    settings |= {"eos_token_id": [*eos_tokens(pretrained)] or None, "pad_token_id": ids[0]}
    settings["suppress_tokens"] = None if picture is None else [picture]
    if "decoder_input_ids" in inputs:
        settings["decoder_start_token_id"] = ids[0]
    model: Any = pretrained.model
    with models.as_model_errors(pretrained, "write on"):
        return tuple(model.generate(**inputs, **NOTHING_FORCED, **settings)[0].tolist())


def _inputs(
    pretrained: models.Pretrained, ids: Sequence[int], source: Mapping[str, Tensor] | None
) -> tuple[dict[str, Any], int | None]:
    """Return what a model is called with to read a text, and the token that stands for a picture in it, if any."""
    if pretrained.kind not in (models.ModelKind.DECODER, models.ModelKind.ENCODER_DECODER) or not models.predicts_words(
        pretrained
    ):
        raise models.ModelError(f"{pretrained.name} does not write: it has no decoder that expects a next word.")
    if not ids:
        raise models.ModelError("There is no token to begin with.")
    max_length = max_positions(pretrained)
    if max_length is not None and len(ids) > max_length:
        raise models.ModelError(f"The text has {len(ids)} tokens, and the model knows {max_length} positions.")
    tokens = torch.tensor([list(ids)], device=pretrained.model.device)
    text_inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if not source:
        return text_inputs, None
    if pretrained.kind is models.ModelKind.ENCODER_DECODER:
        return {**source, "decoder_input_ids": tokens}, None
    is_tile = tokens == (picture := models.image_token(pretrained))
    kinds = {name: is_tile.long() for name in ("mm_token_type_ids", "token_type_ids") if name in source}
    return {**source, **text_inputs, **kinds}, picture


class KeyValueCache(NamedTuple):
    """The keys and values that a language model keeps of the text that it writes so as not to compute them again.

    Groups of query heads share the keys and values of one head where there are fewer key heads.
    """

    n_bytes: int
    n_layers: int  # those with keys of their own
    n_query_heads: int  # of a layer
    n_key_heads: int  # of a layer
    has_windows: bool  # whether some layers look back over a window alone, which is what they keep


def cache_of(generation: Generation) -> KeyValueCache | None:
    """Return what a model keeps of a text; None where it hands out its weights alone."""
    from transformers import DynamicCache

    recording, config = generation.recording, generation.pretrained.model.config
    traces = [trace for trace in recording.traces if kind_of(trace.story.name).endswith("decoder self")]
    traces = [trace for trace in traces if trace.value.numel()]
    traces = traces[: len(traces) - (getattr(config.get_text_config(decoder=True), "num_kv_shared_layers", 0) or 0)]
    if not traces:
        return None
    last_rows = [trace.allowed(0, [trace.n_queries - 1]) for trace in traces]
    n_visible = [trace.n_keys if row is None else int(row.sum()) for trace, row in zip(traces, last_rows, strict=True)]
    # of a window the last tokens but one: the next brings its own
    shares = [(n - (n < trace.n_keys)) / trace.n_keys for n, trace in zip(n_visible, traces, strict=True)]
    n_bytes = sum(share * (trace.key.nbytes + trace.value.nbytes) for trace, share in zip(traces, shares, strict=True))
    layers = DynamicCache(config=config).layers
    has_windows = min(shares) < 1 or any(getattr(layer, "is_sliding", False) for layer in layers)
    return KeyValueCache(round(n_bytes), len(traces), traces[-1].n_heads, traces[-1].key.shape[0], has_windows)


def multiplications_per_token(pretrained: models.Pretrained) -> int | None:
    """Return how many numbers a decoder multiplies with its weights for one token, counted in a run of it.

    Attention's own, of queries with keys and of weights with values, grow with the text and are not among them. None
    for other models.
    """
    from torch.utils.flop_counter import FlopCounterMode

    if pretrained.kind is not models.ModelKind.DECODER:
        return None
    token = torch.zeros(1, 1, dtype=torch.long, device=pretrained.model.device)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        pretrained.model(input_ids=token, **pretrained.without_cache())
    counts = counter.get_flop_counts()["Global"]
    return sum(n for operator, n in counts.items() if "attention" not in str(operator)) // 2


def eos_tokens(pretrained: models.Pretrained) -> frozenset[int]:
    """Return the tokens that end a text."""
    settings = (pretrained.model.generation_config, pretrained.model.config, pretrained.tokenizer)
    eos_ids = [getattr(source, "eos_token_id", None) for source in settings]
    return frozenset(token for ids in eos_ids for token in ([ids] if isinstance(ids, int) else ids or ()))


def max_positions(pretrained: models.Pretrained) -> int | None:
    """Return how many positions the writing part of the model knows; None = any number."""
    if pretrained.kind is models.ModelKind.DECODER:
        return pretrained.max_tokens
    n_positions = getattr(pretrained.model.config, "max_position_embeddings", None)
    is_endless = hasattr(pretrained.model.config, "relative_attention_num_buckets")
    return n_positions if isinstance(n_positions, int) and n_positions > 0 and not is_endless else None
