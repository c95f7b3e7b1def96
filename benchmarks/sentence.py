"""One sentence through every translator, phase by phase: python -m benchmarks.sentence.

Goal: at most 0.1 s of processor for the three that "Translate and align" shows first, of which two are traced; at most
two seconds on two cores for all of them together. Beam of five, models loaded.
"""

from collections.abc import Callable

from attention_core.models import MODELS, Transformer, load
from attention_core.topics.translate.translation import explain, explain_layers, next_pieces, read_source, translate
from attention_core.weights import WeightsError
from benchmarks.report import milliseconds_each, publish

SENTENCES = {
    "9 words": "The red car is in front of the house.",
    "20 words": "I would have told you the truth about the old house if you had asked me before we left it.",
}
ROUNDS = 5
PHASES = ("search", "trace", "next word")


def phases(model, text: str) -> dict[str, Callable[[], object]]:
    """Return what translates a text, what traces the attention, and what lists the words that may come second."""
    source = read_source(text)
    made = translate(model, source)
    explained = explain_layers if isinstance(model, Transformer) else explain
    calls = (
        lambda: translate(model, source),
        lambda: explained(model, source, made),
        lambda: next_pieces(model, source, made.ids[:1]),
    )
    return dict(zip(PHASES, calls, strict=True))


def main() -> None:
    """Measure, print, write results/sentence.json."""
    models = {}
    for name in MODELS:
        if name.startswith("translator-") and name != "translator-plain":
            try:
                models[name] = load(name, "cpu")
            except WeightsError as error:
                print(f"without {name}: {error}")
    times: dict[str, dict[str, dict[str, float]]] = {}
    for length, text in SENTENCES.items():
        calls = {
            f"{name} {phase}": call for name, model in models.items() for phase, call in phases(model, text).items()
        }
        found = milliseconds_each(calls, ROUNDS)
        times[length] = {name: {phase: found[f"{name} {phase}"] for phase in PHASES} for name in models}
    columns = [(length, phase) for length in SENTENCES for phase in PHASES]
    rows = [["processor time, ms", *(f"{length}, {phase}" for length, phase in columns)]]
    rows += [[name, *(f"{times[length][name][phase]:.0f}" for length, phase in columns)] for name in models]
    rows += [["all", *(f"{sum(one[phase] for one in times[length].values()):.0f}" for length, phase in columns)]]
    publish("sentence", rows, {"milliseconds": times})


if __name__ == "__main__":
    main()
