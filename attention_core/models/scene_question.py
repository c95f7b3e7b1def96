"""Ask about a drawing: a question, read word by word, decides where in the picture to look, three times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_core.attention.attend import attend
from attention_core.attention.edits import BatchWeights, Edits
from attention_core.attention.scores import Additive, ScaledDot, Score
from attention_core.attention.steps import affine_parameters
from attention_core.attention.trace import AttentionTrace, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Step, Story, read_texts
from attention_core.data.questions import ANSWERS, FIRST_WORD_ID, WORDS, word_ids_of
from attention_core.data.scenes import ASK_SIDE
from attention_core.models.features import (
    Layer,
    RegionEncoder,
    VisionOutput,
    additive_parameters,
    check_size,
    picture_step,
)
from attention_core.models.registry import register

EMPTY = "nothing"
"""Label of the empty key, after the regions'."""

TEXTS = read_texts(__file__)
CONTEXT_TEXTS = ("; nothing was found before", ", and what the look before has found")  # of look 0, of a later one


class ReasoningStep(NamedTuple):
    """What happens in one look, at the question first and then at the picture; tensors are (batch, 1, ...)."""

    word_query: Tensor
    word_output: AttentionOutput  # of the attention over the question's words
    previous_context: Tensor  # the picture's, of the look before; zeros before the first
    query: Tensor
    output: AttentionOutput  # of the attention over the picture's regions


def region_trace(
    steps: Sequence[ReasoningStep],
    number: int,
    encoded: tuple[Tensor, Tensor],
    regions: Axis,
    probabilities: Tensor,
    score: Score,
    edits: Edits,
    named: Mapping[str, Any],
) -> AttentionTrace:
    """Return the trace of one look, counted from 0, at the picture.

    `encoded` are key and value (1, n_regions + 1, d_k), the empty ones last; `edits` are those of
    all looks; `named` has the values that the steps' code names.
    """
    step, (key, value) = steps[number], encoded
    query_axis = Axis("queries", [f"look {number + 1}"])
    scoring = "dot" if isinstance(score, ScaledDot) else "additive"
    query_step = (
        TEXTS["query"]
        .filled(found=CONTEXT_TEXTS[number > 0])
        .step(
            step.query[0, 0],
            query_axis,
            **named,
            words_context=step.word_output.context[0, 0],
            found=step.previous_context[0, 0],
        )
    )
    story = Story(
        mechanism=f"{scoring} attention of a question over a drawing, look {number + 1} of {len(steps)}",
        query_axis=query_axis,
        key_axis=regions,
        value_axis=Axis.numbered("dimensions", value.shape[-1]),
        steps_before=(*encoder_steps(named["picture"], encoded, regions, named), query_step),
        steps_after=(answer_step(steps, probabilities, named),) if number == len(steps) - 1 else (),
    )
    return item_trace(step.query, key[None], value[None], step.output, story, score=score, edits=edits)


def answer_step(steps: Sequence[ReasoningStep], probabilities: Tensor, named: Mapping[str, Any]) -> Step:
    """Return the step from what all looks have found, the last look's context among it, to the answer."""
    numbers = range(1, len(steps) + 1)
    names = [f"{letter}_{number}" for number in numbers for letter in "wc"]
    text = TEXTS["output"].filled(read="; ".join(names), parts=", ".join([*names[:-1], "context"]))
    words = {f"w_{number}": step.word_output.context[0, 0] for number, step in zip(numbers, steps, strict=True)}
    contexts = {f"c_{number}": step.output.context[0, 0] for number, step in zip(numbers, steps[:-1], strict=False)}
    answers = Axis("questions", ["this question"]), Axis("answers", list(ANSWERS))
    return text.step(probabilities[None], *answers, **named, **words, **contexts)


