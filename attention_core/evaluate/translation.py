"""Translators: BLEU over all and by length, and the alignment error rate of their attention.

Several references of one English sentence count together; each French word is linked to the word with the largest
weight. Pairs that people aligned word by word stand in a text file that people can write, one a line, three columns
between bars: English words, French words, links, all separated by spaces, as in

    the red car . | la voiture rouge . | the=la red=rouge car=voiture .=.

A sure link has =, a possible one ~; the second "the" of a sentence is "the#2". Lines that begin with # are comments.
"""

import math
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from attention_core.attention.trace import spans
from attention_core.data.mnist import DataError, read_text
from attention_core.data.pieces import END, SPACE, START, Pair, load_vocabulary, normalise, read_pairs
from attention_core.device import device_of
from attention_core.explain.alignment import AlignedPair, Link, alignment_error, merge_to_words, strongest_links
from attention_core.explain.heads import mean_over_heads
from attention_core.inference.translation import read_source, translation_of
from attention_core.models.transformer import Transformer
from attention_core.models.translator import CanTranslate, Labels, Translator, beam_search

_LINK = re.compile(r"(.+?)(?:#(\d+))?([=~])(.+?)(?:#(\d+))?")


def read_alignments(file: str | Path) -> list[AlignedPair]:
    """Return the aligned pairs of a file; DataError where it cannot be read or a line is not of the form above."""
    _, text = read_text(file, Path("alignments.txt"), "No aligned pairs at {}")
    return [
        _parse_pair(line, f"{file}, line {number}")
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]


def _parse_pair(line: str, line_name: str) -> AlignedPair:
    columns = [column.split() for column in line.split("|")]
    if len(columns) != 3 or not all(columns):
        raise DataError(f"{line_name}: expected English | French | links, got {line[:60]!r}")
    source, target, texts = columns
    sure: set[Link] = set()
    possible: set[Link] = set()
    for text in texts:
        match = _LINK.fullmatch(text)
        if not match:
            raise DataError(f"{line_name}: a link is written word=word or word~word, got {text!r}")
        english, nth_english, kind, french, nth_french = match.groups()
        link = _look_up(english, nth_english, source, line_name), _look_up(french, nth_french, target, line_name)
        possible.add(link)
        if kind == "=":
            sure.add(link)
    return AlignedPair(source, target, sure, possible)


def _look_up(word: str, nth: str | None, words: list[str], line_name: str) -> int:
    """Return the position of the nth word of this spelling, the first one if None; DataError where there is none."""
    positions = [position for position, candidate in enumerate(words) if candidate.lower() == word.lower()]
    if len(positions) < int(nth or 1):
        raise DataError(f"{line_name}: {' '.join(words)!r} has no word {word!r} number {nth or 1}")
    return positions[int(nth or 1) - 1]


def evaluate_alignment(model: nn.Module, file: str | Path) -> dict[str, Any]:
    """Return aer, precision, recall, n (pairs) and, for a transformer, the cross-attention layer that is best.

    The French words are given to the decoder (teacher forcing); a word whose largest weight is on the end of the
    sentence gets no link.
    """
    pairs = read_alignments(file)
    began = time.perf_counter()
    weights = [attention_between(model, pair.source, pair.target) for pair in pairs]
    by_layer = [alignment_error([*map(_links, of_layer)], pairs) for of_layer in zip(*weights, strict=True)]
    best = min(range(len(by_layer)), key=lambda layer: by_layer[layer].rate)
    figures = {
        "aer": round(by_layer[best].rate, 4),
        "precision": round(by_layer[best].precision, 4),
        "recall": round(by_layer[best].recall, 4),
        "n": len(pairs),
        "seconds": round(time.perf_counter() - began, 2),
    }
    return figures if len(by_layer) == 1 else {**figures, "layer": best}


def attention_between(model: nn.Module, source: Sequence[str], target: Sequence[str]) -> list[Tensor]:
    """Return a model's weights between the words of an English and a French sentence, end of the English included.

    They are (n_target_words, n_source_words + 1), one for a recurrent translator, one per layer for a transformer, its
    heads averaged; ValueError for a model with one key only.
    """
    vocabulary = load_vocabulary()
    source_cut = vocabulary.cut(_with_space_marks([word.lower() for word in source]))
    target_cut = vocabulary.cut(_with_space_marks(list(target)))
    device = device_of(model)
    ids = torch.tensor([*source_cut.ids, END], device=device)
    decoder_ids = torch.tensor([START, *target_cut.ids], device=device)
    labels = Labels([*source_cut.texts, "end"], [*target_cut.texts, "end"])
    if isinstance(model, Transformer):
        traces = model.trace(ids, decoder_ids, labels)
        weights = [mean_over_heads(traces["cross", layer]) for layer in range(model.config.n_layers)]
    else:
        trace = cast(Translator, model).trace(ids, decoder_ids, labels)
        if trace.n_keys != len(ids):
            raise ValueError(f"{trace.story.mechanism} has {trace.n_keys} key, there is nothing to align")
        weights = [trace.weights()]
    source_word_of = [*source_cut.word_of, len(source)]
    return [merge_to_words(layer[:-1], target_cut.word_of, source_word_of) for layer in weights]


