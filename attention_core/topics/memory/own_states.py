"""Two recurrent language models over the same text, one of which looks back at its own states: what does it gain?"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds import escape_hidden
from attention_core.data.language_pieces import START, WINDOW, pieces
from attention_core.device import device_of, to_array
from attention_core.models.language_model import RecurrentLanguage

MAX_PIECES = WINDOW
LIKELIEST = 6


class TextPieces(NamedTuple):
    """A text in pieces."""

    ids: tuple[int, ...]  # of START and the pieces
    labels: tuple[str, ...]  # what they look like, a space before those that begin a word
    left_out: int  # pieces beyond MAX_PIECES


class NextPiecePredictions(NamedTuple):
    """What both models made of a text of n pieces, START among them."""

    probabilities: list[np.ndarray]  # for each model (n - 1,), of each piece after START, before it was read
    likeliest: list[list[list[tuple[str, float]]]]  # for each model and place (n) the likeliest pieces, with theirs
    trace: AttentionTrace  # where the one looked back after each piece


def cut(text: str) -> TextPieces:
    """Cut a text into START and its pieces; what is more than MAX_PIECES is left out."""
    ids = pieces().encode(text.strip()).ids
    kept = tuple(ids[:MAX_PIECES])
    return TextPieces(kept, tuple(piece_label(one) for one in kept), len(ids) - len(kept))


@torch.inference_mode()
def after_piece(model: RecurrentLanguage, given: TextPieces, place: int, edits: Edits = ()) -> np.ndarray:
    """Return the probability of every piece of the vocabulary after one of a text, (n_pieces,)."""
    return to_array(_probabilities(model, given.ids, edits)[place])


@torch.inference_mode()
def foresee(attentive: RecurrentLanguage, alone: RecurrentLanguage, given: TextPieces) -> NextPiecePredictions:
    """Let both models foresee every piece of a text from those before it."""
    probabilities = [_probabilities(model, given.ids) for model in (attentive, alone)]
    said = [to_array(one[range(len(given.ids) - 1), list(given.ids[1:])]) for one in probabilities]
    return NextPiecePredictions(
        said, [_likeliest(one) for one in probabilities], attentive.trace(given.ids, given.labels)
    )


def _probabilities(model: RecurrentLanguage, ids: Sequence[int], edits: Edits = ()) -> Tensor:
    """Return the probability of every piece of the vocabulary after each of these, (n, n_pieces)."""
    return model(torch.tensor([list(ids)], device=device_of(model)), edits=edits).logits[0].softmax(-1)


def _likeliest(probabilities: Tensor) -> list[list[tuple[str, float]]]:
    best = probabilities.topk(LIKELIEST, -1)
    return [
        [(piece_label(piece), value) for piece, value in zip(row, values, strict=True)]
        for row, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def piece_label(piece: int) -> str:
    """Return what a piece looks like, a space before one that begins a word."""
    written = pieces().decode([piece], skip_special_tokens=False)
    return START if written == START else escape_hidden(written) or "�"
