"""What a head of another run handed over."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from attention_core.attention.edits.edit import Edit, EditError, RunHead, register


@register
@dataclass(frozen=True)
class OutputFrom(Edit):
    """A head hands over what a head of another run did.

    Attributes:
        head: whose context is replaced, from 0.
        run: whose it is.
        output: (n_queries, d_v), which with_runs() finds.
    """

    name = "output from"
    place = "context"

    head: int
    run: RunHead
    output: Tensor | None = field(default=None, compare=False, repr=False)

    def context(self, head: int, context: Tensor) -> Tensor:
        """Return the other context.

        Raises:
            EditError: it is not here, or has another shape.
        """
        if not self.concerns(head):
            return context
        if self.output is None:
            raise EditError(f"the output of {self.run} is not here yet: with_runs() finds it")
        if self.output.shape != context.shape:
            raise EditError(f"{self.run} hands over {tuple(self.output.shape)}, here it is {tuple(context.shape)}")
        return self.output.to(context)

    def for_queries(self, first: int, n: int, n_times: int) -> list[Edit]:
        rows = None if self.output is None else self.output[first : first + n].repeat(n_times, 1)
        return [OutputFrom(self.head, self.run, rows)]

    def describe(self, queries: Sequence[str] = (), keys: Sequence[str] = ()) -> str:
        return f"head {self.head + 1} hands over what {self.run} did"
