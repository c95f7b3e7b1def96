"""BLEU of a translator, over all and by length; several references of one English sentence count together."""

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from sacrebleu.metrics import BLEU
from torch import nn

from attention_core.data.tatoeba import Pair, read_pairs
from attention_core.data.words import normalise
from attention_core.device import device_of
from attention_core.evaluate.alignment import evaluate_alignment
from attention_core.models.beam_search import CanTranslate, beam_search
from attention_core.topics.translate.translation import read_source, translation_of

BEAM_WIDTH = 5
SENTENCES_AT_ONCE = 32
LENGTHS = ((1, 5), (6, 8), (9, 11), (12, 14), (15, 17), (18, None))
"""Groups of English words per sentence, first and last."""
LONG = 12  # words from which on a sentence counts as long


def group_references(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Return every English sentence with all its French ones, in the order of their first appearance."""
    references: dict[str, list[str]] = defaultdict(list)
    for english, french in pairs:
        references[normalise(english)].append(normalise(french))
    return dict(references)


def translate_all(model: CanTranslate, sentences: Sequence[str], width: int = BEAM_WIDTH) -> list[str]:
    """Return the translation of every English sentence; one that cannot be read becomes an empty text."""
    device = device_of(model)
    by_length: dict[int, list[tuple[int, torch.Tensor]]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        try:
            ids = read_source(sentence).ids
        except ValueError:
            continue
        by_length[len(ids)].append((place, ids))
    translations = [""] * len(sentences)
    for group in by_length.values():
        for start in range(0, len(group), SENTENCES_AT_ONCE):
            part = group[start : start + SENTENCES_AT_ONCE]
            found = beam_search(model, torch.stack([ids for _, ids in part]).to(device), width)
            for (place, _), hypotheses in zip(part, found, strict=True):
                translations[place] = translation_of(hypotheses[0].ids).text
    return translations


def bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return lower-cased corpus BLEU from 0 to 100 (sacrebleu, Post 2018)."""
    most = max(map(len, references))
    columns = [[texts[column] if column < len(texts) else None for texts in references] for column in range(most)]
    return round(BLEU(lowercase=True).corpus_score(list(hypotheses), columns).score, 2)  # type: ignore[arg-type]


def bleu_of(model: CanTranslate, pairs: Sequence[Pair], width: int = BEAM_WIDTH) -> dict[str, Any]:
    """Return bleu, bleu_by_length, bleu_long (12 words and more), n (English sentences), seconds, beam width.

    Pairs are (English, French); the same English sentence may come several times. A width of 1 is greedy search.
    """
    if not pairs:
        raise ValueError("pairs must hold at least one sentence pair, got none")
    began = time.perf_counter()
    grouped = group_references(pairs)
    translated = dict(zip(grouped, translate_all(model, list(grouped), width), strict=True))
    seconds = time.perf_counter() - began

    def score(first: int, last: int | None) -> float | None:
        chosen = [text for text in grouped if first <= len(text.split()) <= (last or math.inf)]
        return bleu([translated[text] for text in chosen], [grouped[text] for text in chosen]) if chosen else None

    by_length = {f"{first}-{last}" if last else f"{first}+": score(first, last) for first, last in LENGTHS}
    return {
        "bleu": score(0, None),
        "bleu_by_length": {group: value for group, value in by_length.items() if value is not None},
        "bleu_long": score(LONG, None),
        "n": len(grouped),
        "beam_width": width,
        "seconds": round(seconds, 2),
    }


def evaluate_translation(model: CanTranslate, file: str | Path) -> dict[str, Any]:
    """Return the figures that fit the file: BLEU for sentence pairs, the alignment error rate for aligned ones.

    It has English, tab, French, one pair a line; or aligned pairs (attention_core.data.alignments) if its name ends in
    .txt. ValueError where it is empty, or the model has nothing to align.
    """
    if Path(file).suffix == ".txt":
        return evaluate_alignment(cast(nn.Module, model), file)
    return bleu_of(model, read_pairs(file))
