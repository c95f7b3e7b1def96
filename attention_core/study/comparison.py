"""Two runs, checkpoints or maps beside each other, the heads that changed most first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.explain.heads import distances_head_for_head, groups
from attention_core.study.attribution import Attribution
from attention_core.study.effects import ACROSS, Effects
from attention_core.study.output import Table


@dataclass(eq=False)
class HeadComparison(Table):
    """How far each head changed from one run or map to another; as a table the most changed first.

    Attributes:
        change: (n_layers, n_heads), of runs the Jensen-Shannon distance of a head's rows, from 0, the same, to 1; of
            maps the second less the first.
    """

    change: Tensor

    def columns(self) -> Mapping[str, Sequence[Any]]:
        order, n_heads = self.change.abs().nan_to_num(-1).flatten().argsort(descending=True), self.change.shape[1]
        columns = {"layer": order // n_heads, "head": order % n_heads, "change": self.change.flatten()[order]}
        return {name: values.tolist() for name, values in columns.items()}


def compare(first: Any, second: Any, *, group: str = "") -> HeadComparison:
    """Return how far each head changed between two runs, of one model or two, or two maps of heads.

    Args:
        first: a Recording, or what ablate, patch or attribute returned, or numbers (n_layers, n_heads).
        second: the other one.
        group: of recordings whose attentions, see attention_core.explain.heads.groups; empty = the first group.

    Raises:
        ValueError: they have no heads, or no matrices, of the same shapes.
    """
    if isinstance(first, Recording) and isinstance(second, Recording):
        own, other = groups(first), groups(second)
        name = group or next(iter(own), "")
        if name not in own or name not in other:
            raise ValueError(f"both runs need the attention {name!r}, they have {[*own]} and {[*other]}")
        return HeadComparison(distances_head_for_head(own[name], other[name]))
    before, after = (head_map(one)[1] for one in (first, second))
    if before.shape != after.shape:
        raise ValueError(f"first and second need as many heads, got {tuple(before.shape)} and {tuple(after.shape)}")
    return HeadComparison(after - before)


def head_map(result: Any) -> tuple[str, Tensor]:
    """Return what a result is called, and its numbers (n_layers, n_heads); a ValueError says that it has none."""
    if isinstance(result, Effects) and ACROSS.get(result.site) == "head":
        return f"change by {'patching' if result.goal == result.goal else 'ablation'}", result.change
    values = result.heads if isinstance(result, Attribution) else result
    if not isinstance(values, Tensor) or values.ndim != 2:
        raise ValueError(f"only numbers of every head can be shown with heads, got {type(result).__name__}")
    return "direct effect" if isinstance(result, Attribution) else "value", values
