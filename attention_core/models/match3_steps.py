"""The steps of the Match3 heads around their attention, for the stepper."""

from __future__ import annotations

from torch import Tensor

from attention_core.attention.simplicial import pair_axis, pair_products
from attention_core.attention.types import Axis, Role, Step, matrix_step


def steps_before(
    everyone: Tensor, query: Tensor, key: Tensor, value: Tensor, numbers: Axis, single: Axis, pairs: bool
) -> tuple[Step, ...]:
    """Return the numbers' circles, queries, keys and values, and the keys of pairs where there are pairs.

    Args:
        everyone: (n + 1, d_model), the numbers' vectors and nobody's.
        query: (n, d_k).
        key: (n + 1, d_k), of single numbers.
        value: (n + 1, d_v), of single numbers.
        numbers: axis of the queries.
        single: axis of the numbers and nobody.
        pairs: whether a query looks at pairs.
    """
    n_waves = everyone.shape[-1] // 2
    circles = [f"{part} {wave}" for part in ("cos", "sin") for wave in range(1, n_waves + 1)]
    vectors = matrix_step(
        everyone,
        name="vectors",
        title="Numbers as circles",
        symbol="X",
        formula=r"x \mapsto \left(\cos \tfrac{2\pi f x}{31},\ \sin \tfrac{2\pi f x}{31}\right)_{f = 1, \dots, 15}",
        code="x = vectors[numbers]  # fixed, not learned",
        explanation="Modulo 31 the numbers lie on a circle, here on fifteen of them. Adding is turning.",
        role=Role.INPUT,
        row_axis=single,
        col_axis=Axis("cosines and sines", [*circles, "nobody"]),
    )
    parts = (
        ("query", "Queries", "Q", Role.QUERY, query, numbers, "what it is looking for"),
        ("key", "Keys", "K", Role.KEY, key, single, "what it can be found by"),
        ("value", "Values", "V", Role.VALUE, value, single, "what it hands over when it is found"),
    )
    projections = tuple(
        matrix_step(
            matrix,
            name=name,
            title=title,
            symbol=letter,
            formula=rf"{letter} = X W_{letter} + b_{letter}",
            code=f"{name} = x @ W_{letter} + b_{letter}",
            explanation=f"A learned projection of each number: {meaning}.",
            role=role,
            row_axis=axis,
            col_axis=Axis.numbered("dimensions", matrix.shape[-1]),
        )
        for name, title, letter, role, matrix, axis, meaning in parts
    )
    if not pairs:
        return (vectors, *projections)
    product = matrix_step(
        pair_products(key, key),
        name="pairs",
        title="Keys of pairs",
        symbol="K⊙K",
        formula=r"k_{jl} = k_j \odot k_l",
        code="key = (key[:, None] * key[None, :]).flatten(0, 1)  # one per pair; values likewise",
        explanation="The keys of two numbers, multiplied element by element, are the key of the pair; the values "
        "likewise. One square per dimension: first number down, second across.",
        role=Role.KEY,
        row_axis=pair_axis(single),
        col_axis=Axis.numbered("dimensions", key.shape[-1]),
    )
    return (vectors, *projections, product)


def steps_after(logits: Tensor, numbers: Axis) -> tuple[Step, ...]:
    """Return the answers, from logits (n, 2)."""
    answer = matrix_step(
        logits.softmax(-1),
        name="answer",
        title="Answer",
        symbol="answer",
        formula=r"P = \operatorname{softmax}(W_2\, g(W_1 [x_i; c_i] + b_1) + b_2)",
        code="p = read_out(torch.cat((x, context), -1)).softmax(-1)",
        explanation="A small network reads each number beside what it received: is there a pair?",
        role=Role.OUTPUT,
        row_axis=numbers,
        col_axis=Axis("answers", ["no pair", "a pair"]),
    )
    return (answer,)
