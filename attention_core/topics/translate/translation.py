"""A typed English sentence through a translator: read, translated, explained, and seen word by word."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, islice
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.data.pieces import (
    END,
    MAX_WORDS,
    SPACE,
    START,
    UNKNOWN,
    Tokenization,
    english_words,
    french_spans,
    french_words,
    join_words,
    load_vocabulary,
    strip_space_mark,
)
from attention_core.device import device_of
from attention_core.explain.alignment import merge_to_words
from attention_core.models.transformer import EditsByPlace, Transformer
from attention_core.models.translator import CanTranslate, Labels, TiedTranslator, Translator, beam_search

END_LABEL = "end"
NEXT_LABEL = "?"  # stands for the word with which an unfinished translation would go on
MAX_CHARACTERS = 1000
"""Characters of a sentence that are looked at, so that a single endless word costs nothing."""

MAX_SOURCE_PIECES = 99  # pieces of a sentence that are read, before the end piece
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
        """For each word, whether the vocabulary has it as one piece."""
        unknown = self.unknown
        return [self.word_of.count(place) == 1 and word not in unknown for place, word in enumerate(self.words)]

    @property
    def cut(self) -> list[tuple[str, list[str]]]:
        """The words that are cut into several pieces, each with its pieces."""
        pieces: list[list[str]] = [[] for _ in range(len(self.words) + 1)]
        for label, word in zip(self.labels, self.word_of, strict=True):
            pieces[word].append(label)
        return [(word, its_pieces) for word, its_pieces in zip(self.words, pieces, strict=False) if len(its_pieces) > 1]

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


@lru_cache(maxsize=200)
def read_source(text: str) -> SourceSentence:
    """Cut an English sentence into words and pieces; what lies beyond the bounds is counted in words, not read.

    Raises:
        ValueError: nothing in it can be read.
    """
    spoken = english_words(text[:MAX_CHARACTERS])
    if not spoken:
        raise ValueError("There is nothing to read yet: type an English sentence.")
    n_all = len(spoken) + len(text[MAX_CHARACTERS:].split())
    cut = load_vocabulary().cut([word.lower() for word in spoken[:MAX_WORDS]])
    n_pieces = min(len(cut.ids), MAX_SOURCE_PIECES)
    cut = Tokenization(cut.ids[:n_pieces], cut.texts[:n_pieces], cut.word_of[:n_pieces])
    spoken = spoken[: cut.word_of[-1] + 1]
    with torch.inference_mode(False):  # the result is cached, and the next caller may need gradients
        ids = torch.tensor([*cut.ids, END])
    return SourceSentence(
        words=[strip_space_mark(word) for word in spoken],
        ids=ids,
        labels=[*(strip_space_mark(piece) or SPACE for piece in cut.texts), END_LABEL],
        word_of=[*cut.word_of, len(spoken)],
        n_dropped=n_all - len(spoken),
    )


def french_prefix(text: str) -> list[int]:
    """Return the pieces of typed French words with which a translation is to begin.

    The first word loses its capital unless it is a name, as in the sentences that the models learned from.
    """
    words = french_words(text[:MAX_CHARACTERS])[:MAX_WORDS]
    if not words:
        return []
    vocabulary = load_vocabulary()
    is_name = len(vocabulary.cut(words[:1]).ids) == 1 and strip_space_mark(words[0]).lower() not in _NO_NAMES
    if not is_name:
        words[0] = words[0].lower()
    return vocabulary.cut(words).ids


def translation_of(ids: Sequence[int], probabilities: Sequence[float] = ()) -> Translation:
    """Return pieces as a sentence: which word each piece belongs to, and the text for people."""
    vocabulary = load_vocabulary()
    finished = bool(ids) and ids[-1] == END
    texts = [vocabulary.text(piece) for piece in ids[: len(ids) - finished]]
    joined = "".join(texts).replace(SPACE, " ")
    spans = french_spans(joined)
    starts = [start for start, _ in spans]
    word_of, place = [], 0
    for text in texts:
        first = place + (len(text) > 1 and text.startswith(SPACE))
        word_of.append(max(0, bisect_right(starts, first) - 1))
        place += len(text)
    words = [joined[start:end] for start, end in spans]
    if words:
        words[0] = words[0][:1].upper() + words[0][1:]
    return Translation(
        ids=list(ids),
        labels=[*(strip_space_mark(text) or SPACE for text in texts), *([END_LABEL] if finished else [])],
        words=words,
        word_of=[*word_of, *([len(words)] if finished else [])],
        text=join_words(texts),
        probabilities=list(probabilities),
        finished=finished,
    )


def translate(model: CanTranslate, source: SourceSentence, width: int = 5, prefix: Sequence[int] = ()) -> Translation:
    """Return the best translation that begins with the prefix, by beam search; a width of 1 is greedy."""
    best = beam_search(model, source.ids[None].to(device_of(model)), width, prefix)[0][0]
    return translation_of(best.ids, [math.exp(log) for log in best.logs])


def forced_translation(model: CanTranslate, source: SourceSentence, forced: Sequence[int]) -> Translation:
    """Return the best translation that begins with the forced pieces, or those alone if END is the last of them."""
    if forced and forced[-1] == END:
        return translation_of(forced, piece_probabilities(model, source, forced))
    return translate(model, source, prefix=forced)


@torch.inference_mode()
def next_pieces(model: CanTranslate, source: SourceSentence, prefix: Sequence[int], n: int = 10) -> list[NextPiece]:
    """Return the n likeliest pieces after a prefix, best first."""
    device = device_of(model)
    logits, _ = model.step(model.begin(source.ids[None].to(device)), torch.tensor([[START, *prefix]], device=device))
    probabilities = logits[0, -1].softmax(-1)
    best = probabilities.topk(n)
    vocabulary = load_vocabulary()
    return [
        NextPiece(piece, END_LABEL if piece == END else vocabulary.text(piece), probability)
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
    model: Transformer,
    source: SourceSentence,
    translation: Translation,
    interventions: EditsByPlace | None = None,
    *,
    with_positions: bool = True,
) -> dict[tuple[str, int], AttentionTrace]:
    """Return the attention traces of a transformer that is made to write a given translation, by (kind, layer)."""
    source_ids, decoder_ids, labels = _model_inputs(model, source, translation)
    return model.trace(source_ids, decoder_ids, labels, interventions, with_positions=with_positions)


def _model_inputs(
    model: CanTranslate, source: SourceSentence, translation: Translation
) -> tuple[Tensor, Tensor, Labels]:
    """Return the ids that the encoder reads, the ids that the decoder reads, and the labels."""
    device = device_of(model)
    read = translation.ids[:-1] if translation.finished else translation.ids
    predicted = translation.labels if translation.finished else [*translation.labels, NEXT_LABEL]
    labels = Labels(source.labels, predicted, ["start", *translation.labels[: len(read)]])
    return source.ids.to(device), torch.tensor([START, *read], device=device), labels


@dataclass(frozen=True, eq=False)
class WordView:
    """Weights and probabilities of one translation, by word or by piece."""

    target: list[str]  # labels of the rows: what is said, "end" or "?" last
    source: list[str]  # labels of the source, "end" last, in the same unit
    keys: list[str]  # labels of the columns: `source`, or the single vector of a translator without attention
    weights: Tensor  # (n_rows, n_columns), each row sums to 1
    probabilities: list[float]  # of each row's word, given all before it; NaN for "?"
    first_piece: list[int]  # piece at which each row begins, from 0
    pieces_of: list[list[str]]  # texts of each row's pieces

    @property
    def is_single(self) -> bool:
        """Whether the decoder has one vector for the whole sentence, and nothing to choose from."""
        return len(self.keys) == 1 and len(self.source) > 1

    def row_of(self, piece: int) -> int:
        """Return the row that a piece belongs to; the last one for a piece beyond the end."""
        return max((row for row, first in enumerate(self.first_piece) if first <= piece), default=0)


def word_view(
    trace: AttentionTrace,
    source: SourceSentence,
    translation: Translation,
    probabilities: Sequence[float],
    *,
    by_piece: bool = False,
    head: int | None = None,
) -> WordView:
    """Return the weights of a trace by word, or by piece.

    The trace is that of a recurrent translator, or of one cross-attention layer, on this translation. Without a head it
    is averaged over all heads. Probabilities are those of each piece, see piece_probabilities.
    """
    weights = mean_over_heads(trace) if head is None else trace.weights(head)
    n_unwritten = trace.n_queries - len(translation.ids)
    labels = [*translation.labels, *[NEXT_LABEL] * n_unwritten]
    of_pieces = [*probabilities, *[math.nan] * n_unwritten]
    is_single = trace.n_keys == 1 and len(source.labels) > 1
    if by_piece:
        return WordView(
            target=labels,
            source=source.labels,
            keys=list(trace.story.key_axis.labels) if is_single else source.labels,
            weights=weights,
            probabilities=of_pieces,
            first_piece=list(range(len(labels))),
            pieces_of=[[label] for label in labels],
        )
    word_of = [*translation.word_of, *[len(translation.words)] * n_unwritten]
    row_of = {word: row for row, word in enumerate(dict.fromkeys(word_of))}  # words without a piece have no row
    rows = [row_of[word] for word in word_of]
    n_rows = rows[-1] + 1
    members: list[list[int]] = [[] for _ in range(n_rows)]
    for piece, row in enumerate(rows):
        members[row].append(piece)
    names = [*translation.words, labels[-1]]
    return WordView(
        target=[names[word_of[pieces[0]]] for pieces in members],
        source=source.word_labels,
        keys=list(trace.story.key_axis.labels) if is_single else source.word_labels,
        weights=merge_to_words(weights, rows, [0] if is_single else source.word_of),
        probabilities=[math.prod(of_pieces[piece] for piece in pieces) for pieces in members],
        first_piece=[pieces[0] for pieces in members],
        pieces_of=[[labels[piece] for piece in pieces] for pieces in members],
    )


@dataclass(frozen=True, eq=False)
class ShownTranslation:
    """A translation with its attention, by piece and by word."""

    translator: str  # its name
    forced: tuple[int, ...]  # the pieces that it had to begin with
    made: Translation
    trace: AttentionTrace  # its attention, over pieces; a transformer's is one layer's cross-attention
    words: WordView  # the same by word
    view: WordView  # the same by word, or by piece where that was asked for


def show_translation(
    model: Translator | Transformer,
    translator: str,
    source: SourceSentence,
    forced: tuple[int, ...],
    translation: Translation,
    layer: int,
    by_piece: bool,
) -> ShownTranslation:
    """Return a translation with its attention; `layer` is the transformer's, from 1."""
    trace = _trace_of(model, source, translation, layer)
    words = word_view(trace, source, translation, translation.probabilities)
    view = word_view(trace, source, translation, translation.probabilities, by_piece=True) if by_piece else words
    return ShownTranslation(translator, forced, translation, trace, words, view)


