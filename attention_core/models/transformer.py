"""A transformer translator: attention with nothing else, encoder and decoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend, merge_heads, sinusoidal, split_heads
from attention_core.attention.edits import Edits, for_queries
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace, Prediction, first_trace
from attention_core.attention.types import Attended, Axis, Story, always
from attention_core.data.pieces import PAD, VOCABULARY_SIZE
from attention_core.models.registry import register
from attention_core.models.transformer_steps import INPUTS, MECHANISMS, MERGE
from attention_core.models.translator import DecoderState, Labels, TiedTranslator


class KeyValueMemory(NamedTuple):
    others: Tensor  # (batch, n_keys, d_model), what keys and values are made of
    key: Tensor  # (batch, n_heads, n_keys, d_k)
    value: Tensor  # (batch, n_heads, n_keys, d_k)


class AttentionOutput(NamedTuple):
    """What one attention layer did with a batch; enough to make its trace."""

    layer: Attention  # which
    norm: nn.LayerNorm  # what normalised its inputs
    before: Tensor  # (batch, n_queries, d_model), what was normalised
    inputs: Tensor  # (batch, n_queries, d_model), what the queries are made of
    query: Tensor  # (batch, n_heads, n_queries, d_k)
    memory: KeyValueMemory  # keys and values
    mask: Tensor | None  # bool, broadcastable to (batch, n_heads, n_queries, n_keys), or None
    attended: Attended  # the context
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

    def memory(self, others: Tensor) -> KeyValueMemory:
        key, value = (split_heads(project(others), self.n_heads) for project in (self.key, self.value))
        return KeyValueMemory(others, key, value)

    def forward(
        self,
        x: Tensor,
        norm: nn.LayerNorm,
        memory: KeyValueMemory | None = None,
        mask: Tensor | None = None,
        edits: Edits = (),
        earlier: Tensor | None = None,
    ) -> AttentionOutput:
        """Let x (batch, n_queries, d_model), normalised, attend to a memory, or to itself.

        Keys and values that were kept from `earlier`, (batch, 2, n_heads, n_earlier, d_k), stand before the others.
        """
        inputs = norm(x)
        query = split_heads(self.query(inputs), self.n_heads)
        memory = self.memory(inputs) if memory is None else memory
        if earlier is not None:
            kept = torch.cat((earlier, torch.stack((memory.key, memory.value), 1)), 3)
            memory = memory._replace(key=kept[:, 0], value=kept[:, 1])
        attended = attend(query, memory.key, memory.value, mask=mask, edits=edits)
        output = self.merge(merge_heads(attended.context))
        return AttentionOutput(self, norm, x, inputs, query, memory, mask, attended, output)


def layer_trace(
    looked: AttentionOutput, kind: str, layer: int, query_axis: Axis, key_axis: Axis, edits: Edits
) -> AttentionTrace:
    """Return the trace of one attention layer, from 0, for the first sentence of a batch; kind is one of MECHANISMS."""
    module, memory, other = looked.layer, looked.memory, "memory" if kind == "cross" else "x"
    named = {"memory": memory.others[0]}
    for letter, linear in {"Q": module.query, "K": module.key, "V": module.value}.items():
        named[f"W_{letter}"] = linear.weight.unflatten(0, (module.n_heads, -1)).transpose(1, 2)
        if linear.bias is not None:
            named[f"b_{letter}"] = linear.bias.unflatten(0, (module.n_heads, -1))
    origin = "the encoder's output" if kind == "cross" else "the layer's inputs"
    vectors = projections(
        (looked.query[0], memory.key[0], memory.value[0]),
        (query_axis, key_axis, key_axis),
        formula=r"$letter = X W_$letter^{(h)}$bias",
        code="$name = $x @ W_$letter[head]$own_bias",
        explanation="A learned projection of $origin, one per head: what this word $meaning.",
        inputs=partial(always, named),
        x=("x", other, other),
        origin=("the layer's inputs", origin, origin),
        bias=(" + b_Q", "", " + b_V"),
        own_bias=(" + b_Q[head]", "", " + b_V[head]"),
    )
    story = Story(
        mechanism=f"{MECHANISMS[kind]}, layer {layer + 1}",
        query_axis=query_axis,
        key_axis=key_axis,
        steps_before=(
            INPUTS.step(looked.inputs[0], query_axis, x=looked.before[0], layer_norm=looked.norm),
            *vectors,
        ),
        steps_after=(
            MERGE.filled(n=module.n_heads).step(
                looked.output[0],
                query_axis,
                contexts=list(looked.attended.context[0]),
                W_O=module.merge.weight.T,
                b_O=module.merge.bias,
            ),
        ),
    )
    mask = None if looked.mask is None else looked.mask[0]
    return first_trace(looked.query, memory.key, memory.value, looked.attended, story, mask=mask, edits=edits)


MAX_POSITIONS = 256
KINDS = ("encoder", "decoder", "cross")
EditsByPlace = Mapping[tuple[str, int], Edits]
"""What is changed in which attention: by kind and layer, from 0."""
Looks = tuple[AttentionOutput, ...]


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes."""

    n_layers: int = 3  # of the encoder, and as many of the decoder
    n_heads: int = 6  # per attention
    d_model: int = 192  # width of every position's vector
    d_ff: int = 640  # hidden units of the feed-forward networks
    dropout: float = 0.1  # share left out in training


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network; each on normalised inputs, added to what came in."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config.d_model, config.n_heads)
        self.forward_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.d_model, config.d_ff), nn.ReLU(), nn.Linear(config.d_ff, config.d_model)
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, edits: Edits = ()) -> tuple[Tensor, AttentionOutput]:
        looked = self.attention(x, self.attention_norm, edits=edits)
        x = x + self.dropout(looked.output)
        return x + self.dropout(self.feed_forward(self.forward_norm(x))), looked


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
        own: Edits = (),
        cross: Edits = (),
        earlier: Tensor | None = None,
    ) -> tuple[Tensor, AttentionOutput, AttentionOutput]:
        """Return the layer's output, what its self-attention did and what its cross-attention did.

        `earlier` is what self-attention kept, see Attention; all rows of one sentence ask the memory together.
        """
        looked = self.attention(x, self.attention_norm, None, causal, own, earlier)
        x = x + self.dropout(looked.output)
        asking = x.reshape(len(memory.others), -1, x.shape[-1])
        crossed = self.cross(asking, self.cross_norm, memory, edits=cross)
        x = x + self.dropout(crossed.output.view_as(x))
        return x + self.dropout(self.feed_forward(self.forward_norm(x))), looked, crossed


