"""How well a language model foresees text: bits per character, perplexity per piece."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attention_core.data.language_pieces import pieces
from attention_core.data.mnist import DataError, read_text
from attention_core.device import device_of

AT_ONCE = 64
DISTANCES = (8, 16, 32, 64, 128)  # bounds of the ranges of distances, in pieces


def bits_of(model: nn.Module, sentences: list[str]) -> dict[str, Any]:
    """Return figures over sentences as typed, none empty, that are each foreseen from their start alone.

    Characters are counted with spaces.
    """
    device = device_of(model)
    nats, right, n_pieces = 0.0, 0, 0
    cut = sorted((torch.tensor(pieces().encode(text).ids) for text in sentences), key=len)
    for start in range(0, len(cut), AT_ONCE):
        batch = cut[start : start + AT_ONCE]
        ids = pad_sequence(batch, batch_first=True).to(device)
        targets = pad_sequence([sentence[1:] for sentence in batch], True, -100).to(device)
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        nats += float(F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"))
        right += int((logits.argmax(-1) == targets).sum())
        n_pieces += int((targets >= 0).sum())
    return {
        "sentences": len(sentences),
        "bits_per_character": round(nats / math.log(2) / sum(len(text) + 1 for text in sentences), 4),
        "perplexity_per_piece": round(math.exp(nats / n_pieces), 2),
        "likeliest_piece_right": round(right / n_pieces, 4),
    }


def bits_by_distance(model: nn.Module, windows: Tensor) -> dict[str, Any]:
    """Return how surprising the pieces of windows, int64 (n, n_pieces), are: by how far back the same two last stood.

    Each range of distances in pieces, and what is new in its window, has its number of pieces and mean surprise in
    bits.
    """
    far = distances(windows)
    surprise = torch.cat(
        [
            F.cross_entropy(
                model(input_ids=batch[:, :-1], use_cache=False).logits.transpose(1, 2), batch[:, 1:], reduction="none"
            )
            for batch in windows.split(AT_ONCE)
        ]
    ) / math.log(2)
    figures: dict[str, Any] = {}
    for first, last in pairwise((0, *DISTANCES)):
        chosen = (far > first) & (far <= last)
        figures[f"{first + 1} to {last}"] = _surprise(surprise[chosen])
    return figures | {"new": _surprise(surprise[far == 0])}


def distances(windows: Tensor) -> Tensor:
    """Return how many pieces back each piece and the one before it last stood together; 0 = not in the window.

    windows: (n, n_pieces) -> (n, n_pieces - 1), without the first piece.
    """
    pairs = windows[:, :-1] * (1 + int(windows.max())) + windows[:, 1:]
    positions = torch.arange(pairs.shape[1], device=windows.device)
    back = positions[:, None] - positions
    same = (pairs[:, :, None] == pairs[:, None]) & (back > 0)
    nearest = torch.where(same, back, len(positions) + 1).amin(-1)
    return nearest.masked_fill(nearest > len(positions), 0)


def _surprise(bits: Tensor) -> dict[str, float]:
    return {"pieces": len(bits), "bits": round(float(bits.mean()), 3) if len(bits) else 0.0}


def evaluate_language(model: nn.Module, file: str) -> dict[str, Any]:
    _, text = read_text(file, Path("sentences.txt"), "{} cannot be read: it is not there.")
    sentences = [line.strip() for line in text.splitlines() if line.strip()]
    if not sentences:
        raise DataError(f"{file} holds no sentence; expected one per line")
    with torch.inference_mode():
        return bits_of(model, sentences)
