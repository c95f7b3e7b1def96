"""Judge a sentence: a recurrent encoder, attention with one learned query over its states, an answer.

Three models: with attention, with the plain mean in its place, and in two phases, where the trained attention is
frozen and tells a second network what to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits
from attention_core.attention.scores import Additive, ScaledDot, Score
from attention_core.attention.trace import AttentionTrace, Prediction, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Step, Story, read_texts
from attention_core.data.review_pieces import N_VECTORS, NEGATED, PAD, UNKNOWN
from attention_core.models.features import additive_parameters
from attention_core.models.registry import register

MECHANISMS = {
    "attention": "additive attention with one learned query",
    "mean": "plain average of the encoder's states",
    "two-phase": "frozen attention over a second network's words",
}
TEXTS = read_texts(__file__)
KEYS = replace(TEXTS["key"], title="Encoder states: keys").filled(assigned="key", part="key")
KEYS_AND_VALUES = TEXTS["key"].filled(assigned="key = value", part="key and value")

ANSWERS = ("negative", "positive")
POOLINGS = ("attention", "mean")


@dataclass(frozen=True)
class SentenceConfig:
    """Sizes; equal for attention and mean, so that only the pooling differs."""

    pooling: str = "attention"  # "attention" or "mean"
    d_embedding: int = 24  # width of the words' vectors
    d_state: int = 64  # width of a word's state: two halves, one per reading direction
    d_query: int = 32  # width of the learned query
    d_additive: int = 64  # hidden units of the additive score
    word_dropout: float = 0.2  # share of the words that are hidden in training, so that none is relied on alone
    embedding_dropout: float = 0.4  # share of the vectors' numbers that are left out in training
    state_dropout: float = 0.4  # share of the states' and the context's numbers that are left out in training


class SentenceEncoding(NamedTuple):
    embedded: Tensor  # (batch, n_words, d_embedding)
    states: Tensor  # (batch, n_words, d_state): keys and values
    mask: Tensor  # bool (batch, n_words), False = padding


class WordVectors(nn.Module):
    """A vector per word: the sum of the vectors of its pieces, and of the pair with the word before if that is known.

    What a negation reaches is turned: each number is multiplied by a learned one, at first -1.

    Source: words as sums of their parts, Bojanowski et al. 2017; pieces, Sennrich et al. 2016; pairs of words, Joulin
    et al. 2017, "Bag of tricks".
    """

    def __init__(self, width: int, word_dropout: float) -> None:
        super().__init__()
        self.table = nn.Embedding(N_VECTORS, width, padding_idx=PAD)
        self.turn = nn.Parameter(-torch.ones(width))
        self.word_dropout = word_dropout
        nn.init.normal_(self.table.weight, std=0.03)  # little: what is not learned should not tell words apart
        with torch.no_grad():
            self.table.weight[PAD] = 0

    def forward(self, pieces: Tensor) -> Tensor:
        """Return (batch, n_words, width) from pieces, int64 (batch, n_words, n_pieces)."""
        if self.training and self.word_dropout:
            pieces = hide_words(pieces, self.word_dropout)
        negated = pieces[..., -1:] == NEGATED
        return self.table(pieces[..., :-1]).sum(-2) * torch.where(negated, self.turn, 1)


def hide_words(pieces: Tensor, share: float) -> Tensor:
    hidden = (torch.rand(pieces.shape[:-1], device=pieces.device) < share) & (pieces[..., 0] != PAD)
    unknown = torch.full_like(pieces, PAD)
    unknown[..., 0] = UNKNOWN
    return torch.where(hidden[..., None], unknown, pieces)


class SentenceClassifier(nn.Module):
    """Word vectors, a bidirectional GRU, one look at its states, a linear answer.

    The query is one learned vector, the same for every sentence: it stands for the question "what tells whether this
    is praise?". Keys and values are the GRU's states.

    Source: Yang et al. 2016, "Hierarchical attention networks", section 2.2, whose word context vector is this query;
    additive score: Bahdanau et al. 2015, appendix A.1.2.
    """

    def __init__(self, config: SentenceConfig) -> None:
        super().__init__()
        if config.pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {POOLINGS}, got {config.pooling!r}")
        self.config = config
        self.vectors = WordVectors(config.d_embedding, config.word_dropout)
        self.encoder = nn.GRU(config.d_embedding, config.d_state // 2, batch_first=True, bidirectional=True)
        self.answer = nn.Linear(config.d_state, len(ANSWERS))
        self.helper = nn.Linear(config.d_embedding, len(ANSWERS))
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.state_dropout = nn.Dropout(config.state_dropout)
        if config.pooling == "attention":
            self.query = nn.Parameter(torch.randn(config.d_query))
            parameters = additive_parameters(config.d_additive, config.d_query, config.d_state)
            self.score_query, self.score_key, self.score_vector = parameters

    def score(self) -> Score:
        """Return the scoring function; for the mean one that is 0 for every word."""
        if self.config.pooling == "mean":
            return ScaledDot(scale=0.0)
        return Additive(self.score_query, self.score_key, self.score_vector)

    def queries(self, n: int) -> Tensor:
        """Return the learned query for n sentences, (n, 1, 1, d_query); zeros for the mean, which has no query."""
        query = self.query if self.config.pooling == "attention" else self.answer.weight.new_zeros(self.config.d_state)
        return query.expand(n, 1, 1, -1)

    def encode(self, pieces: Tensor, mask: Tensor | None = None) -> SentenceEncoding:
        """Read pieces, int64 (batch, n_words, n_pieces), PAD = no piece, in both directions; mask: False = padding."""
        mask = mask if mask is not None else torch.ones(pieces.shape[:2], dtype=torch.bool, device=pieces.device)
        embedded = self.embedding_dropout(self.vectors(pieces))
        packed = pack_padded_sequence(embedded, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=pieces.shape[1])
        return SentenceEncoding(embedded, self.state_dropout(states), mask)

    def attend(self, encoding: SentenceEncoding, value: Tensor | None = None, edits: Edits = ()) -> AttentionOutput:
        """Let the learned query look at the states; it gets these, or else value (batch, n_words, d_v), weighted."""
        return attend(
            self.queries(len(encoding.states)),
            encoding.states[:, None],
            (encoding.states if value is None else value)[:, None],
            score=self.score(),
            mask=encoding.mask[:, None, None],
            edits=edits,
        )

    def forward(
        self, pieces: Tensor, mask: Tensor | None = None, *, edits: Edits = (), labels: Sequence[str] | None = None
    ) -> Prediction:
        """Judge sentences: logits (batch, 2), negative and positive; the first one's labels ask for its trace."""
        return self.predict(pieces, self.encode(pieces, mask), edits, labels)

    def predict(
        self,
        pieces: Tensor,
        encoding: SentenceEncoding,
        edits: Edits,
        labels: Sequence[str] | None,
        second: TwoPhaseClassifier | None = None,
        values: Tensor | None = None,
    ) -> Prediction:
        """Answer from encoded sentences; a second network answers from values (batch, n_words, d_v) of its own."""
        attended = self.attend(encoding, values, edits)
        reader = second or self
        logits = reader.answer(reader.state_dropout(attended.context[:, 0, 0]))
        if labels is None:
            return Prediction(logits)
        values = encoding.states if values is None else values
        n, attends = len(labels), self.config.pooling == "attention"
        if int(encoding.mask[0].sum()) != n:
            raise ValueError(f"labels must name each word: {int(encoding.mask[0].sum())} words, got {n} labels")
        words, asker = Axis("words", labels), Axis("query", ["the learned query" if attends else "nobody"])
        embedded, states, query = encoding.embedded[0, :n], encoding.states[:1, None, :n], self.queries(1)
        before: list[Step] = [
            TEXTS["embedding"]
            .filled(negated=NEGATED)
            .step(embedded, words, table=self.vectors.table, turn=self.vectors.turn, pieces=pieces[0, :n]),
            (KEYS if second else KEYS_AND_VALUES).step(states[0, 0], words, encoder=self.encoder),
        ]
        if second:
            before.append(TEXTS["value"].step(values[0, :n], words, read=second.read))
        if attends:
            before.append(TEXTS["query"].filled(width=query.shape[-1]).step(query[0, 0], asker, q=self.query))
        output = TEXTS["answer"].step(logits[:1].softmax(-1), asker, Axis("answers", ANSWERS), answer=reader.answer)
        story = Story(
            mechanism=MECHANISMS["two-phase" if second else self.config.pooling],
            query_axis=asker,
            key_axis=words,
            steps_before=tuple(before),
            steps_after=(output,),
        )
        value = values[:1, None, :n]
        trace = item_trace(query, states, value, attended, story, score=self.score(), edits=edits)
        return Prediction(logits, (trace,))

    def training_logits(self, pieces: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of the answer and those of a helper, used in training alone, both (batch, 2).

        A recurrent state can carry what was said anywhere. The helper is handed the bare word vectors with the same
        weights and must answer as well: that ties the weights to the words. Without it (seed 0, d_state 96) the ranks
        of weight and of the effect of removing a word agreed to 0.07 on average, at an accuracy of 80.9 %.
        """
        encoding = self.encode(pieces, mask)
        attended = self.attend(encoding, torch.cat((encoding.states, encoding.embedded), -1)).context[:, 0, 0]
        context, words = attended.split((self.config.d_state, self.config.d_embedding), -1)
        return self.answer(self.state_dropout(context)), self.helper(words)

    def trace(self, pieces: Tensor, labels: Sequence[str], edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one sentence, pieces (n_words, n_pieces) with its words as labels."""
        with torch.inference_mode():
            return self(pieces[None], edits=edits, labels=labels).traces[0]


class TwoPhaseClassifier(nn.Module):
    """A second network that sees a sentence only through the frozen weights of a first one, the trained `guide`.

    It reads the guide's word vectors one by one and knows nothing of the rest of the sentence: each becomes a value,
    tanh(W x + b), and the frozen weights decide how much of each is handed over.
    """

    def __init__(self, config: SentenceConfig) -> None:
        super().__init__()
        self.config = config
        self.guide = SentenceClassifier(config).requires_grad_(False)
        self.read = nn.Linear(config.d_embedding, config.d_state)
        self.answer = nn.Linear(config.d_state, len(ANSWERS))
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.state_dropout = nn.Dropout(config.state_dropout)

    def train(self, mode: bool = True) -> TwoPhaseClassifier:
        """Set the mode of the second network; the first one is frozen and never drops anything."""
        super().train(mode)
        self.guide.eval()
        return self

    def forward(
        self, pieces: Tensor, mask: Tensor | None = None, *, edits: Edits = (), labels: Sequence[str] | None = None
    ) -> Prediction:
        with torch.no_grad():
            encoding = self.guide.encode(pieces, mask)
            visible = hide_words(pieces, self.config.word_dropout) if self.training else pieces
            embedded = self.guide.vectors(visible)
        values = self.state_dropout(self.read(self.embedding_dropout(embedded)).tanh())
        return self.guide.predict(pieces, encoding, edits, labels, self, values)

    trace = SentenceClassifier.trace


register("sentence-attention", "classification:evaluate_sentences", SentenceClassifier, SentenceConfig())
register("sentence-mean", "classification:evaluate_sentences", SentenceClassifier, SentenceConfig("mean"))
register("sentence-two-phase", "classification:evaluate_sentences", TwoPhaseClassifier, SentenceConfig())