class TransformerEncoding(NamedTuple):
    states: Tensor  # (batch, n_source, d_model): what cross-attention makes its keys and values of
    looked: Looks  # one per encoder layer
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
        """Return the same network, its parameters shared, to which no position is told."""
        bare = copy(self)
        bare._buffers = {"positions": torch.zeros_like(self.positions)}
        return bare

    def embed(self, ids: Tensor, first: int = 0) -> Tensor:
        """Return vectors of pieces, scaled by sqrt(d_model), plus positions from the first on, (batch, n, d_model)."""
        embedded = self.embedding(ids) * math.sqrt(self.config.d_model)
        return self.dropout(embedded + self.positions[first : first + ids.shape[1]])

    def encode(self, source: Tensor, interventions: EditsByPlace | None = None) -> TransformerEncoding:
        """Read source pieces (batch, n_source), the end piece last."""
        x, looked = self.embed(source), []
        for number, layer in enumerate(self.encoder):
            x, layer_looked = layer(x, _edit(interventions, "encoder", number))
            looked.append(layer_looked)
        states = self.encoder_norm(x)
        memories = tuple(cast(DecoderLayer, layer).cross.memory(states) for layer in self.decoder)
        return TransformerEncoding(states, tuple(looked), memories)

    def begin(self, source: Tensor, interventions: EditsByPlace | None = None) -> DecoderState:
        encoding = self.encode(source, interventions)
        key = encoding.memories[0].key[:, :, :0]
        return DecoderState(encoding, torch.stack([torch.stack((key, key), 1)] * self.config.n_layers, 1))

    def step(
        self, state: DecoderState, target: Tensor, interventions: EditsByPlace | None = None
    ) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then.

        The decoder keeps the keys and values of its self-attention, (n_rows, n_layers, 2, n_heads, n_said, d_k).
        """
        features, looked, _ = self.decode(state.encoding, target, interventions, state.said)
        said = torch.stack([torch.stack((one.memory.key, one.memory.value), 1) for one in looked], 1)
        return self.logits(features, state.n_sure), state._replace(said=said)

    def decode(
        self,
        encoding: TransformerEncoding,
        target: Tensor,
        interventions: EditsByPlace | None = None,
        said: Tensor | None = None,
    ) -> tuple[Tensor, Looks, Looks]:
        """Run the decoder over target pieces, int64 (batch, n_target), the start piece first.

        It goes on from the keys and values of what was `said`, see step, if anything was. Returns features (batch,
        n_target, d_model), what each layer's self-attention did, and what its cross-attention did.
        """
        n, n_said = target.shape[1], 0 if said is None else said.shape[-2]
        n_rows = len(target) // len(encoding.states)  # of each sentence
        causal = None  # a piece after all that was said sees all of it
        if n > 1 or said is None:
            causal = torch.ones(n, n_said + n, dtype=torch.bool, device=target.device).tril(n_said)[None, None]
        x, looked, crossed = self.embed(target, n_said), [], []
        for number, (layer, memory) in enumerate(zip(self.decoder, encoding.memories, strict=True)):
            own = for_queries(_edit(interventions, "decoder", number), n_said, n, is_causal=True)
            cross = for_queries(_edit(interventions, "cross", number), n_said, n, n_rows)
            earlier = None if said is None else said[:, number]
            x, own_look, cross_look = layer(x, causal, memory, own, cross, earlier)
            looked.append(own_look)
            crossed.append(cross_look)
        return self.dropout(self.decoder_norm(x)), tuple(looked), tuple(crossed)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        *,
        interventions: EditsByPlace | None = None,
        labels: Labels | None = None,
    ) -> Prediction:
        """Return logits (batch, n_target, VOCABULARY_SIZE) of next pieces, from source and target so far (batch, n).

        Labels ask for the traces of the first sentence: those of the encoder's layers, then for each decoder layer its
        self-attention and its cross-attention.
        """
        encoding = self.encode(source, interventions)
        features, own, crossed = self.decode(encoding, target, interventions)
        traces = () if labels is None else _traces(encoding.looked, own, crossed, labels, interventions).values()
        return Prediction(self.logits(features), tuple(traces))

    def trace(
        self, source: Tensor, target: Tensor, labels: Labels, interventions: EditsByPlace | None = None
    ) -> dict[tuple[str, int], AttentionTrace]:
        """Return the traces of one sentence (n_source,) and its target so far (n_target,), by (kind, layer)."""
        with torch.inference_mode():
            encoding = self.encode(source[None], interventions)
            _, own, crossed = self.decode(encoding, target[None], interventions)
            return _traces(encoding.looked, own, crossed, labels, interventions)


def _traces(
    encoder: Looks, decoder: Looks, crossed: Looks, labels: Labels, interventions: EditsByPlace | None
) -> dict[tuple[str, int], AttentionTrace]:
    english, french = Axis("English pieces", labels.source), Axis("French pieces", labels.target)
    fed = Axis("French so far", labels.fed or ["start", *labels.target[:-1]])
    axes = {"encoder": (english, english), "decoder": (fed, fed), "cross": (french, english)}
    places = {("encoder", layer): one for layer, one in enumerate(encoder)}
    for layer, (own, cross) in enumerate(zip(decoder, crossed, strict=True)):
        places |= {("decoder", layer): own, ("cross", layer): cross}
    return {
        (kind, layer): layer_trace(one, kind, layer, *axes[kind], _edit(interventions, kind, layer))
        for (kind, layer), one in places.items()
    }


def _edit(interventions: EditsByPlace | None, kind: str, layer: int) -> Edits:
    return (interventions or {}).get((kind, layer), ())


register("translator-transformer", "translation:evaluate_translation", Transformer, TransformerConfig())
