"""What a model put out for one item, as a metric reads it, and results that are tables: frames, files, arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """What a model put out for one item of a batch.

    Attributes:
        logits: (n_positions, n_tokens), or (n_classes,) of a classifier; None = the model has none.
        hidden: the last layer, (n_positions, d_model); None where the model hands out logits alone.
        tokenizer: that says which token a text is; of a classifier {name: class}.
    """

    logits: Tensor | None
    hidden: Tensor | None = None
    tokenizer: Any = None

    @classmethod
    def of_batch(cls, output: Any, tokenizer: Any = None) -> list[ModelOutput]:
        """Return the outputs of all items of what a transformers model returned."""
        logits, hidden = output.get("logits"), output.get("last_hidden_state")
        if logits is None and hidden is None:
            raise ValueError("the model hands out neither logits nor a last layer for a metric to read")
        n = len(hidden if logits is None else logits)
        pairs = ([None] * n if tensor is None else tensor.float() for tensor in (logits, hidden))
        return [cls(logits_of_item, states, tokenizer) for logits_of_item, states in zip(*pairs, strict=True)]

    def detached(self) -> ModelOutput:
        """Return the same numbers, from which no gradient finds its way back."""
        logits, hidden = (None if tensor is None else tensor.detach() for tensor in (self.logits, self.hidden))
        return replace(self, logits=logits, hidden=hidden)

    def scores(self, position: int = -1) -> Tensor:
        """Return the logits (n_tokens,) of one position, or those of the classes; ValueError where there are none."""
        if self.logits is None:
            raise ValueError("this model hands out no logits: a metric reads `hidden`, the last layer")
        return self.logits if self.logits.ndim == 1 else self.logits[position]

    def logits_at(self, positions: Tensor) -> Tensor:
        """Return the logits (n, n_tokens) of some positions, or those of the classes."""
        assert self.logits is not None
        return self.logits if self.logits.ndim == 1 else self.logits[positions]

    def logit(self, token: str | int, position: int = -1) -> Tensor:
        return self.scores(position)[token_id(self.tokenizer, token)]

    def log_probability(self, token: str | int, position: int = -1) -> Tensor:
        """Return the natural logarithm of a token's probability."""
        return self.scores(position).log_softmax(-1)[token_id(self.tokenizer, token)]

    def probability(self, token: str | int, position: int = -1) -> Tensor:
        return self.log_probability(token, position).exp()


Metric = Callable[[ModelOutput], Any]
"""Gives a number, or a tensor of one; through a tensor a gradient finds its way back."""


def token_id(tokenizer: Any, token: str | int) -> int:
    """Return the id of a text that is one token, such as " Mary", or of a class; a ValueError says that it is not."""
    if not isinstance(token, str):
        return int(token)
    if isinstance(tokenizer, dict):
        if token not in tokenizer:
            raise ValueError(f"the classes of this model are {', '.join(tokenizer)}, got {token!r}")
        return int(tokenizer[token])
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ValueError(f"without a tokenizer a token is a number, got {token!r}")
    for text in dict.fromkeys((token, token.lstrip())):  # some vocabularies put the space before a word themselves
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) == 1 and ids[0] != getattr(tokenizer, "unk_token_id", None):
            return int(ids[0])
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(token, add_special_tokens=False)["input_ids"])
    raise ValueError(f"{token!r} is no single token of this model: it is {', '.join(map(repr, pieces))}")


def number(value: Any) -> float:
    return float(value.detach()) if isinstance(value, Tensor) else float(value)


@dataclass(frozen=True, eq=False)
class _Leaves(ModelOutput):
    """An output of leaves, in which each position whose logits are asked for is a leaf of its own: most are not."""

    rows: dict[int, Tensor] = field(default_factory=dict)

    def scores(self, position: int = -1) -> Tensor:
        if self.logits is None or self.logits.ndim == 1:
            return super().scores(position)
        position = range(len(self.logits))[position]
        if position not in self.rows:
            self.rows[position] = self.logits.detach()[position].requires_grad_()
        return self.rows[position]


class Slopes(NamedTuple):
    """A metric of one output, and its gradients by what it reads.

    Attributes:
        value: the metric.
        positions: (n,), whose logits it reads; empty of a classifier.
        by_logits: (n, n_tokens), or (n_classes,) of a classifier; None = it reads none.
        by_hidden: (n_positions, d_model); None = it does not read the last layer.
    """

    value: float
    positions: Tensor
    by_logits: Tensor | None
    by_hidden: Tensor | None


def slopes_of(metric: Metric, output: ModelOutput) -> Slopes:
    """Return a metric and its gradients; a ValueError says that it returns no tensor made of an output."""
    tensors = output.logits, output.hidden
    logits, hidden = (None if tensor is None else tensor.detach().requires_grad_() for tensor in tensors)
    leaves = _Leaves(logits, hidden, output.tokenizer)
    with torch.enable_grad():
        value = metric(leaves)
        if not isinstance(value, Tensor) or not value.requires_grad:
            raise ValueError("a gradient needs a metric that returns a tensor made of `logits` or of `hidden`")
        present = [tensor for tensor in (logits, hidden) if tensor is not None]
        slopes = iter(torch.autograd.grad(value, [*present, *leaves.rows.values()], allow_unused=True))
    by_logits, by_hidden = (None if tensor is None else next(slopes) for tensor in (logits, hidden))
    by_row = {position: slope for position, slope in zip(leaves.rows, slopes, strict=True) if slope is not None}
    if logits is not None and logits.ndim > 1:
        if by_logits is not None:
            for position in by_logits.any(-1).nonzero()[:, 0].tolist():
                by_row[position] = by_logits[position] + by_row.get(position, 0)
        by_logits = torch.stack([*by_row.values()]) if by_row else None
    positions = torch.tensor([*by_row], dtype=torch.int64, device=value.device)
    return Slopes(number(value), positions, by_logits, by_hidden)


def linear_slopes_of(metric: Metric, output: ModelOutput) -> Slopes:
    """Return what slopes_of does; ValueError where a metric is no sum of what it reads times the slopes."""
    slopes = slopes_of(metric, output)
    linear, value = 0.0, slopes.value
    if slopes.by_logits is not None:
        linear += number((slopes.by_logits * output.logits_at(slopes.positions)).sum())
    if slopes.by_hidden is not None and output.hidden is not None:
        linear += number((slopes.by_hidden * output.hidden).sum())
    if abs(linear - value) > 1e-3 * max(1.0, abs(value)):
        raise ValueError(
            "only a metric that is linear in the logits is a sum of parts: a logit, or the difference of two; "
            "ablate and patch take any metric"
        )
    return slopes


AXES = ("layer", "head", "position", "query", "key", "rank", "part")
"""Columns that say where a number belongs."""


class Table:
    """A result with columns of one length, by name."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table; ImportError where pandas is missing."""
        _need("pandas")
        import pandas as pd

        return pd.DataFrame(dict(self.columns()))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table to a parquet file; ImportError where pandas or pyarrow is missing."""
        _need("pyarrow")
        self.to_frame().to_parquet(path)

    def to_xarray(self) -> xr.Dataset:
        """Return the columns over their axes, layers x heads for instance; ImportError where xarray is missing."""
        _need("xarray")
        frame = self.to_frame()
        return frame.set_index([name for name in AXES if name in frame]).to_xarray()

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(max_rows=40)


def _need(package: str) -> None:
    if find_spec(package) is None:
        raise ImportError(f'{package} is not installed: pip install "attention-explorer[study]" brings it.')
