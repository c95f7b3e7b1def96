"""Two ways to turn texts into vectors of length 1: by how they are spelled, and by what they mean.

Source of the second: Reimers and Gurevych 2019, "Sentence-BERT", section 3, the mean of all tokens' states.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.hub.model import Pretrained
from attention_core.topics.lookup.ngrams import embed

MOST_TOKENS = 256
"""Pieces of a text that are read for its meaning, as the encoder was made for."""


class Encoder(NamedTuple):
    """How texts become vectors."""

    embed: Callable[[Sequence[str]], Tensor]  # n texts -> float64 (n, width), each row of length 1
    numbers: str  # what the columns are, plural
    formula: str  # with {} for the letter of the vector
    code: str  # with {name} for the vector and {texts} for what is turned into one
    words: str  # for people
    named: Mapping[str, Any]  # what the code refers to


SPELLING = Encoder(
    embed,
    "hashed numbers",
    r"{} = \frac{{n}}{{\lVert n \rVert}}, \qquad n_b = \sum_{{g:\, h(g) = b}} \sigma(g) \sqrt{{\text{{count}}_g}}",
    "{name} = embed({texts})  # runs of 2 and 3 letters, hashed into 512 numbers",
    "Runs of two and three letters are counted, a hash decides which of 512 numbers each adds to, and the vector is "
    "cut to length 1. Spelled alike means close together; meaning plays no part.",
    {"embed": embed},
)


def meaning(pretrained: Pretrained, embed: Callable[[Sequence[str]], Tensor] | None = None) -> Encoder:
    """Return the way by meaning of a loaded sentence encoder; `embed` gives sentence_vectors where they are kept."""
    return Encoder(
        embed or (lambda texts: sentence_vectors(pretrained, texts)),
        "numbers of meaning",
        r"{} = \frac{{s}}{{\lVert s \rVert}}, \qquad s = \sum_{{t}} h_t",
        f"tokens = tokenizer({{texts}}, padding=True, truncation=True, max_length={_most(pretrained)}, "
        'return_tensors="pt")\n'
        'states = model(**tokens.to(model.device))[0] * tokens["attention_mask"][..., None]\n'
        "{name} = F.normalize(states.sum(dim=1)).cpu().double()",
        "A transformer reads the whole text; its layers let every piece ask all others. The states of all pieces are "
        "added up and cut to length 1. It was trained on pairs of texts that belong together: like meanings lie close.",
        {"tokenizer": pretrained.tokenizer, "model": pretrained.model},
    )


@torch.no_grad()
def sentence_vectors(pretrained: Pretrained, texts: Sequence[str]) -> Tensor:
    """Return one vector of length 1 per text by its meaning, float64 (n, d_model) on the CPU.

    Of each text the first MOST_TOKENS pieces are read.
    """
    model: Any = pretrained.model
    cut = {"padding": True, "truncation": True, "max_length": _most(pretrained)}
    tokens = pretrained.tokenizer(list(texts), return_tensors="pt", **cut).to(model.device)
    states = model(**tokens)[0] * tokens["attention_mask"][..., None]
    return F.normalize(states.sum(1)).cpu().double()


def _most(pretrained: Pretrained) -> int:
    return min(MOST_TOKENS, pretrained.most_tokens or MOST_TOKENS)
