"""The texts of the steps of the models over all pixels."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attention_core.attention.types import Axis, Role, Step, Story, Text

PIXELS = Text(
    "pixels",
    "Pixels",
    "pixels",
    r"p \in [0, 1]^{784}",
    "pixels = image.reshape(-1, 1)  # 784 numbers, 0 = paper, 1 = ink",
    "The picture, read line by line: 784 numbers. Each becomes one token.",
    Role.INPUT,
)
EMBEDDING = Text(
    "embedding",
    "Embeddings",
    "X",
    r"x_i = p_i\, e + \pi_i",
    "x = pixels * e + position  # e and the 784 positions are learned",
    "Value plus position: its ink times a learned vector, plus a learned vector for its place.",
    Role.INPUT,
)
TURNED = (
    " It tells where the pixel is, never how dark (W_V is zero for ink), so that the drawing reaches the answer "
    "through the weights alone. Each is turned by its place (R, a rotation), to be read relative to whoever looks."
)
RELATIVE = Text(
    "relative",
    "Turned back",
    "R⁻¹C",
    r"c'_i = R_i^{-1} c_i",
    "context = rotate(context, -positions @ waves.T)",
    "Positions are now measured relative to the query pixel: where is the ink, *seen from here*?",
    Role.CONTEXT,
)
FEED_FORWARD = Text(
    "ffn",
    "Feed-forward",
    "FFN",
    r"h_i = g(W_2\, g(W_1 c'_i + b_{r_i}) + b)",
    "hidden = F.gelu(F.gelu(context @ W_1.T + bias_of_place) @ W_2.T + bias)",
    "The same small network reads every pixel's context: one picture per feature.",
    Role.OUTPUT,
)
CLASS = Text(
    "class",
    "Class",
    "class",
    r"P = \operatorname{softmax}(W_4\, g(W_3\, \overline{h} + b_3) + b_4)",
    "parts = F.avg_pool2d(hidden.T.unflatten(1, image.shape), size).reshape(1, -1)\n"
    "probabilities = (F.gelu(parts @ W_3.T + b_3) @ W_4.T + b_4).softmax(-1)",
    "The features are averaged in 7 x 7 parts of the picture, and two layers read them as a digit.",
    Role.OUTPUT,
)
NOTES_EMBEDDING = Text(
    "embedding",
    "Tokens",
    "X",
    r"x_i = p_i\, e$position",
    "x = pixels * e$plus_position  # $learned",
    "One vector per pixel: its ink times a learned vector$position_words. All of it was random at the start.",
    Role.INPUT,
)
NOTES_CLASS = Text(
    "class",
    "Class",
    "class",
    r"P = \operatorname{softmax}(W_2\, g(W_1 [c_1; \dots; c_{784}] + b_1) + b_2)",
    "hidden = F.gelu(context.reshape(1, -1) @ W_1.T + b_1)\nprobabilities = (hidden @ W_2.T + b_2).softmax(-1)",
    "What all pixels collected, laid end to end, goes through a feed-forward network. It knows each pixel's place by "
    "where its numbers stand, whatever the attention does.",
    Role.OUTPUT,
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
    ink = PIXELS.step(image.flatten()[:, None], pixels, Axis("values", ["ink"]), image=image)
    answered = answer.step(logits.softmax(-1)[None], Axis("pictures", ["this one"]), digits, image=image, **named)
    before, after = (ink, *towards), (*after, answered)
    return Story(mechanism=mechanism, query_axis=pixels, key_axis=pixels, steps_before=before, steps_after=after)
