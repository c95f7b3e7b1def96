"""What three models say of a sentence: the answer, its weights, what losing words does, and the models side by side."""

import streamlit as st

from attention_core.attention.edits import BlockKeys
from attention_core.attention.trace import AttentionTrace
from attention_core.data.sentence_presets import MEANT, is_negated
from attention_core.topics.matter.sentences import (
    Erasure,
    Verdict,
    erase_each,
    explain,
    judge,
    rank_agreement,
    read_sentence,
)
from attention_core.weights import WeightsError
from ui.computed import cached_computation, card_or_empty, model_or_none, model_or_stop
from ui.player import Stepper, counted
from ui.skeleton import note
from ui.state import Field

NAME = "matter"
ATTENTION, AVERAGE = "sentence-attention", "sentence-mean"
MODELS = {ATTENTION: "attention", AVERAGE: "plain average", "sentence-two-phase": "two phases"}
STYLE = """<style>
.verdict { font-size: 1.7rem; font-weight: 600; line-height: 1.25; margin: 0; }
.verdict small { font-size: 0.95rem; font-weight: 400; opacity: 0.8; }
.fault { margin: 0.2rem 0 0; font-size: 0.92rem; }
.st-key-matter_words { min-height: 20.5rem; }
.judges { display: grid; grid-template-columns: max-content minmax(40px, 1fr) max-content max-content; gap: 9px 12px;
  align-items: center; font-variant-numeric: tabular-nums; }
.judges .head { font-size: 0.78rem; opacity: 0.75; }
.judges .track { position: relative; height: 16px; border-radius: 2px; background: #8a93a030; }
.judges .track i { position: absolute; top: 0; bottom: 0; border-radius: 2px; }
.judges .track::after { content: ""; position: absolute; left: 50%; top: -3px; bottom: -3px;
  border-left: 1px solid currentColor; opacity: 0.6; }
</style>"""
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}

BLOCKED: Field[list[int]] = Field(NAME, "blocked", list, address="blocked")
BLOCKED_IN = Field(NAME, "blocked_in", "")
STEPS = Stepper(NAME)

_judge = cached_computation(by_model=True)(judge)
_erase_each = cached_computation(by_model=True)(erase_each)
_explain = cached_computation(by_model=True)(explain)


def _blocking(words: tuple[int, ...]) -> tuple[BlockKeys, ...]:
    return (BlockKeys(words),) if words else ()


def verdict_of(name: str, text: str, blocked: tuple[int, ...]) -> Verdict:
    """Return what a model says of a sentence; WeightsError if the model is not there."""
    model, _ = model_or_none(name)
    if model is None:
        raise WeightsError(name)
    return _judge(model, read_sentence(text), _blocking(blocked))


def erased(text: str, blocked: tuple[int, ...]) -> Erasure:
    """Return what losing each word does."""
    return _erase_each(model_or_stop(ATTENTION), read_sentence(text), _blocking(blocked))


def attention_trace(text: str, blocked: tuple[int, ...] = ()) -> AttentionTrace:
    """Return how the model with attention came to its answer."""
    return _explain(model_or_stop(ATTENTION), read_sentence(text), _blocking(blocked))


def blocked_words(text: str) -> tuple[int, ...]:
    """Return the words of this text that a person blocked; another text begins with none."""
    if BLOCKED_IN.value != text:
        BLOCKED_IN.value = text
        BLOCKED.preset([])
    n_words = len(read_sentence(text).words)
    BLOCKED.value = [place for place in BLOCKED.value if 0 <= place < n_words]
    return tuple(BLOCKED.value)


def answer(text: str, blocked: tuple[int, ...], is_read: bool) -> None:
    """Draw what the model with attention says, if it knows enough words to judge by."""
    if not is_read:
        st.html(f'{STYLE}<p class="verdict">no judgement <small>too few of its words are known</small></p>')
        return
    now = verdict_of(ATTENTION, text, blocked)
    before = ""
    if blocked:
        was = verdict_of(ATTENTION, text, ())
        before = f"with {counted(len(blocked), 'words')} blocked; before: {was.answer} {was.confidence:.0%}"
    colour = f"color-mix(in srgb, {SIDES[now.answer]} 75%, currentcolor)"
    st.html(
        f'{STYLE}<p class="verdict" style="color:{colour}">{now.answer} {now.confidence:.0%} '
        f"<small>{before}</small></p>{_fault(text, now.answer)}"
    )


