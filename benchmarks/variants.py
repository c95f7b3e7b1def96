"""Train variants of our models whose figures alone are kept: python -m benchmarks.variants [NAME ...] [--resume].

Wider vectors between encoder and decoder; the committed transformer, trained on without the positions of
words; a caption network that was trained as briefly as the one that learns to see and to tell at once.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from attention_core.files import read_json
from attention_core.models import register
from attention_core.models.scene_caption import SceneCaption, SceneCaptionConfig
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.train import RECIPES
from attention_core.train.loop import Options, train
from attention_core.weights import read_card
from benchmarks.report import RESULTS, publish

FOLDER = Path("checkpoints") / "variants"
EVALUATIONS = {"translator": "translation:evaluate_translation", "scene": "vision:evaluate_captions"}


class Variant(NamedTuple):
    recipe: str  # of the model that it is a variant of
    network: Callable[[Any], nn.Module]
    config: Any
    epochs: float = 2
    init: str | None = None  # whose committed weights it begins with
    learning_rate: float | None = None  # at its height; None = the recipe's


def without_positions(config: TransformerConfig) -> Transformer:
    return Transformer(config).without_positions()


VARIANTS = {
    **{
        f"translator-none-{width}": Variant("translator-none", Translator, TranslatorConfig("none", d_state=width))
        for width in (384, 512, 768, 1024)
    },
    "translator-unordered": Variant(
        "translator-transformer", without_positions, TransformerConfig(), 1, "translator-transformer", 6e-4
    ),
    "scene-caption-beforehand": Variant("scene-caption", SceneCaption, SceneCaptionConfig(), 1.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.variants", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(VARIANTS), help="of variants; all of them")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    asked = parser.parse_args()
    for name in asked.names:
        variant = VARIANTS[name]
        register(name, EVALUATIONS[name.split("-")[0]], variant.network, variant.config)
        command = f"{parser.prog} {name}"
        of_variant = {"init": variant.init, "learning_rate": variant.learning_rate}
        options = Options(name, variant.epochs, resume=asked.resume, weights=FOLDER, command=command, **of_variant)
        train(RECIPES[variant.recipe], options)
    report()


def report() -> None:
    """Publish the cards of all variants that were trained so far, without what describes the weights."""
    cards = {card["name"]: card for card in read_json(RESULTS / "variants.json")["cards"]}
    for path in sorted(FOLDER.glob("*.json")):
        card = read_card(path.stem, FOLDER)
        cards[path.stem] = {name: value for name, value in card.items() if name not in ("bytes", "sha256")}
    rows = [["model", "parameters", "passes", "BLEU, or right sentences"]]
    for card in cards.values():
        score = card["test"]["bleu"] if "test" in card else 100 * card["test_drawings"]["accuracy"]
        rows.append([card["name"], f"{card['parameters']:,}", f"{card['epochs']:g}", f"{score:.1f}"])
    publish("variants", rows, {"cards": [*cards.values()]})


if __name__ == "__main__":
    main()
