"""Small transformers that foresee the next word of English sentences: alike but for mask, softmax and positions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, SetWeights, refuse_edits
from attention_core.attention.positions import sinusoidal
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionTrace, Prediction, masked
from attention_core.attention.types import AttentionOutput
from attention_core.data.next_words import MAX_WORDS, N_WORDS
from attention_core.models.encoder_stack import EditsByLayer, EncoderStack, StackOutput
from attention_core.models.registry import register
from attention_core.models.transformer import INPUTS, Attention, KeyValueMemory, TransformerConfig

D_BESIDE = 16  # width of the positions where they stand beside the words
READ = replace(INPUTS, explanation="One vector per word, brought to a common size.")


@dataclass(frozen=True)
class NextWordConfig(TransformerConfig):
    """Sizes, and what one model has otherwise than the next."""

    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 64
    d_ff: int = 256
    dropout: float = 0.0
    is_causal: bool = True  # whether a word may not see later ones, unless the call brings a mask
    mask_value: float = -math.inf  # what is added to the score of a pair that the mask forbids
    shares_out: Literal["queries", "keys"] = "queries"  # whose weights sum to 1: the softmax runs over the other axis
    positions: Literal["added", "beside", "none"] = "added"  # to the words' vectors, or laid end to end with them


class NextWordAttention(Attention):
    """Attention with the mask and the softmax that the configuration says."""

    def __init__(self, config: NextWordConfig) -> None:
        super().__init__(config.d_model, config.n_heads)
        self.config = config

    def attend_to(self, query: Tensor, memory: KeyValueMemory, mask: Tensor | None, edits: Edits) -> AttentionOutput:
        key, value = memory.key, memory.value
        if self.config.shares_out == "keys":
            refuse_edits(edits)
            weights = masked(ScaledDot()(query, key), mask).softmax(-2)
            weights = weights.nan_to_num()  # a key that nobody may look at
            return AttentionOutput(weights @ value, weights=weights)
        if mask is None or self.config.mask_value == -math.inf:
            return attend(query, key, value, mask=mask, edits=edits)
        if edits:  # beside which so small a number is nothing
            return attend(query, key, value, edits=edits)
        bias = _bias(mask, self.config.mask_value)
        return AttentionOutput(F.scaled_dot_product_attention(query, key, value, attn_mask=bias))


def _bias(mask: Tensor, value: float) -> Tensor:
    """Return what is added to the scores in place of a mask."""
    return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, value)


class NextWordTransformer(nn.Module):
    """Words and their positions, a few blocks of attention, and a number for every word that may come next."""

    codes: Tensor

    def __init__(self, config: NextWordConfig) -> None:
        super().__init__()
        self.config = config
        is_beside = config.positions == "beside"
        codes = sinusoidal(MAX_WORDS + 1, D_BESIDE if is_beside else config.d_model)
        self.register_buffer("codes", codes * (config.positions != "none"), persistent=False)
        self.embedding = nn.Embedding(N_WORDS + 2, config.d_model - is_beside * D_BESIDE)
        self.stack = EncoderStack(config)
        for layer in self.stack.layers:
            layer.attention = NextWordAttention(config)
        self.norm = nn.LayerNorm(config.d_model)
        self.output = nn.Linear(config.d_model, N_WORDS)

    def forward(self, ids: Tensor, *, mask: Tensor | None = None, edits: EditsByLayer = ()) -> Prediction:
        """Return logits (batch, n, N_WORDS) of the word after each, ids int64 (batch, n), the start first.

        The mask, bool (n, n) or (batch, n, n), is used instead of the one that the model was trained with.
        """
        return Prediction(self.logits(self.run(ids, mask, edits).states[-1]))

    def logits(self, states: Tensor) -> Tensor:
        """Return logits (..., N_WORDS) of the next words, of states (..., d_model) behind the last layer."""
        return self.output(self.norm(states))

    def run(self, ids: Tensor, mask: Tensor | None = None, edits: EditsByLayer = ()) -> StackOutput:
        """Return the residual stream behind each layer, and what its attention did."""
        n = ids.shape[1]
        if not 0 < n <= len(self.codes):
            raise ValueError(f"lines must have 1 to {len(self.codes)} positions, got {n}")
        if mask is None and self.config.is_causal:
            mask = torch.ones(n, n, dtype=torch.bool, device=ids.device).tril()
        if mask is not None:
            if mask.dtype != torch.bool or mask.shape[-2:] != (n, n):
                raise ValueError(f"mask must be bool ({n}, {n}), got {mask.dtype} {tuple(mask.shape)}")
            mask = mask.reshape(-1, 1, n, n).to(ids.device)
        return self.stack(self.embed(ids), mask, edits)

    def embed(self, ids: Tensor, first: int = 0) -> Tensor:
        """Return vectors (batch, n, d_model) of words ids (batch, n) with their positions, those from the first on."""
        words, codes = self.embedding(ids), self.codes[first : first + ids.shape[1]]
        if self.config.positions == "beside":
            return torch.cat((words, codes.expand(len(ids), -1, -1)), -1)
        return words + codes

    def traces(
        self, output: StackOutput, labels: Sequence[str], edits: EditsByLayer = ()
    ) -> tuple[AttentionTrace, ...]:
        """Return each layer's trace of the first line of a batch."""
        traces = self.stack.traces(output, "words", labels, edits, READ)
        if self.config.shares_out == "keys":
            return tuple(
                replace(trace, edits=_set_rows(activations.attended.weights[0]))  # type: ignore[index]
                for trace, activations in zip(traces, output.activations, strict=True)
            )
        if self.config.mask_value == -math.inf:
            return traces
        biases = (None if edits else _bias(cast(Tensor, trace.mask), self.config.mask_value) for trace in traces)
        return tuple(replace(trace, mask=None, bias=bias) for trace, bias in zip(traces, biases, strict=True))


def _set_rows(weights: Tensor) -> Edits:
    """Return the edits that make these weights, (n_heads, n, n), those of a trace; no softmax over keys gives them."""
    return tuple(
        SetWeights(query, tuple(enumerate(row)), head, renormalised=False)
        for head, rows in enumerate(weights.tolist())
        for query, row in enumerate(rows)
    )


CAUSAL = NextWordConfig()
CONFIGS = {
    "causal": CAUSAL,
    "unmasked": replace(CAUSAL, is_causal=False),
    "tiny-mask": replace(CAUSAL, mask_value=-1e-9),
    "over-queries": replace(CAUSAL, shares_out="keys"),
    "unpositioned": replace(CAUSAL, positions="none"),
    "beside": replace(CAUSAL, positions="beside"),
}
for name, config in CONFIGS.items():
    register(f"next-word-{name}", "next_word:evaluate_next_word", NextWordTransformer, config)
