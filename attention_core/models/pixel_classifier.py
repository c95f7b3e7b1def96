"""Digits read by self-attention over all 784 pixels, and by a plain feed-forward network of about the same size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, refuse_edits
from attention_core.attention.positions import cell_positions
from attention_core.attention.rotations import plane_waves, rotate
from attention_core.attention.steps import affine_parameters, projection_origins, projection_steps
from attention_core.attention.trace import Prediction, TracedModel, item_trace
from attention_core.attention.types import NO_ORIGIN, Axis, Role, Step, Story, Text, always, change, read_texts
from attention_core.models.registry import register

TEXTS = read_texts(__file__)
TURNED = (
    " It tells where the pixel is, never how dark (W_V is zero for ink), so that the drawing reaches the answer "
    "through the weights alone. Each is turned by its place (R, a rotation), to be read relative to whoever looks."
)


def pixel_story(
    mechanism: str,
    image: Tensor,
    towards: Sequence[Step],
    after: Sequence[Step],
    answer: Text,
    logits: Tensor,
    **named: Any,
) -> Story:
    """Return the story of one picture (side, side), with steps before query, key and value and after the context.

    It begins with the pixels and ends with the digits' logits (10,); `named` is what the answer's code names.
    """
    pixels, digits = Axis.picture("pixels", *image.shape), Axis("digits", list("0123456789"))
    ink = (
        TEXTS["pixels"]
        .filled(n=image.numel())
        .step(image.flatten()[:, None], pixels, Axis("values", ["ink"]), image=image)
    )
    answered = answer.step(logits.softmax(-1)[None], Axis("pictures", ["this one"]), digits, image=image, **named)
    before, after = (ink, *towards), (*after, answered)
    return Story(mechanism=mechanism, query_axis=pixels, key_axis=pixels, steps_before=before, steps_after=after)


@dataclass(frozen=True)
class PixelConfig:
    side: int = 28  # pixels along a side of the picture; side * side tokens
    d_model: int = 32  # width of a pixel's embedding
    d_k: int = 16  # width of queries, keys and values
    d_ff: int = 64  # features per pixel
    cells: int = 7  # the features are averaged in cells x cells parts of the picture
    d_hidden: int = 256  # hidden units of the classifier
    dropout: float = 0.2  # share of units left out while training
    detail: float = 3.0  # pixels; the finest neighbourhood that the untrained positions tell apart
    neighbourhood: float = 3.0  # pixels; how far an untrained query looks (standard deviation)
    ink_preference: float = 4.0  # by how much an untrained query scores ink above paper
    value_frequency: float = 1.2  # radians per pixel by which values turn
    value_scale: float = 3.0  # of the untrained values


class PixelEmbedding(nn.Module):
    """A pixel's token: its ink times a learned vector, plus a learned vector for its position.

    The first d_k numbers tell the position alone and start as two-dimensional sinusoids, after Vaswani et al. 2017,
    section 3.5; ink enters the others.
    """

    def __init__(self, config: PixelConfig) -> None:
        super().__init__()
        free = config.d_model - config.d_k
        phases = cell_positions(config.side, config.side) @ score_waves(config).T
        start = torch.cat((phases.cos(), phases.sin(), 0.02 * torch.randn(config.side**2, free)), 1)
        self.position = nn.Parameter(start.view(config.side, config.side, config.d_model))
        ink = torch.randn(free)
        self.value = nn.Parameter(ink / ink.norm())

    def forward(self, images: Tensor) -> Tensor:
        """Return tokens (batch, n, d_model) of images (batch, side, side); a coarser picture averages positions."""
        position = self.positions(images.shape[-1])
        ink = images.flatten(1)[..., None] * self.value
        return F.pad(ink, (position.shape[-1] - ink.shape[-1], 0)) + position

    def positions(self, side: int) -> Tensor:
        return F.avg_pool2d(self.position.permute(2, 0, 1), self.position.shape[0] // side).flatten(1).T


class PixelAttention(nn.Module):
    """One head of scaled dot-product self-attention.

    Values are read from the tokens' position part: a pixel hands over where it is, never how dark it is, so that the
    drawing can reach the answer through the weights alone. Values are turned by their place and contexts turned back
    by the query's, so that what a pixel collects tells how ink lies around it (see attention_core.attention.rotations).
    """

    def __init__(self, config: PixelConfig) -> None:
        super().__init__()
        self.query = nn.Linear(config.d_model, config.d_k)
        self.key = nn.Linear(config.d_model, config.d_k)
        self.value = nn.Linear(config.d_k, config.d_k)
        half = config.d_k // 2
        waves = torch.cat((torch.zeros(1, 2), plane_waves(half - 1, config.value_frequency)))
        self.value_waves = nn.Parameter(waves)

    @torch.no_grad()
    def start(self, config: PixelConfig, ink: Tensor) -> None:
        """Set the untrained parameters: every query looks around itself, and rather at ink.

        With sinusoids in queries and keys the score is a sum of cos(wave . distance): a hill whose curvature the waves
        and their amplitude decide. The first wave is 0: the preference for ink, (d_model - d_k), sits there.
        """
        curvature = score_waves(config).square().sum() / 2
        amplitude = (math.sqrt(config.d_k) / config.neighbourhood**2 / curvature).sqrt()
        for linear in (self.query, self.key):
            linear.weight *= 0.2
            linear.weight[:, : config.d_k] = amplitude * torch.eye(config.d_k)
            linear.bias.zero_()
        self.key.weight[0, config.d_k :] = config.ink_preference * math.sqrt(config.d_k) / amplitude * ink
        self.value.weight *= config.value_scale
        self.value.bias.normal_(std=config.value_scale)

    def project(self, tokens: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and turned value, (batch, 1, n, d_k), of tokens (batch, n, d_model) at places (n, 2)."""
        value = rotate(self.value(tokens[..., : self.value.in_features]), positions @ self.value_waves.T)
        return self.query(tokens)[:, None], self.key(tokens)[:, None], value[:, None]

    def turn_back(self, context: Tensor, positions: Tensor) -> Tensor:
        """Turn what a query at each place collected back by its own place: (batch, n, d_k) relative to itself."""
        return rotate(context, -(positions @ self.value_waves.T))


