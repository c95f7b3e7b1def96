"""How often a small language model foresees the next word: with the line before it, and with its beginning alone."""

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.data.mnist import DataError, read_text
from attention_core.data.next_words import UNKNOWN, fitting_lines
from attention_core.device import device_of
from attention_core.inference.next_word import named_mask
from attention_core.models.next_word import NextWordTransformer

AT_ONCE = 256  # lines


def foresight(model: NextWordTransformer, lines: Sequence[list[int]]) -> dict[str, Any]:
    """Return figures over lines as fitting_lines gives them; UNKNOWN words are read, and not foreseen.

    `accuracy` is that of the next words of a line that lies before the model as in training, all of it, under the
    model's own mask, and `accuracy_causal` under the causal one; `accuracy_unseen` is that of words after which nothing
    has been written yet, as when it writes by itself. Of these is the perplexity.
    """
    n_words, nats, right = 0, 0.0, {"accuracy": 0, "accuracy_causal": 0, "accuracy_unseen": 0}
    with torch.inference_mode():
        for ids in _batches(lines, device_of(model)):
            targets = ids[:, 1:]
            is_foreseen = targets != UNKNOWN
            causal = named_mask("causal", ids.shape[1])
            unseen = torch.stack([model(ids[:, :n]).logits[:, -1] for n in range(1, ids.shape[1])], 1)
            logits = model(ids).logits[:, :-1], model(ids, mask=causal).logits[:, :-1], unseen
            for name, of_words in zip(right, logits, strict=True):
                right[name] += int((of_words.argmax(-1) == targets).sum())
            n_words += int(is_foreseen.sum())
            nats += float(F.cross_entropy(unseen[is_foreseen], targets[is_foreseen], reduction="sum"))
    return {
        "sentences": len(lines),
        "words": n_words,
        **{name: round(n_right / n_words, 4) for name, n_right in right.items()},
        "perplexity_unseen": round(math.exp(nats / n_words), 2),
    }


def _batches(lines: Sequence[list[int]], device: torch.device) -> list[Tensor]:
    """Return all lines as ids (batch, n), those of one length together."""
    by_length = groupby(sorted(lines, key=len), len)
    return [ids for _, group in by_length for ids in torch.tensor(list(group), device=device).split(AT_ONCE)]


def evaluate_next_word(model: NextWordTransformer, file: str) -> dict[str, Any]:
    """Return the figures of foresight() on a text file, a sentence on every line."""
    _, text = read_text(file, Path("sentences.txt"), "{} cannot be read: it is not there.")
    lines = fitting_lines(text.splitlines())
    if not any(set(line[1:]) - {UNKNOWN} for line in lines):
        raise DataError(f"{file} holds no sentence that can be read; expected one per line, of common words")
    return foresight(model, lines)