def _trace_of(
    model: Translator | Transformer, source: SourceSentence, translation: Translation, layer: int
) -> AttentionTrace:
    if isinstance(model, Transformer):
        return explain_layers(model, source, translation)["cross", layer - 1]
    return explain(model, source, translation)


def mean_over_heads(trace: AttentionTrace) -> Tensor:
    """Return the weights (n_queries, n_keys), averaged over the heads."""
    return torch.stack([trace.weights(head) for head in range(trace.n_heads)]).mean(0)


@torch.inference_mode()
def piece_probabilities(model: CanTranslate, source: SourceSentence, ids: Sequence[int]) -> list[float]:
    """Return how likely a model finds each of some French pieces, forced or not, given the pieces before it."""
    if not ids:
        return []
    device = device_of(model)
    read, predicted = (torch.tensor(pieces, device=device) for pieces in ([START, *ids[:-1]], ids))
    logits, _ = model.step(model.begin(source.ids[None].to(device)), read[None])
    return logits[0].softmax(-1).gather(1, predicted[:, None])[:, 0].tolist()


def sentence_probability(probabilities: Sequence[float], n_words: int) -> tuple[float, float]:
    """Return the probability of a whole sentence, and per word: its n-th root (the geometric mean); the end counts."""
    if not probabilities:
        return 1.0, 1.0
    if min(probabilities) <= 0:
        return 0.0, 0.0
    total = sum(map(math.log, probabilities))
    return math.exp(total), math.exp(total / max(n_words, 1))


