"""A transformer translator: attention with nothing else, encoder and decoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.positions import sinusoidal
from attention_core.attention.trace import AttentionTrace, Prediction
from attention_core.attention.types import Axis
from attention_core.data.pieces import PAD, VOCABULARY_SIZE
from attention_core.models.multi_head import Attention, Looked, layer_trace
from attention_core.models.registry import register
from attention_core.models.translator import Labels, TiedTranslator

MOST_POSITIONS = 256
KINDS = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes.

    Attributes:
        n_layers: of the encoder, and as many of the decoder.
        n_heads: per attention.
        d_model: width of every position's vector.
        d_ff: hidden units of the feed-forward networks.
        dropout: share left out in training.
    """

    n_layers: int = 3
    n_heads: int = 6
    d_model: int = 192
    d_ff: int = 640
    dropout: float = 0.1


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network; each on normalised inputs, added to what came in."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config.d_model, config.n_heads)
        self.forward_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = _feed_forward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, mask: Tensor | None, intervention: Intervention = NO_INTERVENTION
    ) -> tuple[Tensor, Looked]:
        """Return the layer's output (batch, n, d_model) and what its attention did."""
        looked = self.attention(x, self.attention_norm, None, mask, intervention)
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
        causal: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        own: Intervention = NO_INTERVENTION,
        cross: Intervention = NO_INTERVENTION,
    ) -> tuple[Tensor, Looked, Looked]:
        """Return the layer's output, what its self-attention did and what its cross-attention did."""
        looked = self.attention(x, self.attention_norm, None, causal, own)
        x = x + self.dropout(looked.output)
        crossed = self.cross(x, self.cross_norm, memory, mask, cross)
        x = x + self.dropout(crossed.output)
        return x + self.dropout(self.feed_forward(self.forward_norm(x))), looked, crossed


def _feed_forward(config: TransformerConfig) -> nn.Sequential:
    return nn.Sequential(nn.Linear(config.d_model, config.d_ff), nn.ReLU(), nn.Linear(config.d_ff, config.d_model))


class Encoding(NamedTuple):
    """A source sentence as the decoder gets it.

    Attributes:
        states: (batch, n_source, d_model): what cross-attention makes its keys and values of.
        mask: bool (batch, n_source), False = padding, or None.
        looked: one per encoder layer.
    """

    states: Tensor
    mask: Tensor | None
    looked: tuple[Looked, ...]

    def repeat(self, n: int) -> Encoding:
        """Return every sentence n times in a row, for beam search."""
        mask = None if self.mask is None else self.mask.repeat_interleave(n, 0)
        return Encoding(self.states.repeat_interleave(n, 0), mask, ())


