"""What if softmax ran over the queries? What adds up to 1 over both axes, and what is foreseen."""

from typing import NamedTuple

from torch import Tensor

from attention_core.data.next_words import Line
from attention_core.device import to_array
from attention_core.inference.next_word import Foresight, named_mask
from pages.transformer import next_words
from pages.transformer.charts import RowText, mask_chart
from ui.chart import draw_chart
from ui.labels import note
from ui.layout import section

MODELS = {"causal": "over keys", "over-queries": "over queries"}


class Softmax(NamedTuple):
    """What a model with one of both softmaxes makes of a line."""

    foresight: Foresight
    of_line: list[RowText]
    of_words_before: list[RowText]

    @property
    def weights(self) -> Tensor:
        """The weights (n, n), the mean of all heads."""
        return next_words.mean_weights(self.foresight)


class Softmaxes(NamedTuple):
    """A line and what both models make of it."""

    line: Line
    by_model: dict[str, Softmax]


def draw_input() -> Softmaxes:
    """Draw the sentence; return what both models make of it."""
    line = next_words.draw_line(*MODELS)
    return Softmaxes(line, {model: _read(model, line) for model in MODELS})


def _read(model: str, line: Line) -> Softmax:
    foresight = next_words.foresee(f"next-word-{model}", line)
    unseen = next_words.foresee_unseen(f"next-word-{model}", line)
    of_line, of_words_before = (
        next_words.foreseen_words(line, probabilities) for probabilities in (foresight.probabilities, unseen)
    )
    return Softmax(foresight, of_line, of_words_before)


def answer(softmaxes: Softmaxes) -> str:
    """Say what the softmax over queries lets in."""
    over_queries = softmaxes.by_model["over-queries"]
    (n_all, n), (n_before, _) = (next_words.count_right(words) for words in over_queries[1:])
    return (
        "The future gets past the mask, since each column now adds up to 1: "
        f"{n_all} of {n} words are right given the whole line, {n_before} without it."
    )


def draw(softmaxes: Softmaxes) -> None:
    """Draw the weights of both with their sums, and what comes out of each row."""
    n = len(softmaxes.line.labels)
    for column, (model, name) in zip(next_words.two_containers(n), MODELS.items(), strict=True):
        softmax = softmaxes.by_model[model]
        rows = [RowText(f"{total:.2f}") for total in softmax.weights.sum(1).tolist()]
        outcomes = {"sum": rows, "whole line": softmax.of_line, "only before": softmax.of_words_before}
        with column:
            section(f"Softmax {name}")
        chart = mask_chart(
            softmaxes.line.labels,
            to_array(named_mask("causal", n)),
            to_array(softmax.weights),
            outcomes,
            below=[f"{total:.2f}" for total in softmax.weights.sum(0).tolist()],
        )
        alt = f"Softmax {name}: weights, sums and next words"
        draw_chart(chart, width="content", alt=alt, key=f"transformer_{model}", container=column)
    next_words.draw_figures({model: f"softmax {name}" for model, name in MODELS.items()})
    note("Over queries, softmax shares each key out.")
