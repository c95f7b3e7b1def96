"""Find the digit: one learned query chooses among the features of a convolutional network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.interventions import NO_INTERVENTION, UNIFORM, Intervention
from attention_core.attention.scores import Dot
from attention_core.attention.trace import AttentionTrace
from attention_core.models.feature_mask_steps import feature_mask_trace
from attention_core.models.features import FeatureMap, Layer, Looked, regions
from attention_core.models.registry import register

LAYERS = (Layer(32, 2), Layer(64), Layer(64, 2), Layer(96), Layer(96, dilation=2), Layer(96, dilation=2))


@dataclass(frozen=True)
class FeatureMaskConfig:
    """Sizes.

    Attributes:
        side: pixels along a side of the picture.
        layers: of the convolutional network.
        d_hidden: hidden units of the classifier.
        dropout: share of the context left out while training.
        attends: False = every region counts alike, the same network without attention.
    """

    side: int = 60
    layers: tuple[Layer, ...] = LAYERS
    d_hidden: int = 128
    dropout: float = 0.1
    attends: bool = True


class FeatureMask(nn.Module):
    """Features, one map over them, their weighted sum, a classifier.

    The map is a 1 x 1 convolution: at every region the same learned vector meets the region's features in a dot
    product. That vector is the query, a constant; the features are keys and values; softmax over the regions makes
    the mask.

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

    def forward(self, pictures: Tensor, *, intervention: Intervention = NO_INTERVENTION, trace: bool = False) -> Looked:
        """Classify pictures.

        Args:
            pictures: (batch, 60, 60) in [0, 1], 1 = ink.
            intervention: edits of the attention; without attention every map is uniform whatever is asked.
            trace: also return the attention trace of the first picture.

        Raises:
            ValueError: pictures of another size.
        """
        side = self.config.side
        if pictures.ndim != 3 or pictures.shape[1:] != (side, side):
            raise ValueError(f"pictures must be (batch, {side}, {side}), got {tuple(pictures.shape)}")
        maps = self.features(pictures[:, None])
        features = regions(maps)[:, None]
        query = self.query.expand(len(pictures), 1, 1, -1)
        if not self.config.attends:
            intervention = UNIFORM
        attended = attend(query, features, features, score=Dot(), intervention=intervention, with_weights=True)
        logits, weights = self.classify(attended.context[:, 0, 0]), cast(Tensor, attended.weights)[:, 0]
        if not trace:
            return Looked(logits, weights)
        made = feature_mask_trace(
            picture=pictures[0],
            maps=maps[0],
            query=query[0],
            features=features[0],
            context=attended.context[0],
            logits=logits[0],
            intervention=intervention,
        )
        return Looked(logits, weights, (made,))

    def trace(self, picture: Tensor, intervention: Intervention = NO_INTERVENTION) -> AttentionTrace:
        """Return the attention trace of one picture, (60, 60) in [0, 1], a tensor or an array."""
        picture = torch.as_tensor(picture, dtype=torch.float32, device=self.query.device)
        with torch.inference_mode():
            return self(picture[None], intervention=intervention, trace=True).traces[0]

    def answer(self, trace: AttentionTrace, intervention: Intervention = NO_INTERVENTION) -> Tensor:
        """Return the ten probabilities after an edit of the attention, with the features that a trace already has.

        Args:
            trace: of this model.
            intervention: instead of the trace's own.
        """
        with torch.inference_mode():
            return self.classify(trace.replace(intervention).context()[0]).softmax(-1)


register("feature-mask", "looking:evaluate_finding", FeatureMask, FeatureMaskConfig())
register("feature-mean", "looking:evaluate_finding", FeatureMask, FeatureMaskConfig(attends=False))
