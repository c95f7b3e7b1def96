"""A digit classifier of one plain attention layer over pixels: an MLP on the flattened softmax(Q K^T / sqrt(d)) V.

It is the plain layer of the lecture notes, hence the name. Training begins with random positions and matrices. Its
controls read the same pixels through the same MLP, but cannot choose where to look.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, refuse_edits
from attention_core.attention.scores import ScaledDot
from attention_core.attention.steps import projection_origins, projection_steps
from attention_core.attention.trace import Prediction, TracedModel, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Story, read_texts
from attention_core.models.pixel_classifier import pixel_story
from attention_core.models.registry import register

TEXTS = read_texts(__file__)


@dataclass(frozen=True)
class NotesConfig:
    """Sizes, and where a pixel may look."""

    # "softmax": softmax(Q K^T / sqrt(d_k)) V. "linear": (Q K^T / n) V, computed as Q (K^T V) / n, which needs no n x n
    # matrix. Controls: "identity": A = I; "uniform": A = 1/n; "none": no attention, the MLP reads the pixels.
    attention: str = "softmax"
    has_positions: bool = True  # whether a token has a learned position besides its ink
    side: int = 28  # pixels along a side of the picture; n = side * side tokens
    d_model: int = 32  # width of a token
    d_k: int = 16  # width of queries and keys
    d_v: int = 4  # width of values
    hidden: int = 256  # units of the MLP
    dropout: float = 0.1  # share of hidden units left out while training
    pool: int = 1  # side of the squares over which contexts are averaged before the MLP
    is_scaled: bool = True  # whether scores are divided by the square root of d_k


class PixelControl(nn.Module):
    """A control without learned attention: an MLP reads the pixels, or their values under fixed weights.

    A token is a pixel's ink times a learned vector, plus a learned position; its value is a projection of that.
    """

    def __init__(self, config: NotesConfig) -> None:
        super().__init__()
        self.config = config
        width = config.side**2
        if config.attention != "none":
            self.ink = nn.Parameter(torch.randn(config.d_model))
            self.position = nn.Parameter(torch.randn(width, config.d_model)) if config.has_positions else None
            self.value = nn.Linear(config.d_model, config.d_v, bias=False)
            width *= config.d_v
        self.classify = nn.Sequential(
            nn.Linear(width // config.pool**2, config.hidden),
            nn.GELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, 10),
        )

    def tokens(self, images: Tensor) -> Tensor:
        ink = images.flatten(1)[..., None] * self.ink
        return ink if self.position is None else ink + self.position

    def forward(self, images: Tensor, *, edits: Edits = ()) -> Prediction:
        refuse_edits(edits)
        if self.config.attention == "none":
            return self.read(images)
        value = self.value(self.tokens(images))
        return self.read(value if self.config.attention == "identity" else value.mean(1, keepdim=True).expand_as(value))

    def read(self, context: Tensor) -> Prediction:
        """Classify from the context of every pixel, (batch, n, d_v)."""
        if (pool := self.config.pool) > 1:
            rows = context.reshape(len(context), self.config.side, -1, context.shape[-1])
            context = F.avg_pool2d(rows.permute(0, 3, 1, 2), pool)
        return Prediction(self.classify(context.flatten(1)))


class PixelNotes(PixelControl, TracedModel):
    """One head of plain self-attention over all pixels, with or without softmax, flattened and classified.

    No layer before the MLP has a bias. Without positions a white pixel is a vector of zeros, and the scores are the
    outer product of the drawing with itself, times one number.

    Source: scaled dot-product attention, Vaswani et al. 2017, eq. 1; without softmax, Katharopoulos et al. 2020,
    "Transformers are RNNs", section 3.2, without a feature map on queries and keys.
    """

    def __init__(self, config: NotesConfig = NotesConfig()) -> None:
        super().__init__(config)
        self.has_softmax = config.attention == "softmax"
        self.factor = config.d_k**-0.5 if config.is_scaled else 1.0
        self.query = nn.Linear(config.d_model, config.d_k, bias=False)
        self.key = nn.Linear(config.d_model, config.d_k, bias=False)

    def project(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tokens = self.tokens(images)
        return self.query(tokens)[:, None], self.key(tokens)[:, None], self.value(tokens)[:, None]

    def forward(self, images: Tensor, *, edits: Edits = (), trace: bool = False) -> Prediction:
        query, key, value = self.project(images)
        scale = None if self.config.is_scaled else 1.0
        score = ScaledDot(scale if self.has_softmax else 1 / key.shape[-2])
        if self.has_softmax:
            sets_context = any(edit.target == "context" for edit in edits)  # its width is that of the values
            # The kernel needs values as wide as keys.
            padded = value if sets_context else F.pad(value, (0, key.shape[-1] - value.shape[-1]))
            output = attend(query, key, padded, score=score, edits=edits, with_normaliser=trace)
            output = output._replace(context=output.context[..., : value.shape[-1]])
        elif edits:  # edits need the scores, which are computed for them alone
            output = attend(query, key, value, score=score, edits=edits, has_softmax=False)
        else:
            output = AttentionOutput(query @ (key.transpose(-2, -1) @ value) * (1 / key.shape[-2]))
        prediction = self.read(output.context)
        if not trace:
            return prediction
        story = self._story(images[0], (query[0], key[0], value[0]), prediction.logits[0])
        settings = {"score": score, "has_softmax": self.has_softmax, "edits": edits}
        return prediction._replace(traces=(item_trace(query, key, value, output, story, **settings),))

    def _story(self, image: Tensor, vectors: tuple[Tensor, ...], logits: Tensor) -> Story:
        pixels = Axis.picture("pixels", *image.shape)
        matrices = {"W_Q": self.query.weight.T, "W_K": self.key.weight.T, "W_V": self.value.weight.T}
        first, second = self.classify[0], self.classify[3]
        blanks = {"position": "", "plus_position": "", "learned": "e is learned", "position_words": ""}
        if self.position is not None:
            blanks = {
                "position": r" + \pi_i",
                "plus_position": " + position",
                "learned": f"e and the {len(pixels)} positions are learned",
                "position_words": ", plus a learned vector for its place",
            }
        tokens = self.tokens(image[None])[0]
        steps_before = (
            TEXTS["embedding"].filled(**blanks).step(tokens, pixels, e=self.ink, position=self.position),
            *projection_steps(
                vectors,
                [pixels] * 3,
                formula="$letter = X W_$letter",
                code="$name = x @ W_$letter",
                explanation=(
                    "A learned projection of the same tokens: what each pixel $meaning. One picture per dimension."
                ),
                inputs=lambda head: matrices,
                origins=projection_origins([tokens] * 3, matrices),
            ),
        )
        mechanism = f"plain self-attention over pixels{'' if self.has_softmax else ', without softmax'}"
        parameters = {"W_1": first.weight, "b_1": first.bias, "W_2": second.weight, "b_2": second.bias}
        return pixel_story(
            mechanism, image, steps_before, (), TEXTS["class"].filled(n=len(pixels)), logits, **parameters
        )


VARIANTS: dict[str, tuple[type[PixelControl], NotesConfig]] = {
    "pixel-notes": (PixelNotes, NotesConfig()),
    "pixel-notes-ink": (PixelNotes, NotesConfig(has_positions=False)),
    "pixel-notes-product": (PixelNotes, NotesConfig("linear")),
    "pixel-notes-self": (PixelControl, NotesConfig("identity")),
    "pixel-notes-uniform": (PixelControl, NotesConfig("uniform")),
    "pixel-notes-alone": (PixelControl, NotesConfig("none")),
}
for _name, (_model, _config) in VARIANTS.items():
    register(_name, "classification:evaluate_digits", _model, _config)
