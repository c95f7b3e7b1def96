"""What a recurrent encoder remembers: how much each word of a sentence still matters to its last state.

How much word s still matters at the end is the Frobenius norm of d h_n / d x_s = J_n ... J_{s+1} B_s with
J_t = d h_t / d h_{t-1} and B_s = d h_s / d x_s: a cell's matrices times the slopes of its functions.
Source: Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult".

x_t: vector of the t-th piece, (d_x,). h_t: state after the t-th step, (d,). A plain network computes

    h_t = tanh(W_x x_t + W_h h_{t-1} + b),

and a gated one (GRU; Cho et al. 2014, with the reset gate applied after the product, as torch does)

    r_t = sigmoid(W_xr x_t + W_hr h_{t-1} + b_r)            reset gate
    z_t = sigmoid(W_xz x_t + W_hz h_{t-1} + b_z)            update gate: the share of the old state that is kept
    n_t = tanh(W_xn x_t + b_xn + r_t * (W_hn h_{t-1} + b_hn))
    h_t = z_t * h_{t-1} + (1 - z_t) * n_t.

What attention gives back: how much of each English word the last state knows, and the context at a French word.
Both by the gradient's share. The context c = sum of w_j h_j depends on a word vector in three
ways: through the states h_j, through the weights by the keys, and through the weights by the query s, which goes back
to the encoder's last states. With e_j the score of query and key, and w = softmax(e):

    dc / dh_j = w_j (I + (h_j - c) de_j/dh_j),        dc / ds = sum of w_j (h_j - c) de_j/ds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.attention.scores import Score
from attention_core.data.pieces import START
from attention_core.device import device_of, to_array
from attention_core.models.translator import Translator
from attention_core.topics.translate.translation import SourceSentence

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


class Jacobians(NamedTuple):
    """A recurrent network's run over n inputs, and the derivatives of each state."""

    states_and_gates: RecurrentPass
    by_state: Tensor  # (n, d, d), J_t = d h_t / d h_{t-1}
    by_input: Tensor  # (n, d, d_x), B_t = d h_t / d x_t


def encoder_jacobians(model: Translator, ids: Tensor, direction: str) -> Jacobians:
    """Run the encoder, a GRU or a plain tanh network, over a sentence, pieces int64 (n,), "forward" or "backward"."""
    inputs = model.embedding(ids.to(device_of(model)))
    if direction == "backward":
        return _jacobians(model.encoder, inputs.flip(0), "_reverse")
    return _jacobians(model.encoder, inputs)


def decoder_jacobians(model: Translator, ids: Tensor, first: Tensor) -> Jacobians:
    """Run the decoder over pieces, int64 (n,), the start piece first, from the state before the first word (d,) on."""
    return _jacobians(model.decoder, model.embedding(ids.to(first.device)), first=first)


