"""The first screen: what three models say of a sentence, its words with their weights, and near words with theirs."""

import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.edits import BlockKeys
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.vega import ROLE_COLOURS, Chart
from attention_core.charts.words import Bars, bar_table, shade_ramp, shaded_words
from attention_core.data.sentence_presets import BANK, MEANT, is_negated
from attention_core.topics.matter.sentences import (
    Erasure,
    Sentence,
    Verdict,
    erase_each,
    explain,
    judge,
    rank_agreement,
    read_sentence,
    sentences_with,
)
from attention_core.topics.matter.word_space import Neighbour, neighbours_chart, neighbours_in_training
from attention_core.weights import WeightsError
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.computed import cached_computation, card_or_empty, model_or_none, model_or_stop
from ui.labels import distinct, error_markdown, literal, number
from ui.layout import shade
from ui.player import Stepper, counted
from ui.skeleton import note
from ui.state import Field, component_message, whole_number

NAME = "matter"
ATTENTION = "sentence-attention"
MODELS = {
    ATTENTION: ("attention", "a recurrent encoder; one learned query weighs its states"),
    "sentence-mean": ("plain mean", "the same encoder; every state counts the same"),
    "sentence-two-phase": ("two phases", "the trained attention, frozen, tells a second network what to look at"),
}
STYLE = """<style>
.verdict { font-size: 1.7rem; font-weight: 600; line-height: 1.25; margin: 0; }
.verdict small { font-size: 0.95rem; font-weight: 400; opacity: 0.8; }
.fault { margin: 0.2rem 0 0; font-size: 0.92rem; }
.judges { display: grid; grid-template-columns: max-content minmax(40px, 1fr) max-content max-content; gap: 9px 12px;
  align-items: center; font-size: 0.92rem; font-variant-numeric: tabular-nums; margin-top: 10px; }
.judges .head { font-size: 0.78rem; opacity: 0.75; }
.judges .track { position: relative; height: 16px; border-radius: 2px; background: #8a93a030; }
.judges .track i { position: absolute; top: 0; bottom: 0; border-radius: 2px; }
.judges .track::after { content: ""; position: absolute; left: 50%; top: -3px; bottom: -3px;
  border-left: 1px solid currentColor; opacity: 0.6; }
</style>"""
SIDES = {"positive": "#0072B2", "negative": "#D55E00"}

HARDLY = 0.02  # a change of the probability below which blocking a word is said to change nothing
BLOCKED: Field[list[int]] = Field(NAME, "blocked", list, address="blocked")
BLOCKED_IN = Field(NAME, "blocked_in", "")
PICKED = Field(NAME, "picked", -1, address="word", parse=whole_number)
STEPS = Stepper(NAME)
"""The word whose neighbours are shown."""

_component = component("weighed_words")


_judge = cached_computation(by_model=True)(judge)
_erase_each = cached_computation(by_model=True)(erase_each)
_explain = cached_computation(by_model=True)(explain)
_neighbours = cached_computation(by_model=True)(neighbours_in_training)


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


def answers(text: str, blocked: tuple[int, ...], is_read: bool) -> None:
    """Draw what the model with attention says, and what all three say, if they know enough words to judge by."""
    if not is_read:
        st.html(f'{STYLE}<p class="verdict">no judgement <small>too few of its words are known</small></p>')
        return
    now = verdict_of(ATTENTION, text, blocked)
    before = ""
    if blocked:
        was = verdict_of(ATTENTION, text, ())
        before = f"with {counted(len(blocked), 'words')} blocked; before: {was.answer} {was.confidence:.0%}"
    rows, missing = [], []
    for name, (title, what) in MODELS.items():
        try:
            verdict, accuracy = verdict_of(name, text, blocked), card_or_empty(name).get("development_accuracy")
        except WeightsError:
            missing.append(f"**{title}**: {model_or_none(name)[1]}")
            continue
        rows.append(_row(title, what, verdict, f"{accuracy:.1%}" if isinstance(accuracy, float) else "unknown"))
    colour = f"color-mix(in srgb, {SIDES[now.answer]} 75%, currentcolor)"
    st.html(
        f'{STYLE}<p class="verdict" style="color:{colour}">{now.answer} {now.confidence:.0%} '
        f"<small>{before}</small></p>{_fault(text, now.answer)}"
        '<div class="judges"><span class="head">model</span><span class="head">negative ◂ ▸ positive</span>'
        '<span></span><span class="head" title="share of 925 new sentences judged right">accuracy</span>'
        f"{''.join(rows)}</div>"
    )
    for fault in missing:
        st.warning(fault)


def _fault(text: str, answer: str) -> str:
    meant, negated = MEANT.get(text), is_negated(text)
    if meant and meant != answer:
        why = "The negation did not turn the words round" if negated else "Irony was taken at its word"
        return f'<p class="fault"><b>Wrong.</b> People read this as {meant}. {why}.</p>'
    if negated and not meant:
        return '<p class="fault">There is a negation here. The models misread many of them: judge for yourself.</p>'
    return ""


