"""Parts of the page on judging sentences: the answers, the weighed words, near words and their weights."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from attention_core.attention.interventions import Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import ROLE_COLOURS
from attention_core.charts.neighbours import neighbours_chart
from attention_core.data.review_presets import BANK
from attention_core.topics.matter.sentences import (
    Sentence,
    Verdict,
    erase_each,
    explain,
    judge,
    rank_agreement,
    read_sentence,
    sentences_with,
)
from attention_core.topics.matter.word_space import Neighbour, neighbours_in_place, usual_weights
from attention_core.weights import WeightsError, read_card
from ui.labels import distinct, literal
from ui.matter.weighed_words import pressed_word, weighed_words
from ui.models import COMPUTE, load_snapshots, model_or_none, model_or_stop

ATTENTION = "sentence-attention"
MODELS = {
    ATTENTION: ("attention", "a recurrent encoder; one learned query weighs its states"),
    "sentence-mean": ("plain mean", "the same encoder; every state counts the same"),
    "sentence-two-phase": ("two phases", "the trained attention, frozen, tells a second network what to look at"),
}
MOST_PICKED = 12
"""Words that can be picked to see their neighbours: the heaviest ones."""
N_EXAMPLES = 5
STYLE = """<style>
.verdict { font-size: 1.7rem; font-weight: 600; line-height: 1.25; margin: 0; }
.verdict small { font-size: 0.95rem; font-weight: 400; opacity: 0.8; }
.judges { display: grid; grid-template-columns: max-content minmax(40px, 1fr) max-content max-content; gap: 9px 12px;
  align-items: center; font-size: 0.92rem; font-variant-numeric: tabular-nums; margin-top: 10px; }
