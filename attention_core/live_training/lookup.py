"""Look up words although they are misspelt: each is compared with eight keys, and the numbers beside these mix."""

from difflib import get_close_matches
from functools import lru_cache
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.scores import ScaledDot
from attention_core.attention.types import AttentionOutput, Axis
from attention_core.bounds.harmless import as_markdown
from attention_core.data.lessons import N_HELD_OUT, short_pairs
from attention_core.data.pieces import strip_space_mark
from attention_core.device import choose_device, device_of, to_array
from attention_core.inference.soft_lookup import WIDTH, embed, ngrams
from attention_core.live_training import lesson
from attention_core.live_training.lesson import LessonOptions, LiveSettings, Look
from attention_core.train.loop import TrainingProgress

BATCH_SIZE, N_VALUES, N_SPELLINGS, FEWEST_LETTERS = 64, 10, 4, 4
TABLE = {"garden": 4, "window": 1, "doctor": 7, "money": 3, "summer": 9, "kitchen": 0, "river": 5, "brother": 2}
"""The words that a visitor looks up, with their numbers; no training meets them."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LookupHead(nn.Module):
    """One head over the records of a table.

    Args:
        d_k: width of queries, keys and values.
        scale: of the scores; 0 makes every weight equal, None leaves the context out.
        width: of the vectors that ask and are asked.
    """

    def __init__(self, d_k: int, scale: float | None, width: int = WIDTH) -> None:
        super().__init__()
        self.scale = scale
        self.query, self.key = nn.Linear(width, d_k), nn.Linear(width, d_k)
        self.value, self.read_out = nn.Embedding(N_VALUES, d_k), nn.Linear(2 * d_k, N_VALUES)

    def attended(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> AttentionOutput:
        """Ask with (batch, n, width) the keys (batch, n_keys, width) for the numbers (batch, n_keys) beside them.

        The mask, bool (batch, 1, n, n_keys), says who may ask whom; None = everybody.
        """
        projected = (self.query(queries), self.key(keys), self.value(values))
        query, key, value = (tensor[:, None] for tensor in projected)
        return attend(query, key, value, score=ScaledDot(self.scale or 0.0), mask=mask, with_weights=True)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (batch, n, N_VALUES) of the number that is looked for."""
        context = self.attended(queries, keys, values, mask).context[:, 0]
        return self.read_out(torch.cat((self.query(queries), context * (self.scale is not None)), -1))


def heads_of(settings: LiveSettings, options: LessonOptions, width: int = WIDTH) -> dict[str, nn.Module]:
    """Return a head over vectors of a width, and the same head as its controls, by the names of a lesson's models."""
    is_broken = settings.broken == lesson.SCALE
    d_k = 64 if is_broken else options.size[settings.size]
    scales = {lesson.ATTENTION: 1.0 if is_broken else d_k**-0.5, lesson.UNIFORM: 0.0, lesson.WITHOUT: None}
    return {name: LookupHead(d_k, scale, width) for name, scale in scales.items()}


def _misspelt(word: str, chance: Random) -> str:
    """Return a word with a letter left out, doubled, replaced, or exchanged with the next."""
    at = chance.randrange(len(word) - 1)
    letter, next_letter = word[at], word[at + 1]
    spelt = chance.choice(
        (next_letter, letter * 2 + next_letter, chance.choice(LETTERS) + next_letter, next_letter + letter)
    )
    return word[:at] + spelt + word[at + 2 :]


@lru_cache(1)
def _words() -> tuple[Tensor, Tensor]:
    """Return English and French words, (n, WIDTH), in an order by chance, and misspelt (n, N_SPELLINGS, WIDTH)."""
    vocabulary, chance = {*map(strip_space_mark, short_pairs().words)} - TABLE.keys(), Random(2017)
    words = sorted(word for word in vocabulary if len(word) >= FEWEST_LETTERS and word.isalpha())
    chance.shuffle(words)
    right, wrong = embed(words), embed([_misspelt(word, chance) for word in words for _ in range(N_SPELLINGS)])
    return right.float(), wrong.float().unflatten(0, (-1, N_SPELLINGS))


class LookupLesson(lesson.Lesson):
    """Eight words with a number each, and one of them misspelt; controls: every word alike, and the query alone."""

    n_steps, seconds = 600, 20

    def __init__(self, settings: LiveSettings) -> None:
        super().__init__(settings, OPTIONS.rate[settings.rate])
        self._right, self._wrong = (vectors.to(choose_device()) for vectors in _words())
        first = len(self._right) - N_HELD_OUT  # of the words that are held out
        self._learned = range(max(len(TABLE), first * settings.share // 100))
        generator = torch.Generator(self._right.device).manual_seed(2023)
        self._held_out = self._draw_batch(range(first, len(self._right)), N_HELD_OUT, generator)

    def _draw_batch(self, words: range, n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        """Return n queries (n, 1, WIDTH), for each a table of some words, its numbers, and the one to be found."""
        device = generator.device
        keys = torch.rand(n, len(words), generator=generator, device=device).topk(len(TABLE)).indices + words.start
        values = torch.rand(n, N_VALUES, generator=generator, device=device).topk(len(TABLE)).indices
        spelling = torch.randint(N_SPELLINGS, (n,), generator=generator, device=device)
        return self._wrong[keys[:, 0], spelling][:, None], self._right[keys], values, values[:, 0]

    def models(self) -> dict[str, nn.Module]:
        return heads_of(self.settings, OPTIONS)

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        *inputs, labels = self._draw_batch(self._learned, BATCH_SIZE, generator)
        if self.settings.broken == lesson.LABELS:
            labels = labels[torch.randperm(len(labels), generator=generator, device=generator.device)]
        return F.cross_entropy(model(*inputs)[:, 0], labels)

    def accuracy(self, model: nn.Module) -> float:
        *inputs, labels = self._held_out
        return float((model(*inputs)[:, 0].argmax(-1) == labels).float().mean())

    def remark(self, text: str) -> str:
        unread = [word for word in text.split()[: len(TABLE)] if not ngrams(word)]
        nothing = [f"{as_markdown(word)} has no letters, so it asks for nothing." for word in unread[:1]]
        return " ".join(nothing + [f"The first {len(TABLE)} words are looked up."] * (len(text.split()) > len(TABLE)))

    def look(self, model: Any, text: str) -> Look:
        """Return how much each word takes from each record of the table, and the numbers found."""
        words, device = text.split()[: len(TABLE)], device_of(model)
        queries, keys = (embed(texts).float().to(device)[None] for texts in (words, [*TABLE]))
        values = torch.tensor([[*TABLE.values()]], device=device)
        weights = model.attended(queries, keys, values).weights
        answers = model(queries, keys, values)[0].argmax(-1).tolist()
        nearest = [get_close_matches(query, TABLE, 1) for query in words]
        records = [f"{word} = {number}" for word, number in TABLE.items()]
        return Look(
            to_array(weights[0, 0]),
            Axis("queries", [word[:14] for word in words]),
            Axis("records", records),
            f"Finds {', '.join(map(str, answers))}",
            tuple(map(str, answers)),
            tuple(TABLE[near[0]] == said if near else None for near, said in zip(nearest, answers, strict=True)),
        )


OPTIONS = LessonOptions(
    LookupLesson,
    size={"small": 16, "medium": 32, "large": 64},  # d_k
    rate={"low": 0.003, "usual": 0.01, "high": 0.03},
    broken=("", lesson.LABELS, lesson.SCALE),
)
