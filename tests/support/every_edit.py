"""Every kind of edit, several ways, for any trace."""

from collections.abc import Sequence

from attention_core import AttentionTrace
from attention_core.attention.edits import (
    BlockEdge,
    BlockKeys,
    DropHead,
    HeadRef,
    NoScale,
    OutputFrom,
    PatternFrom,
    PermuteKeys,
    SetScore,
    SetWeights,
    Temperature,
    Uniform,
)
from tests.support.own_edits import AddToScore, HalveWeight, ScaleScores, ScoreOfNeighbour, TurnOutput

RUN = HeadRef("another model", "another input")


def edits_for(trace: AttentionTrace) -> dict[str, Sequence]:
    """Return every kind of edit, several ways, for the last query that sees anything and two keys that it sees."""
    head = trace.n_heads - 1
    sees = [query for query in range(trace.n_queries) if trace.weights(head, [query]).count_nonzero() > 0]
    query = sees[-1] if trace.n_queries < 100 else 410
    keys = trace.weights(head, [query])[0].abs().topk(min(3, trace.n_keys)).indices.tolist()
    first, last = keys[0], keys[-1]
    pattern = trace.replace((Temperature(3.0),)).weights(head)
    output = trace.context(0).flip(0) + 0.1
    return {
        "block keys": [BlockKeys((first,))],
        "block keys of a head": [BlockKeys((first, last), head=head)],
        "block edge": [BlockEdge(query, last, head=head)],
        "set score": [SetScore(query, last, 3.0, head=head)],
        "set score in all heads": [SetScore(query, last, -2.0)],
        "set weight": [SetWeights(query, ((last, 0.4),), head=head)],
        "set two weights": [SetWeights(query, ((last, 0.3),)), SetWeights(query, ((first, 0.2),), head=head)],
        "set a weight of 0": [SetWeights(query, ((first, 0.0),))],
        "set a weight of 1": [SetWeights(query, ((last, 1.0),))],
        "set a row": [SetWeights(query, ((first, 0.25), (last, 0.75)))],
        "set a weight, not renormalised": [SetWeights(query, ((last, 0.9),), renormalised=False)],
        "uniform": [Uniform()],
        "uniform in a head": [Uniform(head=head)],
        "permuted": [PermuteKeys(5)],
        "temperature": [Temperature(0.5)],
        "temperature of a head": [Temperature(2.0, head=head)],
        "no scale": [NoScale()],
        "drop head": [DropHead(head)],
        "drop head for a query": [DropHead(head, query)],
        "pattern from": [PatternFrom(head, RUN, pattern)],
        "output from": [OutputFrom(0, RUN, output)],
        "add to a score": [AddToScore(query, last, 1.5, head=head)],
        "scale scores": [ScaleScores(first, 2.0, head=head)],
        "score of a neighbour": [ScoreOfNeighbour(query, last)],
        "halve a weight": [HalveWeight(query, first, head=head)],
        "turn an output": [TurnOutput(head=head)],
        "all together": [
            *(Temperature(2.0), BlockKeys((first,)), Uniform(head=head)),
            *(SetScore(query, last, 1.0), SetWeights(query, ((last, 0.5),))),
        ],
    }
