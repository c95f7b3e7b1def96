"""A transformer translator: attention with nothing else, encoder and decoder."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend, merge_heads, split_heads
from attention_core.attention.edits import Edits, restrict_queries
from attention_core.attention.inside_torch import with_buffers
from attention_core.attention.positions import sinusoidal
from attention_core.attention.steps import projection_steps
from attention_core.attention.trace import AttentionTrace, Prediction, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Story, Text, always, read_texts
from attention_core.data.pieces import PAD, VOCABULARY_SIZE
from attention_core.models.registry import register
from attention_core.models.translator import CanTranslate, DecoderState, Labels, TiedTranslator, Translator

MECHANISMS = {
    "self": "self-attention",
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention, causal",
    "cross": "cross-attention to the source",
}
TEXTS = read_texts(__file__)
INPUTS = TEXTS["embedding"]
"""What a layer says of its inputs."""


class KeyValueMemory(NamedTuple):
    """Keys and values that queries attend to, and the states that they are projections of."""

    states: Tensor  # (batch, n_keys, d_model)
    key: Tensor  # (batch, n_heads, n_keys, d_k)
    value: Tensor  # (batch, n_heads, n_keys, d_k)


class LayerActivations(NamedTuple):
    """The activations of one attention layer for a batch; enough to make its trace."""

    layer: Attention  # which
    norm: nn.LayerNorm  # what normalised its inputs
    before: Tensor  # (batch, n_queries, d_model), what was normalised
    inputs: Tensor  # (batch, n_queries, d_model), what the queries are made of
    query: Tensor  # (batch, n_heads, n_queries, d_k)
    memory: KeyValueMemory  # keys and values
    mask: Tensor | None  # bool, broadcastable to (batch, n_heads, n_queries, n_keys), or None
    attended: AttentionOutput  # the context
    output: Tensor  # (batch, n_queries, d_model), heads merged and projected


class Attention(nn.Module):
    """Multi-head attention. Source: Vaswani et al. 2017, section 3.2.2."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model)
        self.merge = nn.Linear(d_model, d_model)

    def memory(self, states: Tensor) -> KeyValueMemory:
        key, value = (split_heads(project(states), self.n_heads) for project in (self.key, self.value))
        return KeyValueMemory(states, key, value)

    def forward(
        self,
        x: Tensor,
        norm: nn.LayerNorm,
        memory: KeyValueMemory | None = None,
        mask: Tensor | None = None,
        edits: Edits = (),
        cache: Tensor | None = None,
    ) -> LayerActivations:
        """Let x (batch, n_queries, d_model), normalised, attend to a memory, or to itself.

        Keys and values of earlier positions, the cache (batch, 2, n_heads, n_cached, d_k), stand before its own.
        """
        inputs = norm(x)
        query = split_heads(self.query(inputs), self.n_heads)
        memory = self.memory(inputs) if memory is None else memory
        if cache is not None:
            joined = torch.cat((cache, torch.stack((memory.key, memory.value), 1)), 3)
            memory = memory._replace(key=joined[:, 0], value=joined[:, 1])
        attended = self.attend_to(query, memory, mask, edits)
        output = self.merge(merge_heads(attended.context))
        return LayerActivations(self, norm, x, inputs, query, memory, mask, attended, output)

    def attend_to(self, query: Tensor, memory: KeyValueMemory, mask: Tensor | None, edits: Edits) -> AttentionOutput:
        return attend(query, memory.key, memory.value, mask=mask, edits=edits)