class Transformer(TiedTranslator):
    """Encoder-decoder transformer with sinusoidal positions, normalising before each part.

    Source: Vaswani et al. 2017; normalisation before attention: Xiong et al. 2020.
    """

    positions: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(VOCABULARY_SIZE, config.d_model, padding_idx=PAD)
        self.register_buffer("positions", sinusoidal(MOST_POSITIONS, config.d_model), persistent=False)
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

    def embed(self, ids: Tensor, with_positions: bool = True) -> Tensor:
        """Return vectors of pieces, scaled by sqrt(d_model), plus their positions, (batch, n, d_model)."""
        embedded = self.embedding(ids) * math.sqrt(self.config.d_model)
        if with_positions:
            embedded = embedded + self.positions[: ids.shape[1]]
        return self.dropout(embedded)

    def encode(
        self,
        source: Tensor,
        mask: Tensor | None = None,
        interventions: Sequence[Intervention] = (),
        *,
        with_positions: bool = True,
    ) -> Encoding:
        """Read source pieces (batch, n_source), the end piece last; mask bool (batch, n_source), False = padding.

        Interventions are one per encoder layer, or none. Without positions the encoder cannot know any order.
        """
        x, looked = self.embed(source, with_positions), []
        visible = None if mask is None else mask[:, None, None]
        for number, layer in enumerate(self.encoder):
            x, layer_looked = layer(x, visible, _nth(interventions, number))
            looked.append(layer_looked)
        return Encoding(self.encoder_norm(x), mask, tuple(looked))

    def decode(
        self,
        encoding: Encoding,
        target: Tensor,
        own: Sequence[Intervention] = (),
        cross: Sequence[Intervention] = (),
        *,
        with_positions: bool = True,
    ) -> tuple[Tensor, tuple[Looked, ...], tuple[Looked, ...]]:
        """Run the decoder over target pieces, int64 (batch, n_target), the start piece first.

        `own` edits its self-attention and `cross` the cross-attention, with one intervention per layer, or none.

        Returns:
            features (batch, n_target, d_model); what each layer's self-attention did; what its cross-attention did.
        """
        n = target.shape[1]
        causal = torch.ones(n, n, dtype=torch.bool, device=target.device).tril()[None, None]
        visible = None if encoding.mask is None else encoding.mask[:, None, None]
        x, looked, crossed = self.embed(target, with_positions), [], []
        for number, layer in enumerate(self.decoder):
            x, own_look, cross_look = layer(x, causal, encoding.states, visible, _nth(own, number), _nth(cross, number))
            looked.append(own_look)
            crossed.append(cross_look)
        return self.dropout(self.decoder_norm(x)), tuple(looked), tuple(crossed)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        mask: Tensor | None = None,
        *,
        interventions: dict[tuple[str, int], Intervention] | None = None,
        labels: Labels | None = None,
        with_positions: bool = True,
    ) -> Prediction:
        """Predict every next target piece from the source (batch, n_source) and the target so far (batch, n_target).

        Interventions are by (kind, layer), kind one of KINDS; labels ask for the traces of the first sentence.

        Returns:
            logits (batch, n_target, VOCABULARY_SIZE) and perhaps the traces: those of the encoder's layers, then for
            each decoder layer its self-attention and its cross-attention.
        """
        edits = {kind: _by_layer(interventions or {}, kind, self.config.n_layers) for kind in KINDS}
        encoding = self.encode(source, mask, edits["encoder"], with_positions=with_positions)
        features, looked, crossed = self.decode(
            encoding, target, edits["decoder"], edits["cross"], with_positions=with_positions
        )
        logits = self.logits(features)
        if labels is None:
            return Prediction(logits)
        source_axis = Axis("English pieces", labels.source)
        fed_axis = Axis("French so far", labels.fed or ["start", *labels.target[:-1]])
        traces = [
            layer_trace(looked_at, "encoder", layer, source_axis, source_axis, edits["encoder"][layer])
            for layer, looked_at in enumerate(encoding.looked)
        ]
        for layer, (own, cross) in enumerate(zip(looked, crossed, strict=True)):
            traces.append(layer_trace(own, "decoder", layer, fed_axis, fed_axis, edits["decoder"][layer]))
            target_axis = Axis("French pieces", labels.target)
            traces.append(layer_trace(cross, "cross", layer, target_axis, source_axis, edits["cross"][layer]))
        return Prediction(logits, tuple(traces))

    def trace(
        self,
        source: Tensor,
        target: Tensor,
        labels: Labels,
        interventions: dict[tuple[str, int], Intervention] | None = None,
        *,
        with_positions: bool = True,
    ) -> dict[tuple[str, int], AttentionTrace]:
        """Return the traces of one sentence (n_source,) and its target so far (n_target,), by (kind, layer)."""
        with torch.inference_mode():
            traces = self(
                source[None], target[None], interventions=interventions, labels=labels, with_positions=with_positions
            ).traces
        n = self.config.n_layers
        return {
            **{("encoder", layer): traces[layer] for layer in range(n)},
            **{("decoder", layer): traces[n + 2 * layer] for layer in range(n)},
            **{("cross", layer): traces[n + 2 * layer + 1] for layer in range(n)},
        }


def _nth(interventions: Sequence[Intervention], number: int) -> Intervention:
    return interventions[number] if interventions else NO_INTERVENTION


def _by_layer(interventions: dict[tuple[str, int], Intervention], kind: str, n_layers: int) -> list[Intervention]:
    return [interventions.get((kind, layer), NO_INTERVENTION) for layer in range(n_layers)]


register("translator-transformer", "translation:evaluate_translation", Transformer, TransformerConfig())
