"""What the trace of a judged sentence shows before the first score and after the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step

MECHANISMS = {
    "attention": "additive attention with one learned query",
    "mean": "plain average of the encoder's states",
    "two-phase": "frozen attention over a second network's words",
}
ANSWER_AXIS = Axis("answers", ["negative", "positive"])


class Parts(NamedTuple):
    """The numbers of one sentence on their way to the answer.

    Attributes:
        embedded: (n_words, d_embedding).
        query: (1, d_query).
        keys: (n_words, d_state).
        values: (n_words, d_v).
        context: (1, 1, d_v).
        logits: (2,).
    """

    embedded: Tensor
    query: Tensor
    keys: Tensor
    values: Tensor
    context: Tensor
    logits: Tensor


def sentence_trace(
    kind: str, score: Score, parts: Parts, labels: Sequence[str], mask: Tensor, intervention: Intervention
) -> AttentionTrace:
    """Return the trace of one sentence.

    Args:
        kind: one of MECHANISMS.
        score: the scoring function.
        parts: the numbers.
        labels: one text per word; padding after them is cut off.
        mask: bool (n_words,), False = padding.
        intervention: edits that were applied.
    """
    n = len(labels)
    if int(mask.sum()) != n:
        raise ValueError(f"labels must name each word: {int(mask.sum())} words, got {n} labels")
    words, asker = Axis("words", labels), Axis("query", ["the learned query" if kind != "mean" else "nobody"])
    before = [_embedding_step(parts.embedded[:n], words), _key_step(parts.keys[:n], words, kind)]
    if kind == "two-phase":
        before.append(_value_step(parts.values[:n], words))
    if kind != "mean":
        before.append(_query_step(parts.query, asker))
    return AttentionTrace(
        query=parts.query[None],
        key=parts.keys[None, :n],
        value=parts.values[None, :n],
        score=score,
        intervention=intervention,
        fused_context=parts.context,
        story=Story(
            mechanism=MECHANISMS[kind],
            query_axis=asker,
            key_axis=words,
            steps_before=tuple(before),
            steps_after=(_answer_step(parts.logits, asker),),
        ),
    )


def _embedding_step(embedded: Tensor, axis: Axis) -> Step:
    return matrix_step(
        embedded,
        name="embedding",
        title="Words as vectors",
        symbol="X",
        formula=r"x_j = \sum_{p \,\in\, \text{pieces of word } j} E[p] \; + \; E[\text{pair}_{j-1,\,j}]",
        code="embedded = table(pieces).sum(-2)",
        explanation=(
            "Every word is looked up in a table of learned vectors. A rare word is the sum of its pieces; a common "
            "pair such as “not bad” adds a vector of its own to its second word."
        ),
        role=Role.INPUT,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", embedded.shape[-1]),
    )


def _key_step(keys: Tensor, axis: Axis, kind: str) -> Step:
    handed_on = "key" if kind == "two-phase" else "key and value"
    return matrix_step(
        keys,
        name="key",
        title="Encoder states: keys" if kind == "two-phase" else "Encoder states: keys and values",
        symbol="H",
        formula=r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j], \qquad "
        r"\overrightarrow{h}_j = \mathrm{GRU}(x_j, \overrightarrow{h}_{j-1})",
        code="keys, _ = encoder(embedded)" if kind == "two-phase" else "keys = values = encoder(embedded)[0]",
        explanation=(
            "A recurrent network reads forwards and backwards; its two states at a word, end to end, are that word's "
            f"{handed_on}. They know the neighbours: “bad” after “not” is another state than “bad” alone."
        ),
        role=Role.KEY,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", keys.shape[-1]),
    )


def _value_step(values: Tensor, axis: Axis) -> Step:
    return matrix_step(
        values,
        name="value",
        title="The second network's words: values",
        symbol="V",
        formula=r"v_j = \tanh(W x_j + b)",
        code="values = torch.tanh(read(embedded))",
        explanation="A second network reads one word's vector at a time, blind to the rest of the sentence.",
        role=Role.VALUE,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", values.shape[-1]),
    )


def _query_step(query: Tensor, axis: Axis) -> Step:
    return matrix_step(
        query,
        name="query",
        title="The learned query",
        symbol="q",
        formula=r"q \in \mathbb{R}^{" + str(query.shape[-1]) + r"} \quad \text{learned, the same for every sentence}",
        code="query = self.query  # a parameter, like any weight matrix",
        explanation=(
            "Nobody in the sentence asks. The query is a constant that was learned together with everything else; it "
            "amounts to the question “what here tells praise from blame?”."
        ),
        role=Role.QUERY,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", query.shape[-1]),
    )


def _answer_step(logits: Tensor, axis: Axis) -> Step:
    return matrix_step(
        torch.softmax(logits, -1)[None],
        name="answer",
        title="Answer",
        symbol="softmax Wc",
        formula=r"p = \mathrm{softmax}(W c + b)",
        code="probabilities = answer(context).softmax(-1)",
        explanation="The mixed vector, and nothing else of the sentence, decides between negative and positive.",
        role=Role.OUTPUT,
        row_axis=axis,
        col_axis=ANSWER_AXIS,
    )
