"""A translation as a scene: what every French word asks, and what would be said were it to look elsewhere."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from attention_core.attention.edits import Edits, SetWeights
from attention_core.attention.view.scene import scaled_numbers, scene_data, shown_dimensions
from attention_core.data.pieces import END, START, load_vocabulary, strip_space_mark
from attention_core.data.sentence_presets import BEGINNINGS, FAITHFUL, LOST, READ_BACK
from attention_core.data.word_translations import CONTRACTIONS
from attention_core.device import device_of, to_array
from attention_core.inference.glosses import english_below, english_lost, french_unfounded, is_french_word
from attention_core.inference.read_back import LOST as NOT_SAID
from attention_core.inference.read_back import WRONG, compare_words
from attention_core.inference.translation import END_LABEL, SourceSentence, TracedTranslation, read_source
from attention_core.models.transformer import edited
from attention_core.models.translator import CanTranslate, DecoderState

NOUNS = ("French word", "English word")
N_ANSWERS = 3
UNSURE = 3  # letters of a French word, such as qu' or est, that often stands for no word of its own
TRIED_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Weights of each word's heaviest key for which the answers are computed."""
Answer = tuple[str, float, bool]  # a piece's text, its probability, whether the translation has it
IN_ENGLISH = READ_BACK | FAITHFUL | BEGINNINGS


@torch.inference_mode()
def scene_answers(
    model: CanTranslate, source: SourceSentence, ids: Sequence[int], rows: Sequence[int], edits: Edits = ()
) -> list[list[Answer]]:
    """Return the likeliest pieces at some positions of a translation, given all before them, best first.

    The piece that the translation has there is always among them.
    """
    return _answers_of(model, _state_before(model, source), ids, rows, edits)


def _state_before(model: CanTranslate, source: SourceSentence) -> DecoderState:
    return model.begin(source.ids[None].to(device_of(model)))


def _answers_of(
    model: CanTranslate, state: DecoderState, ids: Sequence[int], rows: Sequence[int], edits: Edits
) -> list[list[Answer]]:
    pieces = torch.tensor([[START, *ids]], device=device_of(model))
    logits = edited(model, edits).step(state, pieces)[0][0]
    return [_answers(logits[row].softmax(-1), ids[row] if row < len(ids) else None) for row in rows]


def _answers(probabilities: torch.Tensor, said: int | None) -> list[Answer]:
    best = probabilities.topk(N_ANSWERS).indices.tolist()
    if said is not None and said not in best:
        best[-1] = said
    return [(_piece_text(piece), round(float(probabilities[piece]), 4), piece == said) for piece in best]


def _piece_text(piece: int) -> str:
    """Return a piece as people read it; dots follow one with which no known word ends."""
    text = END_LABEL if piece == END else strip_space_mark(load_vocabulary().text(piece))
    return text if is_french_word(text) else f"{text}…"


@torch.inference_mode()
def changed_answers(
    model: CanTranslate, source: SourceSentence, ids: Sequence[int], rows: Sequence[int], heaviest: Sequence[int]
) -> dict[str, Any]:
    """Return what would be said were the weights of the heaviest key of each position others."""
    state, tried = _state_before(model, source), []
    for weight in TRIED_WEIGHTS:
        edits = [SetWeights(row, ((key, weight),)) for row, key in zip(rows, heaviest, strict=True)]
        tried.append(_answers_of(model, state, ids, rows, edits))
    return {"tips": {"keys": heaviest, "weights": TRIED_WEIGHTS, "answers": tried}}


def translation_scene(
    traced: TracedTranslation, head: int, answers: list[list[Answer]], sentence: str
) -> dict[str, Any]:
    """Return the data of a scene in which each French word is a query; `answers` are those at its first piece."""
    view, (keys, joined) = traced.view, source_keys(read_source(sentence))
    data = scene_data(
        traced.trace,
        head,
        queries=view.first_piece,
        query_labels=view.target,
        key_labels=keys,
        nouns=NOUNS,
        joined_keys=joined,
    )
    return data | {"answers": answers, "glosses": word_glosses(traced, sentence)}


def source_keys(source: SourceSentence) -> tuple[list[str], list[int]]:
    """Return the labels of a sentence's pieces, a whole word's as typed, and which of them go on with a word."""
    n_pieces, words, word_of = Counter(source.word_of), source.word_labels, source.word_of
    labels = [words[word] if n_pieces[word] == 1 else label for word, label in zip(word_of, source.labels, strict=True)]
    return labels, joined_pieces(word_of)


