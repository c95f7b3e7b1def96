"""Keys that no query may look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.attention.edits.edit import Edit, inside, label, register
from attention_core.attention.pairs import Pairs


@register
@dataclass(frozen=True)
class BlockKeys(Edit):
    """No query looks at these keys, in one head or, without one, in all: they count as if they were not there."""

    name = "block keys"
    place = "mask"
    is_even = True
    hides = True

    keys: tuple[int, ...]
    head: int | None = None

    def check(self, pairs: Pairs) -> None:
        super().check(pairs)
        inside(pairs.n_keys, "blocked keys", *self.keys)

    def blocked(self) -> Sequence[int]:
        return self.keys

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"it no longer looks at {', '.join(label(keys, key, 'key') for key in self.keys)}{self.of_head}"
