"""Recurrent translators, which differ in what the decoder gets of the encoder's states; beam search for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, restrict_queries
from attention_core.attention.inside_torch import with_buffers
from attention_core.attention.scores import SCORES, Dot, ScaledDot, Score
from attention_core.attention.trace import AttentionTrace, Prediction, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Step, Story, read_texts
from attention_core.data.pieces import END, PAD, START, VOCABULARY_SIZE, load_vocabulary, strip_space_mark
from attention_core.models.registry import register

MECHANISMS = {
    "none": "one fixed vector, no attention",
    "mean": "plain average of the encoder's states",
    "dot": "dot attention over source words",
    "general": "general attention over source words",
    "additive": "additive attention over source words",
}
SCORINGS = tuple(MECHANISMS)
TEXTS = read_texts(__file__)
LAST_STATE = replace(
    TEXTS["key"],
    formula=r"c = [\overrightarrow{h}_n ; \overleftarrow{h}_1]",
    code="key = value = encoder(embedded)[1].view(1, -1)",
    explanation="The encoder reads the sentence forwards and backwards and hands over only where the two readings "
    "ended: one vector for the whole sentence, however long it is.",
)
FED_QUERY = replace(
    TEXTS["query"],
    formula=r"s_t = \mathrm{GRU}([y_{t-1} ; r_{t-1}], s_{t-1})",
    code="query = decoder(torch.cat((embedding(words_so_far), fed), -1), start)[0]",
    explanation=TEXTS["query"].explanation + " It is told what was found for the last one.",
)

N_LIKELY = 10  # candidates shown of each output distribution
LENGTH_PENALTY = 0.8
"""Hypotheses compete by log-probability / length to this power; 0 favours short ones, 1 is the mean per piece."""
MAX_PIECES = 80


class DecoderState(NamedTuple):
    """The state of a decoder, one row per translation; every sentence has the same number of consecutive rows."""

    encoding: Any  # of the source sentences; all rows of a sentence share it
    cache: Tensor  # (n_rows, ...), what the decoder keeps of the pieces so far
    n_pieces: int = 0  # pieces so far, which a recurrent decoder counts

    def select(self, rows: Tensor) -> DecoderState:
        """Return the state of these rows, int64 (n_rows,); a row may be repeated, or left out."""
        return self._replace(cache=self.cache[rows])


class CanTranslate(Protocol):
    """What decoding asks of a model."""

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences (batch, n_source); return the state before the start piece, a row for each."""
        ...

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Go on by target pieces (n_rows, n); return logits (n_rows, n, vocabulary) and the state after them."""
        ...


class Hypothesis(NamedTuple):
    """One finished or cut-off translation."""

    ids: list[int]  # its pieces, END last if it finished
    log_probability: float  # natural log of the probability of all its pieces, a forced prefix not counted
    log_probabilities: list[float]  # natural log for each piece, given those before it, a forced prefix too

    @property
    def is_finished(self) -> bool:
        return bool(self.ids) and self.ids[-1] == END


@torch.inference_mode()
def beam_search(
    model: CanTranslate, source: Tensor, width: int = 5, prefix: Sequence[int] = ()
) -> list[list[Hypothesis]]:
    """Keep the `width` likeliest hypotheses at every step, for sentences (batch, n_source) of one length.

    A width of 1 is greedy search. Every translation begins with the prefix; ValueError for a prefix that is too long or
    has the end piece. Returns the hypotheses of each sentence, best first.

    Source: length normalisation, Wu et al. 2016, section 7, without their constant.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if len(prefix) >= MAX_PIECES or END in prefix:
        raise ValueError(f"prefix must be shorter than {MAX_PIECES} pieces and not end yet, got {len(prefix)} pieces")
    batch, n_source = source.shape
    max_pieces = min(MAX_PIECES, 10 + max(2 * n_source, len(prefix)))  # few translations are twice as long
    state, sentences = model.begin(source), torch.arange(batch, device=source.device)[:, None]
    ids = torch.tensor([START, *prefix], device=source.device).expand(batch, 1, -1)
    totals = torch.zeros(batch, 1, device=source.device)  # one hypothesis each, until there are pieces to choose from
    ended, inputs, log_probabilities = totals.bool(), ids[:, 0], totals.new_zeros(batch, 1, 0)
    while ids.shape[2] <= max_pieces and not ended.all():
        logits, state = model.step(state, inputs)
        logs = logits.log_softmax(-1)
        if inputs.shape[1] > 1:  # the prefix
            log_probabilities = logs[:, :-1].gather(2, inputs[:, 1:, None]).transpose(1, 2)
        logs[:, -1, :END] = -math.inf  # PAD, UNKNOWN and START, which are never written
        gains, pieces = (top.view(*ended.shape, -1) for top in logs[:, -1].topk(width))
        gains.masked_fill_(ended[..., None], -math.inf)
        gains[..., 0].masked_fill_(ended, 0.0)  # a finished one goes on unchanged
        pieces.masked_fill_(ended[..., None], PAD)
        totals, chosen = (totals[..., None] + gains).flatten(1).topk(width)
        row, piece = chosen // width, pieces.flatten(1).gather(1, chosen)
        state, inputs = state.select((row + sentences * ended.shape[1]).flatten()), piece.view(-1, 1)
        ids = _append(ids, row, piece)
        log_probabilities = _append(log_probabilities, row, gains.flatten(1).gather(1, chosen))
        ended = ended.gather(1, row) | (piece == END)
    return [*map(_rank, ids[..., 1:].tolist(), totals.tolist(), log_probabilities.tolist())]


