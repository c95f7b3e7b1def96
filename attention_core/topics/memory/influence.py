"""What a recurrent encoder remembers: how much each word of a sentence still matters to each of its states.

How much word s still matters after word t is the Frobenius norm of d h_t / d x_s = J_t ... J_{s+1} B_s with
J_t = d h_t / d h_{t-1} and B_s = d h_s / d x_s. Both are known in closed form (recurrence.py), so that no
automatic differentiation is needed.
Source: Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult".
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.models.translator import Translator
from attention_core.topics.memory.recurrence import EncoderPass, Steps, walk

DIRECTIONS = ("forward", "backward")


class Readings(NamedTuple):
    """A sentence read in both directions, each in the order of the sentence."""

    forward: EncoderPass  # from the first piece to the last
    backward: EncoderPass  # from the last piece to the first


@torch.inference_mode()
def read(model: Translator, ids: Tensor) -> Readings:
    """Read a sentence in both directions with a translator's encoder, and keep all states and gates; see walk."""
    forward, backward = (walk(model, ids, direction).reading for direction in DIRECTIONS)
    states, update, reset = backward
    gates = (None, None) if update is None or reset is None else (update.flip(0), reset.flip(0))
    return Readings(forward, EncoderPass(states.flip(0), *gates))


@torch.inference_mode()
def gradient_norms(
    model: Translator,
    ids: Tensor,
    direction: str = "forward",
    word_of: Sequence[int] | None = None,
    *,
    at_end: bool = False,
) -> Tensor:
    """Return how much every word still matters to every state: the Frobenius norms of d h_t / d x_s.

    Args:
        model: its encoder is a GRU or a plain tanh network.
        ids: int64 (n,), pieces, the end piece last.
        direction: one of DIRECTIONS.
        word_of: which word each piece belongs to, or None = every piece is a word of its own. A word's vector is that
            of its pieces end to end, and the state after a word is the one after the last piece of it that was read.
        at_end: only for the state in which the reading ends, which costs far less.

    Returns:
        (n_words or 1, n_words): rows are the present states, columns the words. Forward, a state knows only words up to
        its own (lower triangle); backward, only those from its own on (upper triangle).

    Raises:
        ValueError: no such direction; ids are not one sentence; word_of does not fit.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {DIRECTIONS}, got {direction!r}")
    groups = list(range(len(ids))) if word_of is None else list(word_of)
    if len(groups) != len(ids):
        raise ValueError(f"word_of needs one word per piece ({len(ids)}), got {len(groups)}")
    steps, read = walk(model, ids, direction), groups[::-1] if direction == "backward" else groups
    words = [[place for place, _ in places] for _, places in groupby(enumerate(read), key=itemgetter(1))]
    norms = _last_row(steps, words) if at_end else _chain(steps, words)
    return norms.flip(0, 1) if direction == "backward" else norms


def both_ways(forward: Tensor, backward: Tensor) -> Tensor:
    """Return the norms for the two states end to end, [h_t forward; h_t backward], (n, n): no cell is empty."""
    return (forward.square() + backward.square()).sqrt()


def reaching_the_end(forward: Tensor, backward: Tensor | None = None) -> Tensor:
    """Return how much each word matters to what is handed over when all is read, (n,), from gradient norms (n, n).

    The two readings end at opposite ends; the rows of these two states are enough.
    """
    return forward[-1] if backward is None else (forward[-1].square() + backward[0].square()).sqrt()


def shares(norms: Tensor) -> Tensor:
    """Return each row's norms divided by their sum: what share of the state's sensitivity is to which word."""
    return norms / norms.sum(-1, keepdim=True).clamp(min=1e-30)


def what_is_left(norms: Tensor) -> Tensor:
    """Return each word's norms divided by that in the state that had just read it: 1 = all of it is still there."""
    return norms / norms.diagonal().clamp(min=1e-30)


def half_life(left: Sequence[float]) -> float | None:
    """Return after how many words less than half is left, on the line between two words; None if that never happens.

    Given is what is left after 0, 1, 2, ... words.
    """
    for after in range(1, len(left)):
        if left[after] < 0.5:
            before = max(left[after - 1], 0.5)
            return after - 1 + (before - 0.5) / (before - left[after])
    return None


def similar_first(states: Tensor) -> list[int]:
    """Return an order of the dimensions of states (n, d) in which those that behave alike are neighbours.

    They are sorted by their angle in the plane of the two leading principal components.
    Source: Friendly 2002, "Corrgrams".
    """
    states = states.cpu().double()  # MPS has no float64
    centred = states - states.mean(0)
    _, _, components = torch.linalg.svd(centred, full_matrices=False)
    if len(components) < 2:
        return states[0].argsort(stable=True).tolist()
    angles = torch.atan2(components[1], components[0])
    return angles.argsort(stable=True).tolist()


def _last_row(steps: Steps, words: list[list[int]]) -> Tensor:
    through, row = torch.eye(steps.by_state.shape[-1]).to(steps.by_state), []
    for places in reversed(words):
        squares = []
        for place in reversed(places):
            squares.append((through @ steps.by_input[place]).square().sum())
            through = through @ steps.by_state[place]
        row.append(torch.stack(squares).sum().sqrt())
    return torch.stack(row[::-1])[None].cpu()


def _chain(steps: Steps, words: list[list[int]]) -> Tensor:
    """Return the norms of all products of Jacobians, (n_words, n_words), on the CPU.

    Carried along is, for every word that was read, the transpose of d h_t / d x_s, or of what stands for it.
    """
    d = steps.by_state.shape[-1]
    height = max(d, steps.by_input.shape[-1])
    carried = steps.by_state.new_zeros(len(words), height, d)
    norms = steps.by_state.new_zeros(len(words), len(words))
    for number, places in enumerate(words):
        through, fresh = _merge(steps, places)
        carried[:number] = (carried[:number].flatten(0, 1) @ through.T).view(number, height, d)
        carried[number, : len(fresh)] = fresh
        norms[number, : number + 1] = carried[: number + 1].flatten(1).norm(dim=1)
    return norms.cpu()


def _merge(steps: Steps, places: list[int]) -> tuple[Tensor, Tensor]:
    """Return a word's pieces as one step: d state / d state before (d, d), and the transpose of a stand-in for B.

    B = d state / d vectors of all its pieces is as wide as there are pieces. For more than one, R^T of B^T = Q R stands
    for it: |P B| = |P R^T| (Frobenius) for every P.
    """
    through, given = steps.by_state[places[0]], steps.by_input[places[0]].T
    for place in places[1:]:
        step = steps.by_state[place]
        through, given = step @ through, torch.cat((given @ step.T, steps.by_input[place].T))
    return through, given if len(places) == 1 else torch.linalg.qr(given.cpu(), mode="r").R.to(through)