def _jacobians(network: nn.RNNBase, inputs: Tensor, suffix: str = "", first: Tensor | None = None) -> Jacobians:
    of_input, of_state, bias_input, bias_state = (
        getattr(network, f"{kind}_l0{suffix}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    cell, given = _gru if isinstance(network, nn.GRU) else _tanh, inputs @ of_input.T + bias_input
    states = [of_state.new_zeros(of_state.shape[1]) if first is None else first]
    for one in given:
        states.append(cell(one, of_state @ states[-1] + bias_state, states[-1])[0])
    before = torch.stack(states[:-1])
    seen, d = before @ of_state.T + bias_state, before.shape[1]
    with torch.inference_mode(False), torch.enable_grad():
        parts = [one.clone().requires_grad_() for one in (given, seen, before)]
        after, update = cell(*parts)
        by_given, by_seen, by_before = torch.autograd.grad(after.sum(), parts, materialize_grads=True)

    def through(slopes: Tensor, weights: Tensor) -> Tensor:
        return torch.einsum("nkd,kde->nde", slopes.unflatten(1, (-1, d)), weights.unflatten(0, (-1, d)))

    made = RecurrentPass(after.detach(), None if update is None else update.detach())
    return Jacobians(made, through(by_seen, of_state) + by_before.diag_embed(), through(by_given, of_input))


def _tanh(given: Tensor, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the next state (..., d), by what is made of the input and of the state before, and no gate."""
    return (given + seen).tanh(), None


def _gru(given: Tensor, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the next state (..., d) and the update gate, by what is made of the input and of the state, (..., 3 d)."""
    (reset, update, proposal), (by_reset, by_update, kept) = given.chunk(3, -1), seen.chunk(3, -1)
    update = (update + by_update).sigmoid()
    return update * state + (1 - update) * (proposal + (reset + by_reset).sigmoid() * kept).tanh(), update


DIRECTIONS = ("forward", "backward")


@torch.inference_mode()
def read_both_ways(model: Translator, ids: Tensor) -> dict[str, RecurrentPass]:
    """Run the encoder over a sentence in both directions; states and gates stand in the order of the sentence."""
    forward, backward = (encoder_jacobians(model, ids, direction).states_and_gates for direction in DIRECTIONS)
    update = None if backward.update is None else backward.update.flip(0)
    return {"forward": forward, "backward": RecurrentPass(backward.states.flip(0), update)}


@torch.inference_mode()
def gradient_norms(model: Translator, ids: Tensor, direction: str, word_of: Sequence[int]) -> Tensor:
    """Return how much every word matters to the state in which a reading ends: norms of d h_n / d x_s, (n_words,).

    The pieces are int64 (n,), the end last, and each belongs to a word, whose vector is that of its pieces end to end.
    """
    steps, in_order = encoder_jacobians(model, ids, direction), word_of[::-1] if direction == "backward" else word_of
    words = [[place for place, _ in places] for _, places in groupby(enumerate(in_order), key=itemgetter(1))]
    through, norms = torch.eye(steps.by_state.shape[-1]).to(steps.by_state), []
    for places in reversed(words):
        squares = []
        for place in reversed(places):
            squares.append((through @ steps.by_input[place]).square().sum())
            through = through @ steps.by_state[place]
        norms.append(torch.stack(squares).sum().sqrt())
    return torch.stack(norms if direction == "backward" else norms[::-1]).cpu()


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
    angles = torch.atan2(components[1], components[0])
    return angles.argsort(stable=True).tolist()


@dataclass(frozen=True, eq=False)
class MemoryOverview:
    """A sentence as a recurrent encoder read it, word by word."""

    labels: list[str]  # one per word, the end last
    states: dict[str, np.ndarray]  # direction -> float (d, n); dimensions that behave alike are neighbours
    # direction -> float (d, n) in [0, 1], in the same order; empty for a network without gates
    update: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.labels)

    def share_kept(self, direction: str, place: int) -> float | None:
        """Return the mean of the update gate while a word was read; None without gates."""
        return float(self.update[direction][:, place].mean()) if direction in self.update else None


def memory_overview(model: Translator, source: SourceSentence) -> MemoryOverview:
    """Read a sentence in both directions; a word's state is the one after its last piece that was read."""
    n, ends = source.word_of[-1] + 1, {word: piece for piece, word in enumerate(source.word_of)}
    last = {"forward": [ends[word] for word in range(n)], "backward": [source.word_of.index(word) for word in range(n)]}
    readings = read_both_ways(model, source.ids)
    orders = {direction: similar_dimensions_first(one.states) for direction, one in readings.items()}

    def in_order(direction: str, rows: Tensor) -> np.ndarray:
        return to_array(rows[last[direction]][:, orders[direction]].T)

    return MemoryOverview(
        labels=source.word_labels,
        states={way: in_order(way, one.states) for way, one in readings.items()},
        update={way: in_order(way, one.update) for way, one in readings.items() if one.update is not None},
    )


class WordKnowledge(NamedTuple):
    """What is known of each English word, the end included: shares, each sums to 1, (n_words + 1,)."""

    last: Tensor  # by the encoder's two last states end to end, all that a decoder without attention gets
    context: Tensor  # by the context when a French piece is said
    weights: Tensor  # the attention of that moment


@torch.inference_mode()
def word_knowledge(model: Translator, source: SourceSentence, said: Sequence[int]) -> WordKnowledge:
    """Return what the last states know of each English word, and the context after some French pieces were said.

    The model is a recurrent translator whose decoder attends to all states.
    """
    device = device_of(model)
    encoding = model.encode(source.ids[None].to(device))
    first, states = model.first_state(encoding)[0], encoding.states[0]
    decoder = decoder_jacobians(model, torch.tensor([START, *said], device=device), first)
    query = decoder.states_and_gates.states[-1]
    scores, by_query, by_key = _score_slopes(model.score(), query, states)
    weights = scores.softmax(-1)
    apart = weights[:, None] * (states - weights @ states)  # w_j (h_j - c)
    of_start = apart.T @ by_query
    for place in reversed(range(len(said) + 1)):
        of_start = of_start @ decoder.by_state[place]
    of_last = of_start * (1 - first.square()) @ model.start.weight
    halves = zip(DIRECTIONS, of_last.chunk(2, 1), by_key.chunk(2, 1), (0, states.shape[1] // 2), strict=True)
    forward, backward = (
        _to_inputs(encoder_jacobians(model, source.ids, way), weights, apart, slopes, last, offset, way == "backward")
        for way, last, slopes, offset in halves
    )
    by_piece = torch.stack(((forward + backward).square().sum((1, 2)), weights))
    word_of = torch.tensor(source.word_of, device=device)
    by_word = weights.new_zeros(2, source.word_of[-1] + 1).index_add(1, word_of, by_piece)
    return WordKnowledge(last_state_shares(model, source), shares(by_word[0].sqrt()).cpu(), by_word[1].cpu())


def last_state_shares(model: Translator, source: SourceSentence) -> Tensor:
    """Return what the encoder's two last states, end to end, know of each English word: shares, (n_words + 1,)."""
    ends = [gradient_norms(model, source.ids, way, source.word_of) for way in DIRECTIONS]
    return shares(torch.stack(ends).norm(dim=0))


def _score_slopes(score: Score, query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scores of a query (d,) and keys (n, d), and how each changes with its query and its key, (n, d)."""
    with torch.inference_mode(False), torch.enable_grad():
        queries = query.clone().expand(keys.shape).clone().requires_grad_()
        asked = keys.clone().requires_grad_()
        scores = score(queries, asked).diagonal()
        both = torch.autograd.grad(scores.sum(), (queries, asked), allow_unused=True, materialize_grads=True)
    by_query, by_key = both
    return scores.detach(), by_query, by_key


def _to_inputs(
    steps: Jacobians, weights: Tensor, apart: Tensor, by_key: Tensor, of_last: Tensor, offset: int, is_reversed: bool
) -> Tensor:
    """Return dc / dx for every piece's vector as far as one direction's states lead there, (n, d, d_x)."""
    places = range(len(weights)) if is_reversed else range(len(weights))[::-1]
    d = by_key.shape[1]
    straight = torch.eye(len(of_last), d + offset).to(of_last)[:, offset:]
    found, through = [], of_last
    for step, place in zip(reversed(range(len(weights))), places, strict=True):
        through = through + weights[place] * straight + apart[place][:, None] * by_key[place]
        found.append(through @ steps.by_input[step])
        through = through @ steps.by_state[step]
    return torch.stack(found if is_reversed else found[::-1])