def layer_trace(
    activations: LayerActivations,
    kind: str,
    layer: int,
    query_axis: Axis,
    key_axis: Axis,
    edits: Edits,
    inputs: Text = INPUTS,
) -> AttentionTrace:
    """Return the trace of one attention layer, from 0, for the first sentence of a batch.

    The kind is one of MECHANISMS; `inputs` says what the layer reads.
    """
    module, memory, source = activations.layer, activations.memory, "memory" if kind == "cross" else "x"
    named = {"memory": memory.states[0]}
    for letter, linear in {"Q": module.query, "K": module.key, "V": module.value}.items():
        named[f"W_{letter}"] = linear.weight.unflatten(0, (module.n_heads, -1)).transpose(1, 2)
        if linear.bias is not None:
            named[f"b_{letter}"] = linear.bias.unflatten(0, (module.n_heads, -1))
    origin = "the encoder's output" if kind == "cross" else "the layer's inputs"
    vectors = projection_steps(
        (activations.query[0], memory.key[0], memory.value[0]),
        (query_axis, key_axis, key_axis),
        formula=r"$letter = X W_$letter^{(h)}$bias",
        code="$name = $x @ W_$letter[head]$own_bias",
        explanation="A learned projection of $origin, one per head: what it $meaning.",
        inputs=partial(always, named),
        x=("x", source, source),
        origin=("the layer's inputs", origin, origin),
        bias=(" + b_Q", "", " + b_V"),
        own_bias=(" + b_Q[head]", "", " + b_V[head]"),
    )
    story = Story(
        mechanism=f"{MECHANISMS[kind]}, layer {layer + 1}",
        query_axis=query_axis,
        key_axis=key_axis,
        steps_before=(
            inputs.step(activations.inputs[0], query_axis, x=activations.before[0], layer_norm=activations.norm),
            *vectors,
        ),
        steps_after=(
            TEXTS["merge"]
            .filled(n=module.n_heads)
            .step(
                activations.output[0],
                query_axis,
                contexts=list(activations.attended.context[0]),
                W_O=module.merge.weight.T,
                b_O=module.merge.bias,
            ),
        ),
    )
    mask = None if activations.mask is None else activations.mask[0]
    return item_trace(activations.query, memory.key, memory.value, activations.attended, story, mask=mask, edits=edits)


MAX_POSITIONS = 256
KINDS = ("encoder", "decoder", "cross")
EditsByAttention = Mapping[tuple[str, int], Edits]
"""What is changed in which attention: by kind and layer, from 0."""
UNEDITED: EditsByAttention = {}
Activations = tuple[LayerActivations, ...]


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes."""

    n_layers: int = 3  # of the encoder, and as many of the decoder
    n_heads: int = 6  # per attention
    d_model: int = 192  # width of every position's vector
    d_ff: int = 640  # hidden units of the feed-forward networks; 0 = there are none
    dropout: float = 0.1  # share left out in training


class EncoderLayer(nn.Module):
    """Self-attention, then perhaps a feed-forward network; each on normalised inputs, added to what came in."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config.d_model, config.n_heads)
        self.dropout = nn.Dropout(config.dropout)
        self.has_feed_forward = config.d_ff > 0
        if self.has_feed_forward:
            self.forward_norm = nn.LayerNorm(config.d_model)
            self.feed_forward = nn.Sequential(
                nn.Linear(config.d_model, config.d_ff), nn.ReLU(), nn.Linear(config.d_ff, config.d_model)
            )

    def forward(self, x: Tensor, edits: Edits = (), mask: Tensor | None = None) -> tuple[Tensor, LayerActivations]:
        activations = self.attention(x, self.attention_norm, None, mask, edits)
        return self.add_feed_forward(x + self.dropout(activations.output)), activations

    def add_feed_forward(self, x: Tensor) -> Tensor:
        return x + self.dropout(self.feed_forward(self.forward_norm(x))) if self.has_feed_forward else x


