"""Does a wider vector save long sentences? python -m benchmarks.context_width [WIDTH ...] [--epochs N --resume].

`translator-none` hands over one vector; here it is trained with more and fewer numbers. Weights are not kept.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from attention_core.models.registry import register
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.train import RECIPES
from attention_core.train.loop import Options, TrainingProgress, train
from attention_core.train.translation import TranslationTask
from attention_core.weights import read_card
from benchmarks.report import publish

MODEL = "translator-none"
WIDTHS = (384, 768)
FOLDER = Path("checkpoints") / "context_width"


class ShortNumbers(TranslationTask):
    """The task of all translators, multiplied in bfloat16: a width of 768 takes half the time."""

    def loss(self, model: nn.Module, progress: TrainingProgress, generator: torch.Generator) -> Tensor:
        with torch.autocast(self.device, torch.bfloat16):
            return super().loss(model, progress, generator)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context_width", description=__doc__)
    parser.add_argument("widths", nargs="*", type=int, default=WIDTHS)
    parser.add_argument("--epochs", type=float, default=RECIPES[MODEL].epochs)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    asked = parser.parse_args()
    recipe = replace(RECIPES[MODEL], task=ShortNumbers)
    for width in asked.widths:
        name = f"{MODEL}-{width}"
        register(name, "translation:evaluate_translation", Translator, TranslatorConfig("none", d_state=width))
        command = f"{parser.prog} {width} --epochs {asked.epochs:g}"
        train(recipe, Options(name, asked.epochs, resume=asked.resume, weights=FOLDER, command=command))
    report()


def report() -> None:
    """Publish the cards of all widths that were trained so far, without what describes the weights."""
    cards = [read_card(path.stem, FOLDER) for path in FOLDER.glob("*.json")]
    cards.sort(key=lambda card: int(card["parameters"]))
    rows = [["model", "parameters", "BLEU", "12 words and more"]]
    for card in cards:
        del card["bytes"], card["sha256"]
        test = card["test"]
        rows.append([card["name"], f"{card['parameters']:,}", f"{test['bleu']:.1f}", f"{test['bleu_long']:.1f}"])
    publish("context_width", rows, {"multiplied_in": "bfloat16", "cards": cards})


if __name__ == "__main__":
    main()
