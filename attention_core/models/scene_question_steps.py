"""What the traces of one reasoning step show: attention over the question's words, then over the picture's regions."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step
from attention_core.data.questions import ANSWERS
from attention_core.models.picture_step import picture_step

EMPTY = "nothing"
"""Label of the empty key, after the regions'."""


def look_trace(
    *,
    number: int,
    n_looks: int,
    picture: Tensor,
    grid: tuple[int, int],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    context: Tensor,
    probabilities: Tensor,
    scoring: str,
    score: Score,
    intervention: Intervention,
) -> AttentionTrace:
    """Return the trace of one look at the picture.

    Args:
        number: which look, from 0.
        n_looks: how many there are.
        picture: (4, side, side).
        grid: (rows, columns) of the regions.
        query: (1, 1, d_k).
        key: (1, n_regions + 1, d_k), the empty key last.
        value: (1, n_regions + 1, d_k).
        context: (1, 1, d_k).
        probabilities: (n_answers,), after the last look.
        scoring: "dot" or "additive".
        score: the scoring function.
        intervention: edits that were applied.
    """
    where = Axis("regions", [*Axis.picture("regions", *grid).labels, EMPTY])
    dimensions, asks = Axis.numbered("dimensions", key.shape[-1]), Axis("queries", [f"look {number + 1}"])
    last = number == n_looks - 1
    return AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=score,
        intervention=intervention,
        fused_context=context,
        story=Story(
            mechanism=f"{scoring} attention of a question over a drawing, look {number + 1} of {n_looks}",
            query_axis=asks,
            key_axis=where,
            value_axis=dimensions,
            steps_before=(
                _picture_step(picture[0]),
                _key_step(key[0], where, dimensions),
                _value_step(value[0], where, dimensions),
                _query_step(query[0], number, asks, dimensions),
            ),
            steps_after=(_answer_step(probabilities),) if last else (),
        ),
    )


def word_trace(
    *, number: int, n_looks: int, labels: Sequence[str], query: Tensor, states: Tensor, context: Tensor
) -> AttentionTrace:
    """Return the trace of one look at the question.

    Args:
        number: which look, from 0.
        n_looks: how many there are.
        labels: the words.
        query: (1, 1, d_word).
        states: (1, n_words, d_word), keys and values.
        context: (1, 1, d_word).
    """
    return AttentionTrace(
        query=query,
        key=states,
        value=states,
        fused_context=context,
        story=Story(
            mechanism=f"attention over the words of the question, look {number + 1} of {n_looks}",
            query_axis=Axis("queries", [f"look {number + 1}"]),
            key_axis=Axis("words", list(labels)),
        ),
    )


def _picture_step(coverage: Tensor) -> Step:
    return picture_step(
        coverage,
        formula=r"p \in [0, 1]^{4 \times 64 \times 64}",
        code="picture  # 4 x 64 x 64: how much ink, and its red, green and blue",
        explanation="The canvas, shrunk to 64 x 64 pixels: how much ink lies in each, and of which colour.",
    )


def _key_step(key: Tensor, where: Axis, dimensions: Axis) -> Step:
    return matrix_step(
        key,
        name="key",
        title="Keys: what each region shows, and where",
        symbol="K",
        formula=r"k_j = W_K F_j + b_K, \quad F_j = \mathrm{CNN}(p)_j + r_{\mathrm{row}(j)} + c_{\mathrm{column}(j)}",
        code="regions = cnn(picture).flatten(2).transpose(1, 2) + place\nkeys = torch.cat((key(regions), empty_key))",
        explanation=(
            f"{len(where) - 1} regions, each described by convolutions and its place. The last key is empty: it stands "
            "for nothing at all."
        ),
        role=Role.KEY,
        row_axis=where,
        col_axis=dimensions,
    )


def _value_step(value: Tensor, where: Axis, dimensions: Axis) -> Step:
    return matrix_step(
        value,
        name="value",
        title="Values: what a region hands over",
        symbol="V",
        formula=r"v_j = W_V F_j + b_V",
        code="values = torch.cat((value(regions), empty_value))",
        explanation="What a region tells when it is looked at: which digit, which colour, which place.",
        role=Role.VALUE,
        row_axis=where,
        col_axis=dimensions,
    )


def _query_step(query: Tensor, number: int, asks: Axis, dimensions: Axis) -> Step:
    before = "nothing was found before" if number == 0 else "and what the look before has found"
    return matrix_step(
        query,
        name="query",
        title="Query: the question, as a vector",
        symbol="q",
        formula=r"q_t = \mathrm{MLP}[w_t; c_{t-1}]",
        code="query = mlp(torch.cat((words_context, found), -1))",
        explanation=f"Made of the words that this look is about, {before}."
        if number
        else ("Made of the words that this look is about; " + before + "."),
        role=Role.QUERY,
        row_axis=asks,
        col_axis=dimensions,
    )


def _answer_step(probabilities: Tensor) -> Step:
    return matrix_step(
        probabilities[None],
        name="output",
        title="Answer",
        symbol="ŷ",
        formula=r"\hat y = \mathrm{softmax}(\mathrm{MLP}[w_1; c_1; w_2; c_2])",
        code="probabilities = answer(torch.cat((w_1, c_1, w_2, c_2), -1)).softmax(-1)",
        explanation="A small network reads the answer from what both looks have found and from the words.",
        role=Role.OUTPUT,
        row_axis=Axis("questions", ["this question"]),
        col_axis=Axis("answers", list(ANSWERS)),
    )