.judges .head { font-size: 0.78rem; opacity: 0.75; }
.judges .track { position: relative; height: 16px; border-radius: 2px; background: #8a93a030; }
.judges .track i { position: absolute; top: 0; bottom: 0; border-radius: 2px; }
.judges .track::after { content: ""; position: absolute; left: 50%; top: -3px; bottom: -3px;
  border-left: 1px solid currentColor; opacity: 0.6; }
.examples p { margin: 0 0 8px; line-height: 1.7; }
.examples span { padding: 2px 3px; border-radius: 4px; }
.examples .near { outline: 1.5px solid currentColor; }
</style>"""
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}


@st.cache_data(max_entries=500, show_spinner=False)
def _positive(name: str, text: str, blocked: tuple[int, ...]) -> float:
    model, _ = model_or_none(name)
    if model is None:
        raise WeightsError(name)
    with COMPUTE:
        return judge(model, read_sentence(text), Intervention(blocked_keys=blocked)).positive


@st.cache_data(max_entries=300, show_spinner=False)
def _erased(text: str, blocked: tuple[int, ...]) -> tuple[list[float], list[float]]:
    model = model_or_stop(ATTENTION)
    with COMPUTE:
        erased = erase_each(model, read_sentence(text), Intervention(blocked_keys=blocked))
    return erased.blocked.tolist(), erased.removed.tolist()


@st.cache_data(max_entries=300, show_spinner=False)
def _neighbours(text: str, place: int) -> list[Neighbour]:
    model = model_or_stop(ATTENTION)
    usual = usual_weights(load_snapshots(f"{ATTENTION}"))
    with COMPUTE:
        return neighbours_in_place(model, read_sentence(text), place, usual)


@st.cache_data(max_entries=100, show_spinner=False)
def _example_weights(text: str) -> tuple[list[str], list[float]]:
    model = model_or_stop(ATTENTION)
    sentence = read_sentence(text)
    with COMPUTE:
        return sentence.labels, explain(model, sentence).weights()[0].tolist()


def trace_of(sentence: Sentence, blocked: tuple[int, ...]) -> AttentionTrace:
    """Return the trace of the model with attention."""
    model = model_or_stop(ATTENTION)
    with COMPUTE:
        return explain(model, sentence, Intervention(blocked_keys=blocked))


def blocked_words(name: str, text: str) -> tuple[int, ...]:
    """Return the words of this text that a person blocked; another text begins with none, and none picked."""
    state = st.session_state
    if state.get(f"{name}_blocked_in") != text:
        state[f"{name}_blocked_in"], state[f"{name}_blocked"] = text, []
        state.pop(f"{name}_picked", None)
    return tuple(state[f"{name}_blocked"])


def _press(name: str) -> None:
    place, state = pressed_word(name), st.session_state
    if place is None:
        return
    blocked = set(state.get(f"{name}_blocked", [])) ^ {place}
    state[f"{name}_blocked"] = sorted(blocked)


def _unblock(name: str) -> None:
    st.session_state[f"{name}_blocked"] = []


def answers(text: str, blocked: tuple[int, ...]) -> None:
    """Draw what the model with attention says, and what all three say, with their accuracies."""
    now = Verdict(_positive(ATTENTION, text, blocked))
    before = ""
    if blocked:
        was = Verdict(_positive(ATTENTION, text, ()))
        n = "1 word" if len(blocked) == 1 else f"{len(blocked)} words"
        before = f"with {n} blocked; before: {was.answer} {was.confidence:.0%}"
    rows, notes = [], []
    for name, (title, what) in MODELS.items():
        try:
            verdict, accuracy = Verdict(_positive(name, text, blocked)), _accuracy(name)
        except WeightsError:
            notes.append(f"**{title}**: {model_or_none(name)[1]}")
            continue
        rows.append(_row(title, what, verdict, accuracy))
    st.html(
        f'{STYLE}<p class="verdict" style="color:{_side(now)}">{now.answer} {now.confidence:.0%} '
        f"<small>{before}</small></p>"
        '<div class="judges"><span class="head">model</span><span class="head">negative ◂ ▸ positive</span>'
        '<span></span><span class="head" title="share of 925 new sentences judged right">accuracy</span>'
        f"{''.join(rows)}</div>"
    )
    for note in notes:
        st.warning(note)


def _row(title: str, what: str, verdict: Verdict, accuracy: str) -> str:
    left, width = min(verdict.positive, 0.5), abs(verdict.positive - 0.5)
    bar = f'<i style="left:{100 * left:.1f}%;width:{100 * width:.1f}%;background:{SIDES[verdict.answer]}"></i>'
    return (
        f'<span title="{what}">{title}</span><div class="track" title="positive: {verdict.positive:.1%}">{bar}</div>'
        f"<span>{verdict.answer} {verdict.confidence:.0%}</span><span>{accuracy}</span>"
    )


def _side(verdict: Verdict) -> str:
    return f"color-mix(in srgb, {SIDES[verdict.answer]} 75%, currentcolor)"


@st.cache_data(max_entries=10, show_spinner=False)
def _accuracy(name: str) -> str:
    figure = read_card(name).get("development_accuracy")
    return f"{figure:.1%}" if isinstance(figure, float) else "unknown"


def what_differs() -> None:
    """Say how the three models differ, and what two phases are."""
    with st.expander("Three models, one difference"):
        st.markdown(
            "All three were trained by us on the same 8,737 sentences of film reviews and tried on 925 others; "
            "with so few, figures less than three points apart do not say which is better.\n"
            "* **Attention**: the weights decide how much of each word's state is handed over.\n"
            "* **Plain mean**: the same network, but every weight is 1/n. A recurrent state can still be loud or "
            "silent by itself, so that it need not be much worse.\n"
            "* **Two phases**, as attention was often introduced: the first network's attention is trained, then "
            "frozen. A second network reads word vectors one at a time, blind to the rest of the sentence; it gets "
            "each word in the proportion of the frozen weights, and nothing else."
        )


def words_section(name: str, sentence: Sentence, text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Draw the shaded sentence with its bars, and how far weights and erasing agree."""
    weights = trace.weights()[0]
    if_blocked, if_removed = _erased(text, blocked)
    weighed_words(
        name,
        sentence.labels,
        weights.tolist(),
        if_blocked=if_blocked,
        if_removed=if_removed,
        positive=_positive(ATTENTION, text, blocked),
        order=weights.argsort(descending=True, stable=True).tolist(),
        blocked=blocked,
        turned=sentence.turned,
        on_press=lambda: _press(name),
    )
    st.caption(
        "Blocked: attention may not look at the word, though the encoder has read it. Removed: the sentence is read "
        "without it. Bars to the right make “positive” likelier, to the left “negative”, in log-odds: 0.7 doubles the "
        "odds."
    )
    if blocked:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Give all words back", key=f"{name}_unblock", on_click=_unblock, args=(name,))
            if len(blocked) == len(sentence.words):
                st.caption("Every word is blocked: nothing is handed over, and the answer is the network's prejudice.")
    _reading_remarks(sentence)


def _reading_remarks(sentence: Sentence) -> None:
    unknown_places = set(sentence.unknown_words)
    cut = [
        f"{literal(sentence.labels[place], 30)} as {literal(' + '.join(sentence.texts[place]))}"
        for place in sentence.cut_words
        if place not in unknown_places
    ][:6]
    if cut:
        st.caption("Words that are not in the vocabulary are read in pieces: " + "; ".join(cut) + ".")
    unknown = [literal(sentence.labels[place], 30) for place in sorted(unknown_places)[:6]]
    if unknown:
        st.caption(
            f"Letters or signs that no review had are all the same to the models, an unknown one: {', '.join(unknown)}."
        )


def doubts(sentence: Sentence, text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Compare weights with what removing words does, for this sentence and over many."""
    n = len(sentence.words)
    lines = []
    if n >= 4 and not blocked:
        agreement = rank_agreement(trace.weights()[0].tolist(), [abs(one) for one in _erased(text, ())[1]])
        lines.append(
            f"In this sentence the order of the weights and the order of the changes agree to **{agreement:+.2f}**"
        )
    card = read_card(ATTENTION).get("rank_agreement_of_weight_and_removal")
    if card is not None:
        lines.append(
            f"over {card['sentences']} sentences that it was not trained on, to **{card['mean']:+.2f}** on average"
        )
    if lines:
        sentence_of_both = "; ".join(lines)
        st.markdown(
            sentence_of_both[0].upper()
            + sentence_of_both[1:]
            + " (rank correlation: 1 = the same order, 0 = unrelated)."
        )
    st.markdown(
        "A weight says how much of a word's state was handed over, not why. A state has read its neighbours, so that "
        "blocking a word does not make the network forget it; removing it does. Two networks can weigh words "
        "differently and give the same answers (Jain and Wallace 2019): take the map as a hint, and erase words to "
        "test it. In training, a helper had to answer from the bare words with the same weights. Without it, the "
        "network was no less accurate, but the two orders agreed to 0.07 only: nothing else ties weights to words.\n\n"
        "And take the answer itself with care: one new sentence in five is judged wrong, negation above all, "
        "for which 8,737 sentences are few."
    )


def pick_word(name: str, sentence: Sentence, trace: AttentionTrace) -> int | None:
    """Let a person pick one of the heaviest words; None when none has letters."""
    heaviest = trace.weights()[0].argsort(descending=True, stable=True).tolist()
    options = sorted([place for place in heaviest if any(map(str.isalpha, sentence.words[place]))][:MOST_PICKED])
    if not options:
        return None
    key, state = f"{name}_picked", st.session_state
    if state.get(key) not in options:
        state[key] = next(place for place in heaviest if place in options)
    labels = dict(zip(options, distinct([sentence.labels[place] for place in options]), strict=True))
    return st.pills(
        "Pick a word",
        options,
        key=key,
        format_func=lambda place: labels[place],
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )


def neighbours_section(name: str, sentence: Sentence, text: str, trace: AttentionTrace) -> None:
    """Draw a word's nearest neighbours with their weights, and sentences in which they can be met."""
    place = pick_word(name, sentence, trace)
    if place is None:
        st.caption("There is no word with letters here.")
        return
    try:
        near = _neighbours(text, place)
    except WeightsError as error:
        st.warning(str(error))
        return
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        words = literal(sentence.labels[place], 30)
        st.altair_chart(
            neighbours_chart(near), width="stretch", key=f"{name}_near", alt=f"Weights of the words nearest to {words}"
        )
        st.caption(
            f"The eight words whose learned vectors point most nearly where that of {words} does. Diamond: the word is "
            "put in the place of the picked one and the sentence is read anew. Dot and bar: its weight in all the "
            "training sentences that it stands in."
        )
    with right:
        st.markdown("**In sentences of their own**")
        found = sentences_with(BANK, [one.word for one in near], N_EXAMPLES)
        if not found:
            st.caption("None of our example sentences has one of these words.")
        else:
            st.html(STYLE + '<div class="examples">' + "".join(_shaded(one, near) for one in found) + "</div>")


def _shaded(text: str, near: Sequence[Neighbour]) -> str:
    words, weights = _example_weights(text)
    most, wanted = max(weights), {one.word for one in near}
    parts = []
    for word, weight in zip(words, weights, strict=True):
        marked = ' class="near"' if word.lower() in wanted else ""
        shade = f"color-mix(in srgb, {ROLE_COLOURS[Role.WEIGHTS]} {82 * weight / most:.0f}%, transparent)"
        parts.append(
            f'<span{marked} style="background:{shade}" title="{weight:.1%}, {weight * len(words):.1f} times 1/n">'
            f"{html.escape(word)}</span>"
        )
    return f"<p>{' '.join(parts)}</p>"