def _append(sequences: Tensor, rows: Tensor, last: Tensor) -> Tensor:
    """Return these rows (batch, n_chosen) of sequences (batch, n_rows, n), each with one more entry at its end."""
    chosen = sequences.gather(1, rows[..., None].expand(-1, -1, sequences.shape[2]))
    return torch.cat((chosen, last[..., None]), 2)


def _rank(rows: list[list[int]], totals: list[float], log_probabilities: list[list[float]]) -> list[Hypothesis]:
    unpadded = [[piece for piece in row if piece != PAD] for row in rows]
    hypotheses = [
        Hypothesis(ids, total, of_pieces[: len(ids)])
        for ids, total, of_pieces in zip(unpadded, totals, log_probabilities, strict=True)
        if total > -math.inf
    ]
    hypotheses.sort(key=lambda it: (it.is_finished, it.log_probability / len(it.ids) ** LENGTH_PENALTY), reverse=True)
    return hypotheses


def _random_like(parameter: Tensor) -> Tensor:
    return torch.randn(parameter.shape) * parameter.shape[-1] ** -0.5


INITIALISERS: dict[str, dict[str, Callable[[Tensor], Tensor]]] = {
    "general": {"score_weight": torch.clone},
    "additive": {"score_query": _random_like, "score_key": _random_like, "score_vector": _random_like},
}
"""For each learned scoring function the model's names of its parameters, and how each begins, from its plain value."""


@dataclass(frozen=True)
class TranslatorConfig:
    """Sizes; equal for all scoring functions, so that only the score differs."""

    # one of SCORINGS. "none" hands over the encoder's last states, the same for every target word, "mean" the plain
    # average of all states; the others attend.
    scoring: str
    cell: str = "gru"  # "gru", or "rnn" for plain tanh units
    d_embedding: int = 192  # width of the pieces' vectors, source and target, shared with the output layer
    d_state: int = 384  # width of decoder and encoder states; the encoder's are two halves, one per reading direction
    d_additive: int = 192  # hidden units of the additive score
    vocabulary_size: int = VOCABULARY_SIZE
    dropout: float = 0.15  # share of the embeddings and of the read-out that is left out in training
    # whether the read-out of a word, made of its state and its context, enters the decoder's next state
    has_input_feeding: bool = False

    @property
    def d_fed(self) -> int:
        return self.d_embedding if self.has_input_feeding else 0


