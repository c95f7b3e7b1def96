"""Attention under edits, computed once more and plainly."""

import math

import torch

from attention_core.attention.edits import BlockEdge, BlockKeys, PatternFrom, SetScore, SetWeights, Temperature, Uniform
from tests.support.own_edits import OwnEdit


def renormalised(weights, cells):
    """Return a row in which some cells have these weights and the others what is left, in their old proportions."""
    row = weights.clone()
    row[list(cells)] = 0
    row *= (1 - sum(cells.values())) / row.sum() if row.sum() > 0 else 0
    for key, weight in cells.items():
        row[key] = weight
    return row


def scores_with(edits, scores, order):
    factors = [1 / edit.temperature if isinstance(edit, Temperature) else 0 for edit in edits if is_factor(edit)]
    scores = math.prod(factors) * (scores if order is None else scores[:, order])
    for edit in edits:
        if isinstance(edit, SetScore):
            scores[edit.query, edit.key] = edit.score
        if isinstance(edit, OwnEdit):
            edit.plain_scores(scores)
    return scores


def is_factor(edit):
    return isinstance(edit, Temperature | Uniform)


def mask_with(edits, allowed):
    allowed = allowed.clone()
    for edit in edits:
        if isinstance(edit, BlockKeys):
            allowed[:, list(edit.keys)] = False
        if isinstance(edit, BlockEdge):
            allowed[edit.query, edit.key] = False
    return allowed


def with_set_weights(edits, weights, has_softmax):
    rows = {}
    for edit in edits:
        if edit.renormalised and has_softmax:
            rows.setdefault(edit.query, {}).update(edit.weights)
    for query, cells in rows.items():
        weights[query] = renormalised(weights[query], cells)
    for edit in edits:
        for key, weight in () if edit.renormalised and has_softmax else edit.weights:
            weights[edit.query, key] = weight
    return weights


def weights_of(head, scores, allowed, edits, has_softmax, order):
    """Return the weights of a head, (n_queries, n_keys), cell by cell as an edit's words have it."""
    edits = [edit for edit in edits if getattr(edit, "head", None) in (None, head)]
    scores, allowed = scores_with(edits, scores, order), mask_with(edits, allowed)
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num()
    if not has_softmax:
        weights = scores.masked_fill(~allowed, 0)
    for edit in edits:
        if isinstance(edit, PatternFrom):
            weights = edit.pattern.to(weights)
    weights = with_set_weights([edit for edit in edits if isinstance(edit, SetWeights)], weights.clone(), has_softmax)
    for edit in edits:
        if isinstance(edit, OwnEdit):
            edit.plain_weights(weights)
    return weights
