"""How long an input of a model may be, by the memory that its traces take."""

import math

from attention_core.bounds import LONG_RUN_BYTES, LONG_TOKENS
from attention_core.hub.run import ModelRun


def affordable_tokens(run: ModelRun, most_bytes: int | None = None) -> int:
    """Return how many tokens the model may be given for most_bytes (LONG_RUN_BYTES) of traces, by a shorter run.

    Queries, keys and values grow with the tokens, masks and biases with their square. Of a model that hands out
    weights only, the run is as long as it may get.
    """
    most_bytes = LONG_RUN_BYTES.most if most_bytes is None else most_bytes
    n = len(run.tokens)
    linear, square, seen = 0, 0, set()
    for trace in run.recording.traces:
        if not trace.query.shape[-1]:
            return n
        linear += sum(vectors.numel() * vectors.element_size() for vectors in (trace.query, trace.key, trace.value))
        for pairs in (trace.mask, trace.bias):
            if pairs is not None and pairs.data_ptr() not in seen:
                seen.add(pairs.data_ptr())
                square += pairs.untyped_storage().nbytes()
    per_token, per_pair = linear / n, square / n**2
    # The positive solution of per_pair * x**2 + per_token * x = most_bytes, in a form that per_pair = 0 does not break.
    most = 2 * most_bytes / (per_token + math.sqrt(per_token**2 + 4 * per_pair * most_bytes))
    return max(n, min(int(most), LONG_TOKENS.most))
