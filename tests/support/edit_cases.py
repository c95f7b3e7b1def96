"""Layers of every kind with edits of every kind, and their weights by hand."""

from dataclasses import replace

import torch

from attention_core.attention.edits import (
    UNIFORM,
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
from tests.support.edited_weights import weights_of
from tests.support.own_edits import AddToScore, HalveWeight, ScaleScores, ScoreOfNeighbour, TurnOutput
from tests.support.traces import make_trace

RUN = HeadRef("bert-tiny", "the cat sat", 2, 1)
MASK = torch.rand(11, 13, generator=torch.Generator().manual_seed(2)) > 0.3
MASK[4] = False  # query 4 sees no key
PADDING = (torch.arange(13) < 9).expand(11, 13)
BIAS = torch.randn(2, 11, 13, generator=torch.Generator().manual_seed(3))
LAYER_OPTIONS = {
    "plain": {},
    "masked": {"mask": MASK},
    "padded": {"mask": PADDING},
    "causal": {"is_causal": True},
    "bias": {"bias": BIAS},
    "sinks": {"sinks": BIAS[:, :, 0]},
    "sinks and a mask": {"sinks": BIAS[:, :, 0], "mask": MASK},
    "without softmax": {"has_softmax": False, "mask": PADDING},
}
EDIT_CASES = {
    "block keys": (BlockKeys((0, 5)),),
    "block keys of a head": (BlockKeys((3,), head=1),),
    "block edge": (BlockEdge(9, 2, head=1),),
    "set score": (SetScore(9, 2, 1.5, head=1), SetScore(9, 2, 2.5, head=1)),
    "set weights": (SetWeights(9, ((2, 0.3), (6, 0.0))), SetWeights(9, ((7, 0.25),), head=1)),
    "set a row": (SetWeights(9, ((2, 0.5), (7, 0.5)), head=1),),
    "set a weight beside the softmax": (SetWeights(9, ((2, 0.8),), head=1, renormalised=False),),
    "uniform": UNIFORM,
    "permuted": (PermuteKeys(3), SetScore(9, 2, 1.5)),
    "temperature": (Temperature(0.5), Uniform(head=0)),
    "no scale": (NoScale(),),
    "drop head": (DropHead(1),),
    "drop head for a query": (DropHead(1, query=9),),
    "pattern from": (PatternFrom(1, RUN), BlockKeys((5,))),
    "output from": (OutputFrom(1, RUN),),
    "add to a score": (AddToScore(9, 2, 1.5, head=1), Temperature(2.0)),
    "scale scores": (ScaleScores(7, 2.0, head=1),),
    "score of a neighbour": (ScoreOfNeighbour(9, 2),),
    "halve a weight": (HalveWeight(9, 2, head=1),),
    "turn an output": (TurnOutput(head=1),),
    "several": (DropHead(0), SetWeights(9, ((2, 0.5),)), SetScore(9, 7, 2.0), Temperature(2.0), BlockKeys((0,))),
}


def trace_of_layer(layer):
    """Return a trace whose query 9, of most edits, may attend to keys 2 and 7."""
    trace = make_trace(**LAYER_OPTIONS[layer])
    if trace.mask is not None:
        trace.mask[9, [2, 7]] = True
    return trace


def plain_weights(trace, head):
    """Return the edited weights of a head, recomputed cell by cell in float64, with a sink as one more key."""
    scores = trace.score(trace.query[head].double(), trace.key[head].double())
    scores = scores * (3**0.5 if NoScale() in trace.edits else 1)
    scores = scores if trace.bias is None else scores + trace.bias[head].double()
    allowed = torch.ones(scores.shape, dtype=torch.bool) if trace.mask is None else trace.mask
    allowed = allowed.tril() if trace.is_causal else allowed
    orders = [edit.key_order(trace, head) for edit in trace.edits if isinstance(edit, PermuteKeys)]
    if trace.sinks is not None:
        scores = torch.cat((scores, trace.sinks[head].double()[:, None]), 1)
        allowed = torch.cat((allowed, torch.ones(len(allowed), 1, dtype=torch.bool)), 1)
        orders = [torch.cat((order, torch.tensor([13]))) for order in orders]
        scalings = [edit for edit in trace.edits if isinstance(edit, Temperature | Uniform)]  # which leave sinks alone
        if any(isinstance(edit, Uniform) and edit.head in (None, head) for edit in scalings):
            scores[:, :-1] = 0
        for edit in scalings:
            scores[:, :-1] /= edit.temperature if isinstance(edit, Temperature) else 1
        edits = [edit for edit in trace.edits if edit not in scalings]
        edits = [_with_sink(edit, trace, head) if isinstance(edit, PatternFrom) else edit for edit in edits]
        return weights_of(head, scores, allowed, edits, True, *(orders or [None]))[:, :-1]
    return weights_of(head, scores, allowed, trace.edits, trace.has_softmax, *(orders or [None]))


def _with_sink(edit, trace, head):
    return replace(edit, pattern=torch.cat((edit.pattern, 1 - edit.pattern.sum(1, keepdim=True)), 1))
