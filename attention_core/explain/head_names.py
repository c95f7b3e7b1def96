"""What the heads of a run do in its text, by name: which of them looks one token back, which rests on the first.

from attention_core.explain.head_names import clearest_heads, name_heads
clearest_heads(name_heads(groups(recording)["decoder self"]))

These are shares of weight in one text. Study.heads has names over a corpus, and over random tokens that are repeated,
where no meaning helps.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import CLEAR_SHARE, EVEN_ENTROPY, head_rows, is_self_attention

MAX_ROWS = 64
"""Queries of each head that are read; of longer texts so many, evenly spaced."""
MIN_ROWS = 2
"""Queries that can do what a name says, below which it is nobody's."""
NAMES = (
    "previous token",
    "induction",
    "duplicate token",
    "next token",
    "itself",
    "punctuation",
    "separator",
    "first token",
    "everywhere",
)
"""What a head is called by; of two equal shares the earlier name counts. The last is of heads without another."""


class NamedHead(NamedTuple):
    """A head, and the share of its weight that lies where its name says, in the mean over queries that can do so."""

    layer: int
    head: int
    name: str  # one of NAMES; "" = nothing clear
    share: float  # of "everywhere" the normalised entropy


def name_heads(layers: Sequence[AttentionTrace], special: Collection[int] = ()) -> list[NamedHead]:
    """Return every head of a group of layers with its clearest name, in the order of the layers.

    Args:
        layers: traces of one shape, see attention_core.explain.heads.groups.
        special: positions of special tokens, which ask nothing, and are no punctuation.
    """
    trace = layers[0]
    rows = torch.arange(trace.n_queries)
    if len(rows) > MAX_ROWS:
        rows = ((torch.arange(MAX_ROWS) + 0.5) * len(rows) / MAX_ROWS).long()
    patterns = _patterns(trace, rows, special)
    return [
        _name(trace, layer, head, rows, patterns) for layer, trace in enumerate(layers) for head in range(trace.n_heads)
    ]


def clearest_heads(heads: Sequence[NamedHead]) -> list[NamedHead]:
    """Return the clearest head of each name, the clearest first; then the second of each, and so on."""
    n_before: Counter[str] = Counter()
    ranked = []
    for head in sorted(heads, key=lambda head: -head.share):
        if head.name:
            ranked.append((n_before[head.name], head))
            n_before[head.name] += 1
    return [head for _, head in sorted(ranked, key=lambda each: each[0])]


def _patterns(trace: AttentionTrace, rows: Tensor, special: Collection[int]) -> Tensor:
    """Return for each of NAMES but the last and each row which keys it means, bool (n_names, n_rows, n_keys)."""
    texts = [label.strip() for label in trace.story.key_axis.labels]
    keys, at = torch.arange(trace.n_keys), rows[:, None]
    is_stop = torch.tensor([bool(text) and not any(map(str.isalnum, text)) for text in texts])
    marks = [position for position in special if position < trace.n_keys]
    is_stop[marks] = False
    is_separator = torch.zeros_like(is_stop)
    is_separator[[position for position in marks if position]] = True
    none = torch.zeros(len(rows), trace.n_keys, dtype=torch.bool)
    if not is_self_attention(trace):
        return torch.stack([none] * 5 + [none | is_stop, none | is_separator, none | (keys == 0)])
    number = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    ids = torch.tensor([number[text] for text in texts])
    is_same = ids[rows][:, None] == ids
    after_same = torch.zeros_like(is_same)
    after_same[:, 1:] = is_same[:, :-1]
    is_query = torch.ones(trace.n_queries, dtype=torch.bool)
    is_query[marks] = False
    patterns = torch.stack(
        [
            keys == at - 1,
            after_same & (keys <= at) & (keys > 0),
            is_same & (keys < at),
            keys == at + 1,
            keys == at,
            is_stop & (keys != at),
            is_separator & (keys != at),
            (keys == 0) & (at > 0),
        ]
    )
    return patterns & is_query[rows][:, None]


def _name(trace: AttentionTrace, layer: int, head: int, rows: Tensor, patterns: Tensor) -> NamedHead:
    _, weights, _, allowed = head_rows(trace, head, rows.to(trace.query.device))
    weights, visible = weights.float().cpu(), torch.ones(patterns.shape[1:], dtype=torch.bool)
    if allowed is not None:
        visible = allowed.cpu()
    has_choice = visible.sum(-1) > 1
    can = (patterns & visible).any(-1) & has_choice  # (n_names, n_rows)
    n_rows = can.sum(-1)
    shares = ((weights * patterns).sum(-1) * can).sum(-1) / n_rows.clamp_min(1) * (n_rows >= MIN_ROWS)
    index, share = int(shares.argmax()), float(shares.max())
    if share >= CLEAR_SHARE:
        return NamedHead(layer, head, NAMES[index], share)
    entropy = -torch.xlogy(weights, weights).sum(-1) / visible.sum(-1).clamp_min(2).log()
    evenness = float(entropy[has_choice].mean()) if has_choice.any() else 0.0
    is_even = evenness >= EVEN_ENTROPY
    return NamedHead(layer, head, NAMES[-1], evenness) if is_even else NamedHead(layer, head, "", share)
