"""The scene of a sentence: two models at the present word, and what a visitor changes in it."""

from collections.abc import Callable, Mapping

from attention_core.attention.edits import Uniform
from attention_core.inference.translation import TracedTranslation, read_source
from pages.translate.forcing import WORD, change_arc, n_forced_words
from ui import translators as network
from ui.component import component
from ui.scene import SceneChoice, draw_scene, scene_choice
from ui.translation_scene import translation_data
from ui.try_this import is_guessing

NAME = f"{network.NAME}_pair"
_aligned_scene = component("aligned_scene", folder="pages/translate")
EVEN = "every French word looks at all English words alike"


def draw_translation_scene(
    models: Mapping[str, TracedTranslation], focus: str, text: str, on_focus: Callable[[str], None]
) -> None:
    """Draw the scene of two models at the present word, by slot; `focus` is the slot whose words are stepped through.

    on_focus gets the slot in which something was chosen.
    """
    attentive_slot = next((slot for slot in (focus, *models) if not models[slot].view.is_single), None)
    single_slot = next((slot for slot in (focus, *models) if models[slot].view.is_single), None)
    traced = models[attentive_slot or focus]
    attentive, single = models.get(attentive_slot or ""), models.get(single_slot or "")
    guesses = is_guessing(network.NAME)
    data = translation_data(attentive, single, text, WORD.value, can_change=not guesses) | {
        "query": WORD.value,
        "focus": "vector" if models[focus].view.is_single else "attention",
        "forced": n_forced_words(traced),
        "plays": True,
        "covered": guesses,
        "stands": True,  # what is guessed is what comes of a change to it
    }
    if attentive_slot != focus:
        data["axes"] = None  # the steps below are those of another trace
    n_rows = max(len(model.view.target) for model in models.values())

    def on_choose() -> None:
        choice = scene_choice(NAME, n_rows, traced.trace.n_keys)
        if choice is None:
            return
        WORD.value = choice.row
        on_focus((single_slot if choice.focus == "vector" else attentive_slot) or focus)
        if attentive_slot and choice.row < len(traced.view.target):
            _change(traced, choice, text)

    draw_scene(NAME, data, on_choose, _aligned_scene)


def _change(traced: TracedTranslation, choice: SceneChoice, text: str) -> None:
    """Change a weight of the chosen word, or let all words look at everything alike, or no longer."""
    if choice.is_reset:
        network.EDITS.reset()
    elif choice.key is not None:
        change_arc(traced, choice.row, read_source(text).word_of[choice.key], choice.weight, text)
    elif choice.focus == "attention" and choice.is_even != (Uniform() in traced.trace.edits):
        if choice.is_even:
            network.EDITS.reset()
            network.EDITS.add(Uniform(), description=EVEN, attention=traced.translator, input_id=text)
        else:
            network.EDITS.remove(Uniform(), attention=traced.translator)
