"""One sentence through every translator, from text to trace: python -m benchmarks.sentence.

Goal: at most two seconds on two cores for all of them together, beam of five, models loaded.
"""

from __future__ import annotations

from collections.abc import Callable

from attention_core.models import MODELS, Transformer, load
from attention_core.topics.translate.translation import explain, explain_layers, read_source, translate
from attention_core.weights import WeightsError
from benchmarks.report import milliseconds_each, publish

SENTENCES = {
    "9 words": "The red car is in front of the house.",
    "20 words": "I would have told you the truth about the old house if you had asked me before we left it.",
}
ROUNDS = 5


def through(model, text: str) -> Callable[[], object]:
    """Return a function that translates a text and traces the attention."""
    source = read_source(text)

    def run() -> object:
        translation = translate(model, source)
        explained = explain_layers if isinstance(model, Transformer) else explain
        return explained(model, source, translation)

    return run


def main() -> None:
    """Measure, print, write results/sentence.json."""
    models = {}
    for name in MODELS:
        if name.startswith("translator-") and name != "translator-plain":
            try:
                models[name] = load(name, "cpu")
            except WeightsError as error:
                print(f"without {name}: {error}")
    times = {
        length: milliseconds_each({name: through(model, text) for name, model in models.items()}, ROUNDS)
        for length, text in SENTENCES.items()
    }
    rows = [["processor time", *SENTENCES]]
    rows += [[name, *(f"{times[length][name]:.0f} ms" for length in SENTENCES)] for name in models]
    rows += [["all", *(f"{sum(times[length].values()):.0f} ms" for length in SENTENCES)]]
    publish("sentence", rows, {"milliseconds": times})


if __name__ == "__main__":
    main()
