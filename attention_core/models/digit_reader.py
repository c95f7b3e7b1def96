"""Read a number: a recurrent decoder looks at one digit after the other, its state as the query."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, restrict_queries
from attention_core.attention.scores import Additive
from attention_core.attention.trace import AttentionTrace, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Role, Story, change, read_texts
from attention_core.data.scenes import MAX_DIGITS, READ_SIZE
from attention_core.models.features import (
    Layer,
    RegionEncoder,
    VisionOutput,
    additive_parameters,
    check_size,
    picture_step,
)
from attention_core.models.registry import register

TEXTS = read_texts(__file__)

LAYERS = (Layer(32, 2), Layer(48), Layer(64, 2), Layer(96), Layer(96), Layer(96, dilation=2))
END = 10
"""The class that says: nothing more to read."""
CLASSES = (*(str(digit) for digit in range(10)), "end")


@dataclass(frozen=True)
class DigitReaderConfig:
    size: tuple[int, int] = READ_SIZE  # height and width of the picture, pixels
    layers: tuple[Layer, ...] = LAYERS  # of the convolutional network
    d_state: int = 128  # width of the decoder's state
    d_additive: int = 64  # hidden units of the additive score
    max_looks: int = MAX_DIGITS + 2  # the decoder stops here if it has not said "end"
    dropout: float = 0.1  # share of the glimpse left out while training


class DigitReading(NamedTuple):
    """What was read in one picture."""

    digits: str  # what was read, without the end
    is_finished: bool  # whether the end token came
    probabilities: Tensor  # (n_looks, 11) after each look
    states: Tensor  # (n_looks + 1, d_state): the start, then the state after each look
    trace: AttentionTrace  # one query per look


class DigitReader(RegionEncoder):
    """Convolutional features, a recurrent decoder, additive attention between them.

    At look t the state h_(t-1) is the query, the features of the regions, plus their positions, are keys and values,
    and the glimpse c_t is their weighted sum; h_t = GRU(c_t, h_(t-1)), and h_t and c_t give a digit or the end. What
    was read is not fed back.

    Source: additive attention of a recurrent decoder over a feature map, Xu et al. 2015, "Show, attend and tell",
    sections 3.1 and 4.2, with the score of Bahdanau et al. 2015, appendix A.1.2.
    """

    def __init__(self, config: DigitReaderConfig = DigitReaderConfig()) -> None:
        super().__init__(1, config.layers, config.size)
        self.config = config
        d, d_state = self.features.n_channels, config.d_state
        self.start = nn.Parameter(torch.zeros(d_state))
        self.score_query, self.score_key, self.score_vector = additive_parameters(config.d_additive, d_state, d)
        self.cell = nn.GRUCell(d, d_state)
        self.dropout = nn.Dropout(config.dropout)
        self.classify = nn.Sequential(
            nn.Linear(d + d_state, d_state), nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(d_state, len(CLASSES))
        )

    def score(self) -> Additive:
        return Additive(self.score_query, self.score_key, self.score_vector)

    def encode(self, pictures: Tensor) -> Tensor:
        """Return the regions (batch, n_regions, d) of pictures (batch, 48, 192) in [0, 1], 1 = ink."""
        check_size(pictures, *self.config.size)
        return self.encode_regions(pictures[:, None])

    def glimpse(
        self, regions: Tensor, state: Tensor, edits: Edits = (), mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Take one look at regions (batch, n_regions, d), with the state h_(t-1) (batch, d_state) as query.

        Returns logits (batch, 11), state h_t (batch, d_state), glimpse (batch, d), weights (batch, n_regions).
        """
        keys = regions[:, None]
        attended = attend(
            state[:, None, None], keys, keys, score=self.score(), mask=mask, edits=edits, with_weights=True
        )
        glimpse = self.dropout(attended.context[:, 0, 0])
        state = self.cell(glimpse, state)
        return self.classify(torch.cat((glimpse, state), -1)), state, glimpse, attended.weights[:, 0, 0]  # type: ignore[index]

    def looks(self, regions: Tensor, n_looks: int, edits: Edits = (), mask: Tensor | None = None) -> VisionOutput:
        """Take looks at regions (batch, n_regions, d), of which the mask, (batch, 1, 1, n_regions), may hide some."""
        state, looks = self.start.expand(len(regions), -1), []
        for number in range(n_looks):
            logits, state, _, weights = self.glimpse(regions, state, restrict_queries(edits, number, 1), mask)
            looks.append((logits, weights))
        logits, weights = (torch.stack(tensors, 1) for tensors in zip(*looks, strict=True))
        return VisionOutput(logits, weights)

    def forward(self, pictures: Tensor, n_looks: int | None = None, edits: Edits = ()) -> VisionOutput:
        """Read pictures, (batch, 48, 192), with n_looks looks each (max_looks if None): logits after every look."""
        return self.looks(self.encode(pictures), n_looks or self.config.max_looks, edits)

    @torch.inference_mode()
    def read(self, picture: Tensor | np.ndarray, *, start: Tensor | None = None, edits: Edits = ()) -> DigitReading:
        """Read one picture, (48, 192) in [0, 1], 1 = ink, until the end token, and keep everything that happens.

        The first query is `start` (d_state,), or the learned one. Edits of looks that never come are left out.
        """
        device = self.start.device
        picture = torch.as_tensor(picture, dtype=torch.float32, device=device)
        regions = self.encode(picture[None])
        state = (self.start if start is None else torch.as_tensor(start, dtype=torch.float32, device=device))[None]
        if state.shape[1:] != self.start.shape:
            raise ValueError(f"start must be ({len(self.start)},), got {tuple(state.shape[1:])}")
        states, glimpses = [state], list[Tensor]()
        logits = list[Tensor]()
        while len(logits) < self.config.max_looks:
            answer, state, glimpse, _ = self.glimpse(regions, state, restrict_queries(edits, len(logits), 1))
            states.append(state)
            glimpses.append(glimpse)
            logits.append(answer)
            if int(answer.argmax()) == END:
                break
        answers, all_states = torch.cat(logits), torch.cat(states)
        classes = answers.argmax(-1).tolist()
        query, key = all_states[None, None, :-1], regions[:, None]
        output = AttentionOutput(torch.cat(glimpses)[None, None])
        story = self._story(picture, regions[0], all_states, answers.softmax(-1))
        came = restrict_queries(edits, 0, len(logits))
        trace = item_trace(query, key, key, output, story, score=self.score(), edits=came)
        digits = "".join(str(digit) for digit in classes if digit != END)
        return DigitReading(digits, classes[-1] == END, answers.softmax(-1), all_states, trace)

    def _story(self, picture: Tensor, regions: Tensor, states: Tensor, probabilities: Tensor) -> Story:
        """Return the story of one picture; the states are the start, then that after each look."""
        looks = Axis("looks", [f"look {number + 1}" for number in range(len(probabilities))])
        regions_axis, features = Axis.picture("regions", *self.grid), Axis.numbered("features", regions.shape[-1])
        units = Axis.numbered("units", states.shape[-1])
        return Story(
            mechanism="additive attention of a recurrent reader",
            query_axis=looks,
            key_axis=regions_axis,
            value_axis=features,
            steps_before=(
                picture_step(
                    picture,
                    r"p \in [0, 1]^{48 \times 192}",
                    "ink = picture.reshape(-1, 1)  # 48 x 192, 0 = paper, 1 = ink",
                    "The canvas, shrunk to 48 x 192 pixels. Nobody says how many digits there are, nor where.",
                ),
                TEXTS["key"].step(
                    regions, regions_axis, features, picture=picture, cnn=self.features, place=self.positions
                ),
                TEXTS["query"].step(states[:-1], looks, units, states=states),
            ),
            steps_after=(
                TEXTS["state"]
                .step(states[1:], looks, units, gru_cell=self.cell)
                .with_origin(change(states[:-1], Role.QUERY)),
                TEXTS["output"].step(probabilities, looks, Axis("classes", CLASSES), classify=self.classify),
            ),
        )

    def trace(self, picture: Tensor, edits: Edits = ()) -> AttentionTrace:
        return self.read(picture, edits=edits).trace


register("digit-reader", "vision:evaluate_reading", DigitReader, DigitReaderConfig())
