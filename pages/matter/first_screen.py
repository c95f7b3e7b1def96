"""The first screen: how a sentence is judged, each word's weight, what deleting it does, and a word to guess."""

import streamlit as st

from attention_core import Role
from attention_core.attention.edits import SetWeights
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
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
    verdict_of,
)
from ui.chart import note_picture
from ui.component import component
from ui.computed import card_or_empty
from ui.edits import WeightsRow
from ui.labels import error_markdown
from ui.state import component_message
from ui.try_this import TryThis
from ui.words import text_field

SIDES = {"positive": "#0072B2", "negative": "#D55E00"}
WORDS_KEY = "matter_words"
PUZZLE = PRESETS["A comma"]
_component = component("weighed_words", folder="pages/matter")


def draw_verdict(judgement: Judgement) -> None:
    """Draw the verdict of the model with attention, if it knows enough words to judge by."""
    if not judgement.is_read:
        st.html('<p class="judgement">no judgement <small>too few of its words are known</small></p>')
        return
    verdict = judgement.verdict()
    colour = f"color-mix(in srgb, {SIDES[verdict.answer]} 75%, currentcolor)"
    st.html(f'<p class="judgement" style="color:{colour}">{verdict.label}</p>{_describe_error(judgement)}')


def _describe_error(judgement: Judgement) -> str:
    text, _, trace, _ = judgement
    meant, n_right = MEANT.get(text), card_or_empty(ATTENTION).get("right_of_50_with_a_negation")
    if meant and meant != judgement.verdict().answer:
        irony = " Irony was taken at its word." * (text == PRESETS["Irony"] and not trace.edits)
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}.{irony}</p>'
    if n_right and is_negated(text) and not meant:
        reads = f"{'As learned, it' if trace.edits else 'It'} reads {n_right} of 50 sentences with a negation right"
        return f'<p class="fault">{reads}: judge for yourself.</p>'
    return ""


def draw_words(judgement: Judgement) -> None:
    """Draw every word with its weight, and with how the learned answer moves when the word is deleted."""
    text, sentence, trace, is_read = judgement
    weights, if_removed = trace.weights()[0].tolist(), removal_effects(text).tolist()

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
        "positive": round(judgement.learned_verdict().positive, 8) if is_read else None,
        "uniform": 1 / trace.n_keys,
        "before": attention_trace(text).weights()[0].tolist() if trace.edits else [],
        "cut": [key for key in range(trace.n_keys) if SetWeights(0, ((key, 0.0),), 0) in trace.edits],
        "turned": sentence.read_as,
    }
    with st.container(key=WORDS_KEY):
        _component(key="matter_weighed", data=data, default={"pressed": None}, on_pressed_change=on_press)


def draw_comparison(judgement: Judgement) -> None:
    """Say where weights and the effects of deletion disagree, or, where weights are changed, what that did."""
    with st.container(key="matter_told"):
        if judgement.edits:
            st.markdown(describe_changed_answer(judgement))
            st.button("All as learned", key="matter_as_learned", on_click=EDITS.reset)
        elif judgement.is_read:
            st.markdown(_compare_weight_and_effect(judgement))


def _points(change: float) -> str:
    points = abs(100 * change)
    return f"{points:.0f} points" if abs(change) >= 0.0095 else f"{points:.1f} points"


def _compare_weight_and_effect(judgement: Judgement) -> str:
    text, sentence, trace, _ = judgement
    weights, changes = trace.weights()[0].tolist(), removal_effects(text).tolist()
    names = [f"“{error_markdown(label)}”" for label in sentence.labels]
    if len(names) == 1:
        return f"**{names[0]}** is the only word: without it, there is nothing to judge."
    heaviest = weights.index(max(weights))
    decisive = max(range(len(changes)), key=lambda position: abs(changes[position]))
    against = core.against_the_answer(weights, changes, judgement.learned_verdict().positive)
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


def describe_changed_answer(judgement: Judgement) -> str:
    """Say what the edits did to the answer."""
    learned, changed = judgement.learned_verdict(), judgement.verdict()
    if not judgement.trace.weights().any():
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
