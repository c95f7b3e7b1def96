"""What a recurrent encoder remembers: how much each word of a sentence still matters to its last state.

How much word s still matters at the end is the Frobenius norm of d h_n / d x_s, where x_s is the word's vector and h_n
the last state, by automatic differentiation.
Source: Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult".
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.device import device_of, to_array
from attention_core.inference.translation import SourceSentence
from attention_core.models.translator import Translator

FORMULAS = {
    "GRU": r"h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t",
    "plain RNN": r"h_t = \tanh(W_x x_t + W_h h_{t-1} + b)",
}
CODE = {
    "GRU": "reset, update = torch.sigmoid(W_x[:2] @ x + W_h[:2] @ h + b[:2])\n"
    "proposal = torch.tanh(W_x[2] @ x + b_x + reset * (W_h[2] @ h + b_h))\n"
    "h = update * h + (1 - update) * proposal",
    "plain RNN": "h = torch.tanh(W_x @ x + W_h @ h + b)",
}


class RecurrentPass(NamedTuple):
    """A recurrent network's run over n inputs."""

    states: Tensor  # (n, d), h_t
    # (n, d), the share of each dimension of the old state that was kept, in [0, 1]; None without gates
    update: Tensor | None = None


DIRECTIONS = ("forward", "backward")


@torch.inference_mode()
def read_bidirectionally(model: Translator, ids: Tensor) -> dict[str, RecurrentPass]:
    """Run the encoder over a sentence in both directions; states and gates stand in the order of the sentence."""
    network, inputs = model.encoder, model.embedding(ids.to(device_of(model)))
    halves = network(inputs[None])[0][0].chunk(2, -1)
    if not isinstance(network, nn.GRU):
        return dict(zip(DIRECTIONS, map(RecurrentPass, halves), strict=True))
    readings = {}
    for direction, states, suffix in zip(DIRECTIONS, halves, ("", "_reverse"), strict=True):
        zeros = torch.zeros_like(states[:1])
        before = torch.cat((states[1:], zeros) if suffix else (zeros, states[:-1]))
        of_input, of_state, bias_input, bias_state = (
            getattr(network, f"{name}_l0{suffix}").chunk(3)[1]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        update = (inputs @ of_input.T + bias_input + before @ of_state.T + bias_state).sigmoid()
        readings[direction] = RecurrentPass(states, update)
    return readings


def _norms(of: Callable[[Tensor], Tensor], model: Translator, source: SourceSentence) -> Tensor:
    """Return how much each word, (n_words + 1,), moves a function of pieces' vectors, (batch, n, d_x) -> (batch, d).

    The norm is that of the columns of the Jacobian that belong to the word's pieces; d is the width of a decoder state.
    """
    with torch.inference_mode(False), torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        # cuDNN differentiates no recurrent network in eval mode
        vectors = model.embedding(source.ids.to(device_of(model))).detach()
        copies = vectors.repeat(model.config.d_state, 1, 1).requires_grad_()  # each for one number of what is computed
        slopes = torch.autograd.grad(of(copies).diagonal().sum(), copies)[0]
    squares = slopes.square().sum((0, 2)).cpu()
    return squares.new_zeros(source.word_of[-1] + 1).index_add(0, torch.tensor(source.word_of), squares).sqrt()


def shares(norms: Tensor) -> Tensor:
    """Return each row's norms divided by their sum: what share of the state's sensitivity is to which word."""
    return norms / norms.sum(-1, keepdim=True).clamp(min=1e-30)


def similar_dimensions_first(states: Tensor) -> list[int]:
    """Return an order of the dimensions of states (n, d) in which similar ones are neighbours.

    They are sorted by their angle in the plane of the two leading principal components.
    Source: Friendly 2002, "Corrgrams".
    """
    states = states.cpu().double()  # MPS has no float64
    centred = states - states.mean(0)
    _, _, components = torch.linalg.svd(centred, full_matrices=False)
    return torch.atan2(components[1], components[0]).argsort(stable=True).tolist()


@dataclass(frozen=True, eq=False)
class MemoryOverview:
    """A sentence as a recurrent encoder read it, word by word."""

    labels: list[str]  # one per word, the end last
    states: dict[str, np.ndarray]  # direction -> float (d, n); dimensions that behave alike are neighbours
    # direction -> float (d, n) in [0, 1], in the same order; empty for a network without gates
    update: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.labels)

    def retained_share(self, direction: str, position: int) -> float | None:
        """Return the mean of the update gate while a word was read; None without gates."""
        return float(self.update[direction][:, position].mean()) if direction in self.update else None


def memory_overview(model: Translator, source: SourceSentence) -> MemoryOverview:
    """Read a sentence in both directions; a word's state is the one after its last piece that was read."""
    n, word_of = source.word_of[-1] + 1, source.word_of
    last = {"forward": [bisect_right(word_of, word) - 1 for word in range(n)]}
    last["backward"] = [word_of.index(word) for word in range(n)]
    readings = read_bidirectionally(model, source.ids)
    updates = {direction: reading.update for direction, reading in readings.items()}
    orders = {direction: similar_dimensions_first(reading.states) for direction, reading in readings.items()}

    def in_order(direction: str, rows: Tensor) -> np.ndarray:
        return to_array(rows[last[direction]][:, orders[direction]].T)

    return MemoryOverview(
        labels=source.word_labels,
        states={direction: in_order(direction, reading.states) for direction, reading in readings.items()},
        update={direction: in_order(direction, gates) for direction, gates in updates.items() if gates is not None},
    )


def last_state_shares(model: Translator, source: SourceSentence) -> Tensor:
    """Return what the encoder's two last states, end to end, know of each English word: shares, (n_words + 1,)."""
    return shares(_norms(lambda vectors: model.encoder(vectors)[1].transpose(0, 1).flatten(1), model, source))
