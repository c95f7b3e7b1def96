"""The project's trained models.

To add one: a file here with its config, its nn.Module and a call of register(); its recipe in attention_core/train; a
file with its evaluator in attention_core/evaluate if none there reads its kind of data; its test.
No other file lists it. Training it writes its weights and their card.
"""

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace
from attention_core.device import device_of
from attention_core.models.registry import MODELS, build, import_modules, load
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.models.translator import Translator, TranslatorConfig

import_modules(__name__, __path__)


def attention_at_snapshot(
    model: nn.Module, snapshots: dict[str, Tensor], number: int, image: Tensor
) -> tuple[AttentionTrace, ...]:
    """Return the traces of a picture, (28, 28) in [0, 1], as the model's attention was at one moment of its training.

    The snapshots are named "NUMBER.parameter", from 0, as the training command keeps them. The model is not changed.
    """
    prefix = f"{number}."
    device = device_of(model)
    then = {
        name.removeprefix(prefix): tensor.to(device, torch.float32)
        for name, tensor in snapshots.items()
        if name.startswith(prefix) and name != f"{prefix}step"
    }
    with torch.inference_mode():
        return torch.func.functional_call(model, then, (image[None].to(device),), {"trace": True}).traces


__all__ = [
    "MODELS",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "TranslatorConfig",
    "attention_at_snapshot",
    "build",
    "load",
]
