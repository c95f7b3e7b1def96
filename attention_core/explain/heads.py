"""What the heads of a recording do, in numbers: what they attend to and how alike they are.

from attention_core.explain.heads import distances_from, groups, rollout, summaries
layers = groups(trace_model(model, **inputs))["encoder self"]
summaries(layers)[3][5].previous

The heads of a run are grouped by stack and kind of attention, and each is summarised in nine numbers. Of several
heads: the Jensen-Shannon distance of their weights, the largest weight between positions far apart, and rollout, which
follows attention through all layers: what each position of the input could have contributed.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace, check_pairs, masked, upcast_half
from attention_core.attention.types import ALL, Rows
from attention_core.attention.wording import percent
from attention_core.deprecated import renamed_names

__all__ = [
    "METRICS",
    "Distances",
    "FarLook",
    "HeadSummary",
    "PatchGrid",
    "Rollout",
    "describe_head",
    "distances_from",
    "distances_head_for_head",
    "far_look",
    "groups",
    "is_self_attention",
    "norm_based_weights",
    "rollout",
    "summaries",
    "summarise",
    "without_keys",
]


class PatchGrid(NamedTuple):
    """Where the patches of a picture lie among the positions.

    Attributes:
        grid: rows and columns of patches.
        n_prefix: positions before the first patch.
    """

    grid: tuple[int, int]
    n_prefix: int


def groups(recording: Recording) -> dict[str, list[AttentionTrace]]:
    """Return the traces by stack and kind, each in the order of the layers.

    Args:
        recording: its traces have names such as "encoder.0.self" or "vision_model.encoder.3.self".

    Returns:
        "encoder self", "decoder self", "decoder cross" and so on, in the order in which the first of each ran; the
        towers of models that have several stay apart ("vision_model encoder self"). All matrices of a group have one
        shape: where shapes differ, they are part of the name ("encoder self, 16 × 64"). Traces whose names have no
        words belong to "attention".
    """
    by_kind: dict[str, list[AttentionTrace]] = {}
    shapes: dict[str, set[tuple[int, int]]] = {}
    for trace in recording.traces:
        shapes.setdefault(kind_of(trace.story.name), set()).add((trace.n_queries, trace.n_keys))
    for trace in recording.traces:
        name = kind_of(trace.story.name)
        if len(shapes[name]) > 1:
            name = f"{name}, {trace.n_queries} × {trace.n_keys}"
        by_kind.setdefault(name, []).append(trace)
    return by_kind


def kind_of(name: str) -> str:
    """Return the stack and kind in a trace's name, "decoder cross" for "decoder.3.cross"."""
    segments = [segment for segment in name.partition(" ")[0].split(".") if segment and not segment.isdigit()]
    return " ".join(segments) or "attention"


def is_self_attention(trace: AttentionTrace) -> bool:
    """Return whether queries and keys are the same positions, as in self-attention."""
    queries, keys = trace.story.query_axis, trace.story.key_axis
    if trace.story.crosses or kind_of(trace.story.name).endswith("cross") or trace.n_queries != trace.n_keys:
        return False
    return queries is keys or list(queries.labels) == list(keys.labels)


MAX_PAIRS_AT_ONCE = 200_000_000
"""Pairs of all heads of a trace up to which its normalisers are computed once for all rows, a fraction of a second."""


class HeadRows(NamedTuple):
    scores: Tensor  # (n_rows, n_keys), before the mask
    weights: Tensor  # (n_rows, n_keys), as trace.weights gives them
    log_normaliser: Tensor  # (n_rows,), -inf for a query that sees no key
    allowed: Tensor | None  # bool (n_rows, n_keys), or None where every query may attend to every key


def head_rows(trace: AttentionTrace, head: int, rows: Rows = ALL) -> HeadRows:
    """Return rows of a head's weights, and what they are computed from; other rows of a long trace are not computed."""
    scores, allowed = trace.scores(head, rows), trace.allowed(head, rows)
    has_normaliser = trace.normaliser is not None or "log_normaliser" in vars(trace)
    if has_normaliser or trace.n_heads * trace.n_queries * trace.n_keys <= MAX_PAIRS_AT_ONCE:
        normaliser = trace.log_normaliser[head, rows]
    else:
        normaliser = trace.with_sinks(masked(scores, allowed).logsumexp(-1), head, rows)
    weights = trace.weights_of(scores.clone(), normaliser if trace.has_softmax else None, head, rows)
    return HeadRows(scores, weights, normaliser, allowed)


