"""A small convolutional network turns a picture into a map of features, the regions that attention chooses from."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Text


class VisionOutput(NamedTuple):
    logits: Tensor  # (batch, n_classes), or (batch, n_looks, n_classes) for one that answers after every look
    weights: Tensor  # (batch, n_looks, n_keys), each look sums to 1
    traces: tuple[AttentionTrace, ...] = ()  # of the batch's first item; empty unless asked for


class Layer(NamedTuple):
    channels: int  # of its output
    stride: int = 1  # 2 halves height and width
    dilation: int = 1  # distance between the nine pixels of the kernel


class FeatureMap(nn.Sequential):
    """Convolutions, each followed by batch normalisation and a ReLU.

    Maps pictures (batch, channels, height, width) to (batch, n_channels, rows, columns).

    Source: VGG-like stacks, Simonyan and Zisserman 2015; batch normalisation, Ioffe and Szegedy 2015; dilation widens
    what a feature sees without losing places, Yu and Koltun 2016.
    """

    def __init__(self, channels: int, layers: tuple[Layer, ...]) -> None:
        modules: list[nn.Module] = []
        for layer in layers:
            modules += [
                nn.Conv2d(channels, layer.channels, 3, layer.stride, layer.dilation, layer.dilation, bias=False),
                nn.BatchNorm2d(layer.channels),
                nn.ReLU(inplace=True),
            ]
            channels = layer.channels
        super().__init__(*modules)
        self.n_channels = channels
        # convolutions then work in this layout: a quarter faster on a CPU, and regions come without a copy
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


class RegionEncoder(nn.Module):
    """Base of models whose regions have learned positions: a vector per row plus one per column."""

    def __init__(self, channels: int, layers: tuple[Layer, ...], size: tuple[int, int]) -> None:
        super().__init__()
        self.features = FeatureMap(channels, layers)
        d = self.features.n_channels
        self.row = nn.Parameter(0.3 * torch.randn(size[0] // 4, 1, d))
        self.column = nn.Parameter(0.3 * torch.randn(1, size[1] // 4, d))

    @property
    def grid(self) -> tuple[int, int]:
        return self.row.shape[0], self.column.shape[1]

    @property
    def positions(self) -> Tensor:
        """The position vectors, (n_regions, d), which are added to the regions."""
        return (self.row + self.column).flatten(0, 1)

    def encode_regions(self, pictures: Tensor) -> Tensor:
        """Return the regions (batch, n_regions, d) of pictures (batch, channels, height, width)."""
        return regions(self.features(pictures)) + self.positions


def additive_parameters(hidden: int, d_query: int, d_key: int) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    """Return untrained parameters of the additive score: for the query, for the key, and the vector over both."""
    sizes = ((hidden, d_query), (hidden, d_key), (hidden,))
    query, key, vector = (nn.Parameter(torch.randn(size) * size[-1] ** -0.5) for size in sizes)
    return query, key, vector


def regions(features: Tensor) -> Tensor:
    """Return a map (batch, channels, height, width) as regions in reading order, (batch, height * width, channels)."""
    return features.flatten(2).transpose(1, 2)


def check_size(pictures: Tensor, *size: int) -> None:
    if tuple(pictures.shape[1:]) != size:
        raise ValueError(f"pictures must be (batch, {', '.join(map(str, size))}), got {tuple(pictures.shape)}")


def picture_step(picture: Tensor, formula: str, code: str, explanation: str) -> Step:
    """Return the step that shows the ink of a picture (height, width) in [0, 1], or of (channels, ...), ink first."""
    ink = picture if picture.ndim == 2 else picture[0]
    text = Text("picture", "Picture", "picture", formula, code, explanation, Role.INPUT)
    return text.step(ink.flatten()[:, None], Axis.picture("pixels", *ink.shape), Axis("ink", ["ink"]), picture=picture)
