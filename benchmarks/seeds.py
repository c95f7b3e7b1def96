"""How much is chance? Train models again with other seeds: python -m benchmarks.seeds NAME [--seeds 1 2 --resume].

Accuracies go into the committed card of the model, as `other_seeds`. Weights are not kept.
"""

import argparse
import json
from pathlib import Path

from attention_core.train import RECIPES
from attention_core.train.loop import Options, train
from attention_core.weights import read_card, weights_folder

FOLDER = Path("checkpoints") / "seeds"
FIGURES = ("test_accuracy", "held_out_stroke_accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeds", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2))
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    asked = parser.parse_args()
    for seed in asked.seeds:
        folder = FOLDER / str(seed)
        resume = asked.resume and (folder / f"{asked.name}.pt").exists()
        train(RECIPES[asked.name], Options(asked.name, seed=seed, resume=resume, checkpoints=folder, weights=folder))
        add_to_card(asked.name, seed, folder)


def add_to_card(name: str, seed: int, folder: Path) -> None:
    """Write the accuracies of one more seed into the committed card."""
    card, trained = read_card(name), read_card(name, folder)
    own = card.setdefault("other_seeds", {})
    own[str(seed)] = {figure: trained[figure] for figure in FIGURES}
    own["command"] = f"python -m benchmarks.seeds {name} --seeds {' '.join(sorted(own.keys() - {'command'}))}"
    (weights_folder() / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n")
    print(f"{name}, seed {seed}: {own[str(seed)]}")


if __name__ == "__main__":
    main()
