"""The project's trained models.

To add one: a file here with a config and an nn.Module, an entry in MODELS, a recipe in attention_core/train, and its
committed weights with their card.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from attention_core.attention.trace import AttentionTrace
from attention_core.device import choose_device
from attention_core.models.digit_reader import DigitReader, DigitReaderConfig
from attention_core.models.feature_mask import FeatureMask, FeatureMaskConfig
from attention_core.models.ffn_classifier import FFNClassifier, FFNConfig
from attention_core.models.language_model import language_model
from attention_core.models.match3 import Match3Config, Match3Head
from attention_core.models.pixel_classifier import PixelClassifier, PixelConfig
from attention_core.models.scene_question import SceneQuestion, SceneQuestionConfig
from attention_core.models.scoring_functions import ScoringConfig, ScoringFunctions
from attention_core.models.sentence_attention import SentenceClassifier, SentenceConfig, TwoPhaseClassifier
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.weights import fill, read_weights

MODELS: dict[str, Callable[[], nn.Module]] = {
    "pixel-classifier": partial(PixelClassifier, PixelConfig()),
    "ffn-classifier": partial(FFNClassifier, FFNConfig()),
    "match3-pairwise": partial(Match3Head, Match3Config(pairs=False)),
    "match3-simplicial": partial(Match3Head, Match3Config(pairs=True)),
    "scoring-functions": partial(ScoringFunctions, ScoringConfig()),
    **{
        f"translator-{scoring}": partial(Translator, TranslatorConfig(scoring))
        for scoring in ("none", "mean", "dot", "general", "additive")
    },
    "translator-transformer": partial(Transformer, TransformerConfig()),
    "sentence-attention": partial(SentenceClassifier, SentenceConfig()),
    "sentence-mean": partial(SentenceClassifier, SentenceConfig("mean")),
    "sentence-two-phase": partial(TwoPhaseClassifier, SentenceConfig()),
    "feature-mask": partial(FeatureMask, FeatureMaskConfig()),
    "feature-mean": partial(FeatureMask, FeatureMaskConfig(attends=False)),
    "digit-reader": partial(DigitReader, DigitReaderConfig()),
    "scene-question": partial(SceneQuestion, SceneQuestionConfig()),
    "tatoeba-llama": language_model,
    "translator-plain": partial(Translator, TranslatorConfig("none", cell="rnn", d_embedding=128)),
}


def build(name: str) -> nn.Module:
    """Return an untrained model.

    Raises:
        ValueError: no model of that name.
    """
    if name not in MODELS:
        raise ValueError(f"There is no model {name!r}. There are: {', '.join(MODELS)}.")
    return MODELS[name]()


def load(name: str, device: str = "auto", folder: Path | None = None) -> nn.Module:
    """Return a trained model, ready to predict, its parameters frozen.

    Args:
        name: one of MODELS.
        device: auto, cuda, mps or cpu.
        folder: where the weights lie; the committed ones if None.

    Raises:
        ValueError: no such model, or no such device on this machine.
        WeightsError: its file is missing or damaged.
    """
    model = fill(build(name), name, read_weights(name, folder))
    return model.to(choose_device(device)).eval().requires_grad_(False)


def attention_at_snapshot(
    model: nn.Module, snapshots: dict[str, Tensor], number: int, image: Tensor
) -> tuple[AttentionTrace, ...]:
    """Return the traces of a picture as the model's attention was at one moment of its training.

    Args:
        model: the trained model; it is not changed.
        snapshots: tensors named "NUMBER.parameter", as the training command keeps them.
        number: which snapshot, from 0.
        image: float (28, 28) in [0, 1].
    """
    prefix = f"{number}."
    device = next(model.parameters()).device
    then = {
        name.removeprefix(prefix): tensor.to(device, torch.float32)
        for name, tensor in snapshots.items()
        if name.startswith(prefix) and name != f"{prefix}step"
    }
    with torch.inference_mode():
        return torch.func.functional_call(model, then, (image[None].to(device),), {"trace": True}).traces


__all__ = [
    "MODELS",
    "DigitReader",
    "DigitReaderConfig",
    "FFNClassifier",
    "FFNConfig",
    "FeatureMask",
    "FeatureMaskConfig",
    "Match3Config",
    "Match3Head",
    "PixelClassifier",
    "PixelConfig",
    "SceneQuestion",
    "SceneQuestionConfig",
    "ScoringConfig",
    "ScoringFunctions",
    "SentenceClassifier",
    "SentenceConfig",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "TranslatorConfig",
    "TwoPhaseClassifier",
    "attention_at_snapshot",
    "build",
    "load",
]