def _row(title: str, what: str, verdict: Verdict, accuracy: str) -> str:
    left, width = min(verdict.positive, 0.5), abs(verdict.positive - 0.5)
    bar = f'<i style="left:{100 * left:.1f}%;width:{100 * width:.1f}%;background:{SIDES[verdict.answer]}"></i>'
    return (
        f'<span title="{what}">{title}</span><div class="track" title="positive: {verdict.positive:.1%}">{bar}</div>'
        f"<span>{verdict.answer} {verdict.confidence:.0%}</span><span>{accuracy}</span>"
    )


def explain_models() -> None:
    """Say how the three models differ, and what two phases are."""
    with st.expander("Three models, one difference"):
        st.markdown(
            "All three were trained by us on the same 8,737 sentences of film reviews and tried on 925 others; "
            "with so few, figures less than three points apart do not say which is better.\n"
            "* **Attention**: the weights decide how much of each word's state is handed over.\n"
            "* **Plain mean**: the same network, but every weight is 1/n. A state can still make itself large or "
            "small, so this network need not be much worse.\n"
            "* **Two phases**, as attention was often introduced: the first network's attention is trained, then "
            "frozen. A second network reads word vectors one at a time, blind to the rest of the sentence; it gets "
            "each word in the proportion of the frozen weights, and nothing else."
        )


def explain_question() -> None:
    """Say that the question here is always the same, and where a reader asks one of their own."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            "Here the question never changes: *praise or blame?* To read with a question of your own:", width="content"
        )
        for name, label, asked in (
            ("lookup", "Ask a text", {"table": "ask-a-text"}),
            ("ask", "Ask about a drawing", {}),
        ):
            st.page_link(f"pages/{name}.py", label=label, query_params=asked, icon=":material/arrow_forward:")


def doubts(text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Compare weights with what removing words does, for this sentence and over many."""
    lines = []
    if trace.n_keys >= 4 and not blocked:
        agreement = rank_agreement(trace.weights()[0].tolist(), erased(text, ()).removed.abs().tolist())
        lines.append(
            f"In this sentence the order of the weights and the order of the changes agree to **{agreement:+.2f}**"
        )
    card = card_or_empty(ATTENTION).get("rank_agreement_of_weight_and_removal")
    if card is not None:
        lines.append(
            f"over {card['sentences']} sentences that it was not trained on, to **{card['mean']:+.2f}** on average"
        )
    if lines:
        both = "; ".join(lines)
        st.markdown(f"{both[0].upper()}{both[1:]} (rank correlation: 1 = the same order, 0 = unrelated).")
    st.markdown(
        "A weight says how much of a word's state was handed over, not why. A state has read its neighbours, so that "
        "blocking a word does not make the network forget it; removing it does. Two networks can weigh words "
        "differently and give the same answers (Jain and Wallace 2019): take the map as a hint, and erase words to "
        "test it. During training, a second small network had to answer from the words alone, using the same weights. "
        "This ties the weights to the words: without it, the network was as accurate, but the two orders agreed to "
        "0.07 only.\n\n"
        "And take the answer itself with care: one new sentence in five is judged wrong, negation above all, "
        "for which 8,737 sentences are few."
    )


def blocked_words(text: str) -> tuple[int, ...]:
    """Return the words of this text that a person blocked; another text begins with none, and none picked."""
    if BLOCKED_IN.value != text:
        BLOCKED_IN.value = text
        BLOCKED.preset([])
        PICKED.preset(PICKED.default)
    n_words = len(read_sentence(text).words)
    BLOCKED.value = [place for place in BLOCKED.value if 0 <= place < n_words]
    return tuple(BLOCKED.value)


def _press() -> None:
    place = (component_message("matter_weighed", "pressed") or {}).get("place")
    if isinstance(place, int):
        BLOCKED.value = sorted({*BLOCKED.value} ^ {place})


def _note_pictures(
    words: list[str],
    weights: list[float],
    order: list[int],
    positive: float,
    changes: tuple[list[float], list[float]],
    blocked: tuple[int, ...],
) -> None:
    """Note the sentence and its bars; the changes of the probability, if blocked and if removed, become log-odds."""
    colour, most = ROLE_COLOURS[Role.WEIGHTS], max(1 / len(weights), *weights)

    def sentence() -> Chart:
        bar = shade_ramp(colour, most), "weight"
        return shaded_words(words, [weight / most for weight in weights], colour, bar=bar, struck=blocked)

    def bars() -> Chart:
        shares = [weights[place] for place in order]
        columns = [Bars("weight", shares, most, [f"{share:.1%}" for share in shares], (colour,), 1 / len(weights))]
        odds = _log_odds(positive + np.array(changes)[:, order]) - _log_odds(np.array(positive))
        reach = max(0.2, float(np.abs(odds).max()))
        for what, some in zip(("blocked", "removed"), odds.tolist(), strict=True):
            said = [number(one, "+.2f") for one in some]
            columns.append(Bars(f"{what}: log-odds", some, reach, said, tuple(SIDES.values())))
        return bar_table([words[place] for place in order], columns)

    note_picture(sentence, "The sentence, shaded by its weights")
    note_picture(bars, "Every word's weight, and what blocking or removing it does to “positive”")


