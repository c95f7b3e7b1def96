"""Scoring functions by their printed formulas, one pair after the other, in numpy."""

import numpy as np
import torch

from attention_core.attention.scores import all_scores

SCORE_NAMES = ("dot", "scaled dot", "general", "cosine", "additive", "concat", "location", "L2 distance")
TWO_WIDTHS = ("general", "additive", "concat")  # functions whose queries and keys may have widths of their own
N_POSITIONS = 40


def parameters(generator, d_q, d_k, d_a=3):
    shapes = {
        "general.W": (d_q, d_k),
        "additive.W_q": (d_a, d_q),
        "additive.W_k": (d_a, d_k),
        "additive.v": (d_a,),
        "concat.W": (d_a, d_q + d_k),
        "concat.v": (d_a,),
        "location.W": (N_POSITIONS, d_q),
    }
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def score_of_a_pair(name, q, k, place, p):
    """One score, by the formula as it is printed."""
    return {
        "dot": lambda: q @ k,
        "scaled dot": lambda: q @ k / len(q) ** 0.5,
        "general": lambda: q @ p["general.W"] @ k,
        "cosine": lambda: q @ k / (np.sqrt(q @ q) * np.sqrt(k @ k)),
        "additive": lambda: p["additive.v"] @ np.tanh(p["additive.W_q"] @ q + p["additive.W_k"] @ k),
        "concat": lambda: p["concat.v"] @ np.tanh(p["concat.W"] @ np.concatenate([q, k])),
        "location": lambda: p["location.W"][place] @ q,
        "L2 distance": lambda: -sum((a - b) ** 2 for a, b in zip(q, k, strict=True)) / 2,
    }[name]()


def score_with(name, p):
    return all_scores({key: torch.from_numpy(value) for key, value in p.items()})[name]


def numbers(seed, *shapes):
    """Random float64 arrays of these shapes."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape) for shape in shapes]


def tensors(*arrays):
    return [torch.from_numpy(array) for array in arrays]


def attention_by_hand(name, q, k, v, mask, p):
    """Weights and context of one head; a query that sees nobody gets zeros."""
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        seen = np.flatnonzero(mask[i])
        powers = np.array([np.exp(score_of_a_pair(name, q[i], k[j], j, p)) for j in seen])
        weights[i, seen] = powers / powers.sum() if len(seen) else 0
    return weights, weights @ v
