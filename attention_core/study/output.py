"""What a model put out for one item, as a metric reads it, and results that are tables: frames, files, arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def metric_gradients(metric: Metric, output: ModelOutput) -> tuple[float, Tensor | None, Tensor | None]:
    """Return a metric and its gradients by the logits and by the last layer; None = it does not read them.

    ValueError where the metric is not linear in them, so that no sum of parts can be it.
    """
    present = [tensor.detach().requires_grad_() for tensor in (output.logits, output.hidden) if tensor is not None]

    def of_leaves(tensors: Sequence[Tensor]) -> Any:
        leaves = iter(tensors)
        logits, hidden = (None if tensor is None else next(leaves) for tensor in (output.logits, output.hidden))
        return metric(ModelOutput(logits, hidden, output.tokenizer))

    with torch.no_grad():
        twice = of_leaves([2 * tensor for tensor in present])
    with torch.enable_grad():
        value = of_leaves(present)
        if not isinstance(value, Tensor) or not value.requires_grad:
            raise ValueError("a metric that is taken apart returns a tensor made of `logits` or of `hidden`")
        slopes = iter(torch.autograd.grad(value, present, allow_unused=True))
    if abs(number(twice) - 2 * number(value)) > 1e-3 * max(1.0, abs(number(value))):
        raise ValueError(
            "only a metric that is linear in the logits is a sum of parts: a logit, or the difference of two; "
            "ablate and patch take any metric"
        )
    by_logits, by_hidden = (None if tensor is None else next(slopes) for tensor in (output.logits, output.hidden))
    return number(value), by_logits, by_hidden


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
