"""Recipes of the small models that foresee the next word: the same sentences in the same order for all of them."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.data.next_words import N_WORDS, UNKNOWN, fitting_lines, read_line
from attention_core.data.pieces import english_sentences
from attention_core.evaluate.next_word import foresight
from attention_core.inference.next_word import write
from attention_core.models.next_word import CONFIGS
from attention_core.train.loop import RECIPES, Recipe, ShuffledBatches, TrainingProgress
from attention_core.train.translation import epoch_of_batches

BATCH_SIZE = 64
N_HELD_OUT = 2_000
BEGINNINGS = ("", "What", "I do not", "The")


class NextWordTask:
    """The next word of English sentences of common words; of the first N_HELD_OUT of them are the figures."""

    def __init__(self, data: str | None, seed: int, device: str) -> None:
        lines = fitting_lines(english_sentences(data).train)
        self.device, self.held_out, self.train = device, lines[:N_HELD_OUT], lines[N_HELD_OUT:]
        pairs = [(line, list[int]()) for line in self.train]
        self.batches = ShuffledBatches(lambda generator: epoch_of_batches(pairs, generator, BATCH_SIZE), seed)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        ids = torch.tensor([self.train[index] for index in self.batches.at(progress.batch)], device=self.device)
        logits = model(ids).logits[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=UNKNOWN)
        return loss * (len(ids) / BATCH_SIZE)  # few lines teach less surely

    def figures(self, model: nn.Module) -> dict[str, Any]:
        written = {start: write(model, read_line(start)) for start in BEGINNINGS}  # type: ignore[arg-type]
        return {"test": foresight(model, self.held_out), "writes": written}  # type: ignore[arg-type]


RECIPE = Recipe(
    NextWordTask,
    "English sentences of 136,952 pairs of tatoeba.org, selected by manythings.org/anki (2017-09-29), CC-BY 2.0: those "
    f"of the translators' training part that have 2 to 24 words, at most one beyond the {N_WORDS:,} commonest; "
    f"{N_HELD_OUT:,} of them are held out, and the figures are on those",
    batches_per_epoch=1_212,
    epochs=2,
    learning_rate=3e-3,
    weight_decay=0.01,
    half=True,
)
RECIPES |= {f"next-word-{name}": RECIPE for name in CONFIGS}
