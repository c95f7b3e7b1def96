"""What a recurrent encoder remembers: its states and gates at every step, and how much each word still matters.

x_s: vector of the s-th piece, (d_x,). h_t: state after the t-th step, (d,). A plain network computes

    h_t = tanh(W_x x_t + W_h h_{t-1} + b),

and a gated one (GRU; Cho et al. 2014, with the reset gate applied after the product, as torch does)

    r_t = sigmoid(W_xr x_t + W_hr h_{t-1} + b_r)            reset gate
    z_t = sigmoid(W_xz x_t + W_hz h_{t-1} + b_z)            update gate: the share of the old state that is kept
    n_t = tanh(W_xn x_t + b_xn + r_t * (W_hn h_{t-1} + b_hn))
    h_t = z_t * h_{t-1} + (1 - z_t) * n_t.

How much word s still matters after word t is the Frobenius norm of d h_t / d x_s = J_t ... J_{s+1} B_s with
J_t = d h_t / d h_{t-1} and B_s = d h_s / d x_s. Both are known in closed form, so that no automatic differentiation is
needed. Source: Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.models.translator import Translator

DIRECTIONS = ("forward", "backward")


class Reading(NamedTuple):
    """A sentence read once, in one direction; all in the order of the sentence.

    Attributes:
        states: (n, d), h_t.
        update: (n, d), the share of each dimension of the old state that was kept, in [0, 1]; None without gates.
        reset: (n, d), how much of the old state the proposal for the new one saw, in [0, 1]; None without gates.
    """

    states: Tensor
    update: Tensor | None = None
    reset: Tensor | None = None


class Readings(NamedTuple):
    """A sentence read in both directions.

    Attributes:
        forward: from the first piece to the last.
        backward: from the last piece to the first.
    """

    forward: Reading
    backward: Reading


class _Steps(NamedTuple):
    """What happened at each step, in the order of reading, with the parts that make up its Jacobians.

    Attributes:
        reading: states and gates.
        kept: (n, d), diagonal of d h_t / d h_{t-1} that does not pass through a weight.
        gain_state: (n, k, d), how much each of k products with h_{t-1} moves h_t.
        of_state: (k, d, d), the weights of these products.
        gain_input: (n, k, d), likewise for x_t.
        of_input: (k, d, d_x).
    """

    reading: Reading
    kept: Tensor
    gain_state: Tensor
    of_state: Tensor
    gain_input: Tensor
    of_input: Tensor

    def by_state(self, place: int) -> Tensor:
        """Return J_t = d h_t / d h_{t-1}, (d, d)."""
        return (self.gain_state[place][..., None] * self.of_state).sum(0) + self.kept[place].diag()

    def by_input(self, place: int) -> Tensor:
        """Return B_t = d h_t / d x_t, (d, d_x)."""
        return (self.gain_input[place][..., None] * self.of_input).sum(0)


@torch.inference_mode()
def read(model: Translator, ids: Tensor) -> Readings:
    """Read a sentence with a translator's encoder and keep all states and gates.

    Args:
        model: its encoder is a GRU or a plain tanh network.
        ids: int64 (n,), pieces, the end piece last.

    Raises:
        ValueError: ids are not one sentence of at least one piece.
    """
    forward, backward = (_walk(model, ids, direction).reading for direction in DIRECTIONS)
    states, update, reset = backward
    gates = (None, None) if update is None or reset is None else (update.flip(0), reset.flip(0))
    return Readings(forward, Reading(states.flip(0), *gates))


@torch.inference_mode()
def gradient_norms(
    model: Translator, ids: Tensor, direction: str = "forward", word_of: Sequence[int] | None = None
) -> Tensor:
    """Return how much every word still matters to every state: the Frobenius norms of d h_t / d x_s.

    Args:
        model: its encoder is a GRU or a plain tanh network.
        ids: int64 (n,), pieces, the end piece last.
        direction: one of DIRECTIONS.
        word_of: which word each piece belongs to, or None = every piece is a word of its own. A word's vector is that
            of its pieces end to end, and the state after a word is the one after the last piece of it that was read.

    Returns:
        (n_words, n_words): rows are the present states, columns the words. Forward, a state knows only words up to
        its own (lower triangle); backward, only those from its own on (upper triangle).

    Raises:
        ValueError: no such direction; ids are not one sentence; word_of does not fit.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {DIRECTIONS}, got {direction!r}")
    groups = list(range(len(ids))) if word_of is None else list(word_of)
    if len(groups) != len(ids):
        raise ValueError(f"word_of needs one word per piece ({len(ids)}), got {len(groups)}")
    steps = _walk(model, ids, direction)
    if direction == "backward":
        return _chain(steps, groups[::-1]).flip(0, 1)
    return _chain(steps, groups)


def both_ways(forward: Tensor, backward: Tensor) -> Tensor:
    """Return the norms for the two states end to end, [h_t forward; h_t backward], (n, n): no cell is empty."""
    return (forward.square() + backward.square()).sqrt()


def reaching_the_end(forward: Tensor, backward: Tensor | None = None) -> Tensor:
    """Return how much each word matters to what is handed over when all is read, (n,).

    Args:
        forward: (n, n), gradient norms of the forward reading.
        backward: (n, n), of the backward one, or None = one reading only. The two readings end at opposite ends.
    """
    return forward[-1] if backward is None else (forward[-1].square() + backward[0].square()).sqrt()


def shares(norms: Tensor) -> Tensor:
    """Return each row's norms divided by their sum: what share of the state's sensitivity is to which word."""
    return norms / norms.sum(-1, keepdim=True).clamp(min=1e-30)


def what_is_left(norms: Tensor) -> Tensor:
    """Return each word's norms divided by that in the state that had just read it: 1 = all of it is still there."""
    return norms / norms.diagonal().clamp(min=1e-30)


