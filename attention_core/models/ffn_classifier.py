"""A plain feed-forward classifier of digits: the same task, about the same size, no attention."""

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn

from attention_core.attention.edits import Edits, nothing_to_edit
from attention_core.attention.trace import Prediction
from attention_core.models.registry import register


@dataclass(frozen=True)
class FFNConfig:
    side: int = 28  # pixels along a side of the picture
    hidden: tuple[int, ...] = (768, 256)  # units of each hidden layer
    dropout: float = 0.1  # share of hidden units left out while training


class FFNClassifier(nn.Module):
    """Every pixel has one fixed weight into every neuron; pixels meet only inside sums. Source: Rosenblatt 1958."""

    def __init__(self, config: FFNConfig = FFNConfig()) -> None:
        super().__init__()
        self.config = config
        widths = (config.side**2, *config.hidden)
        layers: list[nn.Module] = []
        for n_in, n_out in pairwise(widths):
            layers += [nn.Linear(n_in, n_out), nn.GELU(), nn.Dropout(config.dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], 10))

    def forward(self, images: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        """Classify images (batch, 28, 28) in [0, 1]; there is no attention to trace or to change."""
        nothing_to_edit(edits)
        return Prediction(self.layers(images.flatten(1)))


register("ffn-classifier", "digits:evaluate_digits", FFNClassifier, FFNConfig())
