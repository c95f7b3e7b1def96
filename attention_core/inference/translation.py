"""A typed English sentence in a translator: cut into pieces, translated, traced, its attention merged by word."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.edits import Edits, restrict_queries
from attention_core.attention.trace import AttentionTrace
from attention_core.data import pieces as subwords
from attention_core.device import device_of
from attention_core.explain.alignment import merge_to_words
from attention_core.explain.heads import mean_over_heads
from attention_core.models.transformer import (
    UNEDITED,
    EditedTranslator,
    EditsByAttention,
    Transformer,
    edited,
    last_cross,
)
from attention_core.models.translator import CanTranslate, Labels, Translator, beam_search

END_LABEL = "end"
NEXT_LABEL = "?"  # stands for the word with which an unfinished translation would go on
MAX_CHARACTERS = 1000
"""Characters of a sentence that are read, so that a single endless word costs little."""

MAX_SOURCE_PIECES = 99  # pieces of a sentence that are read, before the end piece
_ORDINARY_WORDS = frozenset(["je", "il", "nous", "tu", "vous", "pour", "a", "y", "c'", "j'", "an", "in", "can"])
"""Words that are no names, though the vocabulary has them with a capital, too, since they often begin a sentence."""


@dataclass(frozen=True, eq=False)
class SourceSentence:
    """An English sentence as a translator reads it."""

    words: list[str]  # as typed, for people
    ids: Tensor  # int64 (n_pieces + 1,), pieces of the words in lower case, the end piece last
    labels: list[str]  # one text per piece, and "end"
    word_of: list[int]  # which word each piece belongs to; len(words) for the end
    n_dropped: int  # words beyond the bounds, which are not read

    @property
    def word_labels(self) -> list[str]:
        return [*self.words, END_LABEL]

    @property
    def in_vocabulary(self) -> list[bool]:
        """For each word, whether the vocabulary has it as one piece."""
        unknown = self.unknown_words
        return [self.word_of.count(index) == 1 and word not in unknown for index, word in enumerate(self.words)]

    @property
    def split_words(self) -> list[tuple[str, list[str]]]:
        """The words that are cut into several pieces, each with its pieces."""
        pieces: list[list[str]] = [[] for _ in range(len(self.words) + 1)]
        for label, word in zip(self.labels, self.word_of, strict=True):
            pieces[word].append(label)
        return [(word, its_pieces) for word, its_pieces in zip(self.words, pieces, strict=False) if len(its_pieces) > 1]

    @property
    def unknown_words(self) -> list[str]:
        """Words of which the vocabulary lacks a letter or sign: the model cannot tell them apart."""
        pieces = zip(self.ids.tolist(), self.word_of, strict=True)
        return [self.words[word] for word in sorted({word for piece, word in pieces if piece == subwords.UNKNOWN})]


class Translation(NamedTuple):
    """A French sentence that a translator made, or the beginning of one."""

    ids: list[int]  # its pieces, END last if it is finished
    labels: list[str]  # one text per piece, "end" for END
    words: list[str]  # without space marks, the first with a capital
    word_of: list[int]  # which word each piece belongs to; len(words) for the end
    text: str  # the sentence
    probabilities: list[float]  # of each piece, forced or not, given those before it; empty if not computed
    is_finished: bool  # whether the model said that it ends here

    @property
    def word_labels(self) -> list[str]:
        return [*self.words, END_LABEL] if self.is_finished else self.words


class NextPiece(NamedTuple):
    """A possible next piece: its id, its text, its probability."""

    piece: int
    text: str
    probability: float


@lru_cache(maxsize=200)
def read_source(text: str) -> SourceSentence:
    """Cut an English sentence into words and pieces; words beyond the bounds are counted, but not read.

    ValueError where nothing in it can be read.
    """
    words = subwords.english_words(text[:MAX_CHARACTERS])
    if not words:
        raise ValueError("There is nothing to read yet: type an English sentence.")
    n_typed = len(words) + len(text[MAX_CHARACTERS:].split())
    pieces = subwords.load_vocabulary().cut([word.lower() for word in words[: subwords.MAX_WORDS]])
    n = MAX_SOURCE_PIECES
    ids, texts, word_of = pieces.ids[:n], pieces.texts[:n], pieces.word_of[:n]
    words = words[: word_of[-1] + 1]
    with torch.inference_mode(False):  # the result is cached, and the next caller may need gradients
        source_ids = torch.tensor([*ids, subwords.END])
    return SourceSentence(
        words=[subwords.strip_space_mark(word) for word in words],
        ids=source_ids,
        labels=[*map(_piece_label, texts), END_LABEL],
        word_of=[*word_of, len(words)],
        n_dropped=n_typed - len(words),
    )


def _piece_label(text: str) -> str:
    return subwords.strip_space_mark(text) or subwords.SPACE


def french_prefix(text: str) -> list[int]:
    """Return the pieces of typed French words with which a translation is to begin.

    The first word loses its capital unless it is a name, as in the sentences that the models learned from.
    """
    words = subwords.french_words(text[:MAX_CHARACTERS])[: subwords.MAX_WORDS]
    if not words:
        return []
    vocabulary = subwords.load_vocabulary()
    has_capital_piece = len(vocabulary.cut(words[:1]).ids) == 1
    if not has_capital_piece or subwords.strip_space_mark(words[0]).lower() in _ORDINARY_WORDS:
        words[0] = words[0].lower()
    return vocabulary.cut(words).ids


def translation_of(ids: Sequence[int], probabilities: Sequence[float] = ()) -> Translation:
    """Return pieces as a sentence: which word each piece belongs to, and the text for people."""
    vocabulary = subwords.load_vocabulary()
    is_finished = bool(ids) and ids[-1] == subwords.END
    texts = [vocabulary.text(piece) for piece in (ids[:-1] if is_finished else ids)]
    joined = "".join(texts).replace(subwords.SPACE, " ")
    spans = subwords.french_spans(joined)
    starts = [start for start, _ in spans]
    word_of, offset = [], 0
    for text in texts:
        first_letter = offset + (len(text) > 1 and text.startswith(subwords.SPACE))  # behind the space mark
        word_of.append(max(0, bisect_right(starts, first_letter) - 1))
        offset += len(text)
    words = [joined[start:stop] for start, stop in spans]
    if words:
        words[0] = words[0][:1].upper() + words[0][1:]
    return Translation(
        ids=list(ids),
        labels=[*map(_piece_label, texts), *([END_LABEL] if is_finished else [])],
        words=words,
        word_of=[*word_of, *([len(words)] if is_finished else [])],
        text=subwords.join_words(texts),
        probabilities=list(probabilities),
        is_finished=is_finished,
    )


def translate(model: CanTranslate, source: SourceSentence, width: int = 5, prefix: Sequence[int] = ()) -> Translation:
    """Return the best translation that begins with the prefix, by beam search; a width of 1 is greedy."""
    return translate_together(model, [source], width, prefix)[0]


def translate_together(
    model: CanTranslate, sources: Sequence[SourceSentence], width: int = 5, prefix: Sequence[int] = ()
) -> list[Translation]:
    """Return the best translations of sentences with the same number of pieces, in one beam search."""
    ids = torch.stack([source.ids for source in sources]).to(device_of(model))
    best = [hypotheses[0] for hypotheses in beam_search(model, ids, width, prefix)]
    return [translation_of(hypothesis.ids, [*map(math.exp, hypothesis.log_probabilities)]) for hypothesis in best]


def forced_translation(
    model: CanTranslate, source: SourceSentence, forced: Sequence[int], edits: Edits | EditsByAttention = ()
) -> Translation:
    """Return the best translation that begins with the forced pieces; if END is the last of them, those alone."""
    model = edited(model, edits)
    if forced and forced[-1] == subwords.END:
        return translation_of(forced, piece_probabilities(model, source, forced))
    return translate(model, source, prefix=forced)


@torch.inference_mode()
def next_pieces(
    model: CanTranslate,
    source: SourceSentence,
    prefix: Sequence[int],
    n: int = 10,
    edits: Edits | EditsByAttention = (),
) -> list[NextPiece]:
    """Return the n likeliest pieces after a prefix, best first."""
    best = _logits(edited(model, edits), source, prefix)[-1].softmax(-1).topk(n)
    vocabulary = subwords.load_vocabulary()
    return [
        NextPiece(piece, END_LABEL if piece == subwords.END else vocabulary.text(piece), probability)
        for piece, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def explain(model: Translator, source: SourceSentence, translation: Translation, edits: Edits = ()) -> AttentionTrace:
    """Return the attention trace of a recurrent translator that is made to write a given translation.

    Row t of the weights is where the decoder looks to write piece t. An unfinished translation has one more row,
    labelled NEXT_LABEL, for the piece that would come next.
    """
    source_ids, decoder_ids, labels = _model_inputs(model, source, translation)
    return model.trace(source_ids, decoder_ids, labels, edits)


def explain_layers(
    model: Transformer, source: SourceSentence, translation: Translation, edits: EditsByAttention = UNEDITED
) -> dict[tuple[str, int], AttentionTrace]:
    """Return the attention traces of a transformer that is made to write a given translation, by (kind, layer)."""
    source_ids, decoder_ids, labels = _model_inputs(model, source, translation)
    return model.trace(source_ids, decoder_ids, labels, edits)


def _model_inputs(
    model: CanTranslate, source: SourceSentence, translation: Translation
) -> tuple[Tensor, Tensor, Labels]:
    """Return the ids that the encoder reads, the ids that the decoder reads, and the labels."""
    device = device_of(model)
    prefix = translation.ids[:-1] if translation.is_finished else translation.ids
    target_labels = translation.labels if translation.is_finished else [*translation.labels, NEXT_LABEL]
    labels = Labels(source.labels, target_labels, ["start", *translation.labels[: len(prefix)]])
    return source.ids.to(device), torch.tensor([subwords.START, *prefix], device=device), labels


@dataclass(frozen=True, eq=False)
class WordView:
    """Weights and probabilities of one translation, by word."""

    target: list[str]  # labels of the rows: words of the translation, "end" or "?" last
    source: list[str]  # labels of the source, "end" last
    keys: list[str]  # labels of the columns: `source`, or the single vector of a translator without attention
    weights: Tensor  # (n_rows, n_columns), each row sums to 1
    probabilities: list[float]  # of each row's word, given all before it; NaN for "?"
    first_piece: list[int]  # piece at which each row begins, from 0
    first_key: list[int]  # key at which each word of the source begins, from 0
    pieces_of: list[list[str]]  # texts of each row's pieces

    def pieces(self, row: int) -> range:
        """Return the positions of a row's pieces."""
        return range(self.first_piece[row], self.first_piece[row] + len(self.pieces_of[row]))

    @property
    def is_single(self) -> bool:
        """Whether the decoder has one vector for the whole sentence, and nothing to choose from."""
        return len(self.keys) == 1 and len(self.source) > 1


