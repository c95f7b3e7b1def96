"""Translate short sentences word by word: the project's translator, a hundredth of its size."""

from functools import partial
from operator import eq
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.types import Axis
from attention_core.bounds.harmless import as_markdown
from attention_core.data.lessons import grammar, short_pairs
from attention_core.data.pieces import END, PAD, START, UNKNOWN, english_words, strip_space_mark
from attention_core.device import choose_device, device_of, to_array
from attention_core.live_training import lesson
from attention_core.live_training.lesson import LessonOptions, LiveSettings, Look
from attention_core.models.translator import SourceEncoding, Translator, TranslatorConfig
from attention_core.train.loop import ShuffledBatches
from attention_core.train.translation import Batch, TranslationTask, epoch_of_batches

MAX_WORDS = 12
"""Words of a sentence that is read, and of what is said."""
CORPORA = {"grammar": grammar, "pairs": short_pairs}
LENGTHS = {"grammar": (32, 500, 35), "pairs": (64, 1500, 140)}  # sentences of a batch, batches, seconds
DROPOUT = {"grammar": 0.0, "pairs": 0.15}


class WordByWord(Translator):
    """A translator that reads each English word alone, so that none knows its place or its neighbours."""

    def encode_vectors(self, vectors: Tensor) -> SourceEncoding:
        single = super().encode_vectors(vectors.reshape(-1, 1, vectors.shape[-1]))
        states = single.states.reshape(*vectors.shape[:2], -1)
        return SourceEncoding(vectors, states, states.mean(1))


class SentenceLesson(lesson.Lesson, TranslationTask):
    """The next French word, given an English sentence; controls: the plain mean of the states, and the last state."""

    def __init__(self, settings: LiveSettings) -> None:
        (self.batch_size, self.n_steps, self.seconds), self.device = LENGTHS[settings.lesson], choose_device()
        super().__init__(settings, OPTIONS[settings.lesson].rate[settings.rate])
        self.corpus = CORPORA[settings.lesson]()
        self._numbers = {word: number for number, word in enumerate(self.corpus.words)}
        n, order = self.part(len(self.corpus.train))
        train, held_out = map(self._in_numbers, (self.corpus.train[:n], self.corpus.held_out))
        self._vocabulary = {word for english, _ in self.corpus.train[:n] for word in english}
        self.pairs = [(source, train[index][1]) for (source, _), index in zip(train, order, strict=True)]
        cut = partial(epoch_of_batches, size=self.batch_size)
        self.batches = ShuffledBatches(lambda generator: cut(self.pairs, generator), settings.seed)
        batches = cut(held_out, torch.Generator().manual_seed(0))
        self._held_out = [Batch([held_out[index] for index in batch], self.device) for batch in batches]

    def _in_numbers(self, pairs: list[tuple[list[str], list[str]]]) -> list[tuple[list[int], list[int]]]:
        sides = [[[self._numbers[word] for word in side] for side in pair] for pair in pairs]
        return [([*source, END], target) for source, target in sides]

    def models(self) -> dict[str, nn.Module]:
        d = OPTIONS[self.settings.lesson].size[self.settings.size]
        scorings = {lesson.ATTENTION: self.settings.score, lesson.UNIFORM: "mean", lesson.WITHOUT: "none"}
        size = partial(TranslatorConfig, d_embedding=d, d_state=2 * d, d_additive=d, vocabulary_size=len(self._numbers))
        kind = WordByWord if self.settings.broken == lesson.POSITION else Translator
        dropout = DROPOUT[self.settings.lesson]
        return {name: kind(size(scoring, dropout=dropout)) for name, scoring in scorings.items()}

    def accuracy(self, model: Any) -> float:
        right = total = 0
        for batch in self._held_out:
            is_piece = batch.next_pieces != PAD
            right += int((model(batch.source, batch.fed).logits.argmax(-1) == batch.next_pieces)[is_piece].sum())
            total += int(is_piece.sum())
        return right / total

    def remark(self, text: str) -> str:
        words, remarks = english_words(text.lower()), []
        if unknown := [strip_space_mark(word) for word in words[:MAX_WORDS] if word not in self._vocabulary]:
            vocabulary = sorted(map(strip_space_mark, self._vocabulary))
            learns = ", ".join(vocabulary) if len(vocabulary) < 50 else f"{len(vocabulary):,} common English words"
            names = ", ".join(f"*{as_markdown(word)}*" for word in unknown[:5])
            remarks = [f"It never meets {names}. It learns {learns}."]
        return " ".join(remarks + [f"The first {MAX_WORDS} words are read."] * (len(words) > MAX_WORDS))

    def look(self, model: Translator, text: str) -> Look:
        """Return the likeliest French words, one after the other, and where each looks."""
        words, device = english_words(text.lower())[:MAX_WORDS], device_of(model)
        source = torch.tensor([[*(self._numbers.get(word, UNKNOWN) for word in words), END]], device=device)
        state, ids = model.begin(source), [START]
        while len(ids) <= MAX_WORDS and ids[-1] != END:
            logits, state = model.step(state, torch.tensor([[ids[-1]]], device=device))
            ids.append(int(logits[0, -1, END:].argmax()) + END)
        encoding = model.encode(source)
        _, states, _ = model.decode(encoding, torch.tensor([ids[:-1]], device=device))
        keys = model.keys(encoding)[:, None]
        weights = attend(states[:, None], keys, keys, score=model.score(), with_weights=True).weights
        assert weights is not None, "they were asked for"
        french = [strip_space_mark(self.corpus.words[word]) if word != END else "end" for word in ids[1:]]
        english, answer = [*map(strip_space_mark, words), "end"], " ".join(word for word in french if word != "end")
        pairs = (*self.corpus.train, *self.corpus.held_out) if self.settings.lesson == "grammar" else ()
        right = next(([*map(strip_space_mark, said), "end"] for heard, said in pairs if heard == words), [])
        return Look(
            to_array(weights[0, 0]),
            Axis("French", french),
            Axis("English", english),
            shorten(answer, 60, placeholder=" …").capitalize(),
            is_right=tuple(map(eq, french, [*right, *[""] * len(french)])) if right else (),
        )


BROKEN = ("", lesson.LABELS, lesson.POSITION)
RATES, SCORES = {"low": 0.003, "usual": 0.01, "high": 0.03}, ("additive", "dot", "general")
OPTIONS = {
    "grammar": LessonOptions(SentenceLesson, {"small": 16, "medium": 32, "large": 64}, RATES, SCORES, BROKEN),
    "pairs": LessonOptions(
        SentenceLesson, {"small": 24, "medium": 48}, {"low": 0.005, "usual": 0.015, "high": 0.05}, SCORES, BROKEN
    ),
}