def _links(weights: Tensor) -> set[Link]:
    n_source = weights.shape[1] - 1
    return {link for link in strongest_links(weights) if link[0] < n_source}


def _with_space_marks(words: list[str]) -> list[str]:
    """Give words back the mark of the space before them, which a list of words has lost."""
    marked = []
    for position, word in enumerate(words):
        joined = position > 0 and (word in (".", ",", "n't") or word[0] in "-'" or words[position - 1].endswith("'"))
        marked.append(word if joined else SPACE + word)
    return marked


BEAM_WIDTH = 5
SENTENCES_AT_ONCE = 32
LENGTHS = ((1, 5), (6, 8), (9, 11), (12, 14), (15, 17), (18, None))
"""Groups of English words per sentence, first and last."""
MIN_LONG_WORDS = 12  # from which on a sentence counts as long


def group_references(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Return each English sentence with all its French ones, both normalised."""
    references: dict[str, list[str]] = defaultdict(list)
    for english, french in pairs:
        references[normalise(english)].append(normalise(french))
    return dict(references)


def translate_all(model: CanTranslate, sentences: Sequence[str]) -> list[str]:
    """Return the translation of every English sentence; one that cannot be read becomes an empty text."""
    device = device_of(model)
    by_length: dict[int, list[tuple[int, torch.Tensor]]] = defaultdict(list)
    for index, sentence in enumerate(sentences):
        try:
            ids = read_source(sentence).ids
        except ValueError:
            continue
        by_length[len(ids)].append((index, ids))
    translations = [""] * len(sentences)
    for group in by_length.values():
        for span in spans(0, len(group), SENTENCES_AT_ONCE):
            batch = group[span]
            hypotheses_of_batch = beam_search(model, torch.stack([ids for _, ids in batch]).to(device), BEAM_WIDTH)
            for (index, _), hypotheses in zip(batch, hypotheses_of_batch, strict=True):
                translations[index] = translation_of(hypotheses[0].ids).text
    return translations


def bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return lower-cased corpus BLEU from 0 to 100 (sacrebleu, Post 2018)."""
    from sacrebleu.metrics import BLEU  # which the app does without

    streams = [*zip_longest(*references)]  # the first reference of each sentence, the second one or None, and so on
    return round(BLEU(lowercase=True).corpus_score(list(hypotheses), streams).score, 2)


def evaluate_bleu(model: CanTranslate, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return bleu, bleu_by_length, bleu_long (12 words and more), n (English sentences), seconds, beam width.

    Pairs are (English, French); the same English sentence may come several times.
    """
    if not pairs:
        raise ValueError("pairs must hold at least one sentence pair, got none")
    began = time.perf_counter()
    references = group_references(pairs)
    translations = dict(zip(references, translate_all(model, list(references)), strict=True))
    seconds = time.perf_counter() - began

    def score(first: int, last: int | None) -> float | None:
        chosen = [text for text in references if first <= len(text.split()) <= (last or math.inf)]
        return bleu([translations[text] for text in chosen], [references[text] for text in chosen]) if chosen else None

    by_length = {f"{first}-{last}" if last else f"{first}+": score(first, last) for first, last in LENGTHS}
    return {
        "bleu": score(0, None),
        "bleu_by_length": {group: value for group, value in by_length.items() if value is not None},
        "bleu_long": score(MIN_LONG_WORDS, None),
        "n": len(references),
        "beam_width": BEAM_WIDTH,
        "seconds": round(seconds, 2),
    }


def evaluate_translation(model: CanTranslate, file: str | Path) -> dict[str, Any]:
    """Return the figures that fit the file: BLEU for sentence pairs, the alignment error rate for aligned ones.

    It has English, tab, French, one pair a line; or aligned pairs, see above, if its name ends in .txt.
    ValueError where it is empty, or the model has nothing to align.
    """
    if Path(file).suffix == ".txt":
        return evaluate_alignment(cast(nn.Module, model), file)
    return evaluate_bleu(model, read_pairs(file))
