"""Train a model: python -m attention_core.train NAME [--device auto --epochs N --seed N --data FOLDER --resume].

On several devices: torchrun --nproc-per-node 2 -m attention_core.train NAME. Each takes a batch of every step.
"""

import argparse
import os
import sys
from pathlib import Path

from attention_core.data.mnist import DataError
from attention_core.train import RECIPES
from attention_core.train.loop import Options, train
from attention_core.weights import WeightsError


def _field(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    return name, int(number)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m attention_core.train", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES), help="which model")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    parser.add_argument("--epochs", type=float, help="how long; a fraction is allowed")
    parser.add_argument("--learning-rate", type=float, help="at its height")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="folder of the data sets (else the variable ATTENTION_DATA, else downloaded)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument(
        "--at-once", dest="batches_per_step", type=int, metavar="N", help="batches of one step (one for each process)"
    )
    parser.add_argument("--init", metavar="NAME", help="start from the committed weights of a model")
    parser.add_argument(
        "--freeze", metavar="PREFIX", nargs="+", default=[], help="keep parameters whose names begin so"
    )
    parser.add_argument(
        "--config", metavar="FIELD=NUMBER", nargs="+", type=_field, default=[], help="train another form of the model"
    )
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"), help="folder of the checkpoints")
    parser.add_argument("--weights", type=Path, help="folder for the result (default: the project's weights/)")
    parsed = parser.parse_args(arguments)
    parsed.config = dict(parsed.config)
    command = " ".join(sys.argv[1:] if arguments is None else arguments)
    try:
        path = train(RECIPES[parsed.name], Options(**vars(parsed), command=f"python -m attention_core.train {command}"))
    except (DataError, WeightsError, ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if os.environ.get("RANK", "0") == "0":
        print(f"wrote {path} and its card {path.with_suffix('.json')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