def _log_odds(shares: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(shares, 1e-7) / np.maximum(1 - shares, 1e-7))


def words_section(sentence: Sentence, text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Draw the shaded sentence with its bars, and what was read otherwise than typed."""
    weights = trace.weights()[0]
    if_blocked, if_removed = (changes.tolist() for changes in erased(text, blocked))
    positive = verdict_of(ATTENTION, text, blocked).positive
    order = weights.argsort(descending=True, stable=True).tolist()
    _note_pictures(sentence.labels, weights.tolist(), order, positive, (if_blocked, if_removed), blocked)
    _component(
        key="matter_weighed",
        data={
            "words": sentence.labels,
            "weights": [round(weight, 5) for weight in weights.tolist()],
            "ifBlocked": [round(change, 8) for change in if_blocked],
            "ifRemoved": [round(change, 8) for change in if_removed],
            "positive": round(positive, 8),
            "uniform": 1 / trace.n_keys,
            "order": order,
            "blocked": list(blocked),
            "turned": sentence.turned,
        },
        default={"pressed": None},
        on_pressed_change=_press,
    )
    note(
        "Blocked: attention may not look at the word, though the encoder has read it. Removed: the sentence is read "
        "without it. Bars to the right make “positive” likelier, to the left “negative”, in log-odds: 0.7 doubles the "
        "odds."
    )
    if blocked:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Give all words back", key="matter_unblock", on_click=BLOCKED.reset)
            before, now = (verdict_of(ATTENTION, text, words).positive for words in ((), blocked))
            if len(blocked) == len(sentence.words):
                st.caption("Every word is blocked: nothing is handed over, and the answer is the network's prejudice.")
            elif abs(before - now) < HARDLY:
                st.caption(
                    f"Blocking {'it' if len(blocked) == 1 else 'them'} changes nothing: positive {before:.0%} before, "
                    f"{now:.0%} now. The encoder had read the word before, and the states of its neighbours tell of it."
                )
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


MAX_PICKED = 12  # words that can be picked to see their neighbours: the heaviest ones
N_EXAMPLES = 5
EXAMPLES_STYLE = """<style>
.examples p { margin: 0 0 8px; line-height: 1.7; }
.examples span { padding: 2px 3px; border-radius: 4px; }
.examples .near { outline: 1.5px solid currentColor; }
</style>"""


def neighbours_tab(sentence: Sentence, trace: AttentionTrace) -> None:
    """Draw a word's nearest neighbours with their weights, and sentences in which they can be met."""
    place = _pick_word(sentence, trace)
    if place is None:
        st.caption("There is no word with letters here.")
        return
    try:
        near = _neighbours(model_or_stop(ATTENTION), sentence, place)
    except WeightsError as error:
        st.warning(error_markdown(error))
        return
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        words = literal(sentence.labels[place], 30)
        alt = f"Weights of the words nearest to {words}"
        draw_chart(neighbours_chart(near), width="stretch", key="matter_near", alt=alt)
        st.caption(
            f"The eight words whose learned vectors point most nearly where that of {words} does. Diamond: the word is "
            "put in the place of the picked one and the sentence is read anew. Dot and bar: its weight in all the "
            "training sentences that it stands in."
        )
    with right:
        st.markdown("**In sentences of their own**")
        found = sentences_with(BANK, [neighbour.word for neighbour in near], N_EXAMPLES)
        if not found:
            st.caption("None of our example sentences has one of these words.")
        else:
            st.html(
                EXAMPLES_STYLE
                + '<div class="examples">'
                + "".join(_shaded(example, near) for example in found)
                + "</div>"
            )


def _pick_word(sentence: Sentence, trace: AttentionTrace) -> int | None:
    heaviest = trace.weights()[0].argsort(descending=True, stable=True).tolist()
    options = sorted([place for place in heaviest if any(map(str.isalpha, sentence.words[place]))][:MAX_PICKED])
    if not options:
        return None
    PICKED.clamp_to_options(options, next(place for place in heaviest if place in options))
    labels = dict(zip(options, distinct([error_markdown(sentence.labels[place]) for place in options]), strict=True))
    return PICKED.widget(
        st.pills,
        "Pick a word",
        options,
        format_func=lambda place: labels[place],
        required=True,
        label_visibility="collapsed",
    )


def _shaded(text: str, near: Sequence[Neighbour]) -> str:
    words, weights = read_sentence(text).labels, attention_trace(text).weights()[0].tolist()
    most, wanted = max(weights), {neighbour.word for neighbour in near}
    parts = []
    for word, weight in zip(words, weights, strict=True):
        marked = ' class="near"' if word.lower() in wanted else ""
        parts.append(
            f'<span{marked} style="background:{shade(weight / most)}" title="{weight:.1%}, '
            f'{weight * len(words):.1f} times 1/n">{html.escape(word)}</span>'
        )
    return f"<p>{' '.join(parts)}</p>"