def encoder_steps(
    picture: Tensor, encoded: tuple[Tensor, Tensor], regions: Axis, named: Mapping[str, Any]
) -> tuple[Step, ...]:
    """Return the steps that lead from a picture (4, 64, 64) to keys and values (1, n_regions + 1, d_k)."""
    named = {**named, "picture": picture}
    return (
        picture_step(
            picture,
            r"p \in [0, 1]^{4 \times 64 \times 64}",
            "ink = picture[0].reshape(-1, 1)  # of 4 x 64 x 64: ink, and its red, green and blue",
            "The canvas, shrunk to 64 x 64 pixels. The model sees ink, and its colour.",
        ),
        TEXTS["key"].filled(n=len(regions) - 1).step(encoded[0][0], regions, **named),
        TEXTS["value"].step(encoded[1][0], regions, **named),
    )


def word_trace(steps: Sequence[ReasoningStep], number: int, labels: Sequence[str], states: Tensor) -> AttentionTrace:
    """Return the trace of one look, counted from 0, at the question, whose words have states (1, n_words, d_word)."""
    step = steps[number]
    story = Story(
        mechanism=f"attention over the words of the question, look {number + 1} of {len(steps)}",
        query_axis=Axis("queries", [f"look {number + 1}"]),
        key_axis=Axis("words", list(labels)),
    )
    return item_trace(step.word_query, states[None], states[None], step.word_output, story)


LAYERS = (Layer(32, 2), Layer(48), Layer(64, 2), Layer(96), Layer(96), Layer(96, dilation=2))
SCORINGS = ("dot", "additive")


@dataclass(frozen=True)
class SceneQuestionConfig:
    side: int = ASK_SIDE  # pixels along a side of the picture
    layers: tuple[Layer, ...] = LAYERS  # of the convolutional network
    d_word: int = 128  # width of the words' vectors, and of the states of the question's encoder
    d_k: int = 96  # width of queries, keys, values and contexts
    d_additive: int = 64  # hidden units of the additive score
    n_looks: int = 3  # at the question and then at the picture, one after another
    dropout: float = 0.1  # share of the answer's hidden units left out while training


class SceneAnswer(NamedTuple):
    """One question about one picture, answered."""

    probabilities: Tensor  # (n_answers,), in the order of ANSWERS
    looks: tuple[AttentionTrace, ...]  # a trace per look at the picture: one query; keys are regions and the empty key
    words: tuple[AttentionTrace, ...]  # a trace per look at the question: one query; keys are its words


