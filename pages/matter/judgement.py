"""What three models say of a sentence: the answer, its words and their weights, what changing them does, the models."""

import streamlit as st
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.edits import Edits, SetWeights
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import GREY, ROLE_COLOURS
from attention_core.data.sentence_presets import MEANT, PRESETS, is_negated
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.inference import sentiment as core
from attention_core.inference.sentiment import read_sentence
from ui.chart import note_picture
from ui.component import component
from ui.computed import by_model, card_or_empty, model_or_none, model_or_stop
from ui.edits import EditList, WeightsRow, show_outcome, show_weights_difference, weight_editor
from ui.faithfulness import faithfulness_tab
from ui.labels import error_markdown, note
from ui.layout import figures_table
from ui.player import Stepper
from ui.skeleton import Tab
from ui.state import component_message
from ui.try_this import TryThis
from ui.words import text_field

NAME = "matter"
ATTENTION, AVERAGE = "sentence-attention", "sentence-mean"
MODELS = {ATTENTION: "attention", AVERAGE: "plain average", "sentence-two-phase": "two phases"}
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}

EDITS = EditList(NAME)
STEPS = Stepper(NAME)

_judge, _remove_each, _explain = by_model(core.judge), by_model(core.remove_each), by_model(core.explain)


def verdict_of(name: str, text: str, edits: Edits = ()) -> core.Verdict:
    """Return what a model says of a sentence."""
    return _judge(name, core.read_sentence(text), edits)


def removed(text: str) -> Tensor:
    """Return what the answer as learned does without each word."""
    return _remove_each(ATTENTION, core.read_sentence(text))


def attention_trace(text: str, edits: Edits = ()) -> AttentionTrace:
    return _explain(ATTENTION, core.read_sentence(text), edits)


def try_section(text: str, trace: AttentionTrace) -> None:
    """Draw the weights to be changed, the list of changes, and what becomes of the answer."""
    plain, labels = attention_trace(text), trace.story.key_axis.labels
    left, right = st.columns(2, gap="large")
    with left:
        words: dict[tuple[int, ...], str] = {(place,): label for place, label in enumerate(labels)}
        weight_editor(WeightsRow(EDITS, trace, of=text), words)
        EDITS.draw(trace, hint="Click a word above to cut it, drag its bar, or set its weight here.")
        show_weights_difference(NAME, plain, trace)
    with right:
        before, after = (verdict_of(ATTENTION, text, one.edits).positive for one in (plain, trace))
        show_outcome(NAME, tuple(SIDES), (before, 1 - before), (after, 1 - after))


def answer(text: str, edits: Edits, is_read: bool) -> None:
    """Draw what the model with attention says, if it knows enough words to judge by."""
    if not is_read:
        st.html('<p class="judgement">no judgement <small>too few of its words are known</small></p>')
        return
    now = verdict_of(ATTENTION, text, edits)
    colour = f"color-mix(in srgb, {SIDES[now.answer]} 75%, currentcolor)"
    st.html(f'<p class="judgement" style="color:{colour}">{now.label}</p>{_fault(text, now.answer, edits)}')


def worth_of_attention() -> None:
    """Say how much attention helps over a plain average."""
    own, other = (card_or_empty(name).get("development_accuracy") for name in (ATTENTION, AVERAGE))
    if own and other:
        note(
            f"A network trained with every weight equal is right on {other:.1%} of {N_JUDGED}, this one on "
            f"{own:.1%}{': here attention hardly helps' * (abs(own - other) < HARDLY)}. It learned from none of them, "
            "but its settings were chosen by them."
        )


def _fault(text: str, answer: str, edits: Edits) -> str:
    meant, right = MEANT.get(text), card_or_empty(ATTENTION).get("right_of_50_with_a_negation")
    if meant and meant != answer:
        irony = " Irony was taken at its word." * (text == PRESETS["Irony"] and not edits)
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}.{irony}</p>'
    if right and is_negated(text) and not meant:
        who = "As learned, it" if edits else "It"
        return f'<p class="fault">{who} reads {right} of 50 sentences with a negation right: judge for yourself.</p>'
    return ""


def three_models(text: str, edits: Edits, is_read: bool) -> None:
    rows, missing = [], []
    for name, title in MODELS.items():
        model, fault = model_or_none(name)
        if model is None:
            missing.append(f"**{title}**: {fault}")
            continue
        verdict, accuracy = verdict_of(name, text, edits), card_or_empty(name).get("development_accuracy")
        said = verdict.label if is_read else "no judgement"
        rows.append((title, said, f"{accuracy:.1%}" if isinstance(accuracy, float) else "unknown"))
    left, right = st.columns(2, gap="large")
    with left:
        figures_table(("model", "says", f"right of {N_JUDGED}"), *rows)
        if edits:
            st.caption("Weights are changed in all three; how many are right was counted as learned.")
        for fault in missing:
            st.warning(fault)
    with right:
        st.markdown(
            "**Two phases**: the attention is frozen; a second network sees each word in proportion to its weight."
        )


HARDLY = (
    0.02  # a change of the probability below which changed weights are said to change nothing; of right answers, too
)
N_JUDGED = "925 sentences"  # those for development
SHOWN = "matter_words"
GUESSED = PRESETS["A comma"]
_component = component("weighed_words", folder="pages/matter")