class DecoderLayer(EncoderLayer):
    """As the encoder's, with attention to the source in between."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.cross_norm = nn.LayerNorm(config.d_model)
        self.cross = Attention(config.d_model, config.n_heads)

    def forward(  # type: ignore[override]
        self,
        x: Tensor,
        causal: Tensor | None,
        memory: KeyValueMemory,
        self_edits: Edits = (),
        cross: Edits = (),
        cache: Tensor | None = None,
    ) -> tuple[Tensor, LayerActivations, LayerActivations]:
        """Return the layer's output, what its self-attention did and what its cross-attention did.

        For the cache of self-attention see Attention; all rows of one sentence ask the memory together.
        """
        activations = self.attention(x, self.attention_norm, None, causal, self_edits, cache)
        x = x + self.dropout(activations.output)
        asking = x.reshape(len(memory.states), -1, x.shape[-1])
        crossed = self.cross(asking, self.cross_norm, memory, edits=cross)
        return self.add_feed_forward(x + self.dropout(crossed.output.view_as(x))), activations, crossed


class TransformerEncoding(NamedTuple):
    """What the encoder makes of source sentences."""

    states: Tensor  # (batch, n_source, d_model): what cross-attention makes its keys and values of
    activations: Activations  # one per encoder layer
    memories: tuple[KeyValueMemory, ...]  # those keys and values, of each decoder layer


class Transformer(TiedTranslator):
    """Encoder-decoder transformer with sinusoidal positions, normalising before each part.

    Source: Vaswani et al. 2017; normalisation before attention: Xiong et al. 2020.
    """

    positions: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(VOCABULARY_SIZE, config.d_model, padding_idx=PAD)
        self.register_buffer("positions", sinusoidal(MAX_POSITIONS, config.d_model), persistent=False)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.encoder_norm = nn.LayerNorm(config.d_model)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.decoder_norm = nn.LayerNorm(config.d_model)
        self.output_bias = nn.Parameter(torch.zeros(VOCABULARY_SIZE))
        self.dropout = nn.Dropout(config.dropout)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2 and "embedding" not in name:
                nn.init.xavier_uniform_(parameter)
        with torch.no_grad():
            self.embedding.weight[PAD] = 0

    def without_positions(self) -> Transformer:
        """Return the same network, its parameters shared, without position codes."""
        return with_buffers(self, positions=torch.zeros_like(self.positions))

    def embed(self, ids: Tensor, first: int = 0) -> Tensor:
        """Return vectors of pieces, scaled by sqrt(d_model), plus positions from the first on, (batch, n, d_model)."""
        return self._with_positions(self.embedding(ids), first)

    def _with_positions(self, vectors: Tensor, first: int = 0) -> Tensor:
        scaled = vectors * math.sqrt(self.config.d_model)
        return self.dropout(scaled + self.positions[first : first + vectors.shape[1]])

    def encode(self, source: Tensor, edits: EditsByAttention = UNEDITED) -> TransformerEncoding:
        """Read source pieces (batch, n_source), the end piece last."""
        return self.encode_vectors(self.embedding(source), edits)

    def encode_vectors(self, vectors: Tensor, edits: EditsByAttention = UNEDITED) -> TransformerEncoding:
        """Read the pieces' vectors (batch, n_source, d_model), neither scaled nor placed yet."""
        x, activations = self._with_positions(vectors), []
        for number, layer in enumerate(self.encoder):
            x, of_layer = layer(x, edits.get(("encoder", number), ()))
            activations.append(of_layer)
        states = self.encoder_norm(x)
        memories = tuple(cast(DecoderLayer, layer).cross.memory(states) for layer in self.decoder)
        return TransformerEncoding(states, tuple(activations), memories)

    def begin(self, source: Tensor, edits: EditsByAttention = UNEDITED) -> DecoderState:
        encoding = self.encode(source, edits)
        key = encoding.memories[0].key[:, :, :0]
        return DecoderState(encoding, torch.stack([torch.stack((key, key), 1)] * self.config.n_layers, 1))

    def step(
        self, state: DecoderState, target: Tensor, edits: EditsByAttention = UNEDITED
    ) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then.

        The decoder keeps the keys and values of its self-attention, (n_rows, n_layers, 2, n_heads, n_cached, d_k).
        """
        features, activations, _ = self.decode(state.encoding, target, edits, state.cache)
        cache = torch.stack(
            [torch.stack((activation.memory.key, activation.memory.value), 1) for activation in activations], 1
        )
        return self.logits(features), state._replace(cache=cache)

    def decode(
        self,
        encoding: TransformerEncoding,
        target: Tensor,
        edits: EditsByAttention = UNEDITED,
        cache: Tensor | None = None,
    ) -> tuple[Tensor, Activations, Activations]:
        """Run the decoder over target pieces, int64 (batch, n_target), the start piece first.

        A cache holds the keys and values of the pieces before, see step. Returns features (batch, n_target, d_model),
        what each layer's self-attention did, and what its cross-attention did.
        """
        n, n_cached = target.shape[1], 0 if cache is None else cache.shape[-2]
        n_rows = len(target) // len(encoding.states)  # of each sentence
        causal = None  # a single piece after the cache sees all of it
        if n > 1 or cache is None:
            causal = torch.ones(n, n_cached + n, dtype=torch.bool, device=target.device).tril(n_cached)[None, None]
        x, self_attentions, cross = self.embed(target, n_cached), [], []
        for number, (layer, memory) in enumerate(zip(self.decoder, encoding.memories, strict=True)):
            self_edits = restrict_queries(edits.get(("decoder", number), ()), n_cached, n, is_causal=True)
            cross_edits = restrict_queries(edits.get(("cross", number), ()), n_cached, n, n_rows)
            of_layer = None if cache is None else cache[:, number]
            x, *activations = layer(x, causal, memory, self_edits, cross_edits, of_layer)
            self_attentions.append(activations[0])
            cross.append(activations[1])
        return self.dropout(self.decoder_norm(x)), tuple(self_attentions), tuple(cross)

    def forward(
        self, source: Tensor, target: Tensor, *, edits: EditsByAttention = UNEDITED, labels: Labels | None = None
    ) -> Prediction:
        """Return logits (batch, n_target, VOCABULARY_SIZE) of next pieces, from source and target so far (batch, n).

        Labels ask for the traces of the first sentence: those of the encoder's layers, then for each decoder layer its
        self-attention and its cross-attention.
        """
        encoding = self.encode(source, edits)
        features, self_attentions, crossed = self.decode(encoding, target, edits)
        traces = (
            () if labels is None else _traces(encoding.activations, self_attentions, crossed, labels, edits).values()
        )
        return Prediction(self.logits(features), tuple(traces))

    def trace(
        self, source: Tensor, target: Tensor, labels: Labels, edits: EditsByAttention = UNEDITED
    ) -> dict[tuple[str, int], AttentionTrace]:
        """Return the traces of one sentence (n_source,) and its target so far (n_target,), by (kind, layer)."""
        with torch.inference_mode():
            encoding = self.encode(source[None], edits)
            _, self_attentions, crossed = self.decode(encoding, target[None], edits)
            return _traces(encoding.activations, self_attentions, crossed, labels, edits)


def _traces(
    encoder: Activations, decoder: Activations, crossed: Activations, labels: Labels, edits: EditsByAttention
) -> dict[tuple[str, int], AttentionTrace]:
    english, french = Axis("English pieces", labels.source), Axis("French pieces", labels.target)
    fed = Axis("French so far", labels.inputs or ["start", *labels.target[:-1]])
    axes = {"encoder": (english, english), "decoder": (fed, fed), "cross": (french, english)}
    traces = {("encoder", layer): trace for layer, trace in enumerate(encoder)}
    for layer, (self_attention, cross) in enumerate(zip(decoder, crossed, strict=True)):
        traces |= {("decoder", layer): self_attention, ("cross", layer): cross}
    return {
        (kind, layer): layer_trace(trace, kind, layer, *axes[kind], edits.get((kind, layer), ()))
        for (kind, layer), trace in traces.items()
    }


@dataclass(frozen=True, eq=False)
class EditedTranslator:
    """A translator with edits, for beam search and for all else that a translator is asked."""

    model: Translator | Transformer  # it is not changed
    edits: Any = field(default_factory=dict)  # a transformer's by (kind, layer)
    with_positions: bool = True  # False leaves the positions out of a transformer
    reads_single_pieces: bool = (
        False  # a recurrent one's state at each piece knows that piece only; the decoder's start stays
    )
    feeds_back: bool = True  # False feeds nothing that was found into the next state of a recurrent one

    @property
    def network(self) -> Any:
        if not self.feeds_back:
            return cast(Translator, self.model).without_feeding()
        return self.model if self.with_positions else cast(Transformer, self.model).without_positions()

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.model.parameters()

    def begin(self, source: Tensor) -> DecoderState:
        state = self.network.begin(source, self.edits)
        if not self.reads_single_pieces:
            return state
        single = self.network.encode(source.reshape(-1, 1)).states.view_as(state.encoding.states)
        return state._replace(encoding=state.encoding._replace(states=single))

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        return self.network.step(state, target, self.edits)


def last_cross(model: Transformer) -> tuple[str, int]:
    """Return the attention of a transformer that is shown: the last layer's to the source."""
    return "cross", model.config.n_layers - 1


def edited(model: CanTranslate, edits: Edits | EditsByAttention) -> CanTranslate:
    """Return a translator with edits, which those of a transformer's last attention to the source alone may be."""
    if not edits:
        return model
    if isinstance(model, Transformer) and not isinstance(edits, Mapping):
        edits = {last_cross(model): edits}
    return EditedTranslator(model, edits)  # type: ignore[arg-type]


register("translator-transformer", "translation:evaluate_translation", Transformer, TransformerConfig())
