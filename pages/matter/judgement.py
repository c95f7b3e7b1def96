"""Judging a sentence: the answer, its words with their weights, changed weights, a network that reads by them."""

import streamlit as st
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.edits import Edits, SetWeights
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.sentence_presets import MEANT, PRESETS, is_negated
from attention_core.inference import sentiment as core
from ui.chart import note_picture
from ui.component import component
from ui.computed import by_model, card_or_empty
from ui.edits import EditList, WeightsRow, show_outcome, show_weights_difference, weight_editor
from ui.labels import error_markdown, note
from ui.player import Stepper
from ui.state import component_message
from ui.try_this import TryThis
from ui.words import text_field

NAME = "matter"
ATTENTION, AVERAGE, TWO_PHASES = "sentence-attention", "sentence-mean", "sentence-two-phase"
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}

EDITS = EditList(NAME)
STEPS = Stepper(NAME)

_judge, _remove_each, _explain = by_model(core.judge), by_model(core.remove_each), by_model(core.explain)


def verdict_of(name: str, text: str, edits: Edits = ()) -> core.Verdict:
    """Return a model's verdict on a sentence."""
    return _judge(name, core.read_sentence(text), edits)


def removal_effects(text: str) -> Tensor:
    """Return by how much the learned model's probability of "positive" changes without each word, (n_words,)."""
    return _remove_each(ATTENTION, core.read_sentence(text))


def attention_trace(text: str, edits: Edits = ()) -> AttentionTrace:
    return _explain(ATTENTION, core.read_sentence(text), edits)


def try_section(text: str, trace: AttentionTrace) -> None:
    """Draw the weights to be changed, the list of changes, and what becomes of the answer."""
    plain, labels = attention_trace(text), trace.story.key_axis.labels
    left, right = st.columns(2, gap="large")
    with left:
        weight_editor(WeightsRow(EDITS, trace, input_id=text), {(key,): label for key, label in enumerate(labels)})
        EDITS.draw(trace, hint="Click a word above to cut it, drag its bar, or set its weight here.")
        show_weights_difference(NAME, plain, trace)
    with right:
        before, after = (verdict_of(ATTENTION, text, each.edits).positive for each in (plain, trace))
        show_outcome(tuple(SIDES), (before, 1 - before), (after, 1 - after))


def draw_answer(text: str, edits: Edits, is_read: bool) -> None:
    """Draw the verdict of the model with attention, if it knows enough words to judge by."""
    if not is_read:
        st.html('<p class="judgement">no judgement <small>too few of its words are known</small></p>')
        return
    verdict = verdict_of(ATTENTION, text, edits)
    colour = f"color-mix(in srgb, {SIDES[verdict.answer]} 75%, currentcolor)"
    st.html(
        f'<p class="judgement" style="color:{colour}">{verdict.label}</p>{_describe_error(text, verdict.answer, edits)}'
    )


def draw_worth_of_attention() -> None:
    """Say how much attention helps over a plain average."""
    accuracy, average_accuracy = (card_or_empty(name).get("development_accuracy") for name in (ATTENTION, AVERAGE))
    if accuracy and average_accuracy:
        hardly = ": here attention hardly helps" * (abs(accuracy - average_accuracy) < SMALL_CHANGE)
        note(
            f"A network trained with every weight equal is right on {percent(average_accuracy)} of {N_JUDGED}, this "
            f"one on {percent(accuracy)}{hardly}. It learned from none of them, but its settings were chosen by them."
        )


def _describe_error(text: str, answer: str, edits: Edits) -> str:
    meant, n_right = MEANT.get(text), card_or_empty(ATTENTION).get("right_of_50_with_a_negation")
    if meant and meant != answer:
        irony = " Irony was taken at its word." * (text == PRESETS["Irony"] and not edits)
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}.{irony}</p>'
    if n_right and is_negated(text) and not meant:
        reads = f"{'As learned, it' if edits else 'It'} reads {n_right} of 50 sentences with a negation right"
        return f'<p class="fault">{reads}: judge for yourself.</p>'
    return ""


def two_phases(text: str, edits: Edits, is_read: bool) -> None:
    """Draw what a network says that learned from words as a trained, frozen attention weighs them."""
    st.markdown(
        "Attention is trained first, and then frozen. A second network learns from the words, each in proportion to "
        "its weight."
    )
    judgements = []
    for name, title in {ATTENTION: "attention alone", TWO_PHASES: "the second network"}.items():
        answer = verdict_of(name, text, edits).label if is_read else "no judgement"
        accuracy = card_or_empty(name).get("development_accuracy")
        judgements.append(f"**{title}** says *{answer}*" + (f" ({percent(accuracy)} right)" if accuracy else ""))
    changed = " Weights are changed in both; how many are right was counted as learned." if edits else ""
    st.markdown(f"Here {judgements[0]}, {judgements[1]}. Counted were {N_JUDGED}.{changed}")


SMALL_CHANGE = 0.02
"""A change of a probability, or of the share of right answers, that is called none."""
N_JUDGED = "925 sentences"  # those for development
WORDS_KEY = "matter_words"
PUZZLE = PRESETS["A comma"]
_component = component("weighed_words", folder="pages/matter")


