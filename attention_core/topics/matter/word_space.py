"""The learned space of words: which words are near each other, and whether those draw similar weights, drawn too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.types import Role
from attention_core.charts.vega import GREY, ROLE_COLOURS, Chart, alt, mark, rule_at, series_colour
from attention_core.data.review_pieces import frequent_words, pieces_of
from attention_core.device import device_of
from attention_core.topics.matter.sentences import Sentence, explain, sentence_of
from attention_core.weights import read_weights


class TypicalWeight(NamedTuple):
    n: int  # how often it occurs in them
    mean: float  # of its weight, as a multiple of the sentence's uniform weight 1/n_words
    spread: float  # standard deviation of the same


@dataclass(frozen=True)
class Neighbour:
    """A word near another one."""

    word: str  # in lower case
    cosine: float  # of the two words' vectors
    here: float  # its weight when it stands in the other one's place in the sentence, as a multiple of 1/n_words
    usual: TypicalWeight | None  # how it is weighed in its own sentences, or None where that is not known


def word_vectors(model: nn.Module, words: list[str]) -> Tensor:
    """Return the learned vectors of words in lower case, (n_words, d_embedding)."""
    ids = torch.cat([pieces_of([word]).ids for word in words])  # one by one: beside each other they would make pairs
    with torch.inference_mode():
        return model.vectors(ids[None].to(device_of(model)))[0]  # type: ignore[operator]


def usual_weights(statistics: dict[str, Tensor]) -> dict[str, TypicalWeight]:
    """Return how each frequent word is weighed in its own sentences, from "0.mean" and "0.spread" of the training."""
    counts = frequent_words()
    rows = zip(counts.items(), statistics["0.mean"].tolist(), statistics["0.spread"].tolist(), strict=True)
    return {word: TypicalWeight(n, mean, spread) for (word, n), mean, spread in rows}


def nearest_words(model: nn.Module, word: str, n: int) -> list[tuple[str, float]]:
    """Return the n frequent words whose vectors point most nearly where this word's does, with their cosines."""
    candidates = [other for other in frequent_words() if other != word and any(map(str.isalpha, other))]
    vectors = torch.nn.functional.normalize(word_vectors(model, [word, *candidates]), dim=-1)
    nearest = (vectors[1:] @ vectors[0]).topk(min(n, len(candidates)))
    return [
        (candidates[place], cosine)
        for place, cosine in zip(nearest.indices.tolist(), nearest.values.tolist(), strict=True)
    ]


def neighbours_in_place(
    model: nn.Module, sentence: Sentence, place: int, usual: dict[str, TypicalWeight], n: int = 8
) -> list[Neighbour]:
    """Return a word and its n nearest ones, each weighed in the word's own place in the sentence; itself first."""
    word = sentence.words[place].lower()
    rows = []
    for candidate, cosine in [(word, 1.0), *nearest_words(model, word, n)]:
        other = sentence_of([*sentence.words[:place], candidate, *sentence.words[place + 1 :]])
        weight = float(explain(model, other).weights()[0, place]) * len(sentence.words)
        rows.append(Neighbour(candidate, cosine, weight, usual.get(candidate)))
    return rows


def neighbours_in_training(model: nn.Module, sentence: Sentence, place: int) -> list[Neighbour]:
    """Return neighbours_in_place with the usual weights that were kept when the model with attention was trained.

    Raises:
        WeightsError: their file is missing or damaged.
    """
    usual = usual_weights(read_weights("sentence-attention.snapshots"))
    return neighbours_in_place(model, sentence, place, usual)


HERE, USUAL = "in this place of your sentence", "mean and spread in its own sentences"
IS_KNOWN = "isValid(datum.mean)"


def neighbours_chart(neighbours: Sequence[Neighbour]) -> Chart:
    """Draw a line per word, the word itself first: a mark for its weight in place, a dot with a bar for the usual."""
    words, usual = [one.word for one in neighbours], [one.usual for one in neighbours]
    data = {
        "word": words,
        "cosine": [one.cosine for one in neighbours],
        "here": [one.here for one in neighbours],
        "mean": [one and one.mean for one in usual],
        "low": [one and max(0.0, one.mean - one.spread) for one in usual],
        "high": [one and one.mean + one.spread for one in usual],
        "n": [one and one.n for one in usual],
    }
    axis = alt.Axis(ticks=False, domain=False, labelLimit=130, labelFontSize=12, labelOverlap=False)
    line = {"y": alt.Y("word:N", sort=words, title=None, axis=axis)}
    told = (
        "word:N",
        ("cosine:Q", "cosine to the chosen word", ".2f"),
        ("here:Q", "times 1/n, in this place", ".2f"),
        ("mean:Q", "times 1/n, usually", ".2f"),
        ("n:Q", "occurrences in training", ",d"),
    )
    colours = ROLE_COLOURS[Role.WEIGHTS], GREY
    colour = series_colour("kind", (HERE, USUAL), colours, labelLimit=320, direction="vertical")
    x = alt.X("here:Q", title="weight, as a multiple of the even share 1/n", axis=alt.Axis(tickCount=6, grid=True))
    spread = {**line, "x": alt.X("low:Q"), "x2": alt.X2("high:Q")}
    dots = {"color": colour, "filled": True, "opacity": 1}
    rules = mark("rule", data, spread, *told, strokeWidth=3, color=GREY, opacity=0.55)
    means = mark("point", data, {**line, "x": alt.X("mean:Q")}, *told, size=55, **dots)
    here = mark("point", data, {**line, "x": x}, *told, size=120, shape="diamond", **dots)
    return alt.layer(
        rule_at("x", "even", 1.0, strokeDash=[4, 3], color=GREY, aria=alt.Undefined),
        rules.transform_filter(IS_KNOWN),
        means.transform_filter(IS_KNOWN).transform_calculate(kind=f"'{USUAL}'"),
        here.transform_calculate(kind=f"'{HERE}'"),
        height=26 * len(words) + 100,  # legend and axis are inside this height
    )
