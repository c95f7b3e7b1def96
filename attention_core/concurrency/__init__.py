"""What the threads of a server share: locks, in the order that docs/concurrency.md explains, and bounded caches."""

from attention_core.concurrency.cache import BoundedCache, ComputedValue
from attention_core.concurrency.locks import LOCK_ORDER, Lock, holding, note_released, note_requested

__all__ = ["LOCK_ORDER", "BoundedCache", "ComputedValue", "Lock", "holding", "note_released", "note_requested"]
