"""Alignment error rate of a translator's attention, each French word linked to the word with the largest weight."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from attention_core.data.alignments import read_alignments
from attention_core.data.pieces import END, START, pieces
from attention_core.data.words import SPACE
from attention_core.device import device_of
from attention_core.explain.alignment import AlignedPair, Link, alignment_error, merge_to_words, strongest_links
from attention_core.models.transformer import Transformer
from attention_core.models.translator import Labels, Translator


def evaluate_alignment(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return aer, precision, recall, n (pairs) and, for a transformer, the cross-attention layer that is best.

    The French words are given to the decoder (teacher forcing); a word whose largest weight is on the end of the
    sentence gets no link.
    """
    pairs = read_alignments(file)
    began = time.perf_counter()
    attention = [attention_between(model, pair.source, pair.target) for pair in pairs]
    by_layer = [
        alignment_error([_links(layers[number]) for layers in attention], pairs) for number in range(len(attention[0]))
    ]
    best = min(range(len(by_layer)), key=lambda number: by_layer[number].rate)
    figures = {
        "aer": round(by_layer[best].rate, 4),
        "precision": round(by_layer[best].precision, 4),
        "recall": round(by_layer[best].recall, 4),
        "n": len(pairs),
        "seconds": round(time.perf_counter() - began, 2),
    }
    return figures if len(by_layer) == 1 else {**figures, "layer": best}


def uniform_error(pairs: Sequence[AlignedPair]) -> float:
    """Return the error rate of linking every French word to the English word at its place: a floor to beat."""
    links = [{(min(place, len(pair.source) - 1), place) for place in range(len(pair.target))} for pair in pairs]
    return alignment_error(links, pairs).rate


def attention_between(model: nn.Module, source: Sequence[str], target: Sequence[str]) -> list[Tensor]:
    """Return a model's weights between the words of an English and a French sentence, end of the English included.

    They are (n_target_words, n_source_words + 1), one for a recurrent translator, one per layer for a transformer, its
    heads averaged; ValueError for a model with one key only.
    """
    vocabulary = pieces()
    source_cut = vocabulary.cut(_spaced([word.lower() for word in source]))
    target_cut = vocabulary.cut(_spaced(list(target)))
    device = device_of(model)
    ids = torch.tensor([*source_cut.ids, END], device=device)
    fed = torch.tensor([START, *target_cut.ids], device=device)
    labels = Labels([*source_cut.texts, "end"], [*target_cut.texts, "end"])
    if isinstance(model, Transformer):
        traces = model.trace(ids, fed, labels)
        layers = [traces["cross", layer] for layer in range(model.config.n_layers)]
        weights = [torch.stack([trace.weights(head) for head in range(trace.n_heads)]).mean(0) for trace in layers]
    else:
        trace = cast(Translator, model).trace(ids, fed, labels)
        if trace.n_keys != len(ids):
            raise ValueError(f"{trace.story.mechanism} has {trace.n_keys} key, there is nothing to align")
        weights = [trace.weights()]
    source_word_of = [*source_cut.word_of, len(source)]
    return [merge_to_words(layer[:-1], target_cut.word_of, source_word_of) for layer in weights]


def _links(weights: Tensor) -> set[Link]:
    n_source = weights.shape[1] - 1
    return {link for link in strongest_links(weights) if link[0] < n_source}


def _spaced(words: list[str]) -> list[str]:
    """Give words back the mark of the space before them, which a list of words has lost."""
    marked = []
    for place, word in enumerate(words):
        joined = place > 0 and (word in (".", ",", "n't") or word[0] in "-'" or words[place - 1].endswith("'"))
        marked.append(word if joined else SPACE + word)
    return marked
