"""Find the digit: one learned query chooses among the features of a convolutional network."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import UNIFORM, Edits
from attention_core.attention.scores import Dot
from attention_core.attention.trace import AttentionTrace, TracedModel, item_trace
from attention_core.attention.types import Axis, Story, read_texts
from attention_core.models.features import FeatureMap, Layer, VisionOutput, check_size, picture_step, regions
from attention_core.models.registry import register

TEXTS = read_texts(__file__)

LAYERS = (Layer(32, 2), Layer(64), Layer(64, 2), Layer(96), Layer(96, dilation=2), Layer(96, dilation=2))


@dataclass(frozen=True)
class FeatureMaskConfig:
    side: int = 60  # pixels along a side of the picture
    layers: tuple[Layer, ...] = LAYERS  # of the convolutional network
    d_hidden: int = 128  # hidden units of the classifier
    dropout: float = 0.1  # share of the context left out while training
    attends: bool = True  # False = every region counts alike, the same network without attention


class FeatureMask(TracedModel):
    """Features, one map over them, their weighted sum, a classifier.

    The map is a 1 x 1 convolution: a learned vector, the constant query, meets every region's features in a dot
    product.

    Source: the mask as a 1 x 1 convolution and a softmax over places, as in Xu et al. 2015, "Show, attend and tell",
    section 4.2 (soft attention), with a constant query; the task, Mnih et al. 2014, section 4.1.
    """

    def __init__(self, config: FeatureMaskConfig = FeatureMaskConfig()) -> None:
        super().__init__()
        self.config = config
        self.features = FeatureMap(1, config.layers)
        d = self.features.n_channels
        self.query = nn.Parameter(torch.zeros(d))
        self.classify = nn.Sequential(
            nn.Dropout(config.dropout), nn.Linear(d, config.d_hidden), nn.ReLU(), nn.Linear(config.d_hidden, 10)
        )

    @property
    def grid(self) -> tuple[int, int]:
        """(rows, columns) of the regions: every stride halves the picture, rounded up."""
        side = self.config.side
        for layer in self.config.layers:
            side = -(-side // layer.stride)
        return side, side

    def forward(self, pictures: Tensor, *, edits: Edits = (), trace: bool = False) -> VisionOutput:
        """Classify pictures (batch, 60, 60) in [0, 1], 1 = ink; without attention maps are uniform before edits."""
        side = self.config.side
        check_size(pictures, side, side)
        features = regions(self.features(pictures[:, None]))[:, None]
        query = self.query.expand(len(pictures), 1, 1, -1)
        if not self.config.attends:
            edits = (*UNIFORM, *edits)
        attended = attend(query, features, features, score=Dot(), edits=edits, with_weights=True)
        logits, weights = self.classify(attended.context[:, 0, 0]), cast(Tensor, attended.weights)[:, 0]
        if not trace:
            return VisionOutput(logits, weights)
        story = self._story(pictures[0], features[0, 0], logits[0])
        return VisionOutput(
            logits, weights, (item_trace(query, features, features, attended, story, score=Dot(), edits=edits),)
        )

    def _story(self, picture: Tensor, features: Tensor, logits: Tensor) -> Story:
        (rows, columns), n = self.grid, features.shape[-1]
        regions_axis, channels = Axis.picture("regions", rows, columns), Axis.numbered("channels", n)
        constant = Axis("queries", ["learned constant"])
        digits = Axis("digits", [str(digit) for digit in range(10)])
        of_features, of_query = TEXTS["key"].filled(n=n, rows=rows, columns=columns), TEXTS["query"].filled(n=n)
        return Story(
            mechanism="soft mask over the features of a convolutional network",
            query_axis=constant,
            key_axis=regions_axis,
            value_axis=channels,
            steps_before=(
                picture_step(
                    picture,
                    r"p \in [0, 1]^{60 \times 60}",
                    "ink = picture.reshape(-1, 1)  # 60 x 60, 0 = paper, 1 = ink",
                    "The canvas, shrunk to 60 x 60 pixels. The digit keeps its place and size.",
                ),
                of_features.step(features, regions_axis, channels, picture=picture, cnn=self.features),
                of_query.step(self.query[None], constant, channels, q=self.query),
            ),
            steps_after=(
                TEXTS["output"].step(
                    logits.softmax(-1)[None], Axis("pictures", ["this picture"]), digits, classify=self.classify
                ),
            ),
        )

    def answer(self, trace: AttentionTrace, edits: Edits = ()) -> Tensor:
        """Return the ten probabilities after another edit of the attention, with the features of a model's trace."""
        with torch.inference_mode():
            return self.classify(trace.replace(edits).context()[0]).softmax(-1)


register("feature-mask", "vision:evaluate_finding", FeatureMask, FeatureMaskConfig())
register("feature-mean", "vision:evaluate_finding", FeatureMask, FeatureMaskConfig(attends=False))
