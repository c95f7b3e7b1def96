"""A sentence and the transformer that reads it, perhaps with its attention changed: what it says, its traces."""

from typing import Any, NamedTuple

from attention_core import AttentionTrace, DropHead
from attention_core.inference import translation as core
from attention_core.inference.word_orders import align
from attention_core.models.transformer import KINDS, EditedTranslator, EditsByAttention, TransformerConfig
from ui.computed import cached_computation, model_or_stop
from ui.edits import EditList, ListedEdit, name_in_stack
from ui.state import Field, whole_number
from ui.translators import translation

NAME = "transformer"
TRANSLATOR = "transformer"
MODEL = f"translator-{TRANSLATOR}"
CONFIG = TransformerConfig()
SMALLEST_CHANGE = 0.001
"""The share below which numbers count as the same."""
CHOICES = {
    "kind": ("Attention of", KINDS),
    "layer": ("Layer", range(CONFIG.n_layers)),
    "head": ("Head", range(CONFIG.n_heads)),
}


class TransformerHead(NamedTuple):
    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 0
    head: int  # from 0

    @property
    def label(self) -> str:
        return f"{self.kind}, layer {self.layer + 1}, head {self.head + 1}"

    @property
    def attention_name(self) -> str:
        return name_in_stack(self.kind, self.layer)

    @property
    def switch_off_edit(self) -> ListedEdit:
        """The edit that switches it off."""
        return ListedEdit(DropHead(self.head), f"{self.label}: switched off", self.attention_name)


class Reading(NamedTuple):
    """A sentence, and what is changed in the model that reads it."""

    text: str
    edits: EditsByAttention


def parse_head(text: str) -> TransformerHead:
    """Return the head of a name such as cross-2-3, counted from 1; ValueError where there is none."""
    kind, layer, number = text.split("-")
    head = TransformerHead(kind, whole_number(layer) - 1, whole_number(number) - 1)
    if any(getattr(head, name) not in choices for name, (_, choices) in CHOICES.items()):
        raise ValueError(f"text must name a head such as cross-2-3, got {text!r}")
    return head


CHOSEN = Field(
    NAME,
    "chosen",
    TransformerHead("decoder", 2, 0),  # which looks at *Tom* before *Mary*
    address="head",
    parse=parse_head,
    text=lambda head: f"{head.attention_name}-{head.head + 1}",
)
EDITS = EditList(NAME, off=lambda text: [parse_head(name).switch_off_edit for name in dict.fromkeys(text.split("."))])
_translated_together = cached_computation(on_cluster=True)(core.translate_together)
_aligned = cached_computation(on_cluster=True)(align)
_layers_explained = cached_computation(on_cluster=True)(core.explain_layers)


def reading_of(text: str) -> Reading:
    """Return a sentence with what is changed in the model that reads it."""
    return Reading(text, EDITS.fitting_each(lambda: traces(Reading(text, {})), text))


def edited(reading: Reading, *, with_positions: bool = True) -> EditedTranslator:
    model: Any = model_or_stop(MODEL)
    return EditedTranslator(model, reading.edits, with_positions)


def translate_sources(reading: Reading, *sources: core.SourceSentence, with_positions: bool = True) -> list[str]:
    """Return the French of sources with the same number of pieces by the changed model."""
    return [each.text for each in _translated_together(edited(reading, with_positions=with_positions), sources)]


def aligned(reading: Reading, source: core.SourceSentence, *, with_positions: bool = True) -> core.WordView:
    """Return what each word of that French looks at in its source."""
    model = edited(reading, with_positions=with_positions)
    return _aligned(model, source, _translated_together(model, [source])[0])


def traces(reading: Reading) -> dict[tuple[str, int], AttentionTrace]:
    """Return the traces of all layers, by (kind, layer), of the changed model saying what it says as trained."""
    source, learned = core.read_source(reading.text), translation(TRANSLATOR, reading.text)
    return _layers_explained(model_or_stop(MODEL), source, learned, reading.edits)