def score_waves(config: PixelConfig) -> Tensor:
    """Return the waves of the untrained positions, (d_k / 2, 2) radians per pixel: one flat, then slow and fast."""
    n, near = config.d_k // 2, 0.9 / config.detail
    n_slow = (n - 1) // 2
    return torch.cat((torch.zeros(1, 2), plane_waves(n_slow, 0.6 * near), plane_waves(n - 1 - n_slow, 1.2 * near)))


class PixelClassifier(TracedModel):
    """One layer of self-attention with one head; a feed-forward network reads what each pixel collected.

    Nothing goes around the attention: with uniform weights the network is blind.

    Source: scaled dot-product attention, Vaswani et al. 2017, eq. 1; rotary places, Su et al. 2021, here on values;
    pixels as tokens, Chen et al. 2020, "Generative pretraining from pixels".
    """

    def __init__(self, config: PixelConfig = PixelConfig()) -> None:
        super().__init__()
        self.config = config
        self.embedding = PixelEmbedding(config)
        self.attention = PixelAttention(config)
        self.attention.start(config, self.embedding.value.detach())
        self.features = nn.ModuleList([nn.Linear(config.d_k, config.d_ff), nn.Linear(config.d_ff, config.d_ff)])
        self.place = nn.Parameter(torch.zeros(config.d_ff, config.side // 2, config.side // 2))
        self.classify = nn.Sequential(
            nn.Dropout(config.dropout),
            nn.Linear(config.cells**2 * config.d_ff, config.d_hidden),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.d_hidden, 10),
        )

    def forward(self, images: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink; those of 14 x 14 are read as averages of 2 x 2."""
        side = images.shape[-1]
        if images.ndim != 3 or images.shape[-2] != side or side not in (self.config.side, self.config.side // 2):
            raise ValueError(f"images must be (batch, 28, 28) or (batch, 14, 14), got {tuple(images.shape)}")
        positions = cell_positions(side, self.config.side).to(images)
        tokens = self.embedding(images)
        query, key, value = self.attention.project(tokens, positions)
        attended = attend(query, key, value, edits=edits, with_normaliser=trace)
        collected, hidden, logits = self._read(attended.context[:, 0], positions)
        if not trace:
            return Prediction(logits)
        after = attended.context[0, 0], collected[0], hidden[0], logits[0]
        story = self._story(images[0], positions, tokens[0], (query[0], key[0], value[0]), after)
        return Prediction(logits, (item_trace(query, key, value, attended, story, edits=edits),))

    def read(self, context: Tensor) -> Prediction:
        """Answer from what every pixel of a picture of 28 x 28 has collected, (batch, n, d_k)."""
        return Prediction(self._read(context, cell_positions(self.config.side, self.config.side).to(context))[2])

    def _read(self, context: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        side = math.isqrt(len(positions))
        collected = self.attention.turn_back(context, positions)
        read = F.gelu(self.features[0](collected) + self._position_bias(side))  # in the light of its place
        hidden = F.gelu(self.features[1](read))
        cells = F.avg_pool2d(hidden.transpose(1, 2).unflatten(2, (side, side)), side // self.config.cells)
        return collected, hidden, self.classify(cells.flatten(1))

    def _story(
        self, image: Tensor, positions: Tensor, tokens: Tensor, vectors: tuple[Tensor, ...], after: tuple[Tensor, ...]
    ) -> Story:
        """Return the story of one picture (side, side), whose code names the parameters as they are at present.

        Tokens are (n, d_model), the vectors (1, n, d_k); after them come the context, it turned back, features and
        logits (10,).
        """
        side, d_k, embedding, attention = len(image), self.config.d_k, self.embedding, self.attention
        pixels = Axis.picture("pixels", side, side)
        rotation = {"positions": positions, "waves": attention.value_waves, "rotate": rotate}
        named: dict[str, Any] = affine_parameters(Q=attention.query, K=attention.key, V=attention.value) | rotation
        named["W_V"] = F.pad(named["W_V"], (0, 0, 0, tokens.shape[-1] - d_k))
        (first, second), third, fourth = self.features, self.classify[1], self.classify[4]
        position_bias = first.bias + self._position_bias(side)  # type: ignore[operator]
        read = {"W_1": first.weight, "bias_of_place": position_bias, "W_2": second.weight, "bias": second.bias}
        answered: dict[str, Any] = {"W_3": third.weight, "b_3": third.bias, "W_4": fourth.weight, "b_4": fourth.bias}
        context, collected, hidden, logits = after
        towards = (
            TEXTS["embedding"].step(
                tokens, pixels, e=F.pad(embedding.value, (d_k, 0)), position=embedding.positions(side)
            ),
            *projection_steps(
                vectors,
                [pixels] * 3,
                formula=r"$letter = ${before}X W_$letter + b_$letter$after",
                code="$name = x @ W_$letter + b_$letter$rotate",
                explanation=(
                    "A learned projection of the same embeddings: what each pixel $meaning.$turned One picture per "
                    "dimension."
                ),
                inputs=partial(always, named),
                origins=[*projection_origins([tokens] * 3, named)[:2], NO_ORIGIN],  # values are turned besides
                before=("", "", r"R\,("),
                after=("", "", ")"),
                rotate=("", "", "\nvalue = rotate(value, positions @ waves.T)"),
                turned=("", "", TURNED),
            ),
        )
        steps_after = (
            TEXTS["relative"].step(collected, pixels, **rotation).with_origin(change(context, Role.CONTEXT)),
            TEXTS["ffn"].step(hidden, pixels, Axis.numbered("features", hidden.shape[-1]), **read),
        )
        answered["size"] = side // self.config.cells
        return pixel_story(
            "self-attention over pixels", image, towards, steps_after, TEXTS["class"], logits, **answered
        )

    def _position_bias(self, side: int) -> Tensor:
        factor = side // self.place.shape[-1]
        return self.place.repeat_interleave(factor, 1).repeat_interleave(factor, 2).flatten(1).T


register("pixel-classifier", "classification:evaluate_digits", PixelClassifier, PixelConfig())


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
        refuse_edits(edits)
        return Prediction(self.layers(images.flatten(1)))


register("ffn-classifier", "classification:evaluate_digits", FFNClassifier, FFNConfig())
