"""Digits read by the attention layer as the notes on pixels have it: softmax(Q K^T / sqrt(d)) V, flattened, then read.

Nothing is given at the start: positions and all matrices are random. Beside it stand its controls, which read the same
pixels through the same feed-forward network, but do not choose where to look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, nothing_to_edit
from attention_core.attention.scores import ScaledDot
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace, Prediction
from attention_core.attention.types import Axis, Role, Story, Text
from attention_core.models.pixel_classifier import PIXELS
from attention_core.models.registry import register

EMBEDDING = Text(
    "embedding",
    "Tokens",
    "X",
    r"x_i = p_i\, e$place",
    "x = pixels * e$plus  # $learned",
    "One vector per pixel: its ink times a learned vector$told. All of it was random at the start.",
    Role.INPUT,
)
LEVELS = 32
CLASS = Text(
    "class",
    "Class",
    "class",
    r"P = \operatorname{softmax}(W_2\, g(W_1 [c_1; \dots; c_{784}] + b_1) + b_2)",
    "hidden = F.gelu(context.reshape(1, -1) @ W_1.T + b_1)\nprobabilities = (hidden @ W_2.T + b_2).softmax(-1)",
    "What all pixels collected, laid end to end, goes through a feed-forward network. It knows each pixel's place by "
    "where its numbers stand, whatever the attention does.",
    Role.OUTPUT,
)


@dataclass(frozen=True)
class NotesConfig:
    """Sizes.

    Attributes:
        placed: whether a token is its ink and a learned position, or its ink alone.
        side: pixels along a side of the picture; n = side * side tokens.
        d_model: width of a token.
        d_k: width of queries and keys.
        d_v: width of values.
        hidden: units of the feed-forward network.
        dropout: share of hidden units left out while training.
    """

    placed: bool = True
    side: int = 28
    d_model: int = 32
    d_k: int = 16
    d_v: int = 4
    hidden: int = 256
    dropout: float = 0.1


class PixelsAlone(nn.Module):
    """A control: the feed-forward network alone, on the 784 pixels."""

    def __init__(self, config: NotesConfig = NotesConfig()) -> None:
        super().__init__()
        self.classify = feed_forward(config.side**2, config)

    def forward(self, images: Tensor, *, edits: Edits = ()) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink; there is no attention to change."""
        nothing_to_edit(edits)
        return Prediction(self.classify(images.flatten(1)))


