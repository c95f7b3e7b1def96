"""From a typed problem to its attention trace, in float64, with every step from the tables to the residual."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.attend import split_heads
from attention_core.attention.steps import projections
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role, Step, Story, Text, always
from attention_core.topics.vectors.problem import Mode, Problem, ProblemError, find_faults

X = Text(
    "inputs",
    "Inputs",
    "X",
    r"X \in \mathbb{R}^{$rows \times $columns}",
    "X = torch.tensor(rows, dtype=torch.float64)",
    "The inputs, one row each. Every row will ask, be asked and hand something over.",
    Role.INPUT,
)
ASKING = replace(X, explanation="The rows that ask.")
ASKED = Text(
    "memory",
    "The other inputs",
    "Y",
    r"Y \in \mathbb{R}^{$rows \times $columns}",
    "Y = torch.tensor(rows, dtype=torch.float64)",
    "The rows that are asked: they give the keys and the values.",
    Role.INPUT,
)
MERGED = Text(
    "merged",
    "Heads side by side",
    "heads",
    r"C = [\,C_1, \dots, C_h\,]",
    "context = torch.cat(contexts, dim=-1)  # of all heads",
    "The contexts of all $n heads are laid end to end, one row per query.",
    Role.CONTEXT,
)
OUTPUT = Text(
    "output",
    "Output projection",
    "W_O",
    r"O = C\, W_O",
    "output = context @ W_O",
    "A last projection leads from the values back to the columns of X$mixes.",
    Role.OUTPUT,
)
RESIDUAL = Text(
    "residual",
    "Residual",
    "+X",
    r"Z = X + O",
    "Z = X + output",
    "What was found is added to the row that asked. Z has the shape of X: the next layer can start here.",
    Role.OUTPUT,
)
RESIDUAL_OF_QUERIES = Text(
    "residual",
    "Residual",
    "+Q",
    r"Z = Q + C",
    "output = $query + context",
    "What was found is added to what asked. Without projections Q is the input itself.",
    Role.OUTPUT,
)


def trace_of(problem: Problem) -> AttentionTrace:
    """Return a problem's trace in float64, with steps from its tables to the residual.

    Raises:
        ProblemError: tables that do not fit together; it names them and their shapes.

    Source: Vaswani et al. 2017, section 3.2.
    """
    faults = find_faults(problem)
    if faults:
        raise ProblemError(faults)
    tables = {
        name: torch.from_numpy(np.ascontiguousarray(table, dtype=np.float64)) for name, table in problem.tables.items()
    }
    direct, n_heads, mask = problem.mode == Mode.DIRECT, problem.settings.n_heads, problem.mask()
    asks, asked = tables[problem.query_table], tables[problem.key_table]
    sources = zip((asks, asked, asked), "QKV", strict=True)
    merged = [tables[letter] if direct else source @ tables[f"W_{letter}"] for source, letter in sources]
    query, key, value = (split_heads(part[None], n_heads)[0] for part in merged)
    queries = Axis("queries", problem.row_labels(problem.query_table))
    keys = Axis("keys", problem.row_labels(problem.key_table))
    plain = AttentionTrace(
        query=query,
        key=key,
        value=value,
        score=problem.score(),
        has_softmax=problem.settings.softmax,
        mask=None if mask is None else torch.from_numpy(mask),
        story=Story(
            mechanism="cross-attention" if problem.mode == Mode.CROSS else "self-attention",
            query_axis=queries,
            key_axis=keys,
            value_axis=_numbered(value),
            steps_before=_steps_before(problem, tables, [query, key, value], queries, keys),
        ),
    )
    contexts = [plain.context(head) for head in range(n_heads)]
    computed = replace(plain, normaliser=plain.log_normaliser, fused_context=torch.stack(contexts))
    return computed.retold(steps_after=_steps_after(problem, tables, contexts, queries))


def _numbered(matrix: Tensor) -> Axis:
    return Axis.numbered("columns", matrix.shape[-1])


def _steps_before(
    problem: Problem, tables: dict[str, Tensor], vectors: list[Tensor], queries: Axis, keys: Axis
) -> tuple[Step, ...]:
    inputs = {Mode.SELF: ((X, queries),), Mode.CROSS: ((ASKING, queries), (ASKED, keys)), Mode.DIRECT: ()}
    steps = []
    for text, axis in inputs[Mode(problem.mode)]:
        table = tables[text.symbol]
        text = text.filled(rows=table.shape[0], columns=table.shape[1])
        steps.append(text.step(table, axis, _numbered(table), rows=table.tolist()))
    n_heads, x, y = problem.settings.n_heads, problem.query_table, problem.key_table
    part = f".chunk({n_heads}, dim=-1)[head]  # of the columns" if n_heads > 1 else ""
    named: dict[str, Any] = tables
    formula, code = "$letter = $x W_$letter", ("$name = ($x @ W_$letter)" if part else "$name = $x @ W_$letter") + part
    words = "A projection of the rows of $x: what each row $meaning. Every cell is one dot product."
    if problem.mode == Mode.DIRECT:
        named = {f"rows_of_{letter}": tables[letter].tolist() for letter in "QKV"}
        formula, code = "$letter", f"$name = torch.tensor(rows_of_$letter, dtype=torch.float64){part}"
        words = "Given directly, which is the projection by the identity: what each row $meaning."
    projected = projections(
        vectors,
        (queries, keys, keys),
        [_numbered(vector) for vector in vectors],
        formula=formula,
        code=code,
        explanation=words,
        inputs=partial(always, named),
        x=(x, y, y),
    )
    return (*steps, *projected)


def _steps_after(
    problem: Problem, tables: dict[str, Tensor], contexts: list[Tensor], queries: Axis
) -> tuple[Step, ...]:
    many, context, steps = len(contexts) > 1, torch.cat(contexts, -1), []

    def add(text: Text, matrix: Tensor, **named: Any) -> None:
        steps.append(text.step(matrix, queries, _numbered(matrix), **named))

    if many:
        add(MERGED.filled(n=len(contexts)), context, contexts=contexts)
    if problem.mode != Mode.DIRECT:
        output = context @ tables["W_O"]
        add(OUTPUT.filled(mixes=" and mixes the heads" if many else ""), output, W_O=tables["W_O"])
        add(RESIDUAL, tables["X"] + output)
    elif context.shape == tables["Q"].shape:
        query = "torch.tensor(rows_of_Q, dtype=torch.float64)" if many else "query"
        add(RESIDUAL_OF_QUERIES.filled(query=query), tables["Q"] + context, rows_of_Q=tables["Q"].tolist())
    return tuple(steps)
