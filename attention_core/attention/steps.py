"""The steps that every attention trace has, and the arithmetic of one cell. Models add steps before and after."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from attention_core.attention.scores import ScaledDot, Score, VectorPair, format_latex
from attention_core.attention.trace import BEFORE_ALL_EDITS, AttentionTrace, finite_normaliser, upcast_half
from attention_core.attention.types import (
    NO_ORIGIN,
    Axis,
    Compute,
    Inputs,
    Matrix,
    Origin,
    Origins,
    Role,
    Rows,
    Step,
    Text,
    product,
    read_texts,
)
from attention_core.device import to_array

if TYPE_CHECKING:
    import pandas as pd

VECTORS = (
    ("query", "Queries", "Q", Role.QUERY, "is looking for"),
    ("key", "Keys", "K", Role.KEY, "can be found by"),
    ("value", "Values", "V", Role.VALUE, "hands over when it is found"),
)
"""(name, title, letter, role, meaning) of the query, key and value step; the meaning completes "what it ..."."""
TEXTS = read_texts(__file__)
CONTEXT_WITHOUT_SOFTMAX = replace(
    TEXTS["context"],
    explanation="Every query receives the sum of all values, each times its weight; a negative one takes away.",
)
PLAIN_FORMULA = (
    r"C = A V = \operatorname{softmax}\left(Q K^{\top} / \sqrt{d_k}\right) V, \qquad c_i = \sum_j A_{ij}\, v_j"
)
"""The context's formula where only a scaled dot product and a softmax came before it."""
BLIND_CODE = ".nan_to_num()  # a query that sees no key gives nothing"
RECORDED_WEIGHTS = replace(
    TEXTS["weights"],
    formula=r"A_{ij} = e^{S_{ij}}",
    code="weights = (scores - normaliser).exp()  # scores: logarithms of the weights, which alone are known",
    explanation="How one query divides its attention among all keys. What these weights were made of is not known.",
)
RECORDED_SIGNED_WEIGHTS = replace(
    TEXTS["weights without softmax"],
    formula="A = S",
    code='weights = scores.masked_fill(scores == float("-inf"), 0)',
    explanation="What these weights were made of is not known. A row sums to anything, and a weight may be negative.",
)
MAX_SUMMANDS = 3  # that the formula of a context writes out
SET_WEIGHTS_SENTENCE = "Where an edit sets weights afterwards, those stand here instead, and a row may sum to anything."
SET_CONTEXT_SENTENCE = "Where an edit switches a head off or replaces its output, that stands here instead."