def without_attention(text: str, blocked: tuple[int, ...]) -> None:
    """Say what a plain average answers, and how much attention helps."""
    figures = [card_or_empty(name).get("development_accuracy") for name in (ATTENTION, AVERAGE)]
    if model_or_none(AVERAGE)[0] is not None and all(figures):
        even, (own, other) = verdict_of(AVERAGE, text, blocked), figures
        note(
            f"A network trained with every weight equal: {even.answer} {even.confidence:.0%}. Of 925 new sentences it "
            f"judges {other:.1%} rightly, attention {own:.1%}: here attention hardly helps."
        )


def _fault(text: str, answer: str) -> str:
    meant, negated = MEANT.get(text), is_negated(text)
    if meant and meant != answer:
        why = "The negation did not turn the words round" if negated else "Irony was taken at its word"
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}. {why}.</p>'
    if negated and not meant:
        return '<p class="fault">There is a negation here. The models misread many of them: judge for yourself.</p>'
    return ""


def three_models(text: str, blocked: tuple[int, ...], is_read: bool) -> None:
    """Draw what all three models say, and how they differ."""
    rows, missing = [], []
    for name, title in MODELS.items():
        try:
            verdict, accuracy = verdict_of(name, text, blocked), card_or_empty(name).get("development_accuracy")
        except WeightsError:
            missing.append(f"**{title}**: {model_or_none(name)[1]}")
            continue
        rows.append(_row(title, verdict, f"{accuracy:.1%}" if isinstance(accuracy, float) else "unknown"))
    left, right = st.columns(2, gap="large")
    with left:
        if is_read:
            st.html(
                '<div class="judges"><span class="head">model</span><span class="head">negative ◂ ▸ positive</span>'
                f'<span></span><span class="head">right of 925</span>{"".join(rows)}</div>'
            )
        st.caption("Words that you block above the tabs are blocked in all three.")
        for fault in missing:
            st.warning(fault)
    with right:
        st.markdown(
            "* **Attention**: the weights decide how much of each word's state is handed over.\n"
            "* **Plain average**: the same network, trained with every weight 1/n. A state can still make itself large "
            "or small.\n"
            "* **Two phases**: the first network's attention is trained, then frozen. A second network reads word "
            "vectors one at a time; it gets each in the proportion of the frozen weights, and nothing else."
        )


def _row(title: str, verdict: Verdict, accuracy: str) -> str:
    left, width = min(verdict.positive, 0.5), abs(verdict.positive - 0.5)
    bar = f'<i style="left:{100 * left:.1f}%;width:{100 * width:.1f}%;background:{SIDES[verdict.answer]}"></i>'
    return (
        f'<span>{title}</span><div class="track" title="positive: {verdict.positive:.1%}">{bar}</div>'
        f"<span>{verdict.answer} {verdict.confidence:.0%}</span><span>{accuracy}</span>"
    )


def doubts(text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Compare weights with what removing words does, for this sentence and over many."""
    lines = []
    if trace.n_keys >= 4 and not blocked:
        agreement = rank_agreement(trace.weights()[0].tolist(), erased(text, ()).removed.abs().tolist())
        lines.append(f"in this sentence **{agreement:+.2f}**")
    card = card_or_empty(ATTENTION).get("rank_agreement_of_weight_and_removal")
    if card is not None:
        lines.append(f"over {card['sentences']} new sentences **{card['mean']:+.2f}** on average")
    if lines:
        st.markdown(
            f"The order of the weights and the order of the changes agree to: {', '.join(lines)} (1 = the same "
            "order, 0 = unrelated)."
        )
    st.markdown(
        "A weight says how much of a word's state was handed over, not why. The state has read its neighbours, so that "
        "blocking a word does not make the network forget it; removing it does. Two networks can weigh words "
        "differently and give the same answers (Jain and Wallace 2019). During training a second small network had to "
        "answer from the words alone, using the same weights: without that the two orders agreed to 0.07 only.\n\n"
        "One new sentence in five is judged wrong, negation above all."
    )
