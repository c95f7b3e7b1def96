"""Blocks of plain attention for Match3, one or two: a second layer can ask for what two others made together."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from attention_core.attention.trace import Prediction, TracedModel
from attention_core.models.encoder_stack import EditsByLayer, EncoderStack
from attention_core.models.match3 import N_WAVES, check_numbers, residue_vectors
from attention_core.models.registry import register
from attention_core.models.transformer import INPUTS, TransformerConfig

READ = replace(INPUTS, explanation="One vector per number, brought to a common size.")


class Match3Stack(TracedModel):
    """Numbers as circles, encoder layers, and an answer for each number: is there a pair of others for it?

    Nothing in it compares three at once: every score is that of one query with one key.
    """

    input_dtype = torch.int64
    vectors: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("vectors", residue_vectors()[:-1, : 2 * N_WAVES], persistent=False)
        self.embedding = nn.Linear(2 * N_WAVES, config.d_model)
        self.stack = EncoderStack(config)
        self.norm = nn.LayerNorm(config.d_model)
        self.answer = nn.Linear(config.d_model, 2)

    def forward(self, numbers: Tensor, *, edits: EditsByLayer = (), trace: bool = False) -> Prediction:
        """Answer as Match3Head does: logits (batch, n, 2) of numbers int64 (batch, n); a trace for each layer."""
        check_numbers(numbers)
        output = self.stack(self.embedding(self.vectors[numbers]), edits=edits)
        labels = [str(number) for number in numbers[0].tolist()] if trace else []
        traces = self.stack.traces(output, "numbers", labels, edits, READ) if trace else ()
        return Prediction(self.answer(self.norm(output.states[-1])), traces)


SIZES = TransformerConfig(n_layers=1, n_heads=4, d_model=64, d_ff=256, dropout=0.0)
register("match3-one-layer", "classification:evaluate_match3", Match3Stack, SIZES)
register("match3-two-layers", "classification:evaluate_match3", Match3Stack, replace(SIZES, n_layers=2))
