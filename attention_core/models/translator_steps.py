"""What a recurrent translator's attention trace shows before the first score and after the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.interventions import Intervention
from attention_core.attention.scores import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step
from attention_core.data.pieces import END, pieces
from attention_core.data.words import bare

N_LIKELY = 10
"""Candidates shown of each output distribution."""

MECHANISMS = {
    "none": "one fixed vector, no attention",
    "mean": "plain average of the encoder's states",
    "dot": "dot attention over source words",
    "general": "general attention over source words",
    "additive": "additive attention over source words",
    "location": "location attention over source positions",
}


class Labels(NamedTuple):
    """What the positions of a sentence pair are called.

    Attributes:
        source: one text per source piece, the end included.
        target: one text per predicted target piece.
        fed: one text per piece that the decoder is fed; None = the start, then the target without its last.
    """

    source: Sequence[str]
    target: Sequence[str]
    fed: Sequence[str] | None = None


def translator_trace(
    *,
    scoring: str,
    score: Score,
    embedded: Tensor,
    states: Tensor,
    keys: Tensor,
    mask: Tensor | None,
    context: Tensor,
    features: Tensor,
    logits: Tensor,
    labels: Labels,
    intervention: Intervention,
) -> AttentionTrace:
    """Return the trace of one sentence pair.

    Args:
        scoring: which kind.
        score: the scoring function.
        embedded: (n_source, d_embedding).
        states: (n_target, d_state), the decoder's: queries.
        keys: (n_keys, d_state), the encoder's states, or its last one alone: keys and values.
        mask: bool (1, n_keys) or None.
        context: (1, n_target, d_state).
        features: (n_target, d_embedding).
        logits: (n_target, vocabulary).
        labels: of source and target.
        intervention: edits that were applied.
    """
    source_axis, target_axis = Axis("source words", labels.source), Axis("target words", labels.target)
    key_axis = Axis("last state", ["whole sentence"]) if scoring == "none" else source_axis
    return AttentionTrace(
        query=states[None],
        key=keys[None],
        value=keys[None],
        score=score,
        mask=mask,
        intervention=intervention,
        fused_context=context,
        story=Story(
            mechanism=MECHANISMS[scoring],
            query_axis=target_axis,
            key_axis=key_axis,
            steps_before=(
                _embedding_step(embedded, source_axis),
                _encoder_step(keys, key_axis, scoring),
                _state_step(states, target_axis),
            ),
            steps_after=(_read_out_step(features, target_axis), _output_step(logits, target_axis)),
        ),
    )


def _embedding_step(embedded: Tensor, axis: Axis) -> Step:
    return matrix_step(
        embedded,
        name="embedding",
        title="Source words as vectors",
        symbol="X",
        formula=r"x_j = E[\text{piece}_j]",
        code="embedded = embedding(source)",
        explanation="Every piece of the source sentence is looked up in a table of learned vectors.",
        role=Role.INPUT,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", embedded.shape[-1]),
    )


def _encoder_step(keys: Tensor, axis: Axis, scoring: str) -> Step:
    if scoring == "none":
        formula = r"c = [\overrightarrow{h}_n ; \overleftarrow{h}_1]"
        explanation = (
            "The encoder reads the sentence forwards and backwards and hands over only where the two readings ended: "
            "one vector for the whole sentence, however long it is."
        )
    else:
        formula = (
            r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j], \qquad "
            r"\overrightarrow{h}_j = \mathrm{GRU}(x_j, \overrightarrow{h}_{j-1})"
        )
        explanation = (
            "The encoder reads forwards and backwards; its two states at a word, end to end, are that word's key and "
            "value. They know what stands before and after it."
        )
    return matrix_step(
        keys,
        name="key",
        title="Encoder states: keys and values",
        symbol="H",
        formula=formula,
        code="keys = values = encoder(embedded)",
        explanation=explanation,
        role=Role.KEY,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", keys.shape[-1]),
    )


def _state_step(states: Tensor, axis: Axis) -> Step:
    return matrix_step(
        states,
        name="query",
        title="Decoder states: queries",
        symbol="S",
        formula=r"s_t = \mathrm{GRU}(y_{t-1}, s_{t-1})",
        code="states = decoder(embedding(words_so_far), start)",
        explanation="The decoder's state after the words so far asks: what do I need for the next word?",
        role=Role.QUERY,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", states.shape[-1]),
    )


def _read_out_step(features: Tensor, axis: Axis) -> Step:
    return matrix_step(
        features,
        name="read_out",
        title="State and context together",
        symbol="tanh W[s;c]",
        formula=r"r_t = \tanh(W\,[s_t ; c_t])",
        code="features = torch.tanh(read_out(torch.cat((states, context), -1)))",
        explanation="What has been said (the state) and what was found in the source (the context) become one vector.",
        role=Role.OUTPUT,
        row_axis=axis,
        col_axis=Axis.numbered("dimensions", features.shape[-1]),
    )


def _output_step(logits: Tensor, axis: Axis) -> Step:
    probabilities = logits.softmax(-1)
    likely = probabilities.amax(0).topk(min(N_LIKELY, logits.shape[-1])).indices
    candidates = likely[torch.argsort(probabilities[:, likely].argmax(0), stable=True)]
    vocabulary = pieces()
    return matrix_step(
        probabilities[:, candidates],
        name="output",
        title="Output distribution",
        symbol="softmax rEᵀ",
        formula=r"p(y_t) = \mathrm{softmax}(E\, r_t + b)",
        code="probabilities = (features @ embedding.weight.T + bias).softmax(-1)",
        explanation="The vector is compared with those of all 8,000 pieces; shown are the pieces that score highest.",
        role=Role.OUTPUT,
        row_axis=axis,
        col_axis=Axis("pieces", ["end" if one == END else bare(vocabulary.text(one)) for one in candidates.tolist()]),
    )
