"""What the trace of the digit reader shows before the first score and after the context."""

from __future__ import annotations

from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step
from attention_core.models.picture_step import picture_step

CLASSES = (*(str(digit) for digit in range(10)), "end")


def digit_reader_trace(
    *,
    picture: Tensor,
    grid: tuple[int, int],
    states: Tensor,
    regions: Tensor,
    glimpses: Tensor,
    logits: Tensor,
    score: Score,
    intervention: Intervention,
) -> AttentionTrace:
    """Return the trace of one picture, one query per look.

    Args:
        picture: (height, width).
        grid: (rows, columns) of the regions.
        states: (n_looks + 1, d_state): the start and the state after each look; all but the last are queries.
        regions: (n_regions, d), keys and values.
        glimpses: (n_looks, d).
        logits: (n_looks, 11).
        score: the additive score.
        intervention: edits that were applied.
    """
    looks = Axis("looks", [f"look {number + 1}" for number in range(len(logits))])
    where, features = Axis.picture("regions", *grid), Axis.numbered("features", regions.shape[-1])
    units = Axis.numbered("units", states.shape[-1])
    return AttentionTrace(
        query=states[None, :-1],
        key=regions[None],
        value=regions[None],
        score=score,
        intervention=intervention,
        fused_context=glimpses[None],
        story=Story(
            mechanism="additive attention of a recurrent reader",
            query_axis=looks,
            key_axis=where,
            value_axis=features,
            steps_before=(
                _picture_step(picture),
                _features_step(regions, where, features),
                _query_step(states[:-1], looks, units),
            ),
            steps_after=(_state_step(states[1:], looks, units), _answer_step(logits, looks)),
        ),
    )


def _picture_step(picture: Tensor) -> Step:
    return picture_step(
        picture,
        formula=r"p \in [0, 1]^{48 \times 192}",
        code="picture  # 48 x 192, 0 = paper, 1 = ink",
        explanation="The canvas, shrunk to 48 x 192 pixels. Nobody says how many digits there are, nor where.",
    )


def _features_step(regions: Tensor, where: Axis, features: Axis) -> Step:
    return matrix_step(
        regions,
        name="key",
        title="Features: keys and values",
        symbol="F",
        formula=r"F_j = \mathrm{CNN}(p)_j + r_{\mathrm{row}(j)} + c_{\mathrm{column}(j)}, \qquad k_j = v_j = F_j",
        code="regions = cnn(picture).flatten(2).transpose(1, 2) + place\nkeys = values = regions",
        explanation=(
            "Convolutions describe every region; a learned vector for its row and one for its column say where it is."
        ),
        role=Role.KEY,
        row_axis=where,
        col_axis=features,
    )


def _query_step(queries: Tensor, looks: Axis, units: Axis) -> Step:
    return matrix_step(
        queries,
        name="query",
        title="States before each look: queries",
        symbol="h₍ₜ₋₁₎",
        formula=r"q_t = h_{t-1}",
        code="query = state",
        explanation=(
            "The picture stays the same; the state changes with every look. It knows what has been seen, so it asks "
            "for what comes next."
        ),
        role=Role.QUERY,
        row_axis=looks,
        col_axis=units,
    )


def _state_step(states: Tensor, looks: Axis, units: Axis) -> Step:
    return matrix_step(
        states,
        name="state",
        title="States after each look",
        symbol="hₜ",
        formula=r"h_t = \mathrm{GRU}(c_t, h_{t-1})",
        code="state = gru_cell(glimpse, state)",
        explanation="The glimpse goes into the recurrent state, which will be the next query.",
        role=Role.CONTEXT,
        row_axis=looks,
        col_axis=units,
    )


def _answer_step(logits: Tensor, looks: Axis) -> Step:
    return matrix_step(
        logits.softmax(-1),
        name="output",
        title="Answers",
        symbol="ŷₜ",
        formula=r"\hat y_t = \mathrm{softmax}(\mathrm{MLP}[c_t; h_t])",
        code="probabilities = classify(torch.cat((glimpse, state), -1)).softmax(-1)",
        explanation="After every look: ten digits, or the end, which stops the reading.",
        role=Role.OUTPUT,
        row_axis=looks,
        col_axis=Axis("classes", CLASSES),
    )
