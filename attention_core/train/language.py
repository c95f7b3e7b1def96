"""Recipe of the language model: the next piece of English sentences, packed into windows."""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.data.language_pieces import NAME, WINDOW, pieces
from attention_core.data.pieces import english_sentences
from attention_core.evaluate.language import bits_by_distance, bits_of
from attention_core.train.loop import RECIPES, Recipe, TrainingProgress

BATCH_SIZE = 16
N_WINDOWS = 256  # windows of test sentences that what looking back is worth is measured on
REPEATED = 0.2  # share of the sentences that say again one of the same window, so that looking back is worth something


class LanguageTask:
    """Next-piece prediction on windows of sentences in random order.

    `looks_back` asks for figures on windows in which sentences come again too: what is it worth to look back?
    """

    def __init__(self, looks_back: bool, data: str | None, seed: int, device: str) -> None:
        self._looks_back = looks_back
        sentences = english_sentences(data)
        self.device = device
        self.train = [cut.ids for cut in pieces().encode_batch_fast(sentences.train, add_special_tokens=False)]
        self.held_out = {"development": sentences.development, "test": sentences.test}

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        cpu = torch.Generator().manual_seed(generator.initial_seed())  # sentences are drawn one by one
        windows = torch.tensor([window_of(self.train, cpu) for _ in range(BATCH_SIZE)], device=self.device)
        logits = model(input_ids=windows[:, :-1], use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())

    def figures(self, model: nn.Module) -> dict[str, Any]:
        figures: dict[str, Any] = {split: bits_of(model, sentences) for split, sentences in self.held_out.items()}
        if self._looks_back:
            sentences = [
                encoding.ids for encoding in pieces().encode_batch_fast(self.held_out["test"], add_special_tokens=False)
            ]
            generator = torch.Generator().manual_seed(N_WINDOWS)
            windows = torch.tensor([window_of(sentences, generator) for _ in range(N_WINDOWS)], device=self.device)
            figures["windows"] = bits_by_distance(model, windows)
        return figures


def window_of(sentences: list[list[int]], generator: torch.Generator) -> list[int]:
    """Return WINDOW + 1 pieces of sentences drawn at random, some of them again, the first one the start."""
    window, indices = [0], list[int]()
    while len(window) <= WINDOW:
        again = bool(indices) and torch.rand((), generator=generator).item() < REPEATED
        choices = len(indices) if again else len(sentences)
        index = int(torch.randint(choices, (), generator=generator))
        indices.append(indices[index] if again else index)
        window += sentences[indices[-1]]
    return window[: WINDOW + 1]


def _recipe(epochs: float, looks_back: bool) -> Recipe:
    return Recipe(
        partial(LanguageTask, looks_back),
        "the English sentences of 136,952 pairs of tatoeba.org, selected by manythings.org/anki (2017-09-29), "
        "CC-BY 2.0; development and test parts as for the translators",
        batches_per_epoch=427,
        epochs=epochs,
        learning_rate=3e-3,
        weight_decay=0.05,
        half=True,
    )


RECIPES[NAME] = _recipe(8, False)
RECIPES |= dict.fromkeys(("language-recurrent", "language-recurrent-alone"), _recipe(6, True))