def left_after(norms: Tensor, word: int = 0) -> Tensor:
    """Return what is left of a word after 0, 1, 2, ... more words of a forward reading, (n - word,).

    Args:
        norms: (n, n), gradient norms of the forward reading.
        word: which one.
    """
    return what_is_left(norms)[word:, word]


def half_life(left: Sequence[float]) -> float | None:
    """Return after how many words less than half is left, or None if that does not happen.

    Args:
        left: what is left after 0, 1, 2, ... words; between two words it is taken for a straight line.
    """
    for after in range(1, len(left)):
        if left[after] < 0.5:
            before = max(left[after - 1], 0.5)
            return after - 1 + (before - 0.5) / (before - left[after])
    return None


def similar_first(states: Tensor) -> list[int]:
    """Return an order of the dimensions in which those that behave alike are neighbours.

    They are sorted by their angle in the plane of the two leading principal components.
    Source: Friendly 2002, "Corrgrams".

    Args:
        states: (n, d).
    """
    centred = states.double() - states.double().mean(0)
    _, _, components = torch.linalg.svd(centred, full_matrices=False)
    if len(components) < 2:
        return states[0].argsort(stable=True).tolist()
    angles = torch.atan2(components[1], components[0])
    return angles.argsort(stable=True).tolist()


def _walk(model: Translator, ids: Tensor, direction: str) -> _Steps:
    """Read in one direction, step by step."""
    if ids.ndim != 1 or len(ids) == 0:
        raise ValueError(f"ids must be one sentence, (n,) with n of 1 or more, got {tuple(ids.shape)}")
    encoder = model.encoder
    suffix = "_reverse" if direction == "backward" else ""
    of_input, of_state, bias_input, bias_state = (
        getattr(encoder, f"{kind}_l0{suffix}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    inputs = model.embedding(ids.to(of_input.device))
    if direction == "backward":
        inputs = inputs.flip(0)
    by_input = inputs @ of_input.T + bias_input
    walk = _gated if isinstance(encoder, nn.GRU) else _plain
    return walk(by_input, of_input, of_state, bias_state)


def _plain(by_input: Tensor, of_input: Tensor, of_state: Tensor, bias_state: Tensor) -> _Steps:
    state, states = torch.zeros_like(bias_state), []
    for given in by_input:
        state = (given + of_state @ state + bias_state).tanh()
        states.append(state)
    after = torch.stack(states)
    slope = (1 - after.square())[:, None]
    return _Steps(Reading(after), torch.zeros_like(after), slope, of_state[None], slope, of_input[None])


def _gated(by_input: Tensor, of_input: Tensor, of_state: Tensor, bias_state: Tensor) -> _Steps:
    state, rows = bias_state.new_zeros(len(bias_state) // 3), []
    for given in by_input:
        reset_in, update_in, proposal_in = given.chunk(3)
        reset_state, update_state, proposal_state = (of_state @ state + bias_state).chunk(3)
        reset, update = (reset_in + reset_state).sigmoid(), (update_in + update_state).sigmoid()
        proposal = (proposal_in + reset * proposal_state).tanh()
        after = update * state + (1 - update) * proposal
        rows.append((after, state, update, reset, proposal, proposal_state))
        state = after
    after, before, update, reset, proposal, seen = (torch.stack(column) for column in zip(*rows, strict=True))
    by_proposal = (1 - update) * (1 - proposal.square())
    by_update = (before - proposal) * update * (1 - update)
    by_reset = by_proposal * seen * reset * (1 - reset)
    return _Steps(
        Reading(after, update, reset),
        update,
        torch.stack((by_reset, by_update, by_proposal * reset), 1),
        torch.stack(of_state.chunk(3)),
        torch.stack((by_reset, by_update, by_proposal), 1),
        torch.stack(of_input.chunk(3)),
    )


def _chain(steps: _Steps, groups: Sequence[int]) -> Tensor:
    """Return the norms of all products of Jacobians, (n_words, n_words), on the CPU.

    Carried along is, for every word that was read, the transpose of d h_t / d x_s, or of what stands for it.
    """
    d = steps.kept.shape[-1]
    words = [[place for place, _ in places] for _, places in groupby(enumerate(groups), key=lambda one: one[1])]
    height = max(d, steps.of_input.shape[-1])
    carried = steps.kept.new_zeros(len(words), height, d)
    norms = steps.kept.new_zeros(len(words), len(words))
    for number, places in enumerate(words):
        through, fresh = _merge(steps, places)
        carried[:number] = (carried[:number].flatten(0, 1) @ through.T).view(number, height, d)
        carried[number, : len(fresh)] = fresh
        norms[number, : number + 1] = carried[: number + 1].flatten(1).norm(dim=1)
    return norms.cpu()


def _merge(steps: _Steps, places: list[int]) -> tuple[Tensor, Tensor]:
    """Return a word's pieces as one step: d state / d state before (d, d), and the transpose of a stand-in for B.

    B = d state / d vectors of all its pieces is as wide as there are pieces. For more than one, the square root of
    B B^T stands for it: |P B| = |P (B B^T)^(1/2)| (Frobenius) for every P.
    """
    through = steps.by_state(places[0])
    if len(places) == 1:
        return through, steps.by_input(places[0]).T
    first = steps.by_input(places[0]).double()
    square = first @ first.T
    for place in places[1:]:
        step, given = steps.by_state(place), steps.by_input(place).double()
        through = step @ through
        square = step.double() @ square @ step.double().T + given @ given.T
    strengths, directions = torch.linalg.eigh(square)
    return through, (strengths.clamp(min=0).sqrt()[:, None] * directions.T).to(through.dtype)
