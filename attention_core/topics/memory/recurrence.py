"""A recurrent encoder step by step: states, gates, and in closed form how each state depends on the one before it.

x_t: vector of the t-th piece, (d_x,). h_t: state after the t-th step, (d,). A plain network computes

    h_t = tanh(W_x x_t + W_h h_{t-1} + b),

and a gated one (GRU; Cho et al. 2014, with the reset gate applied after the product, as torch does)

    r_t = sigmoid(W_xr x_t + W_hr h_{t-1} + b_r)            reset gate
    z_t = sigmoid(W_xz x_t + W_hz h_{t-1} + b_z)            update gate: the share of the old state that is kept
    n_t = tanh(W_xn x_t + b_xn + r_t * (W_hn h_{t-1} + b_hn))
    h_t = z_t * h_{t-1} + (1 - z_t) * n_t.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.device import device_of
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
