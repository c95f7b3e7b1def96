"""The multiplied vectors: each source state times its weight, the parts that add up to the context."""

from typing import NamedTuple

from torch import Tensor

from attention_core.attention.trace import AttentionTrace


class Parts(NamedTuple):
    """A context and what it is the sum of."""

    vectors: Tensor  # (n_keys, d), weight times value; their sum is the context
    context: Tensor  # (d,)
    shares: Tensor  # (n_keys,), how far each part goes along the context, of its length; they sum to 1


def parts_of_context(trace: AttentionTrace, head: int, query: int) -> Parts:
    """Return the values times their weights for one query of a head.

    The share of a part is its dot product with the context over that of the context with itself: negative where it
    points the other way. A context of zeros has shares of 0.
    """
    vectors = trace.weights(head, [query])[0][:, None] * trace.value_of(head)
    context = trace.context(head)[query]
    return Parts(vectors, context, vectors @ context / (context @ context).clamp(min=1e-30))
