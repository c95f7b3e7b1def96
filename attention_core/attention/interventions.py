"""Edits applied inside the attention, so that everything downstream changes with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Intervention:
    """What a person changed in an attention layer.

    Attributes:
        scale: every score is multiplied by this; 0 makes the weights uniform over the keys that may be seen.
        blocked_keys: positions that no query may attend to.
        ablated_heads: heads whose context is set to 0.
        score_edits: (head, query, key, score) cells to overwrite, in units of the scaled scores.
        ablated_by_row: (row of the batch, head): heads whose context is set to 0 in that row alone; no trace shows it.
    """

    scale: float = 1.0
    blocked_keys: tuple[int, ...] = ()
    ablated_heads: tuple[int, ...] = ()
    score_edits: tuple[tuple[int, int, int, float], ...] = ()
    ablated_by_row: tuple[tuple[int, int], ...] = ()

    def for_queries(self, first: int, n: int, n_times: int) -> Intervention:
        """Return it for those n queries alone that come from the first on, n_times over."""
        edits = tuple(
            (head, query - first + time * n, key, score)
            for head, query, key, score in self.score_edits
            for time in range(n_times)
            if first <= query < first + n
        )
        return replace(self, score_edits=edits) if self.score_edits else self

    def full_mask(
        self, mask: Tensor | None, n_heads: int, n_queries: int, n_keys: int, device: torch.device | None = None
    ) -> Tensor | None:
        """Combine a mask with the blocked keys; (n_heads or 1, n_queries, n_keys), True = may attend, or None.

        Both parts are expanded views where they can be, so that a row of blocked keys costs no n x n memory. Without
        a mask the result lies on the device.

        Raises:
            IndexError: a blocked key is not there.
        """
        if mask is not None:
            mask = mask.expand(n_heads if mask.ndim == 3 and mask.shape[0] > 1 else 1, n_queries, n_keys)
        if not self.blocked_keys:
            return mask
        if not 0 <= min(self.blocked_keys) <= max(self.blocked_keys) < n_keys:
            raise IndexError(f"blocked keys must be from 0 to {n_keys - 1}, got {self.blocked_keys}")
        open_keys = torch.ones(n_keys, dtype=torch.bool, device=device if mask is None else mask.device)
        open_keys[list(self.blocked_keys)] = False
        return open_keys.expand(1, n_queries, n_keys) if mask is None else mask & open_keys


NO_INTERVENTION = Intervention()
UNIFORM = Intervention(scale=0.0)
"""Every query attends to all keys alike: what is left when attention may not choose."""
