"""What the trace of the feature mask shows before the first score and after the context."""

from __future__ import annotations

from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.scores import Dot
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step
from attention_core.models.picture_step import picture_step


def feature_mask_trace(
    *,
    picture: Tensor,
    maps: Tensor,
    query: Tensor,
    features: Tensor,
    context: Tensor,
    logits: Tensor,
    intervention: Intervention,
) -> AttentionTrace:
    """Return the trace of one picture.

    Args:
        picture: (side, side).
        maps: (n_channels, rows, columns), the features as pictures.
        query: (1, 1, n_channels), the learned constant.
        features: (1, n_regions, n_channels), keys and values.
        context: (1, 1, n_channels).
        logits: (10,).
        intervention: edits that were applied.
    """
    where = Axis.picture("regions", *maps.shape[-2:])
    channels = Axis.numbered("channels", len(maps))
    constant = Axis("queries", ["learned constant"])
    return AttentionTrace(
        query=query,
        key=features,
        value=features,
        score=Dot(),
        intervention=intervention,
        fused_context=context,
        story=Story(
            mechanism="soft mask over the features of a convolutional network",
            query_axis=constant,
            key_axis=where,
            value_axis=channels,
            shows_masked=True,
            steps_before=(
                _picture_step(picture),
                _features_step(features[0], where, channels),
                _query_step(query[0], constant, channels),
            ),
            steps_after=(_answer_step(logits),),
        ),
    )


def _picture_step(picture: Tensor) -> Step:
    return picture_step(
        picture,
        formula=r"p \in [0, 1]^{60 \times 60}",
        code="picture  # 60 x 60, 0 = paper, 1 = ink",
        explanation="The canvas, shrunk to 60 x 60 pixels. The digit stays where it was drawn and as large as it was.",
    )


def _features_step(features: Tensor, where: Axis, channels: Axis) -> Step:
    return matrix_step(
        features,
        name="key",
        title="Features: keys and values",
        symbol="F",
        formula=r"F = \mathrm{CNN}(p), \qquad k_j = v_j = F_j",
        code="features = cnn(picture).flatten(2).transpose(1, 2)\nkeys = values = features",
        explanation=(
            f"Convolutions turn the picture into {len(channels)} channels over {where.grid[0]} x {where.grid[1]} "  # type: ignore[index]
            "regions. A region's features are its key and its value."
        ),
        role=Role.KEY,
        row_axis=where,
        col_axis=channels,
    )


def _query_step(query: Tensor, constant: Axis, channels: Axis) -> Step:
    return matrix_step(
        query,
        name="query",
        title="Query: the weights of a 1 x 1 convolution",
        symbol="q",
        formula=rf"q \in \mathbb{{R}}^{{{len(channels)}}} \text{{, learned, the same for every picture}}",
        code="query = conv1x1.weight.view(1, -1)",
        explanation=(
            "Nobody asks a question here: the query is a constant, learned once. A 1 x 1 convolution with these "
            "weights is a dot product with the features of every region."
        ),
        role=Role.QUERY,
        row_axis=constant,
        col_axis=channels,
    )


def _answer_step(logits: Tensor) -> Step:
    return matrix_step(
        logits.softmax(-1)[None],
        name="output",
        title="Answer",
        symbol="ŷ",
        formula=r"\hat y = \mathrm{softmax}(W_2\, \mathrm{relu}(W_1 c + b_1) + b_2)",
        code="probabilities = classify(context).softmax(-1)",
        explanation="A small network reads the digit from the one vector that the mask let through.",
        role=Role.OUTPUT,
        row_axis=Axis("pictures", ["this picture"]),
        col_axis=Axis("digits", [str(digit) for digit in range(10)]),
    )