def words_section(sentence: core.Sentence, text: str, trace: AttentionTrace, is_read: bool) -> None:
    """Draw every word with its weight and with what the answer as learned does when it is deleted, if there is one."""
    weights = trace.weights()[0].tolist()
    if_removed = removed(text).tolist()
    positive = verdict_of(ATTENTION, text).positive

    def press() -> None:
        pressed = component_message("matter_weighed", "pressed") or {}
        place, weight = pressed.get("place"), pressed.get("weight")
        if isinstance(place, int) and place in range(trace.n_keys) and (weight is None or 0 <= float(weight) <= 1):
            WeightsRow(EDITS, trace, of=text).set_weight([place], weight)

    about = "Weights: every word's, and how the answer moves when it is deleted"
    columns = {"weight": weights, "if deleted": if_removed}
    note_picture(lambda: bar_table(sentence.labels, columns, (ROLE_COLOURS[Role.WEIGHTS], GREY)), about)
    with st.container(key=SHOWN):
        _component(
            key="matter_weighed",
            data={
                "words": sentence.labels,
                "weights": [round(weight, 5) for weight in weights],
                "ifRemoved": [round(change, 8) for change in if_removed],
                "positive": round(positive, 8) if is_read else None,
                "uniform": 1 / trace.n_keys,
                "before": attention_trace(text).weights()[0].tolist() if trace.edits else [],
                "cut": [place for place in range(trace.n_keys) if SetWeights(0, ((place, 0.0),), 0) in trace.edits],
                "turned": sentence.read_as,
            },
            default={"pressed": None},
            on_pressed_change=press,
        )


def who_decides(sentence: core.Sentence, text: str, trace: AttentionTrace, is_read: bool) -> None:
    """Say where weights and what deleting does disagree, or what changing the weights did, if there is an answer."""
    with st.container(key="tells_matter_told"), st.container(key="matter_told"):
        if trace.edits:
            st.markdown(_what_changing_did(text, trace))
            st.button("All as learned", key="matter_as_learned", on_click=EDITS.reset)
        elif is_read:
            positive = verdict_of(ATTENTION, text).positive
            st.markdown(_where_they_disagree(sentence, trace.weights()[0].tolist(), removed(text).tolist(), positive))


def _points(change: float) -> str:
    return f"{abs(100 * change):.{0 if abs(change) >= 0.0095 else 1}f} points"


def _where_they_disagree(sentence: core.Sentence, weights: list[float], changes: list[float], positive: float) -> str:
    names = [f"“{error_markdown(label)}”" for label in sentence.labels]
    if len(names) == 1:
        return f"**{names[0]}** is the only word: without it, there is nothing to judge."
    heavy, light = weights.index(max(weights)), max(range(len(changes)), key=lambda place: abs(changes[place]))
    against = core.against_the_answer(weights, changes, positive)
    if heavy == light and against is not None:
        return (
            f"**{names[against]}** has {percent(weights[against])} of the weight and pushes the *other* way: "
            f"delete it, and the network is surer by {_points(changes[against])}."
        )
    if heavy == light:
        return (
            f"**{names[heavy]}** has most of the weight, {percent(weights[heavy])}, and moves the answer most: by "
            f"**{_points(changes[heavy])}**, if it is deleted."
        )
    return (
        f"**{names[heavy]}** has {percent(weights[heavy])} of the weight. Delete it: the answer moves by "
        f"**{_points(changes[heavy])}**. Delete **{names[light]}**, which has {percent(weights[light])}: by "
        f"**{_points(changes[light])}**."
    )


def _what_changing_did(text: str, trace: AttentionTrace) -> str:
    learned, changed = (verdict_of(ATTENTION, text, edits) for edits in ((), trace.edits))
    if not trace.weights().any():
        return "Every word is cut: the answer is the network's prejudice."
    before, now = learned.positive, changed.positive
    if learned.answer == changed.answer and abs(before - now) < HARDLY:
        return (
            f"Other weights, the same answer: positive {before:.0%} as learned, {now:.0%} now. Each word's state has "
            "read its neighbours too."
        )
    return f"Positive {before:.0%} as learned, {now:.0%} with these weights."


def surprise() -> TryThis:
    """Return the page's surprise: a word that decides a sentence without having much weight."""
    words = core.read_sentence(GUESSED).words
    weights, changes = attention_trace(GUESSED).weights()[0].tolist(), removed(GUESSED).tolist()
    decides, heaviest = (max(range(len(words)), key=size.__getitem__) for size in ([*map(abs, changes)], weights))
    options = sorted({0, 1, decides, heaviest})  # the first two words seem to decide
    names = {place: "the comma" if words[place] == "," else f"*{words[place]}*" for place in options}

    def act() -> None:
        text_field(NAME).value = GUESSED
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        before = verdict_of(ATTENTION, GUESSED)
        without = {place: core.Verdict(before.positive + changes[place]).label for place in (decides, heaviest)}
        return options.index(decides), (
            f"{before.label.capitalize()}; without {names[decides]}, which has {percent(weights[decides])} of the "
            f"weight, {without[decides]}; without {names[heaviest]}, {without[heaviest]}."
        )

    question = (
        f"*{GUESSED}* Attention gives {names[heaviest]} most, {weights[heaviest]:.0%}. Which one, if "
        "deleted, moves the answer most?"
    )
    hides = f":is(.st-key-matter_answer, .st-key-matter_told, .st-key-{SHOWN})"
    return TryThis("guess which word decides", question, [*names.values()], act, outcome, SHOWN, hides=hides)


def matter_doubts(text: str) -> Tab:
    """Return the section on a judged sentence: words are left out."""

    def subject() -> Subject:
        return subjects.sentence_subject(model_or_stop(ATTENTION), read_sentence(text).words)

    return faithfulness_tab(NAME, ATTENTION, text, subject, "words")