class Likeness(NamedTuple):
    """How alike the words of a translation, the rows of its view, are to the English words, by two measures.

    A word of several pieces counts with the mean of their vectors; a row asks with the state at its first piece.
    """

    keys: Tensor  # (n_rows, n_words) cosine of the decoder's state with the keys of an English word
    words: Tensor  # (n_rows, n_words) cosine of the two word vectors; NaN in the row of what is not said yet


def likeness(
    model: TiedTranslator, trace: AttentionTrace, source: SourceSentence, translation: Translation, view: WordView
) -> Likeness:
    """Return how alike state and key, and the two word vectors, are for every row and English word of a view by words.

    The heads of a layer's cross-attention are laid end to end.
    """
    states, keys = (vectors.transpose(0, 1).flatten(1) for vectors in (trace.query, trace.key))
    table = model.embedding.weight
    english = table[source.ids.to(table.device)]
    ends = [*view.first_piece[1:], len(translation.ids)]
    french = torch.stack([
        table[translation.ids[first:end]].mean(0) if first < end else table.new_full(table.shape[1:], torch.nan)
        for first, end in zip(view.first_piece, ends, strict=True)
    ])  # fmt: skip
    key_of = _means(keys, source.word_of) if len(keys) == len(source.word_of) else keys
    return Likeness(_cosines(states[view.first_piece], key_of), _cosines(french, _means(english, source.word_of)))


