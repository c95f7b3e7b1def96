"""Describe a drawing: a recurrent decoder writes a sentence about coloured digits, and looks before each word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, restrict_queries
from attention_core.attention.trace import AttentionTrace, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Story, read_texts
from attention_core.data.scene_captions import END, START, WORDS, decode_caption
from attention_core.data.scenes import ASK_SIDE
from attention_core.models.features import Layer, VisionOutput
from attention_core.models.registry import register
from attention_core.models.scene_question import LAYERS, SceneEncoder, encoder_steps, mlp_of

TEXTS = read_texts(__file__)

LABELS = ("start", "end", *WORDS)
N_WORDS = len(LABELS)


@dataclass(frozen=True)
class SceneCaptionConfig:
    """Sizes, and what learns."""

    side: int = ASK_SIDE  # pixels along a side of the picture
    layers: tuple[Layer, ...] = LAYERS  # of the convolutional network
    d_k: int = 96  # width of queries, keys, values and contexts
    d_word: int = 64  # width of the words' vectors
    d_state: int = 256  # width of the decoder's state
    n_glances: int = 2  # looks that it takes to say the first word
    max_words: int = 24  # the decoder stops here if it has not said the end
    dropout: float = 0.1  # share of the hidden units before a word that are left out while training
    sees_beforehand: bool = True  # whether the picture encoder is that of SceneQuestion, frozen; or learns along


class DecoderStep(NamedTuple):
    """One look of the decoder, (batch, ...) each."""

    query: Tensor
    context: Tensor
    weights: Tensor
    state: Tensor
    logits: Tensor


class Caption(NamedTuple):
    """What was written about one drawing."""

    words: tuple[str, ...]  # as they were said, without the end
    is_finished: bool  # whether the end came
    probabilities: Tensor  # (n_looks, N_WORDS) after each look
    trace: AttentionTrace  # one query per look: the glances, the words, the end


class SceneCaption(SceneEncoder):
    """The picture encoder of SceneQuestion, frozen, and a recurrent decoder that looks at its regions word by word.

    Source: Xu et al. 2015, "Show, attend and tell", section 3.1, with soft attention; the score is a scaled dot
    product, and one more key stands for "nothing", as in SceneQuestion.
    """

    def __init__(self, config: SceneCaptionConfig = SceneCaptionConfig()) -> None:
        super().__init__(config.side, config.layers, config.d_k)
        self.requires_grad_(not config.sees_beforehand)
        self.config = config
        d_k, d_word, d_state = config.d_k, config.d_word, config.d_state
        self.embedding = nn.Embedding(N_WORDS, d_word)
        self.start = nn.Linear(d_k, d_state)
        self.query = mlp_of(d_state + d_word, 2 * d_k, d_k)
        self.cell = nn.GRUCell(d_word + d_k, d_state)
        self.say = nn.Sequential(
            nn.Linear(d_state + d_k, 192), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(192, N_WORDS)
        )

    def train(self, mode: bool = True) -> SceneCaption:
        """Set the mode of the decoder; a frozen encoder never trains."""
        super().train(mode)
        if self.config.sees_beforehand:
            self.features.eval()
        return self

    def looks(
        self,
        encoded: tuple[Tensor, Tensor],
        previous: Tensor | None,
        edits: Edits = (),
        mask: Tensor | None = None,
    ) -> Iterator[DecoderStep]:
        """Yield look after look at encoded pictures, without end.

        `previous`, int64 (batch, n_looks), are the words before each look; None feeds back its own. No look
        sees keys where the mask, (batch, 1, 1, n_regions + 1), is False.
        """
        keys, values = (tensor[:, None] for tensor in encoded)
        state = self.start(encoded[1].mean(1)).tanh()
        word = torch.full((len(state),), START, device=state.device)
        for number in range(self.config.n_glances + self.config.max_words):
            before = self.embedding(word if previous is None else previous[:, number])
            query = self.query(torch.cat((state, before), -1))
            query_edits = restrict_queries(edits, number, 1)
            attended = attend(query[:, None, None], keys, values, mask=mask, edits=query_edits, with_weights=True)
            context = attended.context[:, 0, 0]
            state = self.cell(torch.cat((before, context), -1), state)
            logits = self.say(torch.cat((state, context), -1))
            yield DecoderStep(query, context, attended.weights[:, 0, 0], state, logits)  # type: ignore[index]
            if number + 1 >= self.config.n_glances:
                word = logits.argmax(-1)

    def forward(self, pictures: Tensor, previous: Tensor | None = None, *, edits: Edits = ()) -> VisionOutput:
        """Describe pictures (batch, 4, 64, 64) from coloured_input.

        `previous`, int64 (batch, n_looks), are the words before each look, START before the glances and the first word;
        None feeds back its own.

        Returns logits (batch, n_looks, N_WORDS) and weights (batch, n_looks, n_regions + 1), the empty key's last.
        """
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.config.sees_beforehand):
            encoded = self.encode_pictures(pictures)
        looks = list(islice(self.looks(encoded, previous, edits), None if previous is None else previous.shape[1]))
        return VisionOutput(
            torch.stack([look.logits for look in looks], 1), torch.stack([look.weights for look in looks], 1)
        )

    @torch.inference_mode()
    def explain(self, picture: Tensor, edits: Edits = ()) -> Caption:
        """Describe one picture, (4, 64, 64), and keep everything that happens."""
        picture = torch.as_tensor(picture, dtype=torch.float32, device=self.row.device)
        encoded = self.encode_pictures(picture[None])
        n_glances, looks, utterance = self.config.n_glances, list[DecoderStep](), [START]
        for look in self.looks(encoded, None, edits):
            looks.append(look)
            utterance.append(int(look.logits.argmax()) if len(looks) >= n_glances else START)
            if utterance[-1] == END:
                break
        names = ["glance"] * (n_glances - 1)
        names += [LABELS[number] for number in utterance[n_glances:]]
        query, context, _, states, logits = (torch.cat(tensor) for tensor in zip(*looks, strict=True))
        started = torch.cat((self.start(encoded[1].mean(1)).tanh(), states))
        words, regions = Axis("words", names), self.region_axis
        named = {"states": started, "said": self.embedding.weight[utterance[:-1]], "mlp": self.query}
        story = Story(
            mechanism="attention of a recurrent decoder over a drawing",
            query_axis=words,
            key_axis=regions,
            steps_before=(
                *encoder_steps(picture, encoded, regions, self.named()),
                TEXTS["query"].step(query, words, **named),
            ),
            steps_after=(
                TEXTS["state"].step(
                    states, words, Axis.numbered("units", states.shape[-1]), **named, gru_cell=self.cell
                ),
                TEXTS["output"].step(logits.softmax(-1), words, Axis("words", LABELS), say=self.say),
            ),
        )
        key, value = (tensor[:, None] for tensor in encoded)
        trace = item_trace(query[None, None], key, value, AttentionOutput(context[None, None]), story, edits=edits)
        return Caption(decode_caption(utterance), utterance[-1] == END, logits.softmax(-1), trace)

    def trace(self, picture: Tensor, edits: Edits = ()) -> AttentionTrace:
        return self.explain(picture, edits).trace


register("scene-caption", "vision:evaluate_captions", SceneCaption, SceneCaptionConfig())
_TOGETHER = SceneCaptionConfig(sees_beforehand=False)
register("scene-caption-together", "vision:evaluate_captions", SceneCaption, _TOGETHER)
