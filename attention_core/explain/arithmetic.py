"""The numbers behind one cell: formulas with the present values filled in, for the stepper and for the chosen query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from attention_core.attention.scores import Pair, number
from attention_core.attention.trace import as_float32
from attention_core.device import to_array

if TYPE_CHECKING:
    import pandas as pd

    from attention_core.attention.trace import AttentionTrace
    from attention_core.attention.types import Step


def cell_formula(trace: AttentionTrace, step: Step, head: int, query: int, key: int) -> str | None:
    """Return LaTeX that computes a step's number for one query and one key; None where there is none to show.

    The arguments count from 0, the formula from 1.
    """
    stages = trace.scoring.stages(trace.key.shape[-1])
    for place, stage in enumerate(stages):
        if stage.name == step.name:
            vectors = as_float32(trace.query[head, query]), as_float32(trace.key_of(head)[key])
            numbers = stage.compute.numbers(Pair(*vectors, (query, key)))
            found, primes = float(step.value(head, [query], [key])), "'" * place
            name, way = f"S{primes}_{{{query + 1},{key + 1}}}", numbers.way
            if trace.edits and not math.isclose(found, numbers.value, rel_tol=1e-3, abs_tol=1e-6):
                return f"{name} = {number(found)}"  # an edit, not the way, made it
            return f"{name} = {way} = {number(found)}" if way else None
    if step.name == "weights":
        weight, score = float(trace.weights(head, [query], [key])), trace.scores(head, [query], [key])
        alone = rf"A_{{{query + 1},{key + 1}}} = {number(weight)}"
        if not trace.has_softmax:
            return alone
        total = trace.log_normaliser[head, query]
        if trace.edits and not math.isclose(weight, float((score - total).exp()), rel_tol=1e-3, abs_tol=1e-6):
            return alone  # hidden, or set beside the softmax
        way = rf"\frac{{e^{{{number(float(score))}}}}}{{{number(float(total.exp()))}}}"
        return rf"A_{{{query + 1},{key + 1}}} = {way} = {number(weight)}"
    if step.name == "context":
        weights = trace.weights(head, [query])[0]
        top = weights.topk(min(3, trace.n_keys)).indices.tolist()
        parts = " + ".join(rf"{number(float(weights[place]))}\, v_{{{place + 1}}}" for place in top)
        return rf"c_{{{query + 1}}} = {parts}" + (r" + \dots" if trace.n_keys > len(top) else "")
    return None


def row_table(trace: AttentionTrace, head: int, query: int, n: int = 8) -> pd.DataFrame:
    """Return the keys to which a query gives most, without forbidden ones, and a last row for all the others together.

    The columns are key, score, exponential, weight, contribution (the length of weight times value).
    """
    import pandas as pd

    scores, weights = trace.scores(head, [query])[0], trace.weights(head, [query])[0]
    value = as_float32(trace.value_of(head))
    lengths = weights * value.norm(dim=-1)
    numbers = {"score": scores, "exponential": scores.exp(), "weight": weights, "contribution": lengths}
    allowed = trace.allowed(head, [query])
    rest = torch.ones_like(weights, dtype=torch.bool) if allowed is None else allowed[0].clone()
    top = weights.masked_fill(~rest, -1).topk(min(n, int(rest.sum()))).indices
    rest[top] = False
    names = [trace.story.key_axis.labels[place] for place in top.tolist()]
    shown = pd.DataFrame({"key": names} | {name: to_array(column[top]) for name, column in numbers.items()})
    if not rest.any():
        return shown
    others = {
        "key": f"the other {int(rest.sum())}",
        "score": float("nan"),
        "exponential": float(numbers["exponential"][rest].sum()),
        "weight": float(weights[rest].sum()),
        "contribution": float((weights[rest] @ value[rest]).norm()),
    }
    return pd.concat([shown, pd.DataFrame([others])], ignore_index=True)