def joined_pieces(word_of: Sequence[int]) -> list[int]:
    """Return which pieces go on with the word of the piece before; `word_of` is the word of each."""
    return [index for index in range(1, len(word_of)) if word_of[index] == word_of[index - 1]]


def word_glosses(traced: TracedTranslation, sentence: str) -> list[str]:
    """Return what each word of a translation means in English, "" for its end and for a mere helping verb."""
    helps = {"has"}.difference(sentence.lower().split())
    return [*("" if gloss in helps else gloss for gloss in english_below(traced.view.target[:-1], sentence)), ""]


def words_lost(traced: TracedTranslation, sentence: str) -> list[str]:
    """Return the words of a sentence that are lost in its translation, each as often as it stands there.

    Where its English is known, those are the words that have no counterpart there, in the same order.
    """
    french = traced.translation.text
    if english := IN_ENGLISH.get(french):
        compared = compare_words(english, sentence, True)
        lost = [word.strip(".,!?") for word, verdict in compared if verdict == NOT_SAID]
    else:
        lost = english_lost(traced.view.target[:-1], sentence)
    named = "" if traced.forced else LOST.get((sentence, french), "")
    return [word for word in lost if word in named.replace(",", "").split()] if named else lost


def _unfounded(traced: TracedTranslation, sentence: str) -> list[int]:
    """Return which words of a translation, from 0, mean nothing in a sentence; of short ones that is not sure."""
    words = traced.view.target[:-1]
    return [row for row in french_unfounded(words, sentence) if len(words[row]) > UNSURE]


def is_sound(traced: TracedTranslation, sentence: str) -> bool:
    """Return whether a translation loses nothing and adds nothing, as far as a table of words tells."""
    is_known = all(map(is_french_word, traced.view.target[:-1]))
    return is_known and not words_lost(traced, sentence) and not _unfounded(traced, sentence)


def vector_data(single: TracedTranslation, sentence: str) -> dict[str, Any]:
    """Return what a translator says that has one vector alone, and what of the sentence is lost in it."""
    value, words, text = to_array(single.trace.value_of(0)), single.view.target, single.translation.text
    lost, source = words_lost(single, sentence), read_source(sentence)
    written_out = [CONTRACTIONS.get(label.lower(), label) for label in source.word_labels]
    are_lost = [written_out.count(word) <= lost.count(word) for word in written_out]
    return {
        "words": words,
        "glosses": [] if text in IN_ENGLISH else word_glosses(single, sentence),
        "wrong": _unfounded(single, sentence),
        "isEnough": is_sound(single, sentence),
        "lost": [index for index, word in enumerate(source.word_of) if are_lost[word]],
        "english": IN_ENGLISH.get(text),
        "lostText": LOST.get((sentence, text)) or ", ".join(lost),
        "numbers": scaled_numbers(value[:, shown_dimensions(value)])[0],
        "size": value.shape[1],
    }


def said_in_english(traced: TracedTranslation, sentence: str) -> list[tuple[str, bool]]:
    """Return what a translation of a sentence says in English, word by word, and whether each word is wrong.

    Where its English is not known, it is what each French word means, or the French word.
    """
    if english := IN_ENGLISH.get(traced.translation.text):
        return [(text, verdict == WRONG) for text, verdict in compare_words(english, sentence) if verdict != NOT_SAID]
    french, wrong = traced.view.target[:-1], _unfounded(traced, sentence)
    rows = zip(french, english_below(french, sentence), strict=True)
    return [(gloss or word, row in wrong) for row, (word, gloss) in enumerate(rows)]


def read_and_said(traced: TracedTranslation, sentence: str) -> dict[str, Any]:
    """Return the vectors that a translator hands over of a sentence, one or one for each word, and what it says."""
    view, value = traced.view, to_array(traced.trace.value_of(0))
    if not view.is_single:
        value = value[[stop - 1 for stop in view.first_key[1:]]]
    return {
        "vectors": scaled_numbers(value[:, shown_dimensions(value)]),
        "keys": None if view.is_single else view.weights[:-1].argmax(1).tolist(),
        "french": view.target[:-1],
        "english": said_in_english(traced, sentence),
        "isLiteral": traced.translation.text not in IN_ENGLISH,
        "lost": words_lost(traced, sentence),
    }
