"""States of recurrent networks: two language models over one text, one that reads both ways, an encoder's collapse."""

from collections.abc import Sequence
from itertools import cycle, islice, takewhile
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds.harmless import escape_hidden
from attention_core.data.language_pieces import START, WINDOW, pieces
from attention_core.data.pieces import END, english_words, load_vocabulary, strip_space_mark
from attention_core.data.pieces import START as FIRST_PIECE
from attention_core.device import device_of, to_array
from attention_core.inference.translation import SourceSentence
from attention_core.inference.word_influence import read_bidirectionally
from attention_core.models.language_model import RecurrentLanguage
from attention_core.models.translator import Translator

MAX_PIECES = WINDOW


class TextPieces(NamedTuple):
    """A text in the pieces of a language model."""

    ids: tuple[int, ...]  # of START and the pieces
    labels: tuple[str, ...]  # what they look like, a space before those that begin a word
    left_out: int  # pieces beyond MAX_PIECES


class NextPiecePredictions(NamedTuple):
    """What both models made of a text of n pieces, START among them."""

    probabilities: list[np.ndarray]  # for each model (n - 1,), of each piece after START, before it was read
    trace: AttentionTrace  # where the one looked back after each piece


def cut(text: str) -> TextPieces:
    """Cut a text into START and its pieces; what is more than MAX_PIECES is left out."""
    ids = pieces().encode(text.strip()).ids
    cut_ids = tuple(ids[:MAX_PIECES])
    return TextPieces(cut_ids, tuple(piece_label(piece) for piece in cut_ids), len(ids) - len(cut_ids))


@torch.inference_mode()
def after_piece(model: RecurrentLanguage, text: TextPieces, position: int, edits: Edits = ()) -> np.ndarray:
    """Return the probability of every piece of the vocabulary after one of a text, (n_pieces,)."""
    return to_array(_probabilities(model, text.ids, edits)[position])


@torch.inference_mode()
def foresee(attentive: RecurrentLanguage, plain: RecurrentLanguage, text: TextPieces) -> NextPiecePredictions:
    """Let both models foresee every piece of a text from those before it."""
    probabilities = [_probabilities(model, text.ids) for model in (attentive, plain)]
    of_pieces = [to_array(table[range(len(text.ids) - 1), list(text.ids[1:])]) for table in probabilities]
    return NextPiecePredictions(of_pieces, attentive.trace(text.ids, text.labels))


def _probabilities(model: RecurrentLanguage, ids: Sequence[int], edits: Edits = ()) -> Tensor:
    """Return the probability of every piece of the vocabulary after each of these, (n, n_pieces)."""
    return model(torch.tensor([list(ids)], device=device_of(model)), edits=edits).logits[0].softmax(-1)


def piece_label(piece: int) -> str:
    """Return what a piece looks like, a space before one that begins a word."""
    written = pieces().decode([piece], skip_special_tokens=False)
    return START if written == START else escape_hidden(written) or "�"


class StateDifferences(NamedTuple):
    """Distances between the states of the words that two sentences begin with, as a share of their length."""

    words: list[str]
    forwards: Tensor  # (n_words,), of the states that were read forwards
    bidirectional: Tensor  # (n_words,), of those and the ones that were read backwards, end to end


def state_differences(model: Translator, first: SourceSentence, second: SourceSentence) -> StateDifferences:
    """Read two sentences with a translator's encoder, and compare the states of the words that they begin with."""
    pairs = zip(first.words, second.words, strict=False)
    words = [word for word, _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), pairs)]
    of_first, of_second = (_states(model, source, len(words)) for source in (first, second))
    readings = zip(of_first, of_second, strict=True)
    distances = (((changed - states).norm(dim=1) / states.norm(dim=1)).cpu() for states, changed in readings)
    return StateDifferences(words, *distances)


def _states(model: Translator, source: SourceSentence, n_words: int) -> tuple[Tensor, Tensor]:
    """Return each word's state, read forwards up to its last piece, and the same beside that read back to its first."""
    readings = read_bidirectionally(model, source.ids)
    last = {word: piece for piece, word in enumerate(source.word_of)}
    forward = readings["forward"].states[[last[word] for word in range(n_words)]]
    backward = readings["backward"].states[[source.word_of.index(word) for word in range(n_words)]]
    return forward, torch.cat((forward, backward), 1)


class Collapse(NamedTuple):
    """The states of a sentence and the one vector, their weighted sum, that becomes of them."""

    words: list[str]  # n texts
    states: Tensor  # (n, d)
    weights: Tensor  # (n,), the first decoder state's; they sum to 1
    context: Tensor  # (d,), the weighted sum


@torch.inference_mode()
def collapse(model: Translator, text: str, n: int) -> Collapse:
    """Read n words, and let the first decoder state of a translator with attention collect from their states.

    The sentence begins again where it ends. A word of several pieces counts with the state of its last piece; the
    sentence's end is read but not counted.
    """
    repeated_words = list(islice(cycle(english_words(text)), n))
    cut = load_vocabulary().cut([word.lower() for word in repeated_words])
    device = device_of(model)
    encoding = model.encode(torch.tensor([[*cut.ids, END]], device=device))
    last_piece = {word: piece for piece, word in enumerate(cut.word_of)}
    states = encoding.states[0, [last_piece[word] for word in range(n)]]
    start = model.start(encoding.last).tanh()
    query, _ = model.decoder(model.embedding(torch.tensor([[FIRST_PIECE]], device=device)), start[None])
    weights = model.score()(query[0], states)[0].softmax(-1)
    return Collapse([strip_space_mark(word) for word in repeated_words], states, weights, weights @ states)