class SceneEncoder(RegionEncoder):
    """Encodes a drawing: a key and a value per region, and one more of each for "nothing"."""

    def __init__(self, side: int, layers: tuple[Layer, ...], d_k: int) -> None:
        super().__init__(4, layers, (side, side))
        self.side, d = side, self.features.n_channels
        self.key, self.value = nn.Linear(d, d_k), nn.Linear(d, d_k)
        self.empty_key = nn.Parameter(torch.zeros(d_k))
        self.empty_value = nn.Parameter(torch.zeros(d_k))

    @property
    def region_axis(self) -> Axis:
        """What the keys stand for: the regions, then nothing."""
        return Axis("regions", [*Axis.picture("regions", *self.grid).labels, EMPTY], self.grid)

    def encode_pictures(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values (batch, n_regions + 1, d_k), the empty ones last, of pictures (batch, 4, 64, 64)."""
        check_size(pictures, 4, self.side, self.side)
        regions = self.encode_regions(pictures)
        shape = len(pictures), 1, -1
        keys = torch.cat((self.key(regions), self.empty_key.expand(*shape)), 1)
        return keys, torch.cat((self.value(regions), self.empty_value.expand(*shape)), 1)

    def named(self) -> dict[str, Any]:
        """Return the values that the code of encoder_steps names, except the picture."""
        empty = {"empty_key": self.empty_key[None], "empty_value": self.empty_value[None]}
        return {"cnn": self.features, "place": self.positions, **affine_parameters(K=self.key, V=self.value), **empty}


class SceneQuestion(SceneEncoder):
    """Question encoder, picture encoder, and looks that lead from one to the other.

    In every look attention over the question's words says what the look is about. Its context and that of the look
    before make the query of an attention over the picture's regions. One more key stands for "nothing": its weight
    falls as more regions match, so that the context tells how many there are. Two scores are trained together and share
    all parameters except their own and those of the query.

    Source: looking several times, Yang et al. 2016, "Stacked attention networks for image question answering";
    attention over the words of each step, Hudson and Manning 2018, "Compositional attention networks", section 3.2; an
    empty key (zero attention), Miller 2023, "Attention is off by one"; scores, Vaswani et al. 2017, eq. 1, and Bahdanau
    et al. 2015, appendix A.1.2.
    """

    def __init__(self, config: SceneQuestionConfig = SceneQuestionConfig()) -> None:
        super().__init__(config.side, config.layers, config.d_k)
        self.config = config
        d_word, d_k = config.d_word, config.d_k
        self.embedding = nn.Embedding(FIRST_WORD_ID + len(WORDS), d_word, padding_idx=0)
        self.encoder = nn.GRU(d_word, d_word // 2, batch_first=True, bidirectional=True)
        self.word_query = nn.ModuleList([nn.Linear(d_k, d_word) for _ in range(config.n_looks)])
        self.query = nn.ModuleDict(
            {
                scoring: nn.ModuleList([mlp_of(d_word + d_k, 2 * d_k, d_k) for _ in range(config.n_looks)])
                for scoring in SCORINGS
            }
        )
        self.score_query, self.score_key, self.score_vector = additive_parameters(config.d_additive, d_k, d_k)
        d_hidden = 192
        self.answer = nn.Sequential(
            nn.Linear((d_word + d_k) * config.n_looks, d_hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(d_hidden, len(ANSWERS)),
        )

    def score(self, scoring: str) -> Score:
        if scoring not in SCORINGS:
            raise ValueError(f"scoring must be one of {SCORINGS}, got {scoring!r}")
        return ScaledDot() if scoring == "dot" else Additive(self.score_query, self.score_key, self.score_vector)

    def encode_questions(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return states (batch, n_words, d_word) and mask (batch, n_words), True = a word, of padded word numbers."""
        mask = words != 0
        packed = pack_padded_sequence(self.embedding(words), mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=words.shape[1])
        return states, mask

    def forward(self, pictures: Tensor, words: Tensor, scoring: str = "dot", *, edits: Edits = ()) -> VisionOutput:
        """Answer questions, scored by "dot" or "additive", about pictures (n_pictures, 4, 64, 64) from coloured_input.

        The words, int64 (batch, n_words), are padded with 0; every picture has the same number of questions, one after
        another. An edit holds in every look; a pattern of several rows gives each look its row. Returns logits (batch,
        n_answers) and weights (batch, n_looks, n_regions + 1), the empty key's last.
        """
        return self.reason(self.encode_pictures(pictures), self.encode_questions(words), scoring, edits)

    def reason(
        self,
        encoded: tuple[Tensor, Tensor],
        question: tuple[Tensor, Tensor],
        scoring: str,
        edits: Edits = (),
        mask: Tensor | None = None,
        fixed_weights: Tensor | None = None,
    ) -> VisionOutput:
        """Answer encoded questions about encoded pictures, see forward.

        The mask, bool (batch, 1, 1, n_regions + 1), says which regions may be seen; fixed weights, (batch, 1,
        n_looks, n_regions + 1), replace those of the looks.
        """
        steps = list(self._steps(encoded, question, scoring, edits, mask, fixed_weights))
        return VisionOutput(self._answer(steps), _weights_of_looks(steps))

    def training_loss(
        self, pictures: Tensor, words: Tensor, targets: Tensor, smoothing: float, region_targets: Tensor, nudge: float
    ) -> Tensor:
        """Return the mean loss of both scoring functions, which share the encoded pictures and questions.

        Of a picture's questions the first half goes to the dot product, the second to the additive score.
        `region_targets`, (batch, n_looks, n_digits, n_regions), is the share of each region that belongs to a digit
        which this look is about, zeros for no digit; `nudge` is what attention_loss is multiplied by.
        """
        encoded, (states, mask) = self.encode_pictures(pictures), self.encode_questions(words)
        shape = len(pictures), len(SCORINGS), -1
        losses = []
        for number, scoring in enumerate(SCORINGS):
            half_states, half_mask, half_targets, half_regions = (
                tensor.unflatten(0, shape)[:, number].flatten(0, 1)
                for tensor in (states, mask, targets, region_targets)
            )
            steps = list(self._steps(encoded, (half_states, half_mask), scoring, ()))
            losses.append(F.cross_entropy(self._answer(steps), half_targets, label_smoothing=smoothing))
            if nudge:
                losses[-1] = losses[-1] + nudge * attention_loss(_weights_of_looks(steps)[..., :-1], half_regions)
        return torch.stack(losses).mean()

    def _answer(self, steps: list[ReasoningStep]) -> Tensor:
        contexts = [context for step in steps for context in (step.word_output.context, step.output.context)]
        return self.answer(torch.cat(contexts, -1)[:, 0, 0])

    def _steps(
        self,
        encoded: tuple[Tensor, Tensor],
        question: tuple[Tensor, Tensor],
        scoring: str,
        edits: Edits,
        mask: Tensor | None = None,
        fixed_weights: Tensor | None = None,
    ) -> Iterator[ReasoningStep]:
        keys, values = (tensor[:, None] for tensor in encoded)
        states, is_word = question[0][:, None], question[1][:, None, None]
        queries_shape = len(keys), 1, len(states) // len(keys), -1  # all questions about a picture attend together
        score = self.score(scoring)
        context = values.new_zeros(len(states), 1, 1, self.config.d_k)
        queries = cast(nn.ModuleList, self.query[scoring])
        for number, (to_word_query, to_query) in enumerate(zip(self.word_query, queries, strict=True)):
            word_query = to_word_query(context)
            word_output = attend(word_query, states, states, mask=is_word, with_weights=True)
            query = to_query(torch.cat((word_output.context, context), -1)).view(queries_shape)
            look_edits = edits
            if fixed_weights is not None:
                look_edits = (BatchWeights(fixed_weights[..., number : number + 1, :]),)
            output = attend(query, keys, values, score=score, mask=mask, edits=look_edits, with_weights=True)
            before, context = context, output.context.view(context.shape)
            weights = output.weights.view(len(states), 1, 1, -1)  # type: ignore[union-attr]
            yield ReasoningStep(word_query, word_output, before, query, AttentionOutput(context, weights=weights))

    @torch.inference_mode()
    def explain(self, picture: Tensor, words: Sequence[str], scoring: str = "dot", edits: Edits = ()) -> SceneAnswer:
        """Answer one question, see question_words, about one picture, (4, 64, 64), with the traces of all looks."""
        if not words:
            raise ValueError("words must be at least one, got none")
        device = self.row.device
        picture = torch.as_tensor(picture, dtype=torch.float32, device=device)
        encoded = self.encode_pictures(picture[None])
        question = self.encode_questions(torch.tensor([word_ids_of(words)], device=device))
        steps = list(self._steps(encoded, question, scoring, edits))
        probabilities = self._answer(steps)[0].softmax(-1)
        score, named = self.score(scoring), {"picture": picture, **self.named(), "answer": self.answer}
        looks = tuple(
            region_trace(steps, number, encoded, self.region_axis, probabilities, score, edits, {**named, "mlp": mlp})
            for number, mlp in enumerate(cast(nn.ModuleList, self.query[scoring]))
        )
        question_traces = tuple(word_trace(steps, number, words, question[0]) for number in range(len(steps)))
        return SceneAnswer(probabilities, looks, question_traces)


def _weights_of_looks(steps: Sequence[ReasoningStep]) -> Tensor:
    return torch.cat([step.output.weights for step in steps], 2)[:, 0]  # type: ignore[misc]


def mlp_of(d_in: int, d_hidden: int, d_out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(d_in, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_out))


def attention_loss(weights: Tensor, region_targets: Tensor) -> Tensor:
    """Return the mean of -log of the weight on each digit that a look is about, in nats.

    weights: (batch, n_looks, n_regions), without the empty key; region_targets: (batch, n_looks, n_digits, n_regions).
    """
    share = weights / weights.sum(-1, keepdim=True).clamp(min=1e-6)
    inside = (share[:, :, None] * region_targets).sum(-1)
    is_digit = region_targets.sum(-1) > 0
    return -(inside.clamp(min=1e-4).log() * is_digit).sum() / is_digit.sum().clamp(min=1)


register("scene-question", "vision:evaluate_answering", SceneQuestion, SceneQuestionConfig())