def norm_based_weights(trace: AttentionTrace, head: int = 0) -> Tensor:
    """Return weight x |value|, (n_queries, n_keys): the length of what each key adds to each query's context.

    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", here before the output projection, which a trace
    does not know.
    """
    return trace.weights(head) * upcast_half(trace.value_of(head)).norm(dim=-1)


def without_keys(weights: Tensor, keys: Collection[int]) -> Tensor:
    """Set the weights (n_queries, n_keys) of some keys to 0, and rescale each row to the sum that it had.

    These are the weights of a softmax without those keys, not what the model computed. A row without other keys is 0.
    """
    remaining = weights.index_fill(1, torch.tensor(sorted(keys), device=weights.device), 0)
    sums = remaining.sum(1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)
    return remaining * weights.sum(1, keepdim=True) / sums


CLEAR_SHARE = 0.4  # a head "mostly" does what at least this share of its weight goes to, on average
MAX_CELLS = 200_000_000  # weights computed for the summaries of one group of layers, three seconds on a slow core
MAX_HEAD_CELLS = 8_000_000  # weights of one head in memory at a time, 32 MB
MIN_QUERIES = 32  # of a sample, whatever the two bounds say
EVEN_ENTROPY = 0.9  # a head looks everywhere alike when its relative entropy is at least this


@dataclass(frozen=True)
class HeadSummary:
    """One head in numbers; nan where a number has no meaning for it.

    Seeing queries may attend to at least one key: entropy and distance are means over them. Choosing queries may attend
    to at least two: all shares and the relative entropy are means over them, because the first token of a decoder, say,
    has no choice but itself. Blind queries, which may attend to no key, never count.

    Attributes:
        entropy: bits, of each row of the weights: -sum_j w_ij log2 w_ij. A share that a sink keeps for itself (see
            AttentionTrace.sinks) is no key and adds nothing.
        relative_entropy: of each row, its entropy divided by log2 of the number of keys that the query may see; 1 =
            looks everywhere alike.
        distance: of each row, sum_j w_ij |i - j| / sum_j w_ij, in positions; for patches of a picture the distance
            between their centres, in patches, from patch to patch only (Dosovitskiy et al. 2020, figure 7, in pixels).
            Self-attention only.
        first: share on key 0, over the queries after the first in self-attention, over all in cross-attention.
        itself: share of query i on key i. Self-attention only.
        previous: share of query i on key i - 1, over the queries that have one. Self-attention only.
        following: share of query i on key i + 1, over the queries that have one. Self-attention only.
        special: share on all special tokens together, [CLS], [SEP] and so on; nan where there are none.
        unspent: share that goes to no key, because a sink keeps it; 0 for the usual softmax.
    """

    entropy: float
    relative_entropy: float
    distance: float
    first: float
    itself: float
    previous: float
    following: float
    special: float
    unspent: float


METRICS = {
    "entropy": "Entropy, bits",
    "relative_entropy": "Normalised entropy",
    "distance": "Mean distance, positions",
    "first": "Share on the first token",
    "itself": "Share on itself",
    "previous": "Share on the token before",
    "following": "Share on the token after",
    "special": "Share on special tokens",
    "unspent": "Share that a sink keeps",
}
"""Titles of the fields of a HeadSummary."""


def head_numbers(
    weights: Tensor,
    rows: Tensor,
    special: Tensor,
    is_self: bool,
    n_visible: Tensor | None = None,
    patches: PatchGrid | None = None,
) -> Tensor:
    """Return the fields of a HeadSummary (..., 9) of rows of weights (..., n_rows, n_keys).

    Rows are positions of queries, int64 (n_rows,); special is bool (..., n_keys); n_visible counts the keys that each
    row may see, None = those with a weight above 0; patches are those of a picture, in which distances are measured.
    """
    n_visible = (weights > 0).sum(-1) if n_visible is None else n_visible
    seeing, choosing = n_visible > 0, n_visible > 1
    entropy = (-torch.xlogy(weights, weights.abs()).sum(-1) / math.log(2)).clamp_min(0)  # weights may be signed
    relative = _mean(entropy / n_visible.clamp_min(2).log2(), choosing)
    undefined = weights.new_full(weights.shape[:-2], math.nan)
    distance, near_shares, counts_first = undefined, [undefined] * 3, choosing
    if is_self:
        distance, counts_first = _mean_distance(weights, rows, seeing, patches), choosing & (rows > 0)
        for index, offset in enumerate((0, -1, 1)):
            shifted = (rows + offset).clamp(0, weights.shape[-1] - 1)
            on_shifted = weights.gather(-1, shifted[:, None].expand(*weights.shape[:-1], 1))[..., 0]
            near_shares[index] = _mean(on_shifted, choosing & (shifted == rows + offset))
    on_special = _mean((weights * special[..., None, :]).sum(-1), choosing).masked_fill(~special.any(-1), math.nan)
    unspent = 1 - weights.sum(-1)
    unspent = _mean(unspent.masked_fill(unspent.abs() < 1e-4, 0), choosing)
    first = _mean(weights[..., 0], counts_first)
    return torch.stack([_mean(entropy, seeing), relative, distance, first, *near_shares, on_special, unspent], -1)


