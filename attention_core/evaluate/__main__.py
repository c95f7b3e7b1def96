"""Evaluate a model on your own data: python -m attention_core.evaluate MODEL FILE [--json --device auto]."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from attention_core.data.mnist import DataError
from attention_core.device import choose_device
from attention_core.evaluate.digits import accuracy, read_file
from attention_core.evaluate.language import evaluate_language
from attention_core.evaluate.looking import evaluate_answering, evaluate_finding, evaluate_reading
from attention_core.evaluate.match3 import evaluate_match3
from attention_core.evaluate.nearest import evaluate_nearest
from attention_core.evaluate.sentences import evaluate_sentences
from attention_core.evaluate.translation import evaluate_translation
from attention_core.models import MODELS, load
from attention_core.weights import WeightsError

EVALUATORS: dict[str, Callable[..., dict[str, Any]]] = {
    "digit-reader": evaluate_reading,
    "feature-mask": evaluate_finding,
    "feature-mean": evaluate_finding,
    "match3-pairwise": evaluate_match3,
    "match3-simplicial": evaluate_match3,
    "scene-question": evaluate_answering,
    "scoring-functions": evaluate_nearest,
    "tatoeba-llama": evaluate_language,
    **{name: evaluate_sentences for name in MODELS if name.startswith("sentence-")},
    **{name: evaluate_translation for name in MODELS if name.startswith("translator-")},
}
"""(model, file) -> figures, for the models that do not read digits."""


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, evaluate, print; errors of the user's are one clear line and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m attention_core.evaluate", description=__doc__)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("file", help="an IDX folder, or an .npz (see README, Evaluate)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    parsed = parser.parse_args(arguments)
    try:
        device = choose_device(parsed.device)
        model = load(parsed.model, device)
        began = time.perf_counter()
        if parsed.model in EVALUATORS:
            result = {"model": parsed.model, **EVALUATORS[parsed.model](model, parsed.file)}
        else:
            digits = read_file(parsed.file)
            began = time.perf_counter()
            result = {"model": parsed.model, "n": len(digits), "accuracy": accuracy(model, digits, device)}
        result |= {"seconds": round(time.perf_counter() - began, 3), "device": device}
    except (DataError, WeightsError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result) if parsed.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
