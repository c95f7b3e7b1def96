"""The learned space of words: which words are near each other, and whether those draw similar weights, drawn too."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.types import Role
from attention_core.charts import vega as vl
from attention_core.data.review_pieces import frequent_words, pieces_of
from attention_core.device import device_of
from attention_core.topics.matter.sentences import Sentence, explain, sentence_of


class Neighbour(NamedTuple):
    """A word near another one."""

    word: str  # in lower case
    cosine: float  # of the two words' vectors
    here: float  # its weight when it stands in the other one's place in the sentence, as a multiple of 1/n_words


def word_vectors(model: nn.Module, words: list[str]) -> Tensor:
    """Return the learned vectors of words in lower case, (n_words, d_embedding)."""
    ids = torch.cat([pieces_of([word]).ids for word in words])  # one by one: beside each other they would make pairs
    with torch.inference_mode():
        return model.vectors(ids[None].to(device_of(model)))[0]  # type: ignore[operator]


def nearest_words(model: nn.Module, word: str, n: int) -> list[tuple[str, float]]:
    """Return the n frequent words whose vectors point most nearly where this word's does, with their cosines."""
    candidates = [other for other in frequent_words() if other != word and any(map(str.isalpha, other))]
    vectors = torch.nn.functional.normalize(word_vectors(model, [word, *candidates]), dim=-1)
    nearest = (vectors[1:] @ vectors[0]).topk(min(n, len(candidates)))
    return [
        (candidates[place], cosine)
        for place, cosine in zip(nearest.indices.tolist(), nearest.values.tolist(), strict=True)
    ]


def neighbours_in_place(model: nn.Module, sentence: Sentence, place: int, n: int = 8) -> list[Neighbour]:
    """Return a word and its n nearest ones, each weighed in the word's own place in the sentence; itself first."""
    word = sentence.words[place].lower()
    rows = []
    for candidate, cosine in [(word, 1.0), *nearest_words(model, word, n)]:
        other = sentence_of([*sentence.words[:place], candidate, *sentence.words[place + 1 :]])
        weight = float(explain(model, other).weights()[0, place]) * len(sentence.words)
        rows.append(Neighbour(candidate, cosine, weight))
    return rows


def neighbours_chart(neighbours: Sequence[Neighbour]) -> vl.Chart:
    """Draw a bar per word for its weight in place, the word itself first; the even share is marked."""
    data = {name: [getattr(one, name) for one in neighbours] for name in Neighbour._fields}
    axis = dict(ticks=False, domain=False, labelLimit=130, labelFontSize=12, labelOverlap=False)
    space = {
        "y": vl.field("word:N", sort=data["word"], title=None, axis=axis),
        "x": vl.field(
            "here:Q", title="weight in this place, as a multiple of the even share 1/n", axis=dict(tickCount=6)
        ),
    }
    tooltip = "word:N", ("cosine:Q", "cosine to the chosen word", ".2f"), ("here:Q", "times 1/n", ".2f")
    bars = vl.mark("bar", data, space, *tooltip, color=vl.ROLE_COLOURS[Role.WEIGHTS], cornerRadiusEnd=1)
    even = vl.rule_at("x", "even", 1.0, strokeDash=[4, 3], color=vl.GREY, aria=vl.UNDEFINED)
    return vl.layer(bars, even, height=26 * len(neighbours) + 50)
