"""The first step of every trace over a picture: the picture itself."""

from __future__ import annotations

from torch import Tensor

from attention_core.attention.types import Axis, Role, Step, matrix_step


def picture_step(ink: Tensor, *, formula: str, code: str, explanation: str) -> Step:
    """Return the step that shows how much ink a model sees where.

    Args:
        ink: (height, width) in [0, 1], 1 = ink.
        formula: LaTeX.
        code: PyTorch.
        explanation: one to three sentences.
    """
    return matrix_step(
        ink.flatten()[:, None],
        name="picture",
        title="Picture",
        symbol="picture",
        formula=formula,
        code=code,
        explanation=explanation,
        role=Role.INPUT,
        row_axis=Axis.picture("pixels", *ink.shape),
        col_axis=Axis("ink", ["ink"]),
    )
