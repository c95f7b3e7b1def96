"""Where architectures keep what is linear in them: norms, projections, what is added to the residual stream.

Nothing of a model is written again here: a description names its modules. One more architecture is one more
table of families.toml, if its layers add the output of an attention and of an MLP to a residual stream.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.files import read_toml_beside
from attention_core.hub.model import OF_TOKENS
from attention_core.hub.tracing import UnsupportedError


@dataclass(frozen=True)
class Family:
    """Dotted paths of modules; those of a layer are below it, "" = there is none."""

    layers: str  # below the base model
    attention: str  # the module that calls the attention function
    projections: tuple[str, ...]  # below it, of query, key and value, or the one of all three
    output: str  # which multiplies the heads by W_O
    mlp: str  # whose output is added
    # whether one projection of all three has query, key and value of a head side by side (GPT-NeoX), or all queries
    # first (GPT-2)
    by_head: bool = False
    reads: str = ""  # the norm through which the attention reads the stream
    writes: str = ""  # the norm of what the attention adds to it
    # the norms of the stream itself, after the attention's and the MLP's output are added (post-norm)
    after: tuple[str, str] = ("", "")
    final: str = ""  # below the base model, the norm after the last layer
    # below the model, what makes logits of the last layer: linear maps and norms, in order; between two of them a
    # function may act on each number. Several, for the classes of a family that differ
    head: tuple[str, ...] = ("lm_head",)
    # the same of its classifiers of texts, and the function of torch between two of them
    classes: tuple[str, ...] = ()
    between: str = ""


def _read_families() -> dict[str, Family]:
    families: dict[str, Family] = {}
    for name, table in read_toml_beside(__file__).items():
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        like = fields.pop("like", None)
        families[name] = replace(families[like], **fields) if like else Family(**fields)
    return families


FAMILIES = _read_families()
"""By what transformers calls the architecture, model_type."""


def family_of(model: Any) -> Family:
    """Return the description of a model's architecture; UnsupportedError says that there is none."""
    architecture = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
    if architecture not in FAMILIES:
        raise UnsupportedError(
            f"nobody has described where {architecture} keeps its norms and projections "
            "(attention_core/study/families.toml), so that nothing of it can be taken apart; described are "
            f"{', '.join(FAMILIES)}"
        )
    family = FAMILIES[architecture]
    if type(model).__name__.endswith("ForSequenceClassification"):
        return replace(family, head=family.classes)
    if type(model).__name__.endswith(OF_TOKENS):
        return replace(family, head=family.classes and (family.classes[-1].partition(".")[0],), between="")
    return replace(family, between="")


def submodule(module: Any, path: str) -> Any:
    """Return the module at a dotted path below another one, or None where it has none."""
    for name in path.split("."):
        module = getattr(module, name, None)
    return module if path else None


def matrix(linear: Any) -> tuple[Tensor, Tensor]:
    """Return W (d_in, d_out) and b (d_out,) of a linear map, x W + b; GPT-2 stores W so, others transposed."""
    weight = linear.weight.detach()
    weight = weight if type(linear).__name__ == "Conv1D" else weight.T
    bias = getattr(linear, "bias", None)
    return weight, weight.new_zeros(weight.shape[1]) if bias is None else bias.detach()


def projection(family: Family, attention: nn.Module, which: int, n_heads: int) -> tuple[Tensor, Tensor]:
    """Return W (n_heads, d_model, d) and b (n_heads, d) of query, key or value: which = 0, 1, 2.

    There are as many heads as the attention has of these.
    """
    names = family.projections
    weight, bias = matrix(getattr(attention, names[which % len(names)]))
    n_joined = 3 // len(names)
    shape = (n_heads, n_joined, -1) if family.by_head else (n_joined, n_heads, -1)
    selected = (slice(None), which) if family.by_head else (which if n_joined > 1 else 0,)
    weights = weight.T.reshape(*shape, weight.shape[0])[selected]  # (n_heads, d, d_model)
    return weights.transpose(1, 2), bias.reshape(shape)[selected]


class FrozenNorm:
    """A norm as the linear map that it was in one run, the scale of each position kept as it was.

    Attributes:
        bias: (d,), what it adds.
    """

    def __init__(self, norm: Any, inputs: Tensor, dtype: torch.dtype) -> None:
        """Freeze a norm on what it was given, (n_positions, d) or with more axes between."""
        with torch.no_grad():
            outputs = norm(inputs).to(dtype)
            self._centres = isinstance(norm, nn.LayerNorm)
            if self._centres:
                self._gain, self.bias = norm.weight.detach().to(dtype), norm.bias.detach().to(dtype)
            else:  # of the same numbers a root mean square norm makes its gains, whatever it calls them
                self._gain = norm(torch.full_like(inputs[:1], 1000.0))[0].to(dtype)
                self.bias = torch.zeros_like(self._gain)
            unscaled = self._before_scale(inputs.to(dtype), slice(None))
            length = (unscaled * unscaled).sum(-1, keepdim=True).clamp_min(torch.finfo(dtype).tiny)
            self._scale = ((outputs - self.bias) * unscaled).sum(-1, keepdim=True) / length

    def __call__(self, vectors: Tensor, positions: Any, columns: slice = slice(None)) -> Tensor:
        """Return what becomes of parts of the vectors at these positions, (n, d), without the bias.

        Columns are those that the vectors have, of a root mean square norm of more; the others would be 0.
        """
        return self._before_scale(vectors, columns) * self._scale[positions]

    def pull_back(self, slopes: Tensor, positions: Any) -> Tensor:
        """Return the slopes by what goes in, of slopes by what comes out at these positions, (n, d)."""
        scaled = slopes * self._gain * self._scale[positions]
        return scaled - scaled.mean(-1, keepdim=True) if self._centres else scaled

    def _before_scale(self, vectors: Tensor, columns: slice) -> Tensor:
        centred = vectors - vectors.mean(-1, keepdim=True) if self._centres else vectors
        return centred * self._gain[columns]