def word_view(trace: AttentionTrace, source: SourceSentence, translation: Translation) -> WordView:
    """Return the weights of a trace by word, averaged over all heads.

    The trace is that of a recurrent translator, or of one cross-attention layer, on this translation. Its
    probabilities must have been computed.
    """
    n_unwritten = trace.n_queries - len(translation.ids)  # 1 where the translation goes on, else 0
    labels = [*translation.labels, *[NEXT_LABEL] * n_unwritten]
    probabilities = [*translation.probabilities, *[math.nan] * n_unwritten]
    is_single = trace.n_keys == 1 and len(source.labels) > 1
    word_of = [*translation.word_of, *[len(translation.words)] * n_unwritten]
    row_of = {word: row for row, word in enumerate(dict.fromkeys(word_of))}  # words without a piece have no row
    rows = [row_of[word] for word in word_of]
    pieces_of_rows: list[list[int]] = [[] for _ in row_of]
    for piece, row in enumerate(rows):
        pieces_of_rows[row].append(piece)
    row_texts = [*translation.words, labels[-1]]
    return WordView(
        target=[row_texts[word] for word in row_of],
        source=source.word_labels,
        keys=list(trace.story.key_axis.labels) if is_single else source.word_labels,
        weights=merge_to_words(mean_over_heads(trace), rows, [0] if is_single else source.word_of),
        probabilities=[math.prod(probabilities[piece] for piece in pieces) for pieces in pieces_of_rows],
        first_piece=[pieces[0] for pieces in pieces_of_rows],
        first_key=[bisect_left(source.word_of, word) for word in range(len(source.word_labels))],
        pieces_of=[[labels[piece] for piece in pieces] for pieces in pieces_of_rows],
    )


