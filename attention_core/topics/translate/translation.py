"""A typed English sentence through a translator: read, translate, look at the next word, explain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import (
    END,
    MOST_WORDS,
    SPACE,
    START,
    UNKNOWN,
    Tokenization,
    bare,
    english_words,
    french_spans,
    french_words,
    join_words,
    pieces,
)
from attention_core.device import device_of
from attention_core.models.transformer import EditsByPlace, Transformer
from attention_core.models.translator import CanTranslate, Labels, Translator, beam_search

END_LABEL = "end"
MOST_CHARACTERS = 1000
"""Characters of a sentence that are looked at, so that a single endless word costs nothing."""

MOST_SOURCE_PIECES = 99  # pieces of a sentence that are read, before the end piece
_NO_NAMES = frozenset(["je", "il", "nous", "tu", "vous", "pour", "a", "y", "c'", "j'", "an", "in", "can"])
"""Beginnings of French sentences that the vocabulary has with a capital too."""


@dataclass(frozen=True, eq=False)
class SourceSentence:
    """An English sentence as a translator reads it."""

    words: list[str]  # as typed, for people
    ids: Tensor  # int64 (n_pieces + 1,), pieces of the words in lower case, the end piece last
    labels: list[str]  # one text per piece, and "end"
    word_of: list[int]  # which word each piece belongs to; len(words) for the end
    n_dropped: int  # words beyond the bound that were not read

    @property
    def word_labels(self) -> list[str]:
        return [*self.words, END_LABEL]

    @property
    def known(self) -> list[bool]:
        unknown = self.unknown
        return [self.word_of.count(place) == 1 and word not in unknown for place, word in enumerate(self.words)]

    @property
    def cut(self) -> list[tuple[str, list[str]]]:
        """Words that are read in several pieces, with these."""
        pieces: list[list[str]] = [[] for _ in range(len(self.words) + 1)]
        for label, word in zip(self.labels, self.word_of, strict=True):
            pieces[word].append(label)
        return [(word, of_word) for word, of_word in zip(self.words, pieces, strict=False) if len(of_word) > 1]

    @property
    def unknown(self) -> list[str]:
        """Words of which the vocabulary lacks a letter or sign: the model cannot tell them apart."""
        marked = {word for piece, word in zip(self.ids.tolist(), self.word_of, strict=True) if piece == UNKNOWN}
        return [self.words[word] for word in sorted(marked)]


class Translation(NamedTuple):
    """A French sentence that a translator made, or the beginning of one."""

    ids: list[int]  # its pieces, END last if it is finished
    labels: list[str]  # one text per piece, "end" for END
    words: list[str]  # for people; the first with a capital
    word_of: list[int]  # which word each piece belongs to; len(words) for the end
    text: str  # the sentence
    probabilities: list[float]  # of each piece, forced or not, given those before it; none if no search found them
    finished: bool  # whether the model said that it ends here

    @property
    def word_labels(self) -> list[str]:
        return [*self.words, END_LABEL] if self.finished else self.words


class NextPiece(NamedTuple):
    """A possible next piece: its number, its text, its probability."""

    piece: int
    text: str
    probability: float


def read_source(text: str) -> SourceSentence:
    """Cut an English sentence into words and pieces; what lies beyond the bounds is counted in words, not read.

    Raises:
        ValueError: nothing in it can be read.
    """
    spoken = english_words(text[:MOST_CHARACTERS])
    if not spoken:
        raise ValueError("There is nothing to read yet: type an English sentence.")
    n_all = len(spoken) + len(text[MOST_CHARACTERS:].split())
    cut = pieces().cut([word.lower() for word in spoken[:MOST_WORDS]])
    n_pieces = min(len(cut.ids), MOST_SOURCE_PIECES)
    cut = Tokenization(cut.ids[:n_pieces], cut.texts[:n_pieces], cut.word_of[:n_pieces])
    spoken = spoken[: cut.word_of[-1] + 1]
    return SourceSentence(
        words=[bare(word) for word in spoken],
        ids=torch.tensor([*cut.ids, END]),
        labels=[*(bare(piece) or SPACE for piece in cut.texts), END_LABEL],
        word_of=[*cut.word_of, len(spoken)],
        n_dropped=n_all - len(spoken),
    )


def french_prefix(text: str) -> list[int]:
    """Return the pieces of the beginning of a French sentence that a person wants the translation to have.

    The first word loses its capital unless it is a name, as in the sentences that the models learned from.
    """
    words = french_words(text[:MOST_CHARACTERS])[:MOST_WORDS]
    if not words:
        return []
    vocabulary = pieces()
    is_name = len(vocabulary.cut(words[:1]).ids) == 1 and bare(words[0]).lower() not in _NO_NAMES
    if not is_name:
        words[0] = words[0].lower()
    return vocabulary.cut(words).ids


def translation_of(ids: Sequence[int], probabilities: Sequence[float] = ()) -> Translation:
    """Return pieces as a sentence: which word each piece belongs to, and the text for people."""
    vocabulary = pieces()
    finished = bool(ids) and ids[-1] == END
    texts = [vocabulary.text(piece) for piece in ids[: len(ids) - finished]]
    joined = "".join(texts).replace(SPACE, " ")
    spans = french_spans(joined)
    word_of, place = [], 0
    for text in texts:
        first = place + (len(text) > 1 and text.startswith(SPACE))
        word_of.append(max(0, sum(start <= first for start, _ in spans) - 1))
        place += len(text)
    words = [joined[start:end] for start, end in spans]
    if words:
        words[0] = words[0][:1].upper() + words[0][1:]
    return Translation(
        ids=list(ids),
        labels=[*(bare(text) or SPACE for text in texts), *([END_LABEL] if finished else [])],
        words=words,
        word_of=[*word_of, *([len(words)] if finished else [])],
        text=join_words(texts),
        probabilities=list(probabilities),
        finished=finished,
    )


def translate(model: CanTranslate, source: SourceSentence, width: int = 5, prefix: Sequence[int] = ()) -> Translation:
    """Return the best translation that beam search of a width (1 = greedy) finds, begun by the prefix's pieces."""
    best = beam_search(model, source.ids[None].to(device_of(model)), width, prefix)[0][0]
    return translation_of(best.ids, [math.exp(log) for log in best.logs])


