"""What a recurrent encoder remembers: how much each word of a sentence still matters to each of its states.

How much word s still matters after word t is the Frobenius norm of d h_t / d x_s = J_t ... J_{s+1} B_s with
J_t = d h_t / d h_{t-1} and B_s = d h_s / d x_s, both in closed form: no automatic differentiation is needed.
Source: Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult".

x_t: vector of the t-th piece, (d_x,). h_t: state after the t-th step, (d,). A plain network computes

    h_t = tanh(W_x x_t + W_h h_{t-1} + b),

and a gated one (GRU; Cho et al. 2014, with the reset gate applied after the product, as torch does)

    r_t = sigmoid(W_xr x_t + W_hr h_{t-1} + b_r)            reset gate
    z_t = sigmoid(W_xz x_t + W_hz h_{t-1} + b_z)            update gate: the share of the old state that is kept
    n_t = tanh(W_xn x_t + b_xn + r_t * (W_hn h_{t-1} + b_hn))
    h_t = z_t * h_{t-1} + (1 - z_t) * n_t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.device import device_of, to_array
from attention_core.models.translator import Translator
from attention_core.topics.translate.translation import SourceSentence

if TYPE_CHECKING:
    import pandas as pd


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


class EncoderPass(NamedTuple):
    states: Tensor  # (n, d), h_t
    # (n, d), the share of each dimension of the old state that was kept, in [0, 1]; None without gates
    update: Tensor | None = None
    # (n, d), how much of the old state the proposal for the new one saw, in [0, 1]; None without gates
    reset: Tensor | None = None


class Steps(NamedTuple):
    reading: EncoderPass  # states and gates
    by_state: Tensor  # (n, d, d), J_t = d h_t / d h_{t-1}
    by_input: Tensor  # (n, d, d_x), B_t = d h_t / d x_t


def walk(model: Translator, ids: Tensor, direction: str) -> Steps:
    """Read a sentence, pieces int64 (n,), with a GRU or a plain tanh network, "forward" or "backward".

    Raises:
        ValueError: ids are not one sentence of at least one piece.
    """
    if ids.ndim != 1 or len(ids) == 0:
        raise ValueError(f"ids must be one sentence, (n,) with n of 1 or more, got {tuple(ids.shape)}")
    inputs = model.embedding(ids.to(device_of(model)))
    if direction == "backward":
        return _walk(model.encoder, inputs.flip(0), "_reverse")
    return _walk(model.encoder, inputs)


def walk_decoder(model: Translator, ids: Tensor, first: Tensor) -> Steps:
    """Say pieces, int64 (n,), the start piece first, step by step, from the state before the first word (d,) on."""
    return _walk(model.decoder, model.embedding(ids.to(first.device)), first=first)


def _walk(network: nn.RNNBase, inputs: Tensor, suffix: str = "", first: Tensor | None = None) -> Steps:
    of_input, of_state, bias_input, bias_state = (
        getattr(network, f"{kind}_l0{suffix}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    state = of_state.new_zeros(of_state.shape[1]) if first is None else first
    of_cell = _gated if isinstance(network, nn.GRU) else _plain
    return of_cell(inputs @ of_input.T + bias_input, of_input, of_state, bias_state, state)


def _plain(by_input: Tensor, of_input: Tensor, of_state: Tensor, bias_state: Tensor, state: Tensor) -> Steps:
    states = []
    for given in by_input:
        state = (given + of_state @ state + bias_state).tanh()
        states.append(state)
    after = torch.stack(states)
    slope = (1 - after.square())[..., None]
    return Steps(EncoderPass(after), slope * of_state, slope * of_input)


def _gated(by_input: Tensor, of_input: Tensor, of_state: Tensor, bias_state: Tensor, state: Tensor) -> Steps:
    rows = []
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
    of_old = torch.stack((by_reset, by_update, by_proposal * reset))
    of_new = torch.stack((by_reset, by_update, by_proposal))
    by_state, by_input = (
        torch.einsum("knd,kde->nde", gains, torch.stack(weights.chunk(3)))
        for gains, weights in ((of_old, of_state), (of_new, of_input))
    )
    return Steps(EncoderPass(after, update, reset), by_state + update.diag_embed(), by_input)


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


MEASURES = {"norm": "gradient norm", "left": "what is left of the word", "share": "share of the state"}
"""Ways to look at the norms: as they are; divided by the norm right after the word; divided by the row's sum."""


