"""Alignment error rate per scoring function, on a hundred pairs aligned by hand: python -m benchmarks.alignments.

The French words are given to the decoder. The floor links every word to the one at its place.
"""

from pathlib import Path

from attention_core.evaluate.translation import evaluate_alignment, read_alignments, uniform_error
from attention_core.models import load
from attention_core.weights import WeightsError
from benchmarks.report import publish

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "alignments.txt"
MODELS = ("dot", "general", "additive", "transformer")
"""Those whose weights may differ; the plain average has no largest one."""


def main() -> None:
    figures = {}
    for name in MODELS:
        try:
            figures[name] = evaluate_alignment(load(f"translator-{name}", "cpu"), PAIRS)
        except WeightsError as error:
            print(f"without {name}: {error}")
    floor = round(uniform_error(read_alignments(PAIRS)), 4)
    rows = [["score", "alignment error rate", "precision", "recall"]]
    for name, error in figures.items():
        rows.append([name, *(f"{error[field]:.3f}" for field in ("aer", "precision", "recall"))])
    rows += [["word at the same place", f"{floor:.3f}", "", ""]]
    facts = {"pairs": len(read_alignments(PAIRS)), "by_score": figures, "same_place": floor}
    publish("alignments", rows, facts)


if __name__ == "__main__":
    main()
