"""How the numbers of a step come about, out of those of earlier steps, as the step's own line of PyTorch says it."""

import re
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.scores import Additive
from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace, at_least_float32
from attention_core.attention.types import Role, Step
from attention_core.device import to_array

TURNED = r"(\.T|\.transpose\(-2, -1\))?"
PRODUCT = re.compile(rf"(\w+){TURNED} @ (\w+){TURNED}")
SYMBOLS = {"query": "Q", "key": "K", "value": "V", "weights": "A", "context": "C"}


class Factor(NamedTuple):
    symbol: str
    role: Role
    values: np.ndarray  # float (n_rows, n_columns)


class Origin(NamedTuple):
    """How the numbers of a step come about, out of those of earlier steps.

    The kind is "product" of two matrices; "pairs", where each row of one is compared with each column of the other in
    another way; "softmax", "mask" or "change" of a matrix of the same shape; "" where nothing can be said.
    """

    kind: str = ""
    factors: tuple[Factor, ...] = ()  # the two matrices, or none
    before: Step | None = None  # whose matrix is changed, or None


def origin_of(trace: AttentionTrace, step: Step, head: int = 0) -> Origin:
    earlier = [*takewhile(lambda one: one.name != step.name, steps_of(trace))]
    by_name = {one.assigns: one for one in earlier}
    if match := PRODUCT.search(step.code):
        names, turned = match.groups()[::2], match.groups()[1::2]
        left, right = (_factor(*one, step, by_name, head) for one in zip(names, map(bool, turned), strict=True))
        fits = left and right and left.values.shape[1] == right.values.shape[0]
        if left and right and fits and (left.values.shape[0], right.values.shape[1]) == step.shape:
            return Origin("product", (left, right))
    for before in reversed(earlier):
        assigned = "|".join([before.assigns, *re.findall(r"(\w+) = ", before.code.splitlines()[-1])])
        if before.shape != step.shape or not re.search(rf"\b({assigned})\b", step.code):
            continue
        kinds = {"softmax": ".softmax(", "mask": "masked_fill("}
        return Origin(next((kind for kind, call in kinds.items() if call in step.code), "change"), before=before)
    if step.role is Role.SCORES and step.shape == (trace.n_queries, trace.n_keys):
        queries, keys = (_numbers(one) for one in (trace.query[head], trace.key_of(head)))
        if isinstance(trace.score, Additive) and len(queries) == 1:
            score, query, key = trace.score, trace.query[head], trace.key_of(head)
            hidden = torch.tanh(query @ score.W_q.T + key @ score.W_k.T)
            factors = Factor("v", Role.SCORES, _numbers(score.v[None])), Factor("tanhᵀ", Role.KEY, _numbers(hidden.T))
            return Origin("product", factors)
        if queries.shape[1] and queries.shape[1] == keys.shape[1]:
            return Origin("pairs", (Factor("Q", Role.QUERY, queries), Factor("Kᵀ", Role.KEY, keys.T)))
    return Origin()


def _numbers(values: Tensor) -> np.ndarray:
    return to_array(at_least_float32(values.detach()))


def _factor(name: str, turned: bool, step: Step, earlier: dict[str, Step], head: int) -> Factor | None:
    """Return the matrix that the step's code has under a name, as an earlier step or one of its inputs has it."""
    if name in earlier:
        role, values = earlier[name].role, _numbers(earlier[name].value(head))
    else:
        named = step.names(head).get(name)
        if not isinstance(named, Tensor) or named.ndim != 2:
            return None
        values = _numbers(named)
        role = Role(name) if name in set(Role) else step.role if "_" in name else Role.INPUT
    symbol = SYMBOLS.get(name, name if "_" in name else name[0].upper())
    return Factor(f"{symbol}ᵀ", role, values.T) if turned else Factor(symbol, role, values)