class Labels(NamedTuple):
    """Labels of the positions of a sentence pair."""

    source: Sequence[str]  # one text per source piece, the end included
    target: Sequence[str]  # one text per predicted target piece
    # one text per piece that the decoder is fed; None = the start, then the target without its last
    inputs: Sequence[str] | None = None


class SourceEncoding(NamedTuple):
    """What the encoder makes of source sentences."""

    embedded: Tensor  # (batch, n_source, d_embedding), vectors of the pieces
    states: Tensor  # (batch, n_source, d_state), one per source piece: keys and values
    last: Tensor  # (batch, d_state), where the two reading directions ended


class TiedTranslator(nn.Module):
    """An encoder-decoder whose output is compared with the vectors of all pieces (Press and Wolf 2017)."""

    embedding: nn.Embedding
    output_bias: Tensor
    encode: Callable[..., Any]
    encode_vectors: Callable[..., Any]
    decode: Callable[..., Any]

    def features(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what is compared with the vectors of all pieces, (batch, n_target, d)."""
        return self.decode(self.encode(source), target)[0]

    def logits(self, features: Tensor) -> Tensor:
        """Return (..., VOCABULARY_SIZE) from features (..., d)."""
        return nn.functional.linear(features, self.embedding.weight, self.output_bias)


class Translator(TiedTranslator):
    """Encoder-decoder: bidirectional recurrent encoder, recurrent decoder, one step of attention between them.

    The decoder's state s_t is the query; the encoder's states h_j are keys and values; the context c_t is their
    weighted sum; tanh(W [s_t; c_t]) is compared with the vectors of all pieces. Without input feeding the context does
    not enter the next state, so that all positions of a sentence are trained at once.

    Source: order of the steps and dot, general: Luong et al. 2015, section 3, input feeding: section 3.3; additive:
    Bahdanau et al. 2015, appendix A.1.2; without attention: Sutskever et al. 2014; tied vectors: Press and Wolf 2017.
    """

    feeding: Tensor

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__()
        if config.scoring not in SCORINGS:
            raise ValueError(f"scoring must be one of {SCORINGS}, got {config.scoring!r}")
        self.config = config
        d_embedding, d_state = config.d_embedding, config.d_state
        recurrent = nn.GRU if config.cell == "gru" else nn.RNN
        self.embedding = nn.Embedding(config.vocabulary_size, d_embedding, padding_idx=PAD)
        self.encoder = recurrent(d_embedding, d_state // 2, batch_first=True, bidirectional=True)
        self.decoder = recurrent(d_embedding + config.d_fed, d_state, batch_first=True)
        self.start = nn.Linear(d_state, d_state)
        self.read_out = nn.Linear(2 * d_state, d_embedding)
        self.output_bias = nn.Parameter(torch.zeros(config.vocabulary_size))
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer(
            "feeding", torch.ones(()), persistent=False
        )  # what a read-out that is fed is multiplied by
        if config.scoring in INITIALISERS:
            plain = SCORES[config.scoring].plain_parameters(d_state, d_state, 1, config.d_additive)
            pairs = zip(INITIALISERS[config.scoring].items(), plain.values(), strict=True)
            for (name, initialise), parameter in pairs:
                self.register_parameter(name, nn.Parameter(initialise(parameter.float())))
        nn.init.normal_(self.embedding.weight, std=d_embedding**-0.5)
        with torch.no_grad():
            self.embedding.weight[PAD] = 0

    def without_feeding(self) -> Translator:
        """Return the same network, its parameters shared; its next state gets zeros in place of the read-out."""
        return with_buffers(self, feeding=torch.zeros_like(self.feeding))

    def score(self) -> Score:
        if self.config.scoring in INITIALISERS:
            return SCORES[self.config.scoring](*(getattr(self, name) for name in INITIALISERS[self.config.scoring]))
        return ScaledDot(scale=0.0) if self.config.scoring == "mean" else Dot()

    def encode(self, source: Tensor) -> SourceEncoding:
        """Read source pieces (batch, n_source), the end piece last, in both directions."""
        return self.encode_vectors(self.embedding(source))

    def encode_vectors(self, vectors: Tensor) -> SourceEncoding:
        """Read the pieces' vectors (batch, n_source, d_embedding)."""
        embedded = self.dropout(vectors)
        states, last = self.encoder(embedded)
        return SourceEncoding(embedded, self.dropout(states), last.transpose(0, 1).flatten(1))

    def begin(self, source: Tensor, edits: Edits = ()) -> DecoderState:
        """Read source sentences, see CanTranslate; edits change nothing yet: the encoder has no attention."""
        encoding = self.encode(source)
        return DecoderState(encoding, self._first_cache(encoding))

    def step(self, state: DecoderState, target: Tensor, edits: Edits = ()) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then."""
        features, states, _ = self.decode(state.encoding, target, edits, state.cache, state.n_pieces)
        n_pieces = state.n_pieces + target.shape[1]
        return self.logits(features), state._replace(cache=self._cache(states, features), n_pieces=n_pieces)

    def decode(
        self,
        encoding: SourceEncoding,
        target: Tensor,
        edits: Edits = (),
        cache: Tensor | None = None,
        n_before: int | None = None,
    ) -> tuple[Tensor, Tensor, AttentionOutput]:
        """Run the decoder over target pieces, int64 (batch, n_target): the start piece, then the words so far.

        The cache (batch, d_state + d_fed) is what step keeps after the n_before pieces before these; the batch may then
        have several rows for each sentence, which attend together. Edits count the queries from those pieces on; None =
        there are no others. Returns features (batch, n_target, d_embedding), states (batch, n_target, d_state), which
        are the queries, and the output of attention.
        """
        n, n_rows = target.shape[1], len(target) // len(encoding.states)  # rows of each sentence
        cache = self._first_cache(encoding) if cache is None else cache
        if self.config.has_input_feeding and n > 1:
            return self._decode_stepwise(encoding, target, edits, cache, n_before or 0)
        if n_before is not None:
            edits = restrict_queries(edits, n_before, n, n_rows)
        state, fed = cache.split((self.config.d_state, self.config.d_fed), -1)
        inputs = torch.cat((self.dropout(self.embedding(target)), fed[:, None].expand(-1, n, -1)), -1)
        states, _ = self.decoder(inputs, state[None].contiguous())
        key = self.keys(encoding)[:, None]
        query = states.reshape(len(key), 1, -1, states.shape[-1])
        attended = attend(query, key, key, score=self.score(), edits=edits)
        features = self.read_out(torch.cat((states, attended.context.reshape(states.shape)), -1)).tanh()
        return self.dropout(features), states, attended

    def _decode_stepwise(
        self, encoding: SourceEncoding, target: Tensor, edits: Edits, cache: Tensor, n_before: int
    ) -> tuple[Tensor, Tensor, AttentionOutput]:
        """Do what decode does, each piece after the read-out of the one before it."""
        features, states, contexts = [], [], []
        for number, piece in enumerate(target.split(1, 1)):
            of_piece, state, attended = self.decode(encoding, piece, edits, cache, n_before + number)
            cache = self._cache(state, of_piece)
            features.append(of_piece)
            states.append(state)
            contexts.append(attended.context)
        context = torch.stack(contexts, 3).flatten(2, 3)  # the pieces of a row, then those of the next
        return torch.cat(features, 1), torch.cat(states, 1), AttentionOutput(context)

    def _cache(self, states: Tensor, features: Tensor) -> Tensor:
        """Return what a decoder keeps of its last piece: its state, and its read-out if that is fed back."""
        return torch.cat((states[:, -1], self.feeding * features[:, -1, : self.config.d_fed]), -1)

    def first_state(self, encoding: SourceEncoding) -> Tensor:
        return self.start(encoding.last).tanh()

    def _first_cache(self, encoding: SourceEncoding) -> Tensor:
        return nn.functional.pad(self.first_state(encoding), (0, self.config.d_fed))  # nothing has been read out yet

    def keys(self, encoding: SourceEncoding) -> Tensor:
        """Return the decoder's keys, which are its values too, (batch, n_keys, d_state): all states, or one vector."""
        return encoding.last[:, None] if self.config.scoring == "none" else encoding.states

    def forward(self, source: Tensor, target: Tensor, *, edits: Edits = (), labels: Labels | None = None) -> Prediction:
        """Return logits (batch, n_target, VOCABULARY_SIZE) of next pieces, from source and target so far (batch, n).

        With labels, which name the pieces, the prediction has the attention trace of the first sentence.
        """
        encoding = self.encode(source)
        features, states, attended = self.decode(encoding, target, edits)
        logits = self.logits(features)
        if labels is None:
            return Prediction(logits)
        story = self._story(source, target, labels, encoding, (states[0], features[0], logits[0]))
        query, key = states[:, None], self.keys(encoding)[:, None]
        trace = item_trace(query, key, key, attended, story, score=self.score(), edits=edits)
        return Prediction(logits, (trace,))

    def _story(
        self,
        source: Tensor,
        target: Tensor,
        labels: Labels,
        encoding: SourceEncoding,
        decoded: tuple[Tensor, Tensor, Tensor],  # states, features and logits of the first sentence
    ) -> Story:
        is_single, (states, features, logits) = self.config.scoring == "none", decoded
        words, queries = Axis("source words", labels.source), Axis("target words", labels.target)
        keys = Axis("last state", ["whole sentence"]) if is_single else words
        start, is_fed = self.first_state(encoding)[:1], self.config.has_input_feeding
        named = {"decoder": self.decoder, "embedding": self.embedding, "words_so_far": target[0], "start": start}
        query_steps: tuple[Step, ...] = (TEXTS["query"].step(states, queries, **named),)
        if is_fed:
            fed = self.feeding * torch.cat((torch.zeros_like(features[:1]), features[:-1]))
            query_steps = TEXTS["fed"].step(fed, queries, features=features), FED_QUERY.step(states, queries, **named)
        return Story(
            mechanism=MECHANISMS[self.config.scoring] + ", input feeding" * is_fed,
            query_axis=queries,
            key_axis=keys,
            steps_before=(
                TEXTS["embedding"].step(encoding.embedded[0], words, embedding=self.embedding, source=source[0]),
                (LAST_STATE if is_single else TEXTS["key"]).step(self.keys(encoding)[0], keys, encoder=self.encoder),
                *query_steps,
            ),
            steps_after=(
                TEXTS["read_out"].step(features, queries, read_out=self.read_out),
                self._output_step(logits, queries),
            ),
        )

    def _output_step(self, logits: Tensor, queries: Axis) -> Step:
        probabilities = logits.softmax(-1)
        likely = probabilities.amax(0).topk(min(N_LIKELY, logits.shape[-1])).indices
        candidates = likely[torch.argsort(probabilities[:, likely].argmax(0), stable=True)]
        vocabulary = load_vocabulary()
        labels = ["end" if piece == END else strip_space_mark(vocabulary.text(piece)) for piece in candidates.tolist()]
        return (
            TEXTS["output"]
            .filled(n=f"{self.config.vocabulary_size:,}")
            .step(
                probabilities[:, candidates],
                queries,
                Axis("pieces", labels),
                embedding=self.embedding,
                bias=self.output_bias,
                likely=candidates,
            )
        )

    def trace(self, source: Tensor, target: Tensor, labels: Labels, edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one sentence (n_source,) and its target so far (n_target,)."""
        with torch.inference_mode():
            return self(source[None], target[None], edits=edits, labels=labels).traces[0]


_PLAIN = TranslatorConfig("none", cell="rnn", d_embedding=128)
register("translator-plain", "translation:evaluate_translation", Translator, _PLAIN)
for _scoring in ("none", "mean", "dot", "additive"):
    register(f"translator-{_scoring}", "translation:evaluate_translation", Translator, TranslatorConfig(_scoring))
_FED = TranslatorConfig("dot", has_input_feeding=True)
register("translator-input-feeding", "translation:evaluate_translation", Translator, _FED)
