"""A typed sentence through the models that judge it: read, judged, explained, with words erased."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from attention_core.attention.wording import percent
from attention_core.data.pieces import english_words, strip_space_mark
from attention_core.data.review_pieces import NEGATED, PAD, UNKNOWN, pieces_of
from attention_core.device import device_of
from attention_core.models.sentence_attention import SentenceClassifier

MAX_WORDS = 100
"""Words of a sentence that are read; the longest of the reviews has 63."""
MAX_CHARACTERS = 20_000  # characters that are looked at, so that a pasted book costs nothing
LONGEST_LABEL = 30  # characters of a word that are shown
MIN_CHANGE = 0.005
"""The smallest change of a probability that is worth a sentence; the share of another change that counts as equal."""


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence as the models read it."""

    words: list[str]  # as typed, for people
    pieces: Tensor  # int64 (n_words, N_COLUMNS), rows of the table of vectors, see data/review_pieces.py
    texts: list[list[str]]  # the pieces of each word (in lower case) as texts; one alone for a known word
    paired: list[bool]  # whether each word makes a known pair with the one before it
    n_dropped: int  # words beyond the bound that were not read

    @property
    def labels(self) -> list[str]:
        return [word if len(word) <= LONGEST_LABEL else word[: LONGEST_LABEL - 1] + "…" for word in self.words]

    @property
    def cut_words(self) -> list[int]:
        """Positions of the words that the vocabulary lacks and that were cut into several pieces."""
        return [index for index, texts in enumerate(self.texts) if len(texts) > 1]

    @property
    def negated(self) -> list[bool]:
        """Whether a negation before each word reaches it, so that its vector is turned round."""
        return (self.pieces[:, -1] == NEGATED).tolist()

    @property
    def in_vocabulary(self) -> list[bool]:
        unknown = {*self.cut_words, *self.unknown_words}
        return [index not in unknown for index in range(len(self.words))]

    @property
    def read_as(self) -> list[str]:
        """What each word was read as where that is more than itself, such as "bad + (not bad)", else ""."""
        unknown, texts_read = set(self.unknown_words), []
        for index, texts in enumerate(self.texts):
            if index in unknown:
                texts_read.append("an unknown sign")
                continue
            pair = [f"({self.words[index - 1]} {self.words[index]})".lower()] if self.paired[index] else []
            readings = texts + pair + ["turned round"] * self.negated[index]
            texts_read.append(" + ".join(readings) if len(readings) > 1 else "")
        return texts_read

    @cached_property
    def unknown_words(self) -> list[int]:
        """Positions of the words with letters or signs that the vocabulary lacks, such as those of other alphabets."""
        return torch.nonzero((self.pieces == UNKNOWN).any(-1)).flatten().tolist()


class Verdict(NamedTuple):
    """What a model says of a sentence."""

    positive: float  # the probability that it is praise

    @property
    def answer(self) -> str:
        return "positive" if self.positive >= 0.5 else "negative"

    @property
    def confidence(self) -> float:
        return max(self.positive, 1 - self.positive)

    @property
    def label(self) -> str:
        return f"{self.answer} {percent(self.confidence)}"


@lru_cache(maxsize=200)
def read_sentence(text: str) -> Sentence:
    """Cut a typed text into words and pieces; ValueError if there is no word in it."""
    words = [strip_space_mark(word) for word in english_words(text[:MAX_CHARACTERS])]
    if not words:
        raise ValueError("text has nothing to read: expected a sentence, got only spaces or nothing")
    first_words = words[:MAX_WORDS]
    with torch.inference_mode(False):  # it is kept for whoever asks next, perhaps for gradients
        return sentence_of(first_words, len(words) - len(first_words))


def sentence_of(words: list[str], n_dropped: int = 0) -> Sentence:
    """Return a sentence of words that are cut already, as the models read it."""
    return Sentence(words, *pieces_of([word.lower() for word in words]), n_dropped)


def batch_of(sentences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return pieces int64 (batch, longest, n_pieces), padded at the end, and mask bool (batch, longest)."""
    pieces = pad_sequence(list(sentences), batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    return pieces, torch.arange(pieces.shape[1]) < lengths[:, None]


@torch.inference_mode()
def judge_all(model: nn.Module, sentences: Sequence[Tensor], batch_size: int = 250) -> Tensor:
    """Return the probability of "positive" of many sentences, given as their pieces, float (n,), in their order."""
    order = sorted(range(len(sentences)), key=lambda index: len(sentences[index]))
    device = device_of(model)
    answers = torch.empty(len(sentences))
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        pieces, mask = batch_of([sentences[index] for index in batch])
        answers[batch] = model(pieces.to(device), mask.to(device)).logits.softmax(-1)[:, 1].cpu()
    return answers


def judge(model: nn.Module, sentence: Sentence, edits: Edits = ()) -> Verdict:
    """Return what a model says of a sentence, perhaps with its attention changed."""
    with torch.inference_mode():
        logits = model(sentence.pieces[None].to(device_of(model)), edits=edits).logits
    return Verdict(float(logits.softmax(-1)[0, 1]))


@torch.inference_mode()
def judge_states(model: SentenceClassifier, sentence: Sentence) -> Tensor:
    """Return the probability of "positive" from the state of each word alone, (n_words,)."""
    states = model.encode(sentence.pieces[None].to(device_of(model))).states[0]
    return model.answer(states).softmax(-1)[:, 1].cpu()


def explain(model: nn.Module, sentence: Sentence, edits: Edits = ()) -> AttentionTrace:
    """Return the attention trace of a sentence."""
    trace = model.trace(sentence.pieces.to(device_of(model)), sentence.labels, edits)  # type: ignore[operator]
    return trace.with_story(key_axis=Axis("words", sentence.labels, full_labels=sentence.words))


def remove_each(model: nn.Module, sentence: Sentence) -> Tensor:
    """Return how the probability of "positive" changes when each word in turn is not there, (n_words,).

    A sentence of one word has nothing left: its change is 0 by definition of no evidence.

    Source: leave-one-out, Li et al. 2016, "Understanding neural networks through representation erasure".
    """
    n, unchanged = len(sentence.words), judge(model, sentence).positive
    if n == 1:
        return torch.zeros(1)
    shorter = [sentence_of(sentence.words[:index] + sentence.words[index + 1 :]) for index in range(n)]
    return judge_all(model, [sentence_without.pieces for sentence_without in shorter]) - unchanged


def turned_otherwise(sentence: Sentence, index: int) -> dict[int, bool]:
    """Return the words that a negation turns round only without a word, True, or only with it, False."""
    before, after = sentence.negated, sentence_of(sentence.words[:index] + sentence.words[index + 1 :]).negated
    after.insert(index, before[index])
    return {position: turned for position, turned in enumerate(after) if turned != before[position]}


def against_the_answer(weights: Sequence[float], changes: Sequence[float], positive: float) -> int | None:
    """Return the heaviest word with more than an even share of the weight whose removal makes the answer surer."""
    towards = 1 if positive >= 0.5 else -1
    candidates = [
        index
        for index, (weight, change) in enumerate(zip(weights, changes, strict=True))
        if weight > 1 / len(weights) and towards * change >= MIN_CHANGE
    ]
    return max(candidates, key=lambda index: weights[index], default=None)
