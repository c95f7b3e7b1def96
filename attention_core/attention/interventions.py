"""What edits were before: kept for a while, so that what was written with them goes on."""

import warnings
from collections.abc import Sequence

from attention_core.attention.edits import UNIFORM, BlockKeys, DropHead, Edits, SetScore, Temperature

NO_INTERVENTION: Edits = ()


def Intervention(
    scale: float = 1.0,
    blocked_keys: Sequence[int] = (),
    ablated_heads: Sequence[int] = (),
    score_edits: Sequence[tuple[int, int, int, float]] = (),
) -> Edits:
    """Return the edits that do what an intervention did; the cells of score_edits are (head, query, key, score)."""
    warnings.warn("Intervention is now a sequence of edits, see attention_core.attention.edits", DeprecationWarning, 2)
    return (
        *(UNIFORM if scale == 0 else () if scale == 1 else (Temperature(1 / scale),)),
        *([BlockKeys(tuple(blocked_keys))] if blocked_keys else []),
        *(DropHead(head) for head in ablated_heads),
        *(SetScore(query, key, score, head) for head, query, key, score in score_edits),
    )
