"""A sentence and the transformer that reads it, perhaps with heads switched off: what it says, its traces."""

from __future__ import annotations

from typing import Any, NamedTuple

from attention_core.attention.trace import AttentionTrace
from attention_core.models.transformer import KINDS, TransformerConfig
from attention_core.topics.transformer.ablation import EditedTransformer, TransformerHead, switched_off
from attention_core.topics.translate.translation import (
    EditedTranslator,
    SourceSentence,
    explain_layers,
    read_source,
    translate_together,
)
from ui.computed import cached_computation, model_or_stop
from ui.state import Field, whole_number
from ui.translate.models import translation

NAME = "transformer"
TRANSLATOR = "transformer"
MODEL = f"translator-{TRANSLATOR}"
MAX_NAMED = 4  # heads that are named; more are counted
CONFIG = TransformerConfig()
CHOICES = {
    "kind": ("Attention of", KINDS),
    "layer": ("Layer", range(CONFIG.n_layers)),
    "head": ("Head", range(CONFIG.n_heads)),
}


class Experiment(NamedTuple):
    """A sentence, and what is changed in the model that reads it."""

    text: str
    off: tuple[TransformerHead, ...] = ()  # heads that are switched off

    @property
    def as_trained(self) -> Experiment:
        return Experiment(self.text)

    @property
    def off_words(self) -> str:
        labels = [head.label for head in self.off]
        more = f" and {len(labels) - MAX_NAMED} more" if len(labels) > MAX_NAMED else ""
        return "; ".join(labels[:MAX_NAMED]) + more


def _named(text: str) -> TransformerHead:
    kind, layer, number = text.split("-")
    head = TransformerHead(kind, whole_number(layer) - 1, whole_number(number) - 1)
    if any(getattr(head, part) not in choices for part, (_, choices) in CHOICES.items()):
        raise ValueError(f"text must name a head such as cross-2-3, got {text!r}")
    return head


def _name(head: TransformerHead) -> str:
    return f"{head.kind}-{head.layer + 1}-{head.head + 1}"


CHOSEN = Field(NAME, "chosen", TransformerHead("encoder", 0, 0), address="head", parse=_named, text=_name)
OFF: Field[list[TransformerHead]] = Field(
    NAME,
    "off",
    list,
    address="off",
    parse=lambda text: [*dict.fromkeys(map(_named, text.split(".")))],
    text=lambda heads: ".".join(map(_name, heads)),
)
SHOWN_EXPERIMENT: Field[Experiment | None] = Field(NAME, "at_top", None)  # whose French stands there
_translated_together = cached_computation(by_model=True)(translate_together)
_layers_explained = cached_computation(by_model=True)(explain_layers)


def experiment_on(text: str) -> Experiment:
    """Return a sentence with what is changed in the model that reads it."""
    return Experiment(text, tuple(sorted(OFF.value)))


def restore() -> None:
    """Leave the model as it was trained; call it in a callback."""
    OFF.value = []


def edited(experiment: Experiment, *, with_positions: bool = True) -> EditedTransformer:
    model: Any = model_or_stop(MODEL)
    return EditedTransformer(model, switched_off(experiment.off), with_positions)


def said(experiment: Experiment, *sources: SourceSentence, with_positions: bool = True) -> list[str]:
    """Return the French of sources with the same number of pieces by the changed model."""
    return [one.text for one in _translated_together(edited(experiment, with_positions=with_positions), sources)]


def reduced(text: str) -> dict[tuple[str, str], str]:
    """Return the French of each kind of translator, and of the same with something left out, see ReductionCost."""
    additive, none, transformer = map(model_or_stop, ("translator-additive", "translator-none", MODEL))
    ways: dict[tuple[str, str], Any] = {
        ("additive", ""): additive,
        ("additive", "recurrence"): EditedTranslator(additive, reads_alone=True),
        ("additive", "attention_trained"): none,
        ("transformer", ""): transformer,
        ("transformer", "positions"): EditedTransformer(transformer, with_positions=False),
    }
    return {way: _translated_together(model, [read_source(text)])[0].text for way, model in ways.items()}


def traces(experiment: Experiment) -> dict[tuple[str, int], AttentionTrace]:
    """Return the traces of all layers, by (kind, layer), of the changed model saying what it says as trained."""
    changed = edited(experiment)
    return _layers_explained(
        changed.model, read_source(experiment.text), translation(TRANSLATOR, experiment.text), changed.edits
    )
