"""What is computed from a run, kept beside it: for as long as the run lives, and for all visitors who look at it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch

from attention_core.hub.run import ModelRun
from ui.models import COMPUTE

MOST = 48
"""Results kept for one run; the oldest go first."""
Result = TypeVar("Result")
_KEPT: WeakKeyDictionary[ModelRun, dict[Hashable, Any]] = WeakKeyDictionary()


def kept(run: ModelRun, what: Hashable, compute: Callable[[], Result]) -> Result:
    """Return a result of a run, computed at the first call; the caller must not hold COMPUTE.

    Args:
        run: of which it is a result.
        what: which result: equal for equal computations.
        compute: called without arguments.
    """
    with COMPUTE:
        results = _KEPT.setdefault(run, {})
        if what not in results:
            with torch.no_grad():
                results[what] = compute()
            while len(results) > MOST:
                del results[next(iter(results))]
        return results[what]
