"""Evaluate a model on your own data: python -m attention_core.evaluate MODEL FILE [--json --device auto].

Whether its maps explain its answers: python -m attention_core.evaluate faithfulness MODEL [--json --card].
Whether it reads photographs of paper: python -m attention_core.evaluate handwriting MODEL [--json --card].
"""

import argparse
import json
import pkgutil
import sys
import time

from attention_core.data.mnist import DataError
from attention_core.device import choose_device
from attention_core.models import EVALUATORS, MODELS, load
from attention_core.weights import WeightsError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m attention_core.evaluate", description=__doc__)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("file", help="an IDX folder, or an .npz (see docs/training.md)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    command = sys.argv[1:] if arguments is None else arguments
    try:
        if command[:1] in (["faithfulness"], ["handwriting"]):
            pkgutil.resolve_name(f"attention_core.evaluate.{command[0]}").main(command[1:])
            return 0
        parsed = parser.parse_args(command)
        device = choose_device(parsed.device)
        model = load(parsed.model, device)
        evaluate = pkgutil.resolve_name(f"attention_core.evaluate.{EVALUATORS[parsed.model]}")
        began = time.perf_counter()
        result = {"model": parsed.model, **evaluate(model, parsed.file)}
        result.setdefault("seconds", round(time.perf_counter() - began, 3))
        result["device"] = device
    except (DataError, WeightsError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result) if parsed.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
