"""Photographs: a convolutional network that names a thousand things, and the regions that it sees on the way."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.edits import Edits, refuse_edits
from attention_core.attention.trace import Prediction
from attention_core.models.features import regions
from attention_core.models.registry import register

NAME = "photo-classifier"
CELL = 32
"""Pixels of a photograph's side from one region to the next."""
GREY = 127 / 255
"""What the network sees as zero, of RGB in [0, 1]."""


class Stage(NamedTuple):
    repeats: int
    kernel: int
    stride: int  # of its first block
    expansion: int  # how many times more channels there are inside a block
    channels: int  # of its output


@dataclass(frozen=True)
class PhotoConfig:
    stem: int = 32  # channels of the first convolution
    stages: tuple[Stage, ...] = (
        Stage(1, 3, 1, 1, 16),
        Stage(2, 3, 2, 6, 24),
        Stage(2, 5, 2, 6, 40),
        Stage(3, 3, 2, 6, 80),
        Stage(3, 5, 1, 6, 112),
        Stage(4, 5, 2, 6, 192),
        Stage(1, 3, 1, 6, 320),
    )
    d: int = 1280  # numbers of a region
    n_classes: int = 1000


class Convolution(nn.Conv2d):
    """A convolution with the padding of TensorFlow: where it is odd, below and on the right is one pixel more."""

    def __init__(self, n_in: int, n_out: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> None:
        super().__init__(n_in, n_out, kernel, stride, groups=groups)
        before = (kernel - stride) // 2
        self.edges = (before, kernel - stride - before) * 2

    def forward(self, picture: Tensor) -> Tensor:
        return super().forward(F.pad(picture, self.edges))


class InvertedResidual(nn.Sequential):
    """Many channels for a moment, each convolved by itself, and few again; added to what came in if that fits."""

    def __init__(self, n_in: int, stage: Stage, stride: int) -> None:
        n_inside = n_in * stage.expansion
        widen = [Convolution(n_in, n_inside), nn.ReLU6(inplace=True)] if stage.expansion > 1 else []
        depthwise = Convolution(n_inside, n_inside, stage.kernel, stride, groups=n_inside)
        super().__init__(*widen, depthwise, nn.ReLU6(inplace=True), Convolution(n_inside, stage.channels))
        self.adds = stride == 1 and n_in == stage.channels

    def forward(self, picture: Tensor) -> Tensor:
        changed = super().forward(picture)
        return changed + picture if self.adds else changed


class PhotoNetwork(nn.Module):
    """EfficientNet-Lite0: inverted residual blocks, batch normalisation folded into the convolutions.

    Sources: Tan and Le 2019, "EfficientNet", table 1; the form without squeeze and excitation and with ReLU6, Liu 2020,
    "Higher accuracy on vision models with EfficientNet-Lite"; the blocks, Sandler et al. 2018, "MobileNetV2".
    """

    def __init__(self, config: PhotoConfig = PhotoConfig()) -> None:
        super().__init__()
        self.config = config
        channels = config.stem
        layers: list[nn.Module] = [Convolution(3, channels, 3, 2), nn.ReLU6(inplace=True)]
        for stage in config.stages:
            for number in range(stage.repeats):
                layers.append(InvertedResidual(channels, stage, 1 if number else stage.stride))
                channels = stage.channels
        self.layers = nn.Sequential(*layers, Convolution(channels, config.d), nn.ReLU6(inplace=True))
        self.classify = nn.Linear(config.d, config.n_classes)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def features(self, photographs: Tensor) -> Tensor:
        """Return a map (batch, d, rows, columns) of photographs (batch, 3, height, width), RGB in [0, 1].

        Height and width are multiples of CELL, each cell becomes a region; it has seen far beyond its edges.
        """
        if photographs.ndim != 4 or photographs.shape[1] != 3 or any(side % CELL for side in photographs.shape[2:]):
            raise ValueError(f"photographs must be (batch, 3, {CELL} m, {CELL} n), got {tuple(photographs.shape)}")
        return self.layers((photographs - GREY) * 255 / 128)

    def forward(self, photographs: Tensor, *, edits: Edits = ()) -> Prediction:
        """Name photographs as they were named in training: all regions count alike, there is no attention to change."""
        refuse_edits(edits)
        return Prediction(self.classify(regions(self.features(photographs)).mean(1)))


register(NAME, "photographs:evaluate_photographs", PhotoNetwork, PhotoConfig())
