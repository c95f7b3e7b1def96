"""The scene of a sentence: what each French word asks the English ones, beside what comes of one vector."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attention_core.attention.edits import UNIFORM, SetWeights, Uniform
from attention_core.charts.words import word_weights
from attention_core.device import to_array
from attention_core.inference import translation_scene as core
from attention_core.inference.translation import TracedTranslation, read_source
from pages.translate.forcing import WORD, change_arc, n_forced_words
from ui import translators as network
from ui.chart import note_picture
from ui.computed import cached_computation
from ui.scene import SceneChoice, draw_scene, scene_choice
from ui.try_this import GUESSING, TRY_STAGE

NAME = f"{network.NAME}_pair"
EVEN = "every French word looks at all English words alike"

_answers = cached_computation(on_cluster=True)(core.scene_answers)
_changed_answers = cached_computation(on_cluster=True)(core.changed_answers)


def draw_translation_scene(
    models: Mapping[str, TracedTranslation], focus: str, text: str, on_focus: Callable[[str], None]
) -> None:
    """Draw the scene of two models at the present word, by slot; `focus` is the slot whose words are stepped through.

    on_focus gets the slot in which something was chosen.
    """
    attentive_slot = next((slot for slot in (focus, *models) if not models[slot].view.is_single), None)
    single_slot = next((slot for slot in (focus, *models) if models[slot].view.is_single), None)
    traced = models[attentive_slot or focus]
    data: dict[str, Any] = {
        "query": WORD.value,
        "focus": "vector" if models[focus].view.is_single else "attention",
        "forced": n_forced_words(traced),
        "plays": True,
        "covered": TRY_STAGE[network.NAME].value == GUESSING,
    }
    data = (_attention_data(traced, text) if attentive_slot else _words_alone(traced, text)) | data
    if attentive_slot != focus:
        data["axes"] = None  # the steps below are those of another trace
    if single_slot:
        data["vector"] = core.vector_data(models[single_slot], text)
    view, row = traced.view, min(WORD.value, len(traced.view.target) - 1)
    picture = partial(word_weights, view.source, view.target, to_array(view.weights), row, "")
    note_picture(picture, f"{network.TRANSLATORS[traced.translator]}: where “{view.target[row]}” looks")
    n_rows = max(len(model.view.target) for model in models.values())

    def on_choose() -> None:
        choice = scene_choice(NAME, n_rows, traced.trace.n_keys)
        if choice is None:
            return
        WORD.value = choice.row
        on_focus((single_slot if choice.focus == "vector" else attentive_slot) or focus)
        if attentive_slot and choice.row < len(view.target):
            _change(traced, choice, text)

    draw_scene(NAME, data, on_choose)


def _attention_data(traced: TracedTranslation, text: str) -> dict[str, Any]:
    model, source, trace = network.model_of(traced.translator), read_source(text), traced.trace
    rows, ids = tuple(traced.view.first_piece), tuple(traced.translation.ids)
    data = core.translation_scene(traced, 0, _answers(model, source, ids, rows, tuple(trace.edits)), text)
    data["equal"] = _answers(model, source, ids, rows, UNIFORM)
    if not trace.edits:
        data |= _changed_answers(model, source, ids, rows, tuple(trace.weights(0, rows).argmax(-1).tolist()))
    n_heads = trace.n_heads
    note = (
        f"Scores and weights are those of head 1 of {n_heads}; what is said comes of all heads." if n_heads > 1 else ""
    )
    set_rows = {edit.query for edit in trace.edits if isinstance(edit, SetWeights)}
    changed = [row for row, piece in enumerate(rows) if piece in set_rows]
    is_edited = bool({*trace.edits} - {Uniform()})
    return data | {"isEven": Uniform() in trace.edits, "changed": changed, "isEdited": is_edited, "note": note}


def _words_alone(traced: TracedTranslation, text: str) -> dict[str, Any]:
    nouns, view, glosses = core.NOUNS, traced.view, core.word_glosses(traced, text)
    return {
        "keys": view.source,
        "queries": view.target,
        "glosses": glosses,
        "nouns": nouns,
        "scores": None,
        "weights": None,
    }


def _change(traced: TracedTranslation, choice: SceneChoice, text: str) -> None:
    """Change a weight of the chosen word, or let all words look at everything alike, or no longer."""
    if choice.is_reset:
        network.EDITS.reset()
    elif choice.key is not None:
        change_arc(traced, choice.row, read_source(text).word_of[choice.key], choice.weight, text)
    elif choice.focus == "attention" and choice.is_even != (Uniform() in traced.trace.edits):
        if choice.is_even:
            network.EDITS.add(Uniform(), description=EVEN, attention=traced.translator, input_id=text)
        else:
            network.EDITS.remove(Uniform(), attention=traced.translator)
