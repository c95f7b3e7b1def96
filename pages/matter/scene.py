"""The scene of a judged sentence: a learned query weighs its words, a verdict comes of it, and each word is deleted."""

from typing import Any

from attention_core.attention.edits import UNIFORM, Edits, SetWeights, Uniform
from attention_core.attention.types import Role
from attention_core.attention.view.scene import numbers_beside, scene_data
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.sentence_presets import PRESETS
from attention_core.device import to_array
from attention_core.inference.sentiment import turned_otherwise
from pages.matter.first_screen import PUZZLE, compare_weight_and_effect, describe_changed_answer, describe_error
from pages.matter.inputs import ATTENTION, EDITS, NAME, Judgement, removal_effects, trace_without, verdict_of
from ui.chart import note_picture
from ui.component import component
from ui.edits import WeightsRow
from ui.scene import draw_scene, scene_choice
from ui.state import Field
from ui.try_this import is_answered, is_guessing

NOUNS = ("learned query", "word")
TRIED_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Weights of the heaviest word for which the verdict is computed."""
EVEN = "it attends to all words alike"
GUESSED = (PRESETS["Not bad"], PUZZLE)
"""Of these, on arrival and in the guess, nothing is told of deletion before a guess."""
SIDES, NO_JUDGEMENT = ("positive", "negative"), "no judgement"
HAS_GUESSED = Field(NAME, "has_guessed", False)
"""Whether a visitor has been told what deletion does in the sentence that a guess is about."""
_judged_words = component("judged_words", folder="pages/matter")


def draw_judged_scene(judgement: Judgement) -> None:
    """Draw how a sentence is judged; words are crossed out and weights changed in it."""
    text, sentence, trace, _ = judgement

    def on_choose() -> None:
        choice = scene_choice(NAME, 1, trace.n_keys)
        if choice is None:
            return
        if choice.is_reset:
            EDITS.reset()
        elif choice.key is not None:
            WeightsRow(EDITS, trace, input_id=text).set_weight([choice.key], choice.weight)
        elif choice.focus and choice.is_even != (Uniform() in trace.edits):
            if choice.is_even:
                EDITS.add(Uniform(), description=EVEN, input_id=text)
            else:
                EDITS.remove(Uniform())

    weights, effects = trace.weights()[0].tolist(), removal_effects(text).tolist()
    columns, colours = {"weight": weights, "if deleted": effects}, (ROLE_COLOURS[Role.WEIGHTS], GREY)
    note_picture(
        lambda: bar_table(sentence.labels, columns, colours),
        "Weights: every word's, and how the answer moves when it is deleted",
    )
    HAS_GUESSED.value |= is_answered(NAME)
    is_awaited = is_guessing(NAME)
    data = judged_data(judgement) | {"plays": True, "covered": is_awaited}
    if data["ifRemoved"] and (is_awaited or (text in GUESSED and not HAS_GUESSED.value)):
        data |= {"ifRemoved": None, "isAwaited": True}
    draw_scene(NAME, data, on_choose, _judged_words)


def judged_data(judgement: Judgement) -> dict[str, Any]:
    """Return what judged_words.js reads of a sentence; without answers where too few of its words are known."""
    text, sentence, trace, is_read = judgement
    data = scene_data(trace, query_labels=[NO_JUDGEMENT], key_labels=sentence.labels, nouns=NOUNS)
    data |= {
        "equal": None,
        "isEven": Uniform() in trace.edits,
        "isEdited": bool({*trace.edits} - {Uniform()}),
        "readAs": sentence.read_as,
        "ifRemoved": None,
        "note": "" if is_read else "Too few of its words are known to judge it.",
    }
    if not is_read:
        return data
    data |= {
        "unturned": _unturned_strip(judgement),
        "queries": [judgement.verdict().answer],
        "answers": [_answers(text, trace.edits)],
        "fault": describe_error(judgement),
        "changedText": describe_changed_answer(judgement),
        "compared": compare_weight_and_effect(judgement),
    }
    if len(sentence.words) == 1:
        return data
    data["equal"] = [_answers(text, UNIFORM)]
    if not trace.edits:
        heaviest = int(trace.weights()[0].argmax())
        tried = [[_answers(text, (SetWeights(0, ((heaviest, weight),), 0),))] for weight in TRIED_WEIGHTS]
        data["tips"] = {"keys": [heaviest], "weights": TRIED_WEIGHTS, "answers": tried}
    if not data["isEdited"]:
        data["ifRemoved"] = removal_effects(text).tolist()
    return data


def _unturned_strip(judgement: Judgement) -> dict[str, Any] | None:
    """Return what is drawn of the heaviest word's value without the negation that turns it round; None = none does."""
    trace = judgement.trace
    heaviest = int(trace.weights()[0].argmax())
    for index in range(heaviest):
        if turned_otherwise(judgement.sentence, index).get(heaviest) is False:
            value = trace_without(judgement.sentence, index).value_of(0)[heaviest - 1]
            numbers = numbers_beside(*map(to_array, (value, trace.value_of(0))))
            return {"index": heaviest, "by": index, "numbers": numbers}
    return None


def _answers(text: str, edits: Edits) -> list[tuple[str, float, bool]]:
    """Return both verdicts on a sentence, the likelier first, each with its probability and whether it is given."""
    verdict = verdict_of(ATTENTION, text, edits)
    (opposite,) = {*SIDES} - {verdict.answer}
    likely = round(verdict.confidence, 4)
    return [(verdict.answer, likely, True), (opposite, round(1 - likely, 4), False)]