def steps_of(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return all steps in order: steps_before; vectors; scores; mask if there is one; weights; context; steps_after."""
    vectors = vector_steps(trace) if trace.story.shows_vectors else ()
    return trace.story.steps_before + vectors + attention_steps(trace) + trace.story.steps_after


def step_of(trace: AttentionTrace, name: str) -> Step:
    """Return the step of that name; a KeyError says which there are."""
    steps = {step.name: step for step in steps_of(trace)}
    if name not in steps:
        raise KeyError(f"no step {name!r}, there are {list(steps)}")
    return steps[name]


def projection_steps(
    matrices: Sequence[Tensor | Compute],
    rows: Sequence[Axis],
    columns: Sequence[Axis | None] = (None, None, None),
    *,
    formula: str = r"$letter = X W_$letter + b_$letter",
    code: str = "$name = x @ W_$letter + b_$letter",
    explanation: str,
    inputs: Inputs,
    origins: Sequence[Origins] = (NO_ORIGIN, NO_ORIGIN, NO_ORIGIN),
    **blanks: tuple[str, str, str],
) -> tuple[Step, ...]:
    """Return queries, keys and values as steps.

    Each of the three has its matrix, the axes of its rows and columns (see Text.step), its origin, and its text for
    each of the blanks. Formula, code and explanation are templates: $letter, $name and $meaning come from VECTORS.
    """
    steps = []
    for index, (name, title, letter, role, meaning) in enumerate(VECTORS):
        step_blanks = {blank: texts[index] for blank, texts in blanks.items()}
        text = Text(name, title, letter, formula, code, explanation, role)
        text = text.filled(name=name, letter=letter, meaning=meaning, **step_blanks)
        steps.append(text.step(matrices[index], rows[index], columns[index], inputs).with_origin(origins[index]))
    return tuple(steps)


def projection_origins(
    inputs: Sequence[Tensor], weights: Mapping[str, Tensor], symbols: Sequence[str] = ("X", "X", "X")
) -> list[Origins]:
    """Return the origins of queries, keys and values that are products of these inputs with W_Q, W_K and W_V."""
    return [
        product((matrix, Role.INPUT, symbol), (weights[f"W_{letter}"], role, f"W_{letter}"))
        for matrix, symbol, (_, _, letter, role, _) in zip(inputs, symbols, VECTORS, strict=True)
    ]


def affine_parameters(**linears: nn.Linear) -> dict[str, Tensor]:
    """Return weight and bias of Q=linear as W_Q and b_Q, for the code x @ W_Q + b_Q; other letters likewise."""
    weights = {f"W_{letter}": linear.weight.T for letter, linear in linears.items()}
    return weights | {f"b_{letter}": linear.bias for letter, linear in linears.items()}


def vector_steps(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return queries, keys and values as the layer used them, for recorded traces, which lack the steps before."""
    n_heads_per_key = trace.n_heads // trace.key.shape[0]
    shared_sentence = f" {n_heads_per_key} heads share these." if n_heads_per_key > 1 else ""
    key_head_code = f"[head // {n_heads_per_key}]" if n_heads_per_key > 1 else "[head]"
    upcast_code = "" if upcast_half(trace.query) is trace.query else ".float()"
    rotated_sentence = " Rotary positions are already in it." if trace.story.are_rotated else ""

    def tile(vectors: Callable[[int], Tensor], head: int, rows: Rows, cols: Rows) -> Tensor:
        return upcast_half(vectors(head)[rows][:, cols])

    return projection_steps(
        [partial(tile, vectors) for vectors in (lambda head: trace.query[head], trace.key_of, trace.value_of)],
        (trace.story.query_axis, trace.story.key_axis, trace.story.key_axis),
        [Axis.numbered("dimensions", vectors.shape[-1]) for vectors in (trace.query, trace.key, trace.value)],
        formula=r"$letter = X W_$letter^{(h)}",
        code=f"$name = $recorded{upcast_code}  # recorded: x @ W_$letter",
        explanation="A learned projection of what the layer was given, one row each: what it $meaning.$rotated$shared",
        inputs=lambda head: {"queries": trace.query, "keys": trace.key, "values": trace.value},
        recorded=("queries[head]", f"keys{key_head_code}", f"values{key_head_code}"),
        rotated=(rotated_sentence, rotated_sentence, ""),
        shared=("", shared_sentence, shared_sentence),
    )


def attention_steps(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return the steps from the first score to the context, for this trace's scoring function, mask and edits.

    A trace of weights alone has one step, the weights.
    """
    story, inputs = trace.story, partial(_code_values, trace)
    axes = story.query_axis, story.key_axis
    columns = story.value_axis or Axis.numbered("dimensions", trace.value.shape[-1])
    if trace.key.shape[-1] == 0:  # only the weights were recorded
        text = RECORDED_WEIGHTS if trace.has_softmax else RECORDED_SIGNED_WEIGHTS
        return (text.step(trace.weights, *axes, partial(_recorded_values, trace)),)
    steps = _score_steps(trace, inputs)
    weights, context = _texts_after_scores(trace, steps)
    operation: Literal["softmax", "change"] = "softmax" if trace.has_softmax else "change"
    steps.append(weights.step(trace.weights, *axes, inputs).with_origin(partial(steps[-1].origin_of_next, operation)))
    final = context.step(lambda head, rows, cols: trace.context(head)[rows][:, cols], story.query_axis, columns, inputs)
    return (*steps, final.with_origin(partial(_context_origin, trace, weights.role)))


def _texts_after_scores(trace: AttentionTrace, steps: Sequence[Step]) -> tuple[Text, Text]:
    """Return the texts of the steps weights and context; `steps` are those from the first score to the mask."""
    weights, context = TEXTS["weights"] if trace.sinks is None else TEXTS["weights with sink"], TEXTS["context"]
    if not trace.has_softmax:
        is_masked = steps[-1].name == TEXTS["mask"].name
        copied = '.masked_fill(scores == float("-inf"), 0)  # what is forbidden' if is_masked else ".clone()"
        weights = TEXTS["weights without softmax"].filled(scores="S'" if len(steps) > 1 else "S", copied=copied)
        context = CONTEXT_WITHOUT_SOFTMAX
    elif trace.sinks is None and trace.has_mask:
        explanation = f"{weights.explanation} A query that may see no key has weights of 0."
        weights = replace(weights, code=weights.code + BLIND_CODE, explanation=explanation)
    elif not trace.edits and trace.sinks is None and len(steps) == 2:  # scores and scaled scores: no bias, not causal
        is_plain = trace.score.to_json_value() == ScaledDot().to_json_value()
        context = replace(context, formula=PLAIN_FORMULA) if is_plain else context
    if "weights" in _edit_targets(trace):
        code = f"{weights.code}\nweights = weights.index_put((set_rows, set_columns), new)"
        weights = replace(weights, code=code, explanation=f"{weights.explanation} {SET_WEIGHTS_SENTENCE}")
    if "context" in _edit_targets(trace):
        code = f"{context.code}\ncontext = context.index_put((context_rows, context_columns), taken)"
        context = replace(context, code=code, explanation=f"{context.explanation} {SET_CONTEXT_SENTENCE}")
    return weights, context


def _score_steps(trace: AttentionTrace, inputs: Inputs) -> list[Step]:
    """Return the steps from the first score to the mask."""
    axes = trace.story.query_axis, trace.story.key_axis
    score_steps = trace.edited_score.steps(trace.key.shape[-1])
    texts_before_mask: list[tuple[Text, Compute]] = [
        (text if trace.has_softmax else _without_softmax(text), partial(_raw_scores, trace, score))
        for text, score in score_steps
    ]
    if trace.bias is not None:
        texts_before_mask.append((TEXTS["bias"], trace.scores))
    last_text, _ = texts_before_mask.pop()  # the last step before the mask applies the edits of scores, too
    texts_before_mask.append((replace(last_text, code=last_text.code + _edits_code(trace)), trace.scores))
    origin, steps = partial(_score_origin, trace, score_steps[0].compute), list[Step]()
    for text, compute in texts_before_mask:
        steps.append(text.step(compute, *axes, inputs).with_origin(origin))
        origin = partial(steps[-1].origin_of_next, "change")
    if trace.has_mask or trace.is_causal:
        origin = partial(steps[-1].origin_of_next, "mask")
        steps.append(TEXTS["mask"].step(trace.masked_scores, *axes, inputs).with_origin(origin))
    return steps


def _score_origin(trace: AttentionTrace, score: Score, head: int) -> Origin:
    return score.origin(upcast_half(trace.query[head]), upcast_half(trace.key_of(head)))


def _context_origin(trace: AttentionTrace, role: Role, head: int) -> Origin:
    value = upcast_half(trace.value_of(head))
    return Origin("product", (Matrix(trace.weights(head), role, "A"), Matrix(value, Role.VALUE, "V")))


def _without_softmax(text: Text) -> Text:
    """Return the text without its sentences about what a softmax makes of the scores."""
    sentences = [sentence for sentence in re.split(r"(?<=\.) ", text.explanation) if "softmax" not in sentence]
    return replace(text, explanation=" ".join(sentences) or "Every score is multiplied by the same number.")


def _raw_scores(trace: AttentionTrace, score: Score, head: int, rows: Rows, cols: Rows) -> Tensor:
    return score.tile(upcast_half(trace.query[head, rows]), trace.key_of(head), cols)


def _edits_code(trace: AttentionTrace) -> str:
    """Return the line of code that applies the edits of scores; empty without any."""
    targets = _edit_targets(trace)
    permuted = "scores[:, order]" if "key order" in targets else "scores"
    scaled = f"{permuted} * factor" if "factor" in targets else permuted
    line = f"({scaled}).index_put((rows, columns), edited)" if "scores" in targets else scaled
    return "" if line == "scores" else f"\nscores = {line.replace('(scores)', 'scores')}  # edits inside the attention"


def _edit_targets(trace: AttentionTrace) -> set[str]:
    return {edit.target_in(trace) for edit in trace.edits}


def _code_values(trace: AttentionTrace, head: int) -> dict[str, Any]:
    """Return the values of all names in the code of attention_steps()."""
    shape = (trace.n_heads, trace.n_queries, trace.n_keys)
    return trace.edited_score.parameters() | {
        "query": upcast_half(trace.query[head]),
        "key": upcast_half(trace.key_of(head)),
        "value": upcast_half(trace.value_of(head)),
        "d_k": trace.key.shape[-1],
        "n_keys": trace.n_keys,
        "bias": None if trace.bias is None else trace.bias.expand(shape)[head],
        "mask": trace.full_mask(head),
        "sink": None if trace.sinks is None else trace.sinks.expand(shape[:2])[head, :, None],
        **(_edit_values(trace, head) if trace.edits else {}),
    }


def _edit_values(trace: AttentionTrace, head: int) -> dict[str, Any]:
    """Return the values of the names in the code of edits: key order, factor, changed cells and their new numbers."""
    edits = [edit for edit in trace.ordered_edits if edit.applies_to(head)]
    order = torch.arange(trace.n_keys, device=trace.query.device)
    for next_order in (edit.key_order(trace, head) for edit in edits):
        order = order if next_order is None else next_order[order]
    values: dict[str, Any] = {"order": order, "factor": trace.score_multiplier(head)}
    by_target = {target: [edit for edit in edits if edit.target_in(trace) == target] for target in _edit_targets(trace)}
    if "scores" in by_target:
        queries, _ = trace.positions(trace.changed_rows(head, by_target["scores"]))
        before = trace.score_tile(head, queries, before=BEFORE_ALL_EDITS)
        values |= _changed_cells(("rows", "columns", "edited"), queries, before, trace.scores(head, queries))
    if "weights" in by_target:
        queries, _ = trace.positions(trace.changed_rows(head, by_target["weights"]))
        normaliser = trace.log_normaliser[head, queries] if trace.has_softmax else None
        before = trace.weights_before_edits(trace.scores(head, queries), normaliser, head, queries)
        values |= _changed_cells(("set_rows", "set_columns", "new"), queries, before, trace.weights(head, queries))
    if "context" in by_target:
        (queries, _), before = trace.positions(), trace.weighted_sum(head)
        after = trace.edited_context(head, before)
        values |= _changed_cells(("context_rows", "context_columns", "taken"), queries, before, after)
    return values


def _changed_cells(names: tuple[str, str, str], queries: Tensor, before: Tensor, after: Tensor) -> dict[str, Tensor]:
    """Return, by these names, rows, columns and new numbers of the cells that differ between before and after."""
    rows, columns = (before != after).nonzero().T
    return dict(zip(names, (queries[rows], columns, after[rows, columns]), strict=True))


def _recorded_values(trace: AttentionTrace, head: int) -> dict[str, Any]:
    """Return the values of the names in the code of RECORDED_WEIGHTS."""
    return {"scores": trace.masked_scores(head), "normaliser": finite_normaliser(trace.log_normaliser[head])[:, None]}


def cell_formula(trace: AttentionTrace, step: Step, head: int, query: int, key: int) -> str | None:
    """Return LaTeX that computes a step's number for one query and one key; None where there is none to show.

    The arguments count from 0, the formula from 1.
    """
    for index, (text, score) in enumerate(trace.edited_score.steps(trace.key.shape[-1])):
        if text.name == step.name:
            vectors = upcast_half(trace.query[head, query]), upcast_half(trace.key_of(head)[key])
            derivation = score.derive(VectorPair(*vectors, (query, key)))
            actual, primes = float(step.value(head, [query], [key])), "'" * index
            name = f"S{primes}_{{{query + 1},{key + 1}}}"
            if trace.edits and not _is_close(actual, derivation.value):
                return f"{name} = {format_latex(actual)}"  # after an edit the formula gives another number
            return f"{name} = {derivation.formula} = {format_latex(actual)}" if derivation.formula else None
    if step.name == "weights":
        return _weight_formula(trace, head, query, key)
    return _context_formula(trace, head, query) if step.name == "context" else None


def _weight_formula(trace: AttentionTrace, head: int, query: int, key: int) -> str:
    weight, score = float(trace.weights(head, [query], [key])), trace.scores(head, [query], [key])
    name, formula = f"A_{{{query + 1},{key + 1}}}", ""
    if trace.has_softmax:
        log_normaliser = trace.log_normaliser[head, query]
        row_sum = float(log_normaliser.exp())
        # no fraction where the cell is masked, an edit sets its weight, or the sum is too large to be written
        if math.isfinite(row_sum) and _is_close(weight, float((score - log_normaliser).exp())):
            formula = rf" = \frac{{e^{{{format_latex(float(score))}}}}}{{{format_latex(row_sum)}}}"
    return f"{name}{formula} = {format_latex(weight)}"


def _context_formula(trace: AttentionTrace, head: int, query: int) -> str | None:
    weights, value = trace.weights(head, [query])[0], upcast_half(trace.value_of(head))
    if trace.edits and not torch.allclose(weights @ value, trace.context(head)[query], rtol=1e-2, atol=1e-5):
        return None  # after an edit the sum gives another context
    top = weights.topk(min(MAX_SUMMANDS, trace.n_keys)).indices.tolist()
    summands = " + ".join(rf"{format_latex(float(weights[index]))}\, v_{{{index + 1}}}" for index in top)
    return rf"c_{{{query + 1}}} = {summands}" + (r" + \dots" if trace.n_keys > len(top) else "")


def _is_close(actual: float, by_formula: float) -> bool:
    return math.isclose(actual, by_formula, rel_tol=1e-3, abs_tol=1e-6)


def row_table(trace: AttentionTrace, head: int, query: int, n: int = 8) -> pd.DataFrame:
    """Return the n keys with the largest weights of a query, none of them masked; a last row sums up all other keys.

    The columns are key, score, exponential, weight, contribution (the length of weight times value).
    """
    import pandas as pd

    scores, weights = trace.scores(head, [query])[0], trace.weights(head, [query])[0]
    value = upcast_half(trace.value_of(head))
    numbers = {"score": scores, "exponential": scores.exp(), "weight": weights}
    numbers["contribution"] = weights * value.norm(dim=-1)
    allowed = trace.allowed(head, [query])
    unlisted = torch.ones_like(weights, dtype=torch.bool) if allowed is None else allowed[0].clone()
    top = weights.masked_fill(~unlisted, -1).topk(min(n, int(unlisted.sum()))).indices
    unlisted[top] = False
    labels = [trace.story.key_axis.labels[key] for key in top.tolist()]
    table = pd.DataFrame({"key": labels} | {name: to_array(column[top]) for name, column in numbers.items()})
    if not unlisted.any():
        return table
    remainder = {
        "key": f"the other {int(unlisted.sum())}" if unlisted.sum() > 1 else "the other one",
        "score": float("nan"),
        "exponential": float(numbers["exponential"][unlisted].sum()),
        "weight": float(weights[unlisted].sum()),
        "contribution": float((weights[unlisted] @ value[unlisted]).norm()),
    }
    return pd.concat([table, pd.DataFrame([remainder])], ignore_index=True)