@dataclass(frozen=True, eq=False)
class MemoryOverview:
    """A sentence as a recurrent encoder read it, position by position: words, or pieces if it was asked for them."""

    labels: list[str]  # one per position, the end last
    pieces: list[tuple[str, ...]]  # the pieces that each position consists of
    states: dict[str, np.ndarray]  # direction -> float (d, n); dimensions that behave alike are neighbours
    # direction -> float (d, n) in [0, 1], in the same order; empty for a network without gates
    update: dict[str, np.ndarray]
    reset: dict[str, np.ndarray]  # the same for the reset gate
    # direction -> float (n, n), Frobenius norms of d h_t / d x_s; rows are the present states, or (1, n) at the end
    norms: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.labels)

    def matrix(self, measure: str, both: bool) -> np.ndarray:
        """Return how much each word matters to each state, (n, n); NaN where a state cannot know the word.

        The states of both readings are taken end to end, or the forward ones alone.

        Raises:
            ValueError: no such measure.
        """
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {tuple(MEASURES)}, got {measure!r}")
        norms = torch.from_numpy(self.norms["forward"])
        if both:
            norms = both_ways(norms, torch.from_numpy(self.norms["backward"]))
        scaled = {"norm": lambda x: x, "left": what_is_left, "share": shares}[measure]
        values = to_array(scaled(norms))
        return values if both else np.where(np.tri(len(self), dtype=bool), values, np.nan)

    def gate_means(self, direction: str, place: int) -> tuple[float, float] | None:
        """Return the means of the update and the reset gate while a position was read; None without gates."""
        if direction not in self.update:
            return None
        return float(self.update[direction][:, place].mean()), float(self.reset[direction][:, place].mean())

    def column_facts(self, kind: str, direction: str) -> dict[str, list]:
        values: np.ndarray = getattr(self, kind)[direction]
        facts: dict[str, list] = {"word": self.labels}
        if any(len(texts) > 1 for texts in self.pieces):
            facts["read as"] = [" ".join(texts) for texts in self.pieces]
        if kind == "states":
            return facts | {"length of h": np.linalg.norm(values, axis=0).tolist()}
        return facts | {"mean of the gate": values.mean(0).tolist()}

    def told(self, measure: str, both: bool) -> np.ndarray:
        matrix = self.matrix(measure, both)
        sentences = np.empty(matrix.shape, dtype=object)
        after = "at" if both else "after"
        for (state, word), value in np.ndenumerate(matrix):
            here, there = (f"“{self.labels[place]}”" for place in (state, word))
            if not np.isfinite(value):
                sentences[state, word] = f"after {here}, {there} has not been read yet"
            elif state == word:
                sentences[state, word] = f"right {after} {here}, it matters {value:.3g}"
            else:
                sentences[state, word] = f"{after} {here}, {there} still matters {value:.3g}"
        return sentences

    def share_at_end(self, both: bool) -> np.ndarray:
        """Return what share each word has in what is handed over when all is read, (n,); sums to 1."""
        norms = [torch.from_numpy(self.norms[direction]) for direction in (DIRECTIONS if both else DIRECTIONS[:1])]
        return to_array(shares(reaching_the_end(*norms)))

    def left_after(self) -> list[float]:
        """Return what is left of the first word in the forward states, 0, 1, 2, ... words later; it begins with 1."""
        return what_is_left(torch.from_numpy(self.norms["forward"]))[:, 0].tolist()


def remember(
    model: Translator, source: SourceSentence, by_pieces: bool = False, *, at_end: bool = False, both: bool = True
) -> MemoryOverview:
    """Read a sentence in both directions and keep what is needed to look at it; gradient norms cost most by far.

    A word's state is the one after its last piece that was read. Where gradient norms of the states at the end are
    enough, `share_at_end` works and all else but the norms; they may be wanted in both directions.
    """
    word_of = list(range(len(source.ids))) if by_pieces else source.word_of
    n, wanted = word_of[-1] + 1, DIRECTIONS[: 1 + both]
    ends = {word: piece for piece, word in enumerate(word_of)}
    last = {"forward": [ends[word] for word in range(n)], "backward": [word_of.index(word) for word in range(n)]}
    readings = dict(zip(DIRECTIONS, read(model, source.ids), strict=True))
    orders = {direction: similar_first(reading.states) for direction, reading in readings.items()}

    def in_order(direction: str, rows: Tensor) -> np.ndarray:
        return to_array(rows[last[direction]][:, orders[direction]].T)

    return MemoryOverview(
        labels=source.labels if by_pieces else source.word_labels,
        pieces=[tuple(piece for piece, of in zip(source.labels, word_of, strict=True) if of == w) for w in range(n)],
        states={way: in_order(way, reading.states) for way, reading in readings.items()},
        update={way: in_order(way, reading.update) for way, reading in readings.items() if reading.update is not None},
        reset={way: in_order(way, reading.reset) for way, reading in readings.items() if reading.reset is not None},
        norms={way: to_array(gradient_norms(model, source.ids, way, word_of, at_end=at_end)) for way in wanted},
    )


def norms_table(memories: Mapping[str, MemoryOverview]) -> pd.DataFrame:
    """Return one row per named network, direction, state and word that the state knows, with the gradient's norm."""
    import pandas as pd

    rows = [
        (network, direction, t, memory.labels[t], s, memory.labels[s], float(memory.norms[direction][t, s]))
        for network, memory in memories.items()
        for direction in memory.norms
        for t in range(len(memory))
        for s in (range(t + 1) if direction == "forward" else range(t, len(memory)))
    ]
    columns = ["network", "direction", "state", "state_after", "position", "word", "gradient_norm"]
    return pd.DataFrame(rows, columns=columns)
