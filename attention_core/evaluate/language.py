"""How well a language model foresees text: bits per character, perplexity per piece."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from attention_core.data.language_pieces import pieces
from attention_core.data.mnist import DataError
from attention_core.device import device_of

AT_ONCE = 64


def bits_of(model: nn.Module, sentences: list[str]) -> dict[str, Any]:
    """Return figures over sentences as typed, none empty, that are each foreseen from their start alone.

    Returns:
        the number of sentences, bits per character (spaces counted), perplexity per piece, and the share of pieces
        that were the likeliest.
    """
    device = device_of(model)
    nats, right, n_pieces = 0.0, 0, 0
    cut = sorted((pieces().encode(text).ids for text in sentences), key=len)
    for start in range(0, len(cut), AT_ONCE):
        some = cut[start : start + AT_ONCE]
        longest = max(map(len, some))
        ids = torch.tensor([sentence + [0] * (longest - len(sentence)) for sentence in some], device=device)
        wanted = torch.tensor([sentence[1:] + [-100] * (longest - len(sentence)) for sentence in some], device=device)
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        nats += float(F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum"))
        right += int((logits.argmax(-1) == wanted).sum())
        n_pieces += int((wanted >= 0).sum())
    return {
        "sentences": len(sentences),
        "bits_per_character": round(nats / math.log(2) / sum(len(text) + 1 for text in sentences), 4),
        "perplexity_per_piece": round(math.exp(nats / n_pieces), 2),
        "likeliest_piece_right": round(right / n_pieces, 4),
    }


def evaluate_language(model: nn.Module, file: str) -> dict[str, Any]:
    """Evaluate on a text file with a sentence per line.

    Raises:
        DataError: no such file, not UTF-8, or empty.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read as UTF-8 text: {error}") from None
    sentences = [line.strip() for line in lines if line.strip()]
    if not sentences:
        raise DataError(f"{file} holds no sentence; expected one per line")
    with torch.inference_mode():
        return bits_of(model, sentences)
