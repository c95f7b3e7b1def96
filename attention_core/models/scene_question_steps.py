"""What the traces of one reasoning step show: attention over the question's words, then over the picture's regions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.scores import ScaledDot, Score
from attention_core.attention.trace import AttentionTrace, first_trace
from attention_core.attention.types import AttentionOutput, Axis, Role, Step, Story, Text
from attention_core.data.questions import ANSWERS
from attention_core.models.features import picture_step

EMPTY = "nothing"
"""Label of the empty key, after the regions'."""

KEY = Text(
    "key",
    "Keys: what each region shows, and where",
    "K",
    r"k_j = W_K F_j + b_K, \qquad F_j = \mathrm{CNN}(p)_j + r_{\mathrm{row}(j)} + c_{\mathrm{column}(j)}",
    "regions = cnn(picture[None])[0].flatten(1).T + place\nkey = torch.cat((regions @ W_K + b_K, empty_key))",
    "$n regions, each described by convolutions and its place. The last key is empty: it stands for nothing at all.",
    Role.KEY,
)
VALUE = Text(
    "value",
    "Values: what a region hands over",
    "V",
    r"v_j = W_V F_j + b_V",
    "value = torch.cat((regions @ W_V + b_V, empty_value))",
    "What a region tells when it is looked at: which digit, which colour, which place.",
    Role.VALUE,
)
QUERY = Text(
    "query",
    "Query: the question, as a vector",
    "q",
    r"q_t = \mathrm{MLP}[w_t; c_{t-1}]",
    "query = mlp(torch.cat((words_context, found), -1))",
    "Made of the words that this look is about$found.",
    Role.QUERY,
)
FOUND = ("; nothing was found before", ", and what the look before has found")
ANSWER = Text(
    "output",
    "Answer",
    "ŷ",
    r"\hat y = \mathrm{softmax}(\mathrm{MLP}[$read])",
    "probabilities = answer(torch.cat(($parts), -1)).softmax(-1)",
    "A small network reads the answer from what all looks have found and from the words.",
    Role.OUTPUT,
)


class ReasoningStep(NamedTuple):
    """What happens in one step, each tensor with (batch, 1, ...) in front."""

    word_query: Tensor
    word_output: AttentionOutput  # of the attention over the question's words
    previous_context: Tensor  # of the step before; zeros before the first
    query: Tensor
    output: AttentionOutput  # of the attention over the picture's regions


def glimpse_trace(
    steps: Sequence[ReasoningStep],
    number: int,
    encoded: tuple[Tensor, Tensor],
    where: Axis,
    probabilities: Tensor,
    score: Score,
    edits: Edits,
    named: Mapping[str, Any],
) -> AttentionTrace:
    """Return the trace of one look, counted from 0, at the picture.

    `encoded` are key and value (1, n_regions + 1, d_k), the empty ones last; `named` is what the code names.
    """
    step, (key, value) = steps[number], encoded
    asks = Axis("queries", [f"look {number + 1}"])
    scoring = "dot" if isinstance(score, ScaledDot) else "additive"
    asking = QUERY.filled(found=FOUND[number > 0]).step(
        step.query[0, 0], asks, **named, words_context=step.word_output.context[0, 0], found=step.previous_context[0, 0]
    )
    story = Story(
        mechanism=f"{scoring} attention of a question over a drawing, look {number + 1} of {len(steps)}",
        query_axis=asks,
        key_axis=where,
        value_axis=Axis.numbered("dimensions", value.shape[-1]),
        steps_before=(*encoder_steps(named["picture"], encoded, where, named), asking),
        steps_after=(answer_step(steps, probabilities, named),) if number == len(steps) - 1 else (),
    )
    return first_trace(step.query, key[None], value[None], step.output, story, score=score, edits=edits)


def answer_step(steps: Sequence[ReasoningStep], probabilities: Tensor, named: Mapping[str, Any]) -> Step:
    """Return the step from what all looks have found, the last look's context among it, to the answer."""
    places = range(1, len(steps) + 1)
    parts = [f"{part}_{place}" for place in places for part in "wc"]
    text = ANSWER.filled(read="; ".join(parts), parts=", ".join([*parts[:-1], "context"]))
    words = {f"w_{place}": step.word_output.context[0, 0] for place, step in zip(places, steps, strict=True)}
    contexts = {f"c_{place}": step.output.context[0, 0] for place, step in zip(places, steps[:-1], strict=False)}
    answers = Axis("questions", ["this question"]), Axis("answers", list(ANSWERS))
    return text.step(probabilities[None], *answers, **named, **words, **contexts)


def encoder_steps(
    picture: Tensor, encoded: tuple[Tensor, Tensor], where: Axis, named: Mapping[str, Any]
) -> tuple[Step, ...]:
    """Return the steps that lead from a picture (4, 64, 64) to keys and values (1, n_regions + 1, d_k)."""
    named = {**named, "picture": picture}
    return (
        picture_step(
            picture,
            r"p \in [0, 1]^{4 \times 64 \times 64}",
            "ink = picture[0].reshape(-1, 1)  # of 4 x 64 x 64: ink, and its red, green and blue",
            "The canvas, shrunk to 64 x 64 pixels. Shown is the ink; the model sees colours too.",
        ),
        KEY.filled(n=len(where) - 1).step(encoded[0][0], where, **named),
        VALUE.step(encoded[1][0], where, **named),
    )


def word_trace(steps: Sequence[ReasoningStep], number: int, labels: Sequence[str], states: Tensor) -> AttentionTrace:
    """Return the trace of one look at the question, whose words have states (1, n_words, d_word)."""
    step = steps[number]
    story = Story(
        mechanism=f"attention over the words of the question, look {number + 1} of {len(steps)}",
        query_axis=Axis("queries", [f"look {number + 1}"]),
        key_axis=Axis("words", list(labels)),
    )
    return first_trace(step.word_query, states[None], states[None], step.word_output, story)
