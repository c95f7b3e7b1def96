"""What can be seen of attention that does not go through the library's interface.

Its modules may call torch's own function, which can be recorded, or hand out their weights when they are asked to:
one more run shows both.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from attention_core.attention.capture import watched
from attention_core.attention.capture.keeper import from_weights
from attention_core.attention.capture.recorder import N_HEADS, is_attention
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace

WEIGHTS_ONLY = "The model handed out its weights only: scores are their logarithms, query, key and value are unknown."
SCORES_ONLY = "The model handed out its scores, of which these weights are the softmax; query, key, value are unknown."
Call = tuple[str, nn.Module, AttentionTrace]
"""The place of a module in its model, the module, what it did."""


class Entries:
    """Which attention modules the thread goes through, and what was seen inside each.

    Attributes:
        modules: one per entry, in order.
        before: per entry, how many attentions had been seen when it began.
        after: per entry, how many had been seen when it ended.
    """

    def __init__(self, n_seen: Callable[[], int], take: Callable[[nn.Module, Tensor], None] | None) -> None:
        self.modules: list[nn.Module] = []
        self.before: list[int] = []
        self.after: list[int] = []
        self._n_seen, self._take = n_seen, take
        self._open: list[int] = []
        self._thread = threading.get_ident()

    def enter(self, module: nn.Module, *_: Any) -> None:
        if threading.get_ident() == self._thread:
            self._open.append(len(self.modules))
            self.modules.append(module)
            for counts in (self.before, self.after):
                counts.append(self._n_seen())

    def leave(self, module: nn.Module, _: Any, output: Any) -> None:
        """Note what has been seen since the entry; where that is nothing, take the weights that are handed out."""
        if threading.get_ident() == self._thread and self._open:
            entry = self._open.pop()
            if self._take is not None and isinstance(output, tuple) and self.before[entry] == self._n_seen():
                for weights in filter(looks_like_weights, output):
                    self._take(module, weights)
            self.after[entry] = self._n_seen()

    @property
    def missed(self) -> set[nn.Module]:
        found = {
            module
            for module, *counts in zip(self.modules, self.before, self.after, strict=True)
            if counts[0] < counts[1]
        }
        return set(self.modules) - found

    def around(self, number: int, among: Collection[nn.Module] | None = None) -> tuple[nn.Module, int] | None:
        """Return the innermost module (of some) in which an attention was seen, and in which of its runs, from 0."""
        for entry in reversed(range(len(self.modules))):
            module = self.modules[entry]
            if self.before[entry] <= number < self.after[entry] and (among is None or module in among):
                return module, self.modules[:entry].count(module)
        return None

    def repeats(self, n_seen: int) -> set[int]:
        """Return which of the attentions were seen in the same run of a module as the one before."""
        around = [self.around(number) for number in range(n_seen)]
        return {number for number in range(1, n_seen) if around[number] and around[number] == around[number - 1]}

    def position(self, module: nn.Module, time: int) -> int:
        """Return how many attentions had been seen when a module was run for the given time."""
        entries = [entry for entry, entered in enumerate(self.modules) if entered is module]
        return self.before[entries[min(time, len(entries) - 1)]]


@contextmanager
def watching(
    model: nn.Module, n_seen: Callable[[], int], take: Callable[[nn.Module, Tensor], None] | None = None
) -> Iterator[Entries]:
    """Keep track of the attention modules that this thread runs inside the block.

    `n_seen` tells how many attentions have been seen so far; `take` is given what looks like the weights of a module in
    which none was.
    """
    entries = Entries(n_seen, take)
    hooks = []
    for module in filter(is_attention, model.modules()):
        hooks.append(module.register_forward_pre_hook(entries.enter))
        hooks.append(module.register_forward_hook(entries.leave, always_call=True))
    try:
        yield entries
    finally:
        for hook in hooks:
            hook.remove()


def looks_like_weights(tensor: Any) -> bool:
    """Return whether this is (batch, n_heads, n_queries, n_keys), perhaps in windows, of rows that sum to 1."""
    if not isinstance(tensor, Tensor) or tensor.ndim not in (4, 5) or not tensor.is_floating_point():
        return False
    sums = tensor.float().sum(-1)
    return bool((tensor >= 0).all() and (sums < 1.01).all() and (sums > 0.99).any())


def seen_again(
    model: nn.Module,
    run: Callable[[], Any],
    n_items: int,
    entries: Entries | None = None,
    missed: Collection[nn.Module] = (),
    written_out: bool = False,
    item: int = 0,
) -> tuple[list[tuple[int, Call]], set[nn.Module], Any]:
    """Return what torch's own function is given and which weights modules hand out in another run of a model.

    `run` asks for the weights. Entries are those of the first run, which tells the order (None = as they run here), and
    nothing is returned but of the modules that were missed in it. With written_out, attention that is written out in
    products of matrices is recorded as well, and comes before weights that are handed out.

    Returns:
        (how many attentions the first run had seen before, the call) for each, the modules that are missed still, and
        the run's output.
    """

    def take(module: nn.Module, weights: Tensor) -> None:
        recording.traces.append(trace_of_weights(weights, name="", n_items=n_items, module=module, item=item))

    recording = Recording()
    with watched(recording, item, written_out=written_out), watching(model, lambda: len(recording), take) as now:
        output = run()
    places = {module: name for name, module in model.named_modules()}
    result = []
    for number, trace in enumerate(recording.traces):
        if entries is None:
            module, _ = now.around(number) or (model, 0)
            result.append((number, (places.get(module, "") or trace.story.name, module, trace)))
        elif around := now.around(number, missed):
            result.append((entries.position(*around), (places.get(around[0], ""), around[0], trace)))
    return result, set(missed) & now.missed, output


def trace_of_weights(weights: Tensor, *, name: str, n_items: int, module: nn.Module, item: int = 0) -> AttentionTrace:
    """Return the trace of weights (batch, n_heads, n_queries, n_keys), or with windows before or behind the heads.

    n_items: of the batch; module: whose weights they are; item: which to keep.
    """
    note = WEIGHTS_ONLY
    if weights.ndim == 5:
        n_heads = next((n for n in (getattr(module, key, None) for key in N_HEADS) if isinstance(n, int)), 0)
        weights = weights[:, :, 0] if weights.shape[1] == n_heads else weights[:, 0]
        note = f"{note} The first window."
    elif len(weights) != n_items:
        note = f"{note} The first of {len(weights)} windows."
    first = weights[min(item * (len(weights) // n_items or 1), len(weights) - 1)]
    if not 0 <= float(first.min()) <= float(first.max()) <= 1.01:
        first, note = first.float().softmax(-1), note.replace(WEIGHTS_ONLY, SCORES_ONLY)
    return from_weights(first, name=name, note=note, mechanism=f"attention of {type(module).__name__}")
