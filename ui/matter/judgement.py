"""What three models say of a sentence: the answer, its weights, what changing them does, the models side by side."""

import streamlit as st
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.data.sentence_presets import MEANT, is_negated
from attention_core.topics.matter.sentences import Verdict, explain, judge, read_sentence, remove_each
from attention_core.weights import WeightsError
from ui.computed import cached_computation, card_or_empty, model_or_none, model_or_stop
from ui.edits import EditList, WeightsRow, show_outcome, show_weights_difference, weight_editor
from ui.labels import note
from ui.layout import figures_table
from ui.player import Stepper

NAME = "matter"
ATTENTION, AVERAGE = "sentence-attention", "sentence-mean"
MODELS = {ATTENTION: "attention", AVERAGE: "plain average", "sentence-two-phase": "two phases"}
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}

EDITS = EditList(NAME)
STEPS = Stepper(NAME)

_judge = cached_computation(by_model=True)(judge)
_remove_each = cached_computation(by_model=True)(remove_each)
_explain = cached_computation(by_model=True)(explain)


def verdict_of(name: str, text: str, edits: Edits = ()) -> Verdict:
    """Return what a model says of a sentence; WeightsError if the model is not there."""
    model, _ = model_or_none(name)
    if model is None:
        raise WeightsError(name)
    return _judge(model, read_sentence(text), edits)


def removed(text: str) -> Tensor:
    """Return what the answer as learned does without each word."""
    return _remove_each(model_or_stop(ATTENTION), read_sentence(text))


def attention_trace(text: str, edits: Edits = ()) -> AttentionTrace:
    return _explain(model_or_stop(ATTENTION), read_sentence(text), edits)


def try_section(text: str, trace: AttentionTrace) -> None:
    """Draw the weights to be changed, the list of changes, and what becomes of the answer."""
    plain, labels = attention_trace(text), trace.story.key_axis.labels
    left, right = st.columns(2, gap="large")
    with left:
        words = {(place,): label for place, label in enumerate(labels)}
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
    st.html(f'<p class="judgement" style="color:{colour}">{now.said}</p>{_fault(text, now.answer)}')


def worth_of_attention() -> None:
    """Say how much attention helps over a plain average."""
    figures = [card_or_empty(name).get("development_accuracy") for name in (ATTENTION, AVERAGE)]
    if all(figures):
        own, other = figures
        note(
            f"A network trained with every weight equal is right on {other:.1%} of 925 new sentences, this one on "
            f"{own:.1%}: here attention hardly helps."
        )


def _fault(text: str, answer: str) -> str:
    meant, right = MEANT.get(text), card_or_empty(ATTENTION).get("right_of_50_with_a_negation")
    if meant and meant != answer:
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}. Irony was taken at its word.</p>'
    if right and is_negated(text) and not meant:
        return f'<p class="fault">It reads {right} of 50 sentences with a negation right: judge for yourself.</p>'
    return ""


def three_models(text: str, edits: Edits, is_read: bool) -> None:
    rows, missing = [], []
    for name, title in MODELS.items():
        try:
            verdict, accuracy = verdict_of(name, text, edits), card_or_empty(name).get("development_accuracy")
        except WeightsError:
            missing.append(f"**{title}**: {model_or_none(name)[1]}")
            continue
        said = verdict.said if is_read else "no judgement"
        rows.append((title, said, f"{accuracy:.1%}" if isinstance(accuracy, float) else "unknown"))
    left, right = st.columns(2, gap="large")
    with left:
        figures_table(("model", "says", "right of 925"), *rows)
        if edits:
            st.caption("Weights are changed in all three.")
        for fault in missing:
            st.warning(fault)
    with right:
        st.markdown(
            "* **Plain average**: trained with every weight 1/n.\n"
            "* **Two phases**: the attention is frozen; a second network sees each word in proportion to its weight, "
            "and nothing else."
        )
