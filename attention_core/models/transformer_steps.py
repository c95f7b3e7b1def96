"""What a transformer layer's attention trace shows before the first score and after the context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step

if TYPE_CHECKING:
    from attention_core.models.transformer import Looked

MECHANISMS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention, causal",
    "cross": "cross-attention to the source",
}


def layer_trace(
    looked: Looked, kind: str, layer: int, query_axis: Axis, key_axis: Axis, intervention: Intervention
) -> AttentionTrace:
    """Return the trace of one attention layer for the first sentence of a batch.

    Args:
        looked: what the layer did.
        kind: "encoder", "decoder" or "cross".
        layer: from 0.
        query_axis: what the rows are called.
        key_axis: what the columns are called.
        intervention: edits that were applied.
    """
    query, key, value = looked.query[0], looked.key[0], looked.value[0]
    return AttentionTrace(
        query=query,
        key=key,
        value=value,
        mask=None if looked.mask is None else looked.mask[0],
        intervention=intervention,
        fused_context=looked.attended.context[0],
        story=Story(
            mechanism=f"{MECHANISMS[kind]}, layer {layer + 1}",
            query_axis=query_axis,
            key_axis=key_axis,
            steps_before=(
                _input_step(looked.inputs[0], query_axis),
                _projection(query, "query", "Queries", "Q", Role.QUERY, query_axis, kind),
                _projection(key, "key", "Keys", "K", Role.KEY, key_axis, kind),
                _projection(value, "value", "Values", "V", Role.VALUE, key_axis, kind),
            ),
            steps_after=(_merge_step(looked.output[0], query_axis, query.shape[0]),),
        ),
    )


def _input_step(inputs: Tensor, axis: Axis) -> Step:
    return matrix_step(
        inputs,
        name="embedding",
        title="Inputs",
        symbol="X",
        formula=r"X = \mathrm{LayerNorm}(\text{what the layers before have made of each word})",
        code="x = layer_norm(x)",
        explanation="One vector per word, brought to a common size. In the first layer: the word plus its position.",
        role=Role.INPUT,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", inputs.shape[-1]),
    )


def _projection(matrix: Tensor, name: str, title: str, letter: str, role: Role, axis: Axis, kind: str) -> Step:
    what = {
        "query": "what this word is looking for",
        "key": "what this word can be found by",
        "value": "what this word hands over when it is found",
    }[name]
    origin = "the encoder's output" if kind == "cross" and name != "query" else "the layer's inputs"
    bias = "" if name == "key" else f" + b_{letter}"
    return matrix_step(
        matrix,
        name=name,
        title=title,
        symbol=letter,
        formula=rf"{letter} = X W_{letter}^{{(h)}}{bias}",
        code=f"{name} = x @ W_{letter}[head]{bias}",
        explanation=f"A learned projection of {origin}, one per head: {what}.",
        role=role,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", matrix.shape[-1]),
    )


def _merge_step(output: Tensor, axis: Axis, n_heads: int) -> Step:
    return matrix_step(
        output,
        name="merge",
        title="Heads merged",
        symbol="merge",
        formula=r"O = [C^{(1)} ; \dots ; C^{(" + str(n_heads) + r")}]\, W_O + b_O",
        code="output = torch.cat(contexts, -1) @ W_O + b_O",
        explanation=(
            f"The contexts of all {n_heads} heads are laid end to end and mixed by one matrix; the result is added to "
            "what the layer was given."
        ),
        role=Role.OUTPUT,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", output.shape[-1]),
    )