@torch.inference_mode()
def next_pieces(model: CanTranslate, source: SourceSentence, prefix: Sequence[int], n: int = 10) -> list[NextPiece]:
    """Return the n likeliest pieces after a prefix, best first."""
    device = device_of(model)
    logits, _ = model.step(model.begin(source.ids[None].to(device)), torch.tensor([[START, *prefix]], device=device))
    probabilities = logits[0, -1].softmax(-1)
    best = probabilities.topk(n)
    vocabulary = pieces()
    return [
        NextPiece(piece, END_LABEL if piece == END else vocabulary.text(piece), probability)
        for piece, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def explain(model: Translator, source: SourceSentence, made: Translation, edits: Edits = ()) -> AttentionTrace:
    """Return the attention trace of a recurrent translator saying a given sentence.

    Row t of the weights is where the decoder looks to say piece t. An unfinished sentence gets one row more, labelled
    "?", for what would come next.
    """
    asked, fed, labels = _as_fed(model, source, made)
    return model.trace(asked, fed, labels, edits)


def explain_layers(
    model: Transformer,
    source: SourceSentence,
    made: Translation,
    interventions: EditsByPlace | None = None,
    *,
    with_positions: bool = True,
) -> dict[tuple[str, int], AttentionTrace]:
    """Return the attention traces of a transformer saying a given sentence, by (kind, layer)."""
    asked, fed, labels = _as_fed(model, source, made)
    return model.trace(asked, fed, labels, interventions, with_positions=with_positions)


def _as_fed(model: CanTranslate, source: SourceSentence, made: Translation) -> tuple[Tensor, Tensor, Labels]:
    device = device_of(model)
    said = made.ids[:-1] if made.finished else made.ids
    wanted = made.labels if made.finished else [*made.labels, "?"]
    labels = Labels(source.labels, wanted, ["start", *made.labels[: len(said)]])
    return source.ids.to(device), torch.tensor([START, *said], device=device), labels
