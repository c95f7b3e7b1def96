"""Collect forms of the translator that were trained alike: python -m benchmarks.transformer_forms FOLDER.

Train each form with each seed S, without --config, with --config n_heads=1 and with --config d_ff=0, before:
OMP_NUM_THREADS=1 python -m attention_core.train translator-transformer --config n_heads=1 --epochs 1 --seed S
--weights FOLDER/S --checkpoints FOLDER/S
"""

import argparse
from pathlib import Path
from typing import cast

import torch

from attention_core.data.sentence_presets import LAYERED
from attention_core.evaluate.translation import translate_all
from attention_core.models import build
from attention_core.models.translator import CanTranslate
from attention_core.weights import fill, read_card, read_weights
from benchmarks.report import publish

NAME = "translator-transformer"
FIELDS = "seed", "parameters", "epochs", "final_training_loss", "development", "test"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transformer_forms", description=__doc__)
    parser.add_argument("folder", type=Path)
    rows = []
    for path in sorted(parser.parse_args().folder.glob(f"*/{NAME}*.json"), key=lambda path: (path.stem, path.parent)):
        card, form = read_card(path.stem, path.parent), path.stem.removeprefix(NAME).removeprefix("-")
        changes = {form.rpartition("-")[0]: int(form.rpartition("-")[2])} if form else {}
        model = fill(build(NAME, changes), path.stem, read_weights(path.stem, path.parent)).eval()
        with torch.inference_mode():
            french = translate_all(cast(CanTranslate, model), [*LAYERED.values()])
        sentences = dict(zip(LAYERED.values(), french, strict=True))
        rows.append({"form": form, **{field: card[field] for field in FIELDS}, "french": sentences})
    table = [
        [row["form"] or "as usual", f"{row['seed']}", f"{row['parameters']:,}", f"{row['test']['bleu']:.1f}"]
        for row in rows
    ]
    command = {"trained_before": " ".join((__doc__ or "").split("before:")[1].split())}
    publish("transformer_forms", [["form", "seed", "parameters", "BLEU"], *table], {**command, "rows": rows})


if __name__ == "__main__":
    main()