def draw_words(sentence: core.Sentence, text: str, trace: AttentionTrace, is_read: bool) -> None:
    """Draw every word with its weight, and with how the learned answer moves when the word is deleted."""
    weights = trace.weights()[0].tolist()
    if_removed = removal_effects(text).tolist()
    positive = verdict_of(ATTENTION, text).positive

    def on_press() -> None:
        message = component_message("matter_weighed", "pressed") or {}
        key, weight = message.get("place"), message.get("weight")
        if isinstance(key, int) and key in range(trace.n_keys) and (weight is None or 0 <= float(weight) <= 1):
            WeightsRow(EDITS, trace, input_id=text).set_weight([key], weight)

    description = "Weights: every word's, and how the answer moves when it is deleted"
    columns = {"weight": weights, "if deleted": if_removed}
    note_picture(lambda: bar_table(sentence.labels, columns, (ROLE_COLOURS[Role.WEIGHTS], GREY)), description)
    data = {
        "words": sentence.labels,
        "weights": [round(weight, 5) for weight in weights],
        "ifRemoved": [round(change, 8) for change in if_removed],
        "positive": round(positive, 8) if is_read else None,
        "uniform": 1 / trace.n_keys,
        "before": attention_trace(text).weights()[0].tolist() if trace.edits else [],
        "cut": [key for key in range(trace.n_keys) if SetWeights(0, ((key, 0.0),), 0) in trace.edits],
        "turned": sentence.read_as,
    }
    with st.container(key=WORDS_KEY):
        _component(key="matter_weighed", data=data, default={"pressed": None}, on_pressed_change=on_press)


def draw_comparison(sentence: core.Sentence, text: str, trace: AttentionTrace, is_read: bool) -> None:
    """Say where weights and the effects of deletion disagree, or, where weights are changed, what that did."""
    with st.container(key="matter_told"):
        if trace.edits:
            st.markdown(_describe_changed_answer(text, trace))
            st.button("All as learned", key="matter_as_learned", on_click=EDITS.reset)
        elif is_read:
            weights, changes = trace.weights()[0].tolist(), removal_effects(text).tolist()
            positive = verdict_of(ATTENTION, text).positive
            st.markdown(_compare_weight_and_effect(sentence, weights, changes, positive))


def _points(change: float) -> str:
    points = abs(100 * change)
    return f"{points:.0f} points" if abs(change) >= 0.0095 else f"{points:.1f} points"


def _compare_weight_and_effect(
    sentence: core.Sentence, weights: list[float], changes: list[float], positive: float
) -> str:
    names = [f"“{error_markdown(label)}”" for label in sentence.labels]
    if len(names) == 1:
        return f"**{names[0]}** is the only word: without it, there is nothing to judge."
    heaviest = weights.index(max(weights))
    decisive = max(range(len(changes)), key=lambda position: abs(changes[position]))
    against = core.against_the_answer(weights, changes, positive)
    if heaviest == decisive and against is not None:
        return (
            f"**{names[against]}** has {percent(weights[against])} of the weight and pushes the *other* way: "
            f"delete it, and the network is surer by {_points(changes[against])}."
        )
    if heaviest == decisive:
        return (
            f"**{names[heaviest]}** has most of the weight, {percent(weights[heaviest])}, and moves the answer most: "
            f"by **{_points(changes[heaviest])}**, if it is deleted."
        )
    return (
        f"**{names[heaviest]}** has {percent(weights[heaviest])} of the weight. Delete it: the answer moves by "
        f"**{_points(changes[heaviest])}**. Delete **{names[decisive]}**, which has {percent(weights[decisive])}: by "
        f"**{_points(changes[decisive])}**."
    )


def _describe_changed_answer(text: str, trace: AttentionTrace) -> str:
    learned, changed = (verdict_of(ATTENTION, text, edits) for edits in ((), trace.edits))
    if not trace.weights().any():
        return "Every word is cut: the answer is the network's prejudice."
    before, after = learned.positive, changed.positive
    if learned.answer == changed.answer and abs(before - after) < SMALL_CHANGE:
        return (
            f"Other weights, the same answer: positive {percent(before)} as learned, {percent(after)} now. Each word's "
            "state has read its neighbours too."
        )
    return f"Positive {percent(before)} as learned, {percent(after)} with these weights."


def surprise() -> TryThis:
    """Return the page's surprise: a word that decides a sentence without having much weight."""
    words = core.read_sentence(PUZZLE).words
    weights, changes = attention_trace(PUZZLE).weights()[0].tolist(), removal_effects(PUZZLE).tolist()
    decisive = max(range(len(words)), key=lambda position: abs(changes[position]))
    heaviest = max(range(len(words)), key=weights.__getitem__)
    options = sorted({0, 1, decisive, heaviest})  # the first two words seem to decide
    names = {position: "the comma" if words[position] == "," else f"*{words[position]}*" for position in options}

    def act() -> None:
        text_field(NAME).value = PUZZLE
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        before = verdict_of(ATTENTION, PUZZLE)
        without = {index: core.Verdict(before.positive + changes[index]).label for index in (decisive, heaviest)}
        return options.index(decisive), (
            f"{before.label.capitalize()}; without {names[decisive]}, which has {percent(weights[decisive])} of the "
            f"weight, {without[decisive]}; without {names[heaviest]}, {without[heaviest]}."
        )

    question = (
        f"*{PUZZLE}* Attention gives {names[heaviest]} most, {percent(weights[heaviest])}. Which one, if "
        "deleted, moves the answer most?"
    )
    hides = f":is(.st-key-matter_answer, .st-key-matter_told, .st-key-{WORDS_KEY})"
    return TryThis("guess which word decides", question, [*names.values()], act, outcome, WORDS_KEY, hides=hides)