class PixelValues(nn.Module):
    """A control: every pixel looks only at itself (A = I), or at all alike (A = 1/n); a network reads what it gets.

    A token is a pixel's ink times a learned vector, plus a learned position; its value is a projection of that.
    """

    def __init__(self, config: NotesConfig = NotesConfig(), uniform: bool = False) -> None:
        super().__init__()
        self.config, self.uniform = config, uniform
        n = config.side**2
        self.ink = nn.Parameter(torch.randn(config.d_model))
        self.position = nn.Parameter(torch.randn(n, config.d_model)) if config.placed else None
        self.value = nn.Linear(config.d_model, config.d_v, bias=False)
        self.classify = feed_forward(n * config.d_v, config)

    def tokens(self, images: Tensor) -> Tensor:
        """Return the tokens (batch, n, d_model) of images (batch, side, side) in [0, 1], 1 = ink."""
        ink = images.flatten(1)[..., None] * self.ink
        return ink if self.position is None else ink + self.position

    def forward(self, images: Tensor, *, edits: Edits = ()) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink; there is no attention to change."""
        nothing_to_edit(edits)
        value = self.value(self.tokens(images))
        if self.uniform:
            value = value.mean(1, keepdim=True).expand_as(value)
        return self.read(value)

    def read(self, context: Tensor) -> Prediction:
        """Answer from what every pixel has collected, (batch, n, d_v)."""
        return Prediction(self.classify(context.flatten(1)))


class PixelProduct(PixelValues):
    """Plain self-attention without softmax, (Q K^T / n) V, computed as Q (K^T V) / n, which needs no n x n matrix.

    Nothing has a bias before the feed-forward network.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", section 3.2, with nothing done to queries and keys.
    """

    has_softmax = False

    def __init__(self, config: NotesConfig = NotesConfig()) -> None:
        super().__init__(config)
        self.query = nn.Linear(config.d_model, config.d_k, bias=False)
        self.key = nn.Linear(config.d_model, config.d_k, bias=False)

    def project(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value, (batch, 1, n, d_k or d_v), of images (batch, side, side)."""
        tokens = self.tokens(images)
        return self.query(tokens)[:, None], self.key(tokens)[:, None], self.value(tokens)[:, None]

    def forward(self, images: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink."""
        query, key, value = self.project(images)
        context, normaliser = self._collect(query, key, value, edits, trace)
        prediction = self.read(context)
        if not trace:
            return prediction
        attention_trace = AttentionTrace(
            query=query[0],
            key=key[0],
            value=value[0],
            score=self._score(key),
            has_softmax=self.has_softmax,
            edits=edits,
            normaliser=normaliser,
            fused_context=context[:1],
            story=self._story(images[0], (query[0], key[0], value[0]), prediction.logits[0]),
        )
        return prediction._replace(traces=(attention_trace,))

    def trace(self, image: Tensor, edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one picture, (28, 28) in [0, 1], a tensor or an array."""
        image = torch.as_tensor(image, dtype=torch.float32, device=self.ink.device)
        with torch.inference_mode():
            return self(image[None], edits=edits, trace=True).traces[0]

    def _score(self, key: Tensor) -> ScaledDot:
        return ScaledDot(1 / key.shape[-2])

    def _collect(
        self, query: Tensor, key: Tensor, value: Tensor, edits: Edits, with_normaliser: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return what every pixel collects, (batch, n, d_v), and the first picture's normaliser, if there is one."""
        if edits:  # they are about scores, which are made for them alone
            score = self._score(key)
            return attend(query, key, value, score=score, edits=edits, has_softmax=False).context[:, 0], None
        return (query @ (key.transpose(-2, -1) @ value) / key.shape[-2])[:, 0], None

    def _story(self, image: Tensor, vectors: tuple[Tensor, ...], logits: Tensor) -> Story:
        """Return the story of one picture (side, side) with query, key and value (1, n, d) and logits (10,)."""
        pixels = Axis.picture("pixels", *image.shape)
        matrices = {"W_Q": self.query.weight.T, "W_K": self.key.weight.T, "W_V": self.value.weight.T}
        first, second = self.classify[0], self.classify[3]
        embedding = EMBEDDING.filled(place="", plus="", learned="e is learned", told="")
        if self.position is not None:
            embedding = EMBEDDING.filled(
                place=r" + \pi_i",
                plus=" + position",
                learned="e and the 784 positions are learned",
                told=", plus a learned vector for its place",
            )
        return Story(
            mechanism=f"plain self-attention over pixels{'' if self.has_softmax else ', without softmax'}",
            query_axis=pixels,
            key_axis=pixels,
            steps_before=(
                PIXELS.step(image.flatten()[:, None], pixels, Axis("values", ["ink"]), image=image),
                embedding.step(self.tokens(image[None])[0], pixels, e=self.ink, position=self.position),
                *projections(
                    vectors,
                    [pixels] * 3,
                    formula="$letter = X W_$letter",
                    code="$name = x @ W_$letter",
                    explanation=(
                        "A learned projection of the same tokens: what each pixel $meaning. One picture per dimension."
                    ),
                    inputs=lambda head: matrices,
                ),
            ),
            steps_after=(
                CLASS.step(
                    logits.softmax(-1)[None],
                    Axis("pictures", ["this one"]),
                    Axis("digits", [str(digit) for digit in range(10)]),
                    W_1=first.weight,
                    b_1=first.bias,
                    W_2=second.weight,
                    b_2=second.bias,
                ),
            ),
        )


class PixelNotes(PixelProduct):
    """One head of plain self-attention over all pixels, softmax(Q K^T / sqrt(d_k)) V, laid end to end and read.

    Without positions paper is zero everywhere: the scores are the outer product of the drawing with itself, times one
    number.

    Source: scaled dot-product attention, Vaswani et al. 2017, eq. 1.
    """

    has_softmax = True

    def forward(self, images: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        """Classify pictures (batch, 28, 28) in [0, 1], 1 = ink."""
        if self.training and self.position is None and not edits and not trace:
            return self.read(self._of_ink(images.flatten(1)))
        return super().forward(images, edits=edits, trace=trace)

    def _of_ink(self, ink: Tensor) -> Tensor:
        """Return what pixels that are their ink alone collect, (batch, n, d_v), to some five digits, for training.

        Where a query looks depends on one number, its ink, and smoothly: LEVELS shades are asked, the others lie on
        the polynomial through them (Chebyshev interpolation). That is a tenth of the work.
        """
        order = torch.arange(LEVELS, device=ink.device)
        angle = (order + 0.5) * math.pi / LEVELS
        shades = (1 + angle.cos()) / 2
        number = self.query(self.ink) @ self.key(self.ink) * self.config.d_k**-0.5
        collected = (number * shades[:, None] * ink[:, None]).softmax(-1) @ ink[..., None]
        series = collected[..., 0] @ torch.outer(angle, order).cos() * torch.where(order > 0, 2, 1) / LEVELS
        at = ((2 * ink - 1).acos()[..., None] * order).cos()
        return (at @ series[..., None]) * self.value(self.ink)

    def _score(self, key: Tensor) -> ScaledDot:
        return ScaledDot()

    def _collect(
        self, query: Tensor, key: Tensor, value: Tensor, edits: Edits, with_normaliser: bool
    ) -> tuple[Tensor, Tensor | None]:
        wide = F.pad(value, (0, key.shape[-1] - value.shape[-1]))  # the fused kernel wants one width
        attended = attend(query, key, wide, edits=edits, with_normaliser=with_normaliser)
        normaliser = None if attended.log_normaliser is None else attended.log_normaliser[0]
        return attended.context[:, 0, :, : value.shape[-1]], normaliser


def feed_forward(width: int, config: NotesConfig) -> nn.Sequential:
    """Return the network that reads `width` numbers as a digit."""
    return nn.Sequential(
        nn.Linear(width, config.hidden), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(config.hidden, 10)
    )


PLACED = NotesConfig()
VARIANTS: dict[str, tuple[Any, ...]] = {
    "pixel-notes": (PixelNotes, PLACED),
    "pixel-notes-ink": (PixelNotes, replace(PLACED, placed=False)),
    "pixel-notes-product": (PixelProduct, PLACED),
    "pixel-notes-self": (PixelValues, PLACED),
    "pixel-notes-uniform": (PixelValues, PLACED, True),
    "pixel-notes-alone": (PixelsAlone, PLACED),
}
for _name, _made_of in VARIANTS.items():
    register(_name, "digits:evaluate_digits", *_made_of)
