"""The steps that every attention trace has: scores, mask, weights, context. Models add theirs before and after."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from attention_core.attention.attend import at_least_single
from attention_core.attention.score import Stage
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Rows, Step


def steps_of(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return the steps in order: towards query, key, value; scores; mask if there is one; weights; context; after."""
    vectors = vector_steps(trace) if trace.story.shows_vectors else ()
    return trace.story.steps_before + vectors + attention_steps(trace) + trace.story.steps_after


def step_of(trace: AttentionTrace, name: str) -> Step:
    """Return the step of that name.

    Raises:
        KeyError: the trace has no such step.
    """
    steps = steps_of(trace)
    for step in steps:
        if step.name == name:
            return step
    raise KeyError(f"no step {name!r}, there are {[step.name for step in steps]}")


def vector_steps(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return queries, keys and values as the layer compared and mixed them, for recorded traces."""
    parts = (
        ("query", "Queries", "Q", Role.QUERY, trace.story.query_axis, "is looking for"),
        ("key", "Keys", "K", Role.KEY, trace.story.key_axis, "can be found by"),
        ("value", "Values", "V", Role.VALUE, trace.story.key_axis, "hands over when it is found"),
    )
    return tuple(
        _vector_step(trace, name, title, letter, role, axis, meaning)
        for name, title, letter, role, axis, meaning in parts
    )


def _vector_step(
    trace: AttentionTrace, name: str, title: str, letter: str, role: Role, axis: Axis, meaning: str
) -> Step:
    def compute(head: int, rows: Rows, cols: Rows) -> Tensor:
        vectors = {"query": lambda: trace.query[head], "key": lambda: trace.key_of(head)}
        return at_least_single(vectors.get(name, lambda: trace.value_of(head))()[rows][:, cols])

    n_kept = (trace.key if name != "query" else trace.query).shape[0]
    shared = f" {trace.n_heads // n_kept} heads share these." if n_kept < trace.n_heads else ""
    turned = " Positions that turn it (rotary) are already in it." if name != "value" else ""
    width = {"query": trace.query, "key": trace.key, "value": trace.value}[name].shape[-1]
    return Step(
        name,
        title,
        letter,
        rf"{letter} = X W_{letter}^{{(h)}}",
        f"{name} = x @ W_{letter}[head]",
        f"A learned projection of what the layer was given, one row each: what it {meaning}.{turned}{shared}",
        role,
        axis,
        Axis.numbered("dimensions", width),
        compute,
    )


def attention_steps(trace: AttentionTrace) -> tuple[Step, ...]:
    """Return the steps from the first score to the context, as this trace's scoring function and mask have them.

    A trace that knows nothing but its weights (see recording.from_weights) has these alone.
    """
    if trace.key.shape[-1] == 0:
        return (_weights_step(trace),)
    stages = trace.score.stages(trace.key.shape[-1])
    steps = [_score_step(trace, stage, is_last=stage is stages[-1] and trace.bias is None) for stage in stages]
    if trace.bias is not None:
        steps.append(_bias_step(trace))
    if trace.mask is not None or trace.is_causal or trace.intervention.blocked_keys:
        steps.append(_mask_step(trace))
    masked = (_masked_values_step(trace),) if trace.story.shows_masked else ()
    return (*steps, _weights_step(trace), *masked, _context_step(trace))


def _score_step(trace: AttentionTrace, stage: Stage, is_last: bool) -> Step:
    def raw(head: int, rows: Rows, cols: Rows) -> Tensor:
        return stage.compute.tile(at_least_single(trace.query[head, rows]), trace.key_of(head), cols)

    return _pair_step(
        trace,
        stage.name,
        stage.title,
        stage.symbol,
        stage.formula,
        stage.code,
        stage.explanation,
        Role.SCORES,
        trace.scores if is_last else raw,
    )


def _bias_step(trace: AttentionTrace) -> Step:
    return _pair_step(
        trace,
        "bias",
        "Biased scores",
        "+B",
        r"S'' = S' + B",
        "scores = scores + bias",
        "A number that depends on the two positions alone is added to each score, whatever stands there.",
        Role.SCORES,
        trace.scores,
    )


def _mask_step(trace: AttentionTrace) -> Step:
    def masked(head: int, rows: Rows, cols: Rows) -> Tensor:
        scores, allowed = trace.scores(head, rows, cols), trace.allowed(head, rows, cols)
        return scores if allowed is None else scores.masked_fill(~allowed, float("-inf"))

    return _pair_step(
        trace,
        "mask",
        "Mask",
        "mask",
        r"S'_{ij} \leftarrow -\infty \text{ where } i \text{ may not see } j",
        "scores = scores.masked_fill(~mask, -inf)",
        "A forbidden pair gets the score minus infinity, so that its weight will be exactly zero.",
        Role.SCORES,
        masked,
    )


def _weights_step(trace: AttentionTrace) -> Step:
    if trace.sinks is not None:
        return _pair_step(
            trace,
            "weights",
            "Weights",
            "softmax",
            r"A_{ij} = \frac{e^{S'_{ij}}}{e^{s} + \sum_{l} e^{S'_{il}}}",
            "weights = torch.cat([scores, sink], dim=-1).softmax(dim=-1)[..., :-1]",
            "Each row becomes shares. A learned sink s takes one too, without a value: a query can give little.",
            Role.WEIGHTS,
            trace.weights,
        )
    return _pair_step(
        trace,
        "weights",
        "Weights",
        "softmax",
        r"A_{ij} = \frac{e^{S'_{ij}}}{\sum_{l} e^{S'_{il}}}",
        "weights = scores.softmax(dim=-1)",
        "Each row becomes shares that sum to 1: how one query divides its attention among all keys.",
        Role.WEIGHTS,
        trace.weights,
    )


def _masked_values_step(trace: AttentionTrace) -> Step:
    def masked(head: int, rows: Rows, cols: Rows) -> Tensor:
        return trace.weights(head, [0])[0, rows, None] * trace.value_of(head)[rows][:, cols]

    return Step(
        "masked",
        "Masked values",
        "A ⊙ V",
        r"M_{jc} = A_{j}\, v_{jc}",
        "masked = weights[0, :, None] * value",
        "Every value is multiplied by its weight: what the mask does not look at fades away, what it looks at stays.",
        Role.VALUE,
        trace.story.key_axis,
        trace.story.value_axis or Axis.numbered("dimensions", trace.value.shape[-1]),
        masked,
    )


def _context_step(trace: AttentionTrace) -> Step:
    d_v = trace.value.shape[-1]

    def context(head: int, rows: Rows, cols: Rows) -> Tensor:
        return trace.context(head)[rows][:, cols]

    return Step(
        "context",
        "Context",
        "AV",
        r"C = A V, \qquad c_i = \sum_j A_{ij}\, v_j",
        "context = weights @ value",
        "Every query receives the values of all keys, mixed in the proportions of its weights.",
        Role.CONTEXT,
        trace.story.query_axis,
        trace.story.value_axis or Axis.numbered("dimensions", d_v),
        context,
    )


def _pair_step(
    trace: AttentionTrace,
    name: str,
    title: str,
    symbol: str,
    formula: str,
    code: str,
    explanation: str,
    role: Role,
    compute: Callable[[int, Rows, Rows], Tensor],
) -> Step:
    return Step(
        name, title, symbol, formula, code, explanation, role, trace.story.query_axis, trace.story.key_axis, compute
    )