def likeness_at(
    model: Translator | Transformer, source: SourceSentence, translation: Translation, layer: int
) -> Likeness:
    """Return the likeness of a translation's words, see likeness; `layer` is the transformer's, from 1."""
    trace = _trace_of(model, source, translation, layer)
    return likeness(model, trace, source, translation, word_view(trace, source, translation, translation.probabilities))


def n_agreeing(weights: Tensor, alike: Tensor) -> int:
    """Return in how many rows the English word with the largest weight is also the most alike one."""
    return int((weights.argmax(1) == alike.to(weights.device).argmax(1)).sum())


def _means(vectors: Tensor, word_of: Sequence[int]) -> Tensor:
    groups = torch.tensor(word_of, device=vectors.device)
    return torch.stack([vectors[groups == word].mean(0) for word in range(word_of[-1] + 1)])


def _cosines(rows: Tensor, columns: Tensor) -> Tensor:
    return cosine_similarity(rows[:, None], columns[None], dim=-1).cpu()


LONGEST = MAX_WORDS


class ReadOutCost(NamedTuple):
    """Sizes of what the read-out is given and of the matrix that takes it in, for n states of d numbers."""

    attention: int  # numbers handed over by attention: d, whatever n is
    concatenation: int  # numbers of all states laid end to end: n d
    attention_matrix: int  # parameters of the read-out for state and context, (d + d) d_out
    concatenation_matrix: int  # parameters of the read-out for state and all states, (d + n d) d_out


class Collapse(NamedTuple):
    """n encoder states and the vector that became of them."""

    words: list[str]  # n texts
    states: Tensor  # (n, d)
    weights: Tensor  # (n,), the first decoder state's; they sum to 1
    context: Tensor  # (d,), the weighted sum


def cost(n: int, d_state: int, d_out: int) -> ReadOutCost:
    """Return what n states cost with attention and laid end to end; ValueError for a size below 1."""
    if min(n, d_state, d_out) < 1:
        raise ValueError(f"n, d_state and d_out must be at least 1, got {n}, {d_state} and {d_out}")
    return ReadOutCost(d_state, n * d_state, 2 * d_state * d_out, (1 + n) * d_state * d_out)


def repeat_words(words: Sequence[str], n: int) -> list[str]:
    """Return n words: the given ones, again and again; ValueError without a word or for n below 1."""
    if not words or n < 1:
        raise ValueError(f"words and n must be at least one, got {len(words)} and {n}")
    return list(islice(cycle(words), n))


@torch.inference_mode()
def collapse(model: Translator, text: str, n: int) -> Collapse:
    """Read n words, and let the first decoder state of a translator with attention collect from their states.

    The sentence begins again where it ends. A word of several pieces counts with the state of its last piece; the
    sentence's end is read but not counted.

    Raises:
        ValueError: n out of bounds, or no words.
    """
    if not 1 <= n <= LONGEST:
        raise ValueError(f"n must be from 1 to {LONGEST}, got {n}")
    taken = repeat_words(english_words(text), n)
    cut = load_vocabulary().cut([word.lower() for word in taken])
    device = device_of(model)
    encoding = model.encode(torch.tensor([[*cut.ids, END]], device=device))
    last_piece = {word: piece for piece, word in enumerate(cut.word_of)}
    states = encoding.states[0, [last_piece[word] for word in range(n)]]
    start = model.start(encoding.last).tanh()
    query, _ = model.decoder(model.embedding(torch.tensor([[START]], device=device)), start[None])
    weights = model.score()(query[0], states)[0].softmax(-1)
    return Collapse([strip_space_mark(word) for word in taken], states, weights, weights @ states)


class ContextParts(NamedTuple):
    """A context and what it is the sum of."""

    vectors: Tensor  # (n_keys, d), weight times value; their sum is the context
    context: Tensor  # (d,)
    shares: Tensor  # (n_keys,), how far each part goes along the context, of its length; they sum to 1


def parts_of_context(trace: AttentionTrace, head: int, query: int) -> ContextParts:
    """Return the values times their weights for one query of a head.

    The share of a part is its dot product with the context over that of the context with itself: negative where it
    points the other way. A context of zeros has shares of 0.
    """
    vectors = trace.weights(head, [query])[0][:, None] * trace.value_of(head)
    context = trace.context(head)[query]
    return ContextParts(vectors, context, vectors @ context / (context @ context).clamp(min=1e-30))
