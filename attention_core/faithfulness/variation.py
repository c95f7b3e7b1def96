"""How much does an answer hang on its weights? Others in their place: shuffled, uniform, as different as possible."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.explain.heads import MIN_WEIGHT, divergence
from attention_core.faithfulness.attribution import Subject, total_variation

N_SEARCH = 20  # steps of that search
MAX_NUMBERS_AT_ONCE = 2**22  # numbers of weights that go through a model together


@torch.no_grad()
def shuffled(subject: Subject, n: int = 100, names: Sequence[str] = ()) -> Tensor:
    """Return how far the answer moves for n random orders of the keys, (n,), in these attentions, or in the map's.

    One order serves all heads, and all rows that see the same keys; weights stay among these, since others may be
    hidden.

    Source: Jain and Wallace 2019, "Attention is not explanation", section 4.2.1.
    """
    generator, probabilities = torch.Generator().manual_seed(0), subject.probabilities()
    names = names or [*subject.map_weights]
    n_at_once = max(1, MAX_NUMBERS_AT_ONCE // sum(subject.weights[name].numel() for name in names))
    moved = []
    for first in range(0, n, n_at_once):
        size = min(n_at_once, n - first)
        permuted = {name: _shuffle(subject.weights[name], size, generator) for name in names}
        moved.append(total_variation(subject.reweigh(permuted), probabilities).detach())
    return torch.cat(moved)


def _shuffle(weights: Tensor, n: int, generator: torch.Generator) -> Tensor:
    # (n_patterns, n_keys), (n_queries,)
    is_visible, pattern_of = (weights > 0).any(0).unique(dim=0, return_inverse=True)
    noise = torch.rand(n, 1, weights.shape[-1], generator=generator).to(weights.device)
    shuffled_keys = noise.where(is_visible, torch.inf).argsort(-1)  # the keys that are seen come first
    rank = (is_visible.cumsum(-1) - 1).clamp(min=0).expand_as(shuffled_keys)
    order = shuffled_keys.gather(-1, rank).where(is_visible, torch.arange(weights.shape[-1], device=weights.device))
    rows = order[:, None, pattern_of].expand(n, *weights.shape)
    return weights.expand_as(rows).gather(-1, rows)


@torch.no_grad()
def uniform(subject: Subject) -> float:
    """Return how far the answer moves when each query spreads its weight evenly over the keys that it sees."""
    is_visible = {name: (weights > 0).to(weights) for name, weights in subject.map_weights.items()}
    rows = {name: keys / keys.sum(-1, keepdim=True).clamp(min=1) for name, keys in is_visible.items()}
    probabilities = subject.reweigh({name: weights[None] for name, weights in rows.items()})
    return float(total_variation(probabilities, subject.probabilities())[0])


@torch.no_grad()
def without_heads(subject: Subject) -> dict[tuple[str, int], float]:
    """Return how far the answer moves when a head hands over nothing, by attention and head, the farthest first.

    Source: Michel, Levy and Neubig 2019, "Are sixteen heads really better than one?", section 3.
    """
    probabilities = subject.probabilities()
    moved: dict[tuple[str, int], float] = {}
    for name, weights in subject.weights.items():
        head_factors = 1 - torch.eye(len(weights), device=weights.device)[..., None, None]
        distances = total_variation(subject.reweigh({name: head_factors * weights}), probabilities).tolist()
        moved |= {(name, head): value for head, value in enumerate(distances)}
    return dict(sorted(moved.items(), key=lambda pair: -pair[1]))


class AdversarialWeights(NamedTuple):
    """Other weights that keep the answer, and how other they are."""

    weights: Mapping[str, Tensor]  # by name, (n_heads, n_queries, n_keys)
    divergence: float  # mean of the rows' Jensen-Shannon divergence from the true weights, bits
    moved: float  # how far the answer moves, at most the bound


def find_adversarial_weights(subject: Subject) -> AdversarialWeights:
    """Search for the most different weights under which the answer moves by at most the subject's bound.

    Gradient ascent (Adam) on the divergence of softmax rows, with a penalty on what the answer moves beyond the bound;
    a key that a query does not see stays hidden. The best of what keeps the bound is returned, the true weights
    themselves if nothing does.

    Source: adversarial attention, Jain and Wallace 2019, eq. 3; Wiegreffe and Pinter 2019 on what it can tell.
    """
    true = {name: weights.detach() for name, weights in subject.map_weights.items()}
    probabilities, generator = subject.probabilities(), torch.Generator().manual_seed(0)
    best = AdversarialWeights(true, 0.0, 0.0)
    with torch.inference_mode(False), torch.enable_grad():
        logits = {}
        for name, weights in true.items():
            noise = torch.randn(weights.shape, generator=generator).to(weights)
            logits[name] = (weights.clamp(min=MIN_WEIGHT).log().clamp(min=-8) + noise).clone().requires_grad_()
        optimiser = torch.optim.Adam(logits.values(), lr=2.0)
        for _ in range(N_SEARCH):
            candidate = {name: _softmax(logits[name], weights) for name, weights in true.items()}
            distance = torch.cat([divergence(candidate[name], true[name]).flatten() for name in true]).mean()
            answer = subject.reweigh({name: rows[None] for name, rows in candidate.items()})
            moved = total_variation(answer, probabilities)[0]
            values = distance.item(), moved.item()
            if values[1] <= subject.bound and values[0] > best.divergence:
                best = AdversarialWeights({name: rows.detach() for name, rows in candidate.items()}, *values)
            loss = -distance + 20 * (moved - 0.8 * subject.bound).clamp(min=0)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return best


def _softmax(logits: Tensor, true: Tensor) -> Tensor:
    rows = logits.masked_fill(true <= 0, -torch.inf).softmax(-1)
    return torch.where((true > 0).any(-1, keepdim=True), rows, 0.0)
