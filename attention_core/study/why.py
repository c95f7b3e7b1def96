"""Why a head looks where it looks: one score as a table, sources of the query by sources of the key.

A score is a product of a query and a key. Both are sums over the embedding, every earlier head, every MLP and the
biases (sources.py), so that the score is a sum over pairs of them, one cell each. A softmax compares: what all keys
have in common changes no weight, and is left out by taking each key less the mean of the others.
Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", on composition of queries and keys.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from attention_core.attention.scores import ScaledDot
from attention_core.hub.tracing import UnsupportedError, run_model
from attention_core.study.effects import index_from_start
from attention_core.study.output import Table
from attention_core.study.sources import Source, Stream, all_through

Against = Literal["mean"] | int | None
"""What a key is compared with: the mean of the other visible keys, one other key, or nothing."""
N_LARGEST = 20


@dataclass(eq=False, repr=False)
class Why(Table):
    """One score, taken apart.

    Attributes:
        score: what the model recorded, scaled and before a softcap; less what the key is compared with.
        title: which score, in words.
        query_sources: the parts of the query, whose vectors are (d_k,).
        key_sources: the parts of the key, less what it is compared with.
        factor: by which products are scaled.
        note: what has to be known of this attention; empty = nothing.
    """

    score: float
    title: str
    query_sources: Sequence[Source]
    key_sources: Sequence[Source]
    factor: float
    note: str = ""

    @property
    def cells(self) -> Tensor:
        """(n_query_sources, n_key_sources); all together, and the residue, are the score."""
        sides = self.query_sources, self.key_sources
        query, key = (torch.stack([source.vectors for source in sources]) for sources in sides)
        return (self.factor * query @ key.T).cpu()

    @property
    def residue(self) -> float:
        """What the cells leave of the score, by rounding."""
        return self.score - float(self.cells.sum())

    def by_query(self) -> dict[str, float]:
        """Return what each source of the query adds, the largest first; of a score below 0 the lowest first."""
        return self._margin(self.query_sources, self.cells.sum(1))

    def by_key(self) -> dict[str, float]:
        """Return what each source of the key adds, in the same order."""
        return self._margin(self.key_sources, self.cells.sum(0))

    def _margin(self, sources: Sequence[Source], values: Tensor) -> dict[str, float]:
        named = zip([source.name for source in sources], values.tolist(), strict=True)
        return dict(sorted(named, key=lambda pair: pair[1], reverse=self.score >= 0))

    def largest(self, n: int = N_LARGEST) -> list[tuple[str, str, float]]:
        """Return the (source of the query, source of the key, value) of the cells that are farthest from 0."""
        cells = self.cells
        pairs = [(query.name, key.name) for query in self.query_sources for key in self.key_sources]
        order = cells.abs().flatten().argsort(descending=True)[:n].tolist()
        return [(*pairs[index], float(cells.flatten()[index])) for index in order]

    def open(self, side: Literal["query", "key"], name: str) -> Why:
        """Return the table with one source split: a head into the tokens that it looked at, a token into sources.

        Raises:
            ValueError: there is no such source, or it is no sum: the embedding is the token itself, an MLP is not
                linear.
        """
        sources = self.query_sources if side == "query" else self.key_sources
        index = next((index for index, source in enumerate(sources) if source.name == name), None)
        if index is None:
            raise ValueError(f"the {side} has the sources {', '.join(source.name for source in sources)}, got {name!r}")
        source = sources[index]
        if source.terms is None:
            raise ValueError(f"{name} is no sum: only heads, and the tokens that they looked at, can be opened")
        terms = [replace(term, name=f"{name}{term.name}") for term in source.terms()]
        opened = [*sources[:index], *(term for term in terms if term.vectors.any()), *sources[index + 1 :]]
        return replace(self, query_sources=opened) if side == "query" else replace(self, key_sources=opened)

    def __repr__(self) -> str:
        sides = [("query", self.by_query()), ("key", self.by_key())]
        which = "largest" if self.score >= 0 else "lowest"
        phrases = [
            f"the {which} part on the {side}'s side is {next(iter(m))}, {m[next(iter(m))]:+.3g}" for side, m in sides
        ]
        return f"{self.title}: {self.score:.4g}; {', '.join(phrases)}. {self.note}".strip()

    def columns(self) -> Mapping[str, Sequence[Any]]:
        rows = self.largest(len(self.query_sources) * len(self.key_sources))
        return dict(zip(("query", "key", "value"), zip(*rows, strict=True), strict=True))

    def _repr_html_(self) -> str:
        cells = {f"{query} × {key}": value for query, key, value in self.largest()}
        tables = _html("source of the query", self.by_query()) + _html("source of the key", self.by_key())
        tables += _html("largest cells: query × key", cells)
        return f"<p>{html.escape(repr(self))}</p><div style='display:flex;gap:2em'>{tables}</div>"


def _html(head: str, rows: Mapping[str, float]) -> str:
    largest = [*rows.items()][:N_LARGEST]
    body = "".join(f"<tr><td>{html.escape(name)}</td><td>{value:+.3f}</td></tr>" for name, value in largest)
    return f"<table><tr><th>{head}</th><th>adds</th></tr>{body}</table>"


def explain_score(stream: Stream, layer: int, head: int, query: int, key: int, against: Against = "mean") -> Why:
    """Return the score of a query and a key as a table of their sources.

    Raises:
        IndexError: there is no such layer, head, query or key.
        ValueError: the query may not see the key, or the other one.
        UnsupportedError: the attention is no scaled dot product of what the description says.
    """
    trace = stream.traces[index_from_start("layer", layer, len(stream.traces), may_be_negative=False)]
    index_from_start("head", head, trace.n_heads, may_be_negative=False)
    query, key = index_from_start("query", query, trace.n_queries), index_from_start("key", key, trace.n_keys)
    if not isinstance(trace.score, ScaledDot) or not trace.query.shape[-1]:
        raise UnsupportedError("the run shows weights alone, of which no query and key are known")
    allowed = trace.allowed(head, [query])
    visible = list(range(trace.n_keys)) if allowed is None else allowed[0].nonzero()[:, 0].tolist()
    second_key = against if against in ("mean", None) else index_from_start("key", int(against), trace.n_keys)
    if hidden := [position for position in (key, second_key) if isinstance(position, int) and position not in visible]:
        raise ValueError(f"query {query} may not see key {hidden[0]}")
    rivals = [second_key] if isinstance(second_key, int) else []
    if second_key == "mean":
        rivals = [position for position in visible if position != key]
    positions = torch.tensor([key, *rivals], device=trace.query.device)
    contrast = torch.full(positions.shape, -1 / max(len(rivals), 1), dtype=stream.dtype, device=positions.device)
    contrast[0] = 1
    at = torch.tensor([query], device=positions.device)
    plain = ScaledDot(trace.score.scale)
    recorded = trace.score_tile(head, at, positions, score=plain)[0].to(stream.dtype)
    label = [f"{position} {stream.tokens[position]!r}" for position in (query, key)]
    several = f"the mean of the {len(rivals)} other keys" if len(rivals) > 1 else "the other key"
    compared = f" less {several} that the query sees" if second_key == "mean" and rivals else ""
    compared = f" rather than {second_key} {stream.tokens[second_key]!r}" if isinstance(second_key, int) else compared
    return Why(
        score=float(contrast @ recorded),
        title=f"Score of head {layer}.{head}, query {label[0]}, key {label[1]}{compared}",
        query_sources=[*all_through(stream.read(layer, head, 0, at), lambda vectors: vectors[..., 0, :])],
        key_sources=[*all_through(stream.read(layer, head, 1, positions), contrast.matmul)],
        factor=trace.score.factor(trace.key.shape[-1]),
        note=_note(stream, layer, head, query, key),
    )


def _note(stream: Stream, layer: int, head: int, query: int, key: int) -> str:
    trace, notes = stream.traces[layer], []
    cap = trace.score.cap if isinstance(trace.score, ScaledDot) else None
    capped = float(trace.scores(head, [query], [key]))
    if cap is not None:
        notes.append(f"A softcap of {cap:g} makes the score of this cell {capped:.4g}; the table is from before it.")
    if hasattr(stream.attentions[layer], "q_norm"):
        notes.append("Query and key are normed before they meet (QK-norm), by the scales of this run.")
    if stream.precise is not stream.model:
        half = run_model(stream.model, stream.inputs)[0].traces[layer]
        difference = float(half.scores(head, [query], [key])) - capped
        dtype = str(half.query.dtype).removeprefix("torch.")
        notes.append(
            f"The model computes in {dtype}, which changes this score by {difference:+.2g}; here it is float32."
        )
    return " ".join(notes)
