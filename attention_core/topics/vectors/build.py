"""From a typed problem to its attention trace, in float64, with every step from the tables to the residual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.attend import merge_heads, split_heads
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, matrix_step
from attention_core.topics.vectors.problem import Mode, Problem, ProblemError, find_faults

MEANING = {
    "query": "what each row is looking for",
    "key": "what each row can be found by",
    "value": "what each row hands over when it is found",
}
ROLES = {"query": Role.QUERY, "key": Role.KEY, "value": Role.VALUE}
TITLES = {"query": "Queries", "key": "Keys", "value": "Values"}
LETTERS = {"query": "Q", "key": "K", "value": "V"}


def trace_of(problem: Problem) -> AttentionTrace:
    """Compute a problem.

    Returns:
        its trace in float64, one batch, with the steps X, (Y), Q, K, V before the scores and, where they apply, the
        heads side by side, W_O and the residual after the context.

    Raises:
        ProblemError: tables that do not fit together; it names them and their shapes.

    Source: Vaswani et al. 2017, section 3.2.
    """
    faults = find_faults(problem)
    if faults:
        raise ProblemError(faults)
    tables = {
        name: torch.from_numpy(np.ascontiguousarray(one, dtype=np.float64)) for name, one in problem.tables.items()
    }
    merged = _projected(problem, tables)
    n_heads = problem.settings.n_heads
    query, key, value = (split_heads(merged[part][None], n_heads)[0] for part in ("query", "key", "value"))
    mask = problem.mask()
    queries, keys = (
        Axis("queries", problem.row_labels(problem.query_table)),
        Axis("keys", problem.row_labels(problem.key_table)),
    )
    parts = {"query": query, "key": key, "value": value}
    plain = AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=problem.score(),
        mask=None if mask is None else torch.from_numpy(mask),
        story=Story(
            mechanism="cross-attention" if problem.mode == Mode.CROSS else "self-attention",
            query_axis=queries,
            key_axis=keys,
            value_axis=_numbered(value.shape[-1]),
            steps_before=_steps_before(problem, tables, parts, queries, keys),
        ),
    )
    context = torch.stack([plain.context(head) for head in range(n_heads)])
    computed = replace(plain, normaliser=plain.log_normaliser, fused_context=context)
    return computed.retold(steps_after=_steps_after(problem, tables, plain, queries))


def _projected(problem: Problem, tables: dict[str, Tensor]) -> dict[str, Tensor]:
    if problem.mode == Mode.DIRECT:
        return {"query": tables["Q"], "key": tables["K"], "value": tables["V"]}
    asks, asked = tables[problem.query_table], tables[problem.key_table]
    return {"query": asks @ tables["W_Q"], "key": asked @ tables["W_K"], "value": asked @ tables["W_V"]}


def _numbered(n: int) -> Axis:
    return Axis("columns", [str(place + 1) for place in range(n)])


def _steps_before(
    problem: Problem, tables: dict[str, Tensor], parts: dict[str, Tensor], queries: Axis, keys: Axis
) -> tuple[Step, ...]:
    inputs = {
        Mode.SELF: (("X", queries, "The inputs, one row each. Every row will ask, be asked and hand something over."),),
        Mode.CROSS: (
            ("X", queries, "The rows that ask."),
            ("Y", keys, "The rows that are asked: they give the keys and the values."),
        ),
        Mode.DIRECT: (),
    }[Mode(problem.mode)]
    steps = [
        matrix_step(
            tables[name],
            name="inputs" if name == "X" else "memory",
            title="Inputs" if name == "X" else "The other inputs",
            symbol=name,
            formula=rf"{name} \in \mathbb{{R}}^{{{tables[name].shape[0]} \times {tables[name].shape[1]}}}",
            code=f"{name} = torch.tensor(rows)",
            explanation=words,
            role=Role.INPUT,
            row_axis=axis,
            col_axis=_numbered(tables[name].shape[1]),
        )
        for name, axis, words in inputs
    ]
    for part, matrix in parts.items():
        letter = LETTERS[part]
        source = problem.query_table if part == "query" else problem.key_table
        direct = problem.mode == Mode.DIRECT
        steps.append(
            matrix_step(
                matrix,
                name=part,
                title=TITLES[part],
                symbol=letter,
                formula=letter if direct else rf"{letter} = {source} W_{letter}",
                code=f"{part} = rows" if direct else f"{part} = {source} @ W_{letter}",
                explanation=(
                    f"Given directly, which is the projection by the identity: {MEANING[part]}."
                    if direct
                    else f"A projection of the rows of {source}: {MEANING[part]}. Every cell is one dot product."
                ),
                role=ROLES[part],
                row_axis=queries if part == "query" else keys,
                col_axis=_numbered(matrix.shape[-1]),
            )
        )
    return tuple(steps)


def _steps_after(problem: Problem, tables: dict[str, Tensor], trace: AttentionTrace, queries: Axis) -> tuple[Step, ...]:
    heads = torch.stack([trace.context(head) for head in range(trace.n_heads)])
    collected = merge_heads(heads[None])[0]
    steps = []

    def add(matrix: Tensor, name: str, title: str, symbol: str, formula: str, code: str, explanation: str) -> None:
        role = Role.CONTEXT if name == "merged" else Role.OUTPUT
        axis = _numbered(matrix.shape[-1])
        steps.append(
            matrix_step(
                matrix,
                name=name,
                title=title,
                symbol=symbol,
                formula=formula,
                code=code,
                explanation=explanation,
                role=role,
                row_axis=queries,
                col_axis=axis,
            )
        )

    if trace.n_heads > 1:
        add(
            collected,
            "merged",
            "Heads side by side",
            "heads",
            r"C = [\,C_1, \dots, C_h\,]",
            "context = heads.transpose(0, 1).flatten(1)",
            f"The contexts of all {trace.n_heads} heads are laid end to end, one row per query.",
        )
    if problem.mode == Mode.DIRECT:
        if collected.shape == tables["Q"].shape:
            add(
                tables["Q"] + collected,
                "residual",
                "Residual",
                "+Q",
                r"Z = Q + C",
                "output = query + context",
                "What was found is added to what asked. Without projections Q is the input itself.",
            )
        return tuple(steps)
    output = collected @ tables["W_O"]
    add(
        output,
        "output",
        "Output projection",
        "W_O",
        r"O = C\, W_O",
        "output = context @ W_O",
        "A last projection leads from the values back to the columns of X"
        + (" and mixes the heads." if trace.n_heads > 1 else "."),
    )
    add(
        tables["X"] + output,
        "residual",
        "Residual",
        "+X",
        r"Z = X + O",
        "x = x + output",
        "What was found is added to the row that asked. Z has the shape of X: the next layer can start here.",
    )
    return tuple(steps)