def _mean(values: Tensor, is_counted: Tensor) -> Tensor:
    return (values * is_counted).sum(-1) / is_counted.sum(-1)


def _mean_distance(weights: Tensor, rows: Tensor, seeing: Tensor, patches: PatchGrid | None) -> Tensor:
    """Return the mean distance of a HeadSummary, see head_numbers, over the rows that see a key."""
    keys, start = torch.arange(weights.shape[-1], device=weights.device), 0 if patches is None else patches.n_prefix
    width = len(keys) if patches is None else patches.grid[1]
    points = [torch.stack((n // width, n % width), -1).float() for n in (rows - start, keys - start)]
    distances = torch.cdist(points[0], points[1], compute_mode="donot_use_mm_for_euclid_dist")[:, start:]
    on_patches, sums = weights[..., start:], weights[..., start:].sum(-1)
    has_distance = seeing & (rows >= start) & (sums > 1e-12)
    return _mean((on_patches * distances).sum(-1) / sums.clamp_min(1e-12), has_distance)


def summarise(
    trace: AttentionTrace,
    head: int = 0,
    special: Collection[int] = (),
    patches: PatchGrid | None = None,
    queries: Tensor | None = None,
) -> HeadSummary:
    """Return one head in numbers; of long inputs over evenly spaced queries.

    `special` are positions of special tokens; `patches` are those of a picture, in which distances are then measured;
    `queries` are the positions that are summarised, None = those of summarised_queries.
    """
    rows = (summarised_queries([trace]) if queries is None else queries).to(trace.query.device)
    _, weights, _, allowed = head_rows(trace, head, rows)
    n_visible = torch.full_like(rows, trace.n_keys) if allowed is None else allowed.sum(1)
    is_special = torch.zeros(trace.n_keys, dtype=torch.bool, device=weights.device)
    is_special[[position for position in special if position < trace.n_keys]] = True
    numbers = head_numbers(weights, rows, is_special, is_self_attention(trace), n_visible, patches).tolist()
    values = [math.nan if math.isnan(number) else number for number in numbers]  # one object, so that summaries compare
    if trace.sinks is None and not math.isnan(values[-1]):
        values[-1] = 0.0  # without sinks: weights with signs, or without some keys, do not sum to 1 either
    return HeadSummary(*values)


def summaries(
    layers: Sequence[AttentionTrace], special: Collection[int] = (), patches: PatchGrid | None = None
) -> list[list[HeadSummary]]:
    """Return the summary of every head of every layer, see summarise; of long inputs over summarised_queries."""
    queries = summarised_queries(layers)
    return [[summarise(trace, head, special, patches, queries) for head in range(trace.n_heads)] for trace in layers]


def summarised_queries(layers: Sequence[AttentionTrace]) -> Tensor:
    """Return the queries that summaries averages over: all, or as many as MAX_CELLS allows, evenly spaced."""
    check_pairs(*layers)
    n_cells = sum(trace.n_heads for trace in layers) * layers[0].n_keys
    n, max_queries = layers[0].n_queries, min(MAX_CELLS // n_cells, MAX_HEAD_CELLS // layers[0].n_keys)
    n_sampled = min(n, max(MIN_QUERIES, max_queries))
    return ((torch.arange(n_sampled) + 0.5) * n / n_sampled).long()


def describe_head(summary: HeadSummary) -> str:
    """Return in a few words what a head mostly does, such as "63% on the token before".

    The first of these that holds: its sink keeps at least CLEAR_SHARE; it looks everywhere alike, with a relative
    entropy of at least EVEN_ENTROPY (before shares, since each of few tokens has a large one); the largest of its
    shares on itself, the token before, the token after and the first token is at least CLEAR_SHARE; its share on
    special tokens is. Else how many tokens it is spread over, 2 to the power of its entropy.
    """
    shares = {
        "itself": summary.itself,
        "the token before": summary.previous,
        "the token after": summary.following,
        "the first token": summary.first,
    }
    if summary.unspent >= CLEAR_SHARE:
        return f"{percent(summary.unspent)} kept by its sink"
    if summary.relative_entropy >= EVEN_ENTROPY:
        return "nearly everywhere alike"
    name, share = largest_share(shares)
    if share >= CLEAR_SHARE:
        return f"{percent(share)} on {name}"
    if summary.special >= CLEAR_SHARE:
        return f"{percent(summary.special)} on special tokens"
    if math.isnan(summary.entropy):
        return "no numbers"
    if math.isnan(summary.relative_entropy):
        return "sees one token at most"
    spread = f"{2**summary.entropy:.1f}"
    return "on one token at a time" if spread == "1.0" else f"spread over {spread} tokens"


def largest_share(shares: Mapping[str, float]) -> tuple[str, float]:
    """Return the largest share and its name; nan is less than any number, ("", 0.0) stands for none."""
    return max(shares.items(), key=lambda pair: -1 if math.isnan(pair[1]) else pair[1], default=("", 0.0))


MIN_WEIGHT = 1e-9  # a weight below this counts as this where its logarithm is taken


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of rows, (..., n) -> (...), in bits, 0 to 1."""
    middle = ((first + second) / 2).clamp(min=MIN_WEIGHT)
    terms = [torch.xlogy(rows, rows.clamp(min=MIN_WEIGHT) / middle).sum(-1) for rows in (first, second)]
    return (terms[0] + terms[1]) / 2 / math.log(2)


class Distances(NamedTuple):
    """The distances of all heads of a group from one of them.

    Attributes:
        row: (n_heads,), of all layers in turn; 0 = the same weights, 1 = weights on other keys only.
        n_sampled: queries over which each distance is a mean.
        n_queries: queries of which these are a sample; those that are blind in any head are not sampled.
    """

    row: Tensor
    n_sampled: int
    n_queries: int


def distances_from(layers: Sequence[AttentionTrace], layer: int, head: int) -> Distances:
    """Return the distance of one head to every head of a group, layer by layer.

    The distance of two heads is the mean over queries of the square root of the Jensen-Shannon divergence, in bits, of
    the two rows of weights: sqrt(H((p + q) / 2) - (H(p) + H(q)) / 2), which is a metric between 0 and 1. What a sink
    keeps counts as one key more. Queries for which any of the heads sees no key are left out. For long inputs the mean
    is over those of summarised_queries.

    Source: Lin 1991, "Divergence Measures Based on the Shannon Entropy"; heads compared in this way: Clark et al.
    2019, "What Does BERT Look At?", section 6. Metric: Endres and Schindelin 2003.

    Raises:
        ValueError: layers of several shapes.
    """
    rows, n_queries = _sampled_queries(layers)
    reference = _shares(layers[layer], head, rows)
    distances = [_distance(reference, _shares(trace, head, rows)) for trace in layers for head in range(trace.n_heads)]
    return Distances(torch.stack(distances), len(rows), n_queries)


def distances_head_for_head(first: Sequence[AttentionTrace], second: Sequence[AttentionTrace]) -> Tensor:
    """Return how far each head of one run is from the same head of another run, (n_layers, n_heads).

    The distance is that of distances_from, between the layers of one group in each run: of two inputs with the same
    number of tokens, or two models of one shape; else a ValueError.
    """
    n_heads, second_n_heads = ([trace.n_heads for trace in layers] for layers in (first, second))
    if n_heads != second_n_heads or len(set(n_heads)) != 1:
        raise ValueError(f"first and second must have the same layers and heads, got {n_heads} and {second_n_heads}")
    rows, _ = _sampled_queries([*first, *second])
    distances = torch.zeros(len(first), n_heads[0])
    for layer, traces in enumerate(zip(first, second, strict=True)):
        for head in range(n_heads[0]):
            distances[layer, head] = _distance(*(_shares(trace, head, rows) for trace in traces))
    return distances


def _distance(first: Tensor, second: Tensor) -> Tensor:
    return divergence(first, second).clamp(0, 1).sqrt().mean()


def _shares(trace: AttentionTrace, head: int, rows: Tensor) -> Tensor:
    """Return some rows of a head as distributions, (n_rows, n_keys + 1): the last column is what a sink keeps."""
    weights = head_rows(trace, head, rows).weights.float()
    unspent = weights.new_zeros(len(weights), 1) if trace.sinks is None else 1 - weights.sum(1, keepdim=True)
    return torch.cat([weights, unspent], 1)


def _sampled_queries(layers: Sequence[AttentionTrace]) -> tuple[Tensor, int]:
    """Return evenly spaced queries that see a key in every head, and how many queries they stand for.

    Blind queries count among these only if not all queries are sampled: then it is unknown how many are blind.
    """
    shapes = {(trace.n_queries, trace.n_keys) for trace in layers}
    if len(shapes) != 1:
        raise ValueError(f"layers must have matrices of one shape, got {sorted(shapes)}")
    n_queries, rows = layers[0].n_queries, summarised_queries(layers)
    sees = torch.ones(len(rows), dtype=torch.bool)
    for trace in layers:
        for head in trace.heads_of_mask if trace.has_mask else ():  # a causal query always sees itself
            allowed = trace.allowed(head, rows)
            if allowed is not None:
                sees &= allowed.any(1).cpu()
    return rows[sees], int(sees.sum()) if len(rows) == n_queries else n_queries


FAR = 4  # positions between a query and a key that count as far: beyond what looking at a neighbour explains
MAX_FAR_WEIGHTS = 6_000_000  # weights of all heads together up to which far_look searches them


class FarLook(NamedTuple):
    """The largest weight between positions far apart, and where it is; all indices count from 0."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


def far_look(
    layers: Sequence[AttentionTrace],
    ignored: Collection[int] = (),
    among: Collection[tuple[int, int]] | None = None,
    query: int | None = None,
) -> FarLook | None:
    """Return the largest weight from any query to a key at least FAR positions before or after it.

    Only the heads `among`, as (layer, head), are searched, and only that query; None = all. Ignored positions, such as
    special tokens, count neither as queries nor as keys. Returns None where no such pair has a weight above 0, or where
    the layers have more than MAX_FAR_WEIGHTS weights.
    """
    if sum(trace.n_heads * trace.n_queries * trace.n_keys for trace in layers) > MAX_FAR_WEIGHTS:
        return None
    best = None
    for layer, trace in enumerate(layers):
        queries, keys = torch.arange(trace.n_queries), torch.arange(trace.n_keys)
        is_far = (queries[:, None] - keys).abs() >= FAR
        is_far &= (queries == query)[:, None] if query is not None else True
        for position in ignored:
            is_far[queries == position] = False
            is_far[:, keys == position] = False
        heads = [head for head in range(trace.n_heads) if among is None or (layer, head) in among]
        for head in heads if is_far.any() else ():
            weights = trace.weights(head).cpu() * is_far
            row, key = divmod(int(weights.argmax()), trace.n_keys)
            weight = float(weights[row, key])
            if weight > (best.weight if best else 0):
                best = FarLook(layer, head, row, key, weight)
    return best


MAX_POSITIONS = 1024
"""Rollout multiplies whole n x n matrices: beyond this many positions it takes seconds and hundreds of megabytes."""
RESIDUAL = 0.5  # share of each position that the residual connection carries past a layer's attention


class Rollout(NamedTuple):
    """Attention followed through the layers.

    Attributes:
        rolled: (n, n), how much of each input position (column) is in each position after the last layer (row), by
            this account; rows sum to 1.
        last: (n, n), the last layer's weights, mean over its heads, to compare with.
    """

    rolled: Tensor
    last: Tensor


def rollout(layers: Sequence[AttentionTrace]) -> Rollout:
    """Return the product over a stack's layers, from the first, of 0.5 A + 0.5 I, where A is the mean of the heads.

    The identity stands for the residual connection. A query that sees no key, and what a sink keeps, pass nothing on:
    each row of 0.5 A + 0.5 I is divided by its sum. Values, feed-forward layers and the real size of the residual are
    left out, so that this describes the weights and not what the model uses.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; the residual, equation 1.

    Raises:
        ValueError: cross-attention, layers of several lengths, or more than MAX_POSITIONS positions.
    """
    check_pairs(*layers)
    n = layers[0].n_queries
    if not all(is_self_attention(trace) and trace.n_queries == n for trace in layers):
        raise ValueError("layers must be self-attention over the same positions in every layer, got other shapes")
    if n > MAX_POSITIONS:
        raise ValueError(f"layers must have at most {MAX_POSITIONS:,} positions for a rollout, got {n:,}")
    rolled, last = torch.eye(n), torch.eye(n)
    for trace in layers:
        last = mean_over_heads(trace)
        passed = (1 - RESIDUAL) * last + RESIDUAL * torch.eye(n)
        rolled = (passed / passed.sum(1, keepdim=True)) @ rolled
    return Rollout(rolled, last)


def mean_over_heads(trace: AttentionTrace) -> Tensor:
    """Return the mean of a layer's weights over its heads, (n_queries, n_keys), on the CPU."""
    total = trace.weights(0).float()
    for head in range(1, trace.n_heads):
        total += trace.weights(head)
    return (total / trace.n_heads).cpu()


__getattr__ = renamed_names(__name__, is_of_itself="is_self_attention")
