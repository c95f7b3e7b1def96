"""What is said of a judged sentence, and a word to guess."""

from attention_core.attention.edits import SetWeights
from attention_core.attention.wording import percent
from attention_core.data.sentence_presets import MEANT, PRESETS, is_negated
from attention_core.inference import sentiment as core
from pages.matter.inputs import (
    ATTENTION,
    EDITS,
    NAME,
    SMALL_CHANGE,
    Judgement,
    attention_trace,
    removal_effects,
)
from ui.computed import card_or_empty
from ui.try_this import TryThis
from ui.words import text_field

PUZZLE = PRESETS["A comma"]


def describe_error(judgement: Judgement) -> str:
    """Say that people judge otherwise, or how often sentences with a negation are read right; "" else."""
    text, _, trace, _ = judgement
    meant, n_right = MEANT.get(text), card_or_empty(ATTENTION).get("right_of_50_with_a_negation")
    if meant and meant != judgement.verdict().answer:
        irony = " Irony was taken at its word." * (text == PRESETS["Irony"] and not trace.edits)
        return f"**Wrong.** People read this as {meant}.{irony}"
    if not n_right or not is_negated(text) or meant:
        return ""
    return f"**Doubt it:** of 50 sentences with a negation, it reads {50 - n_right} wrong."


def _points(change: float) -> str:
    points = abs(100 * change)
    return f"{points:.0f} points" if abs(change) >= 0.0095 else f"{points:.1f} points"


def why_it_moves(text: str, position: int) -> str:
    """Say by what a word of little weight moves the answer: by a negation, or by the states of its neighbours."""
    sentence = core.read_sentence(text)
    turned = core.turned_otherwise(sentence, position)
    names = " ".join(sentence.labels[index] for index in turned)
    if not turned:
        return "It acts through its neighbours: their vectors have read it."
    if all(turned.values()):
        return f"It ends the negation: without it, “{names}” is turned round, too, before attention weighs it."
    return f"It negates “{names}” before attention weighs them."


def compare_weight_and_effect(judgement: Judgement) -> str:
    """Say where weights and the effects of deletion disagree; what stands between pairs of ** is bold."""
    text, sentence, trace, _ = judgement
    weights, changes = trace.weights()[0].tolist(), removal_effects(text).tolist()
    names = [f"“{label}”" for label in sentence.labels]
    if len(names) == 1:
        return f"**{names[0]}** is the only word: without it, there is nothing to judge."
    heaviest = weights.index(max(weights))
    decisive = max(range(len(changes)), key=lambda position: abs(changes[position]))
    against = core.against_the_answer(weights, changes, judgement.learned_verdict().positive)
    if heaviest == decisive and against is not None:
        return (
            f"**Yes**, but **{names[against]}**, with {percent(weights[against])} of the weight, pushes the **other** "
            f"way: delete it, and the network is surer by {_points(changes[against])}."
        )
    if heaviest == decisive:
        return (
            f"**Yes.** **{names[heaviest]}** has most of the weight, {percent(weights[heaviest])}, and moves the "
            f"answer most: by **{_points(changes[heaviest])}**, if it is deleted."
        )
    return (
        f"**{names[heaviest]}** has {percent(weights[heaviest])} of the weight. Delete it: the answer moves by "
        f"**{_points(changes[heaviest])}**. Delete **{names[decisive]}**, which has {percent(weights[decisive])}: by "
        f"**{_points(changes[decisive])}**. {why_it_moves(text, decisive)}"
    )


def describe_changed_answer(judgement: Judgement) -> str:
    """Say what the edits did to the answer."""
    learned, changed = judgement.learned_verdict(), judgement.verdict()
    if not judgement.trace.weights().any():
        return "Every word is cut: the answer is the network's prejudice."
    before, after = learned.positive, changed.positive
    row_edits = [edit for edit in judgement.trace.edits if isinstance(edit, SetWeights)]
    cut = {key for edit in row_edits for key, share in edit.weights if not share}
    if len(cut) == 1:
        key = cut.pop()
        deleted = before + float(removal_effects(judgement.text)[key])
        return (
            f"**“{judgement.sentence.labels[key]}”** gets weight 0, but its neighbours have read it: positive "
            f"{percent(before)} as learned, {percent(after)} now. Deleted from the sentence: {percent(deleted)}."
        )
    if learned.answer == changed.answer and abs(before - after) < SMALL_CHANGE:
        return (
            f"Other weights, the same answer: positive {percent(before)} as learned, {percent(after)} now. Each word's "
            "state has read its neighbours too."
        )
    return f"Positive {percent(before)} as learned, {percent(after)} with these weights."


def surprise() -> TryThis:
    """Return the page's surprise: a word that decides a sentence without having much weight."""
    labels = core.read_sentence(PUZZLE).words
    weights, changes = attention_trace(PUZZLE).weights()[0].tolist(), removal_effects(PUZZLE).tolist()
    decisive = max(range(len(labels)), key=lambda position: abs(changes[position]))
    heaviest = max(range(len(labels)), key=weights.__getitem__)
    options = sorted({0, 1, decisive, heaviest})  # the first two words seem to decide
    names = {position: "the comma" if labels[position] == "," else f"*{labels[position]}*" for position in options}

    def act() -> None:
        text_field(NAME).value = PUZZLE
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        name, decides = names[decisive], "decides" if heaviest == decisive else "does not decide"
        return options.index(decisive), f"**{name[:1].upper()}{name[1:]}**. The heaviest {decides}."

    question = (
        f"*{PUZZLE}* Attention gives {names[heaviest]} most, {percent(weights[heaviest])}. Which one, if "
        "deleted, moves the answer most?"
    )
    button, hides = "guess which word decides", ".st-key-numbers"
    return TryThis(button, question, [*names.values()], act, outcome, "matter_scene", hides=hides)
