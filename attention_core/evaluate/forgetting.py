"""How fast recurrent encoders forget, on average: python -m attention_core.evaluate.forgetting.

For every word of every development sentence: what is left of it after 1, 2, 3, ... more words of a forward reading
(the norm of d h_t / d x_s, divided by that of d h_s / d x_s). Written beside the weights, as NAME below.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch

from attention_core.data.pieces import read_pairs, split_pairs
from attention_core.log import log
from attention_core.models import load
from attention_core.models.translator import Translator
from attention_core.topics.memory.influence import gradient_norms, half_life, relative_norms
from attention_core.topics.translate.translation import read_source
from attention_core.weights import WeightsError, read_card, weights_folder

NAME = "translator-forgetting.json"
NETWORKS = ("translator-none", "translator-plain")
MAX_LATER = 20
FEWEST = 30
QUARTILES = (0.25, 0.5, 0.75)


def forgetting_curve(
    model: Translator, sentences: Sequence[str], most_later: int = MAX_LATER, fewest: int = FEWEST
) -> dict[str, Any]:
    """Return what is left of an English word after more words: quartiles over all words of all sentences.

    A distance, of most_later words at most, is told when at least `fewest` words were followed that far. Lower, median
    and upper are one number per word later, from 0 (where all is left) on, n the words that were followed that far, and
    half_life that of the median, in words, or None.
    """
    if not sentences:
        raise ValueError("sentences must hold at least one, got none")
    later: list[list[float]] = [[] for _ in range(most_later + 1)]
    for sentence in sentences:
        source = read_source(sentence)
        left = relative_norms(gradient_norms(model, source.ids, "forward", source.word_of))
        for distance in range(min(most_later + 1, len(left))):
            later[distance] += left.diagonal(-distance).tolist()
    followed = [torch.tensor(left, dtype=torch.float64) for left in later if len(left) >= fewest]
    lower, median, upper = ([float(f"{left.quantile(share):.4g}") for left in followed] for share in QUARTILES)
    return {
        "lower": lower,
        "median": median,
        "upper": upper,
        "n": [len(left) for left in followed],
        "half_life": None if (half := half_life(median)) is None else round(half, 2),
    }


def read_forgetting(folder: Path | None = None) -> dict[str, Any] | None:
    """Return what the command wrote, without networks whose weights have changed since; None if nothing is left."""
    try:
        figures = json.loads(((folder or weights_folder()) / NAME).read_text())
        networks = {name: own for name, own in figures["networks"].items() if own["sha256"] == _checksum(name, folder)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        log.warning("%s cannot be read", NAME, exc_info=True)
        return None
    return {**figures, "networks": networks} if networks else None


def _checksum(name: str, folder: Path | None) -> str | None:
    try:
        return read_card(name, folder).get("sha256")
    except WeightsError:
        log.warning("%s is left out", name, exc_info=True)
        return None


def main() -> None:
    """Follow every word of the development sentences, and write and print what is left of it."""
    sentences = list(dict.fromkeys(english for english, _ in split_pairs(read_pairs()).development))
    networks = {}
    for name in NETWORKS:
        model = cast(Translator, load(name, "cpu"))
        networks[name] = {"sha256": _checksum(name, None), **forgetting_curve(model, sentences)}
        print(f"{name}: half of a word is left after {networks[name]['half_life']} more words")
    facts = {
        "what": "share of a word's gradient norm that is left after more words: quartiles over all words",
        "sentences": len(sentences),
        "command": "python -m attention_core.evaluate.forgetting",
        "networks": networks,
    }
    (weights_folder() / NAME).write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
