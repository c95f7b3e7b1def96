"""The numbers behind one cell: formulas with the present values filled in, for the stepper and for the chosen query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attention_core.attention.attend import at_least_single
from attention_core.attention.scores import Dot, ScaledDot
from attention_core.device import to_array

if TYPE_CHECKING:
    import pandas as pd

    from attention_core.attention.trace import AttentionTrace
    from attention_core.attention.types import Step

MANY = 4
"""Products written out before the dots."""


def number(value: float) -> str:
    """Return a number as short LaTeX: three significant digits, powers of ten where needed."""
    if value == 0 or 0.001 <= abs(value) < 999.5:
        return f"{value:.3g}"
    if 999.5 <= abs(value) < 100_000:
        return f"{value:.0f}"
    if not math.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty"
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def cell_formula(trace: AttentionTrace, step: Step, head: int, query: int, key: int) -> str | None:
    """Return LaTeX that computes a step's number for one query and one key, or None where there is none to show.

    Args:
        trace: the trace.
        step: one of its steps.
        head: which head, from 0.
        query: position of the query.
        key: position of the key.
    """
    dot_like = isinstance(trace.score, (Dot, ScaledDot))
    own = getattr(trace.score, "numbers", None)  # a scoring function that is no dot product may explain itself
    if own is not None and step.name in ("scores", "scaled"):
        letter = "S" if step.name == "scores" else "S'"
        way = own(step.name, trace.query[head, query], trace.key_of(head)[key])
        return rf"{letter}_{{{query},{key}}} = {way}"
    if step.name == "scores" and dot_like:
        q, k = at_least_single(trace.query[head, query]), at_least_single(trace.key_of(head)[key])
        return rf"S_{{{query},{key}}} = q_{{{query}}} \cdot k_{{{key}}} = " + _products(q, k)
    if step.name == "scaled" and isinstance(trace.score, ScaledDot):
        raw = float(at_least_single(trace.query[head, query]) @ at_least_single(trace.key_of(head)[key]))
        scaled = float(step.value(head, [query], [key]))
        d_k = trace.query.shape[-1]
        way = (
            rf"\frac{{{number(raw)}}}{{\sqrt{{{d_k}}}}}"
            if trace.score.scale is None
            else rf"{number(raw)} \cdot {number(trace.score.scale)}"
        )
        return rf"S'_{{{query},{key}}} = {way} = {number(scaled)}"
    if step.name == "weights":
        score = float(trace.scores(head, [query], [key]))
        total = float(trace.log_normaliser[head, query].exp())
        weight = float(trace.weights(head, [query], [key]))
        return rf"A_{{{query},{key}}} = \frac{{e^{{{number(score)}}}}}{{{number(total)}}} = {number(weight)}"
    if step.name == "context":
        weights = trace.weights(head, [query])[0]
        top = weights.topk(min(3, trace.n_keys)).indices.tolist()
        parts = " + ".join(rf"{number(float(weights[one]))}\, v_{{{one}}}" for one in top)
        return rf"c_{{{query}}} = {parts}" + (r" + \dots" if trace.n_keys > len(top) else "")
    return None


def _products(left: Tensor, right: Tensor) -> str:
    shown = [rf"{_signed(float(a))} \cdot {_signed(float(b))}" for a, b in zip(left[:MANY], right[:MANY], strict=True)]
    dots = r" + \dots" if len(left) > MANY else ""
    return " + ".join(shown) + dots + f" = {number(float(left @ right))}"


def _signed(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def row_table(trace: AttentionTrace, head: int, query: int, n: int = 8) -> pd.DataFrame:
    """Return the keys to which a query gives most, with every number on the way; forbidden keys do not appear.

    Returns:
        a table with the columns key, score, exponential, weight, contribution (the length of weight times value),
        and a last row for all the other keys together.
    """
    import pandas as pd

    scores = trace.scores(head, [query])[0]
    weights = trace.weights(head, [query])[0]
    exponentials = scores.exp()
    value = at_least_single(trace.value_of(head))
    lengths = weights * value.norm(dim=-1)
    allowed = trace.allowed(head, [query])
    rest = torch.ones_like(weights, dtype=torch.bool) if allowed is None else allowed[0].clone()
    top = weights.masked_fill(~rest, -1).topk(min(n, int(rest.sum()))).indices
    rest[top] = False
    shown = pd.DataFrame(
        {
            "key": [trace.story.key_axis.labels[one] for one in top.tolist()],
            "score": to_array(scores[top]),
            "exponential": to_array(exponentials[top]),
            "weight": to_array(weights[top]),
            "contribution": to_array(lengths[top]),
        }
    )
    if not rest.any():
        return shown
    others = {
        "key": f"the other {int(rest.sum())}",
        "score": float("nan"),
        "exponential": float(exponentials[rest].sum()),
        "weight": float(weights[rest].sum()),
        "contribution": float((weights[rest] @ value[rest]).norm()),
    }
    return pd.concat([shown, pd.DataFrame([others])], ignore_index=True)
