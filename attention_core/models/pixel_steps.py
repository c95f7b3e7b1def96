"""The steps of the pixel classifier that lead to its attention and follow it, for the stepper."""

from __future__ import annotations

from torch import Tensor

from attention_core.attention.types import Axis, Role, Step, matrix_step


def steps_before(
    image: Tensor, tokens: Tensor, query: Tensor, key: Tensor, value: Tensor, pixels: Axis
) -> tuple[Step, ...]:
    """Return pixels, embeddings, queries, keys and values.

    Args:
        image: (side, side).
        tokens: (n, d_model).
        query: (1, n, d_k).
        key: (1, n, d_k).
        value: (1, n, d_v), turned by the places.
        pixels: their axis.
    """
    first = matrix_step(
        image.flatten()[:, None],
        name="pixels",
        title="Pixels",
        symbol="pixels",
        formula=r"p \in [0, 1]^{784}",
        code="pixels = image.flatten()  # 784 numbers, 0 = paper, 1 = ink",
        explanation="The picture, read line by line: 784 numbers. Each becomes one token.",
        role=Role.INPUT,
        row_axis=pixels,
        col_axis=Axis("values", ["ink"]),
    )
    embedding = matrix_step(
        tokens,
        name="embedding",
        title="Embeddings",
        symbol="X",
        formula=r"x_i = p_i\, e + \pi_i",
        code="x = pixels[:, None] * e + position  # e and the 784 positions are learned",
        explanation="Value plus position: its ink times a learned vector, plus a learned vector for its place.",
        role=Role.INPUT,
        row_axis=pixels,
        col_axis=Axis.numbered("dimensions", tokens.shape[-1]),
    )
    turned = (
        "It tells where the pixel is, never how dark (W_V is zero for ink), so that the drawing reaches the answer "
        "through the weights alone. Each is turned by its place (R, a rotation), to be read relative to whoever looks."
    )
    parts = (
        ("query", "Queries", "Q", Role.QUERY, query, "what each pixel is looking for.", ""),
        ("key", "Keys", "K", Role.KEY, key, "what each pixel can be found by.", ""),
        ("value", "Values", "V", Role.VALUE, value, "what each pixel hands over when it is found.", turned),
    )
    projections = tuple(
        matrix_step(
            matrix,
            name=name,
            title=title,
            symbol=letter,
            formula=r"V = R\,(X W_V + b_V)" if turn else rf"{letter} = X W_{letter} + b_{letter}",
            code=f"{name} = x @ W_{letter} + b_{letter}" + ("\nvalue = turn(value, places @ waves.T)" if turn else ""),
            explanation=f"A learned projection of the same embeddings: {meaning} {turn} One picture per dimension.",
            role=role,
            row_axis=pixels,
            col_axis=Axis.numbered("dimensions", matrix.shape[-1]),
        )
        for name, title, letter, role, matrix, meaning, turn in parts
    )
    return (first, embedding, *projections)


def steps_after(collected: Tensor, hidden: Tensor, logits: Tensor, pixels: Axis) -> tuple[Step, ...]:
    """Return the context seen from each pixel, the features of the feed-forward network, and the answer.

    Args:
        collected: (n, d_v), the context turned back by the query's own place.
        hidden: (n, d_ff).
        logits: (10,).
        pixels: their axis.
    """
    relative = matrix_step(
        collected,
        name="relative",
        title="Context, seen from each pixel",
        symbol="R⁻¹C",
        formula=r"c'_i = R_i^{-1} c_i",
        code="context = turn(context, -places @ waves.T)",
        explanation="Turned back by the query's own place: not where the ink lies, but how it lies around this pixel.",
        role=Role.CONTEXT,
        row_axis=pixels,
        col_axis=Axis.numbered("dimensions", collected.shape[-1]),
    )
    features = matrix_step(
        hidden,
        name="ffn",
        title="Feed-forward network",
        symbol="FFN",
        formula=r"h_i = g(W_2\, g(W_1 c'_i + b_{r_i}) + b)",
        code="hidden = gelu(gelu(context @ W_1.T + bias_of_place) @ W_2.T + bias)",
        explanation="The same small network reads every pixel's context: one picture per feature.",
        role=Role.OUTPUT,
        row_axis=pixels,
        col_axis=Axis.numbered("features", hidden.shape[-1]),
    )
    answer = matrix_step(
        logits.softmax(-1)[None],
        name="class",
        title="Class",
        symbol="class",
        formula=r"P = \operatorname{softmax}(W_4\, g(W_3\, \overline{h} + b_3) + b_4)",
        code="probabilities = classify(avg_pool(hidden, 4).flatten()).softmax(-1)",
        explanation="The features are averaged in 7 x 7 parts of the picture, and two layers read them as a digit.",
        role=Role.OUTPUT,
        row_axis=Axis("pictures", ["this one"]),
        col_axis=Axis("digits", [str(digit) for digit in range(10)]),
    )
    return relative, features, answer