@dataclass(frozen=True, eq=False)
class TracedTranslation:
    """A translation with its attention, by piece and by word."""

    translator: str  # its name
    forced: tuple[int, ...]  # pieces with which it was made to begin
    translation: Translation
    trace: AttentionTrace  # its attention, over pieces; a transformer's is the last layer's cross-attention
    view: WordView  # the same by word


def trace_translation(
    model: Translator | Transformer | EditedTranslator,
    translator: str,
    source: SourceSentence,
    forced: tuple[int, ...],
    translation: Translation,
    edits: Edits = (),
) -> TracedTranslation:
    """Return a translation with its attention by piece and by word; edits of queries beyond its end are left out.

    Of an edited translator the network is traced, with these edits in place of its own.
    """
    model = model.network if isinstance(model, EditedTranslator) else model
    edits = restrict_queries(edits, 0, len(translation.ids) + (0 if translation.is_finished else 1))
    if isinstance(model, Transformer):
        cross = last_cross(model)
        trace = explain_layers(model, source, translation, {cross: edits})[cross]
    else:
        trace = explain(model, source, translation, edits)
    return TracedTranslation(translator, forced, translation, trace, word_view(trace, source, translation))


@torch.inference_mode()
def piece_probabilities(model: CanTranslate, source: SourceSentence, ids: Sequence[int]) -> list[float]:
    """Return how likely a model finds each of some French pieces, forced or not, given the pieces before it."""
    if not ids:
        return []
    predicted = torch.tensor(ids, device=device_of(model))
    return _logits(model, source, ids[:-1]).softmax(-1).gather(1, predicted[:, None])[:, 0].tolist()


def _logits(model: CanTranslate, source: SourceSentence, ids: Sequence[int]) -> Tensor:
    """Return the logits of the next piece after the start piece and after each of these, (len(ids) + 1, vocabulary)."""
    device = device_of(model)
    decoder_ids = torch.tensor([[subwords.START, *ids]], device=device)
    return model.step(model.begin(source.ids[None].to(device)), decoder_ids)[0][0]


def probability_per_word(probabilities: Sequence[float], n_words: int) -> float:
    """Return the n-th root of the probability of a sentence of n words, the end included: the geometric mean."""
    return math.prod(probabilities) ** (1 / max(n_words, 1))
