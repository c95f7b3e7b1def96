"""The words of a sentence: what each weighs beside what it does, the surprise in that, and words that are alike."""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.vega import ROLE_COLOURS, Chart
from attention_core.charts.words import Bars, bar_table
from attention_core.data.sentence_presets import PRESETS
from attention_core.topics.matter.sentences import (
    Sentence,
    against_the_answer,
    disagreement,
    read_sentence,
)
from attention_core.topics.matter.word_space import neighbours_chart, neighbours_in_place
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.computed import cached_computation, model_or_stop
from ui.labels import distinct, error_markdown, literal, number
from ui.matter.judgement import (
    ATTENTION,
    BLOCKED,
    NAME,
    SIDES,
    attention_trace,
    removed,
    verdict_of,
)
from ui.state import Field, component_message, whole_number
from ui.try_this import TryThis
from ui.words import text_field

HARDLY = 0.02  # a change of the probability below which blocking a word is said to change nothing
SHOWN = "matter_words"
NEGATION = PRESETS["Negation"]
PICKED = Field(NAME, "picked", -1, address="word", parse=whole_number)
"""The word whose neighbours are shown."""
_component = component("weighed_words")
_neighbours = cached_computation(by_model=True)(neighbours_in_place)


def _press() -> None:
    place = (component_message("matter_weighed", "pressed") or {}).get("place")
    if isinstance(place, int):
        BLOCKED.value = sorted({*BLOCKED.value} ^ {place})


def words_section(sentence: Sentence, text: str, trace: AttentionTrace, blocked: tuple[int, ...]) -> None:
    """Draw every word with its weight and with what the answer does without it; say where the two disagree."""
    weights = trace.weights()[0].tolist()
    if_removed = removed(text, blocked).tolist()
    positive = verdict_of(ATTENTION, text, blocked).positive
    note_picture(lambda: _bars(sentence.labels, weights, if_removed), "Every word's weight, and the answer without it")
    with st.container(key=SHOWN):
        _component(
            key="matter_weighed",
            data={
                "words": sentence.labels,
                "weights": [round(weight, 5) for weight in weights],
                "ifRemoved": [round(change, 8) for change in if_removed],
                "positive": round(positive, 8),
                "uniform": 1 / trace.n_keys,
                "least": HARDLY,
                "blocked": list(blocked),
                "turned": sentence.read_as,
            },
            default={"pressed": None},
            on_pressed_change=_press,
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="matter_told"):
        if blocked:
            st.markdown(_what_blocking_did(text, blocked), width="content")
            st.button("Give all words back", key="matter_unblock", on_click=BLOCKED.reset)
        else:
            st.markdown(_where_they_disagree(sentence, weights, if_removed, positive))


def _bars(words: list[str], weights: list[float], changes: list[float]) -> Chart:
    most, reach = max(1 / len(weights), *weights), max(HARDLY, *map(abs, changes))
    columns = [
        Bars(
            "weight",
            weights,
            most,
            [f"{share:.1%}" for share in weights],
            (ROLE_COLOURS[Role.WEIGHTS],),
            1 / len(words),
        ),
        Bars("without it", changes, reach, [number(100 * one, "+.1f") for one in changes], tuple(SIDES.values())),
    ]
    return bar_table(words, columns)


def _points(change: float) -> str:
    return f"{abs(100 * change):.{0 if abs(change) >= 0.0095 else 1}f} points"


def _where_they_disagree(sentence: Sentence, weights: list[float], changes: list[float], positive: float) -> str:
    names = [f"“{error_markdown(label)}”" for label in sentence.labels]
    against = against_the_answer(weights, changes, positive)
    if against is not None:
        return (
            f"{names[against]} has {weights[against]:.0%} of the weight and pushes the *other* way: without it the "
            f"network is surer, by {_points(changes[against])}."
        )
    pair = disagreement(weights, changes)
    if pair is None:
        return "In this sentence, heavier words also change more. Try another."
    heavy, light = pair
    return (
        f"{names[heavy]} has {weights[heavy]:.0%} of the weight, {names[light]} {weights[light]:.0%}. Yet without "
        f"{names[heavy]} the answer moves by {_points(changes[heavy])}, and without {names[light]} by "
        f"{_points(changes[light])}."
    )


def _what_blocking_did(text: str, blocked: tuple[int, ...]) -> str:
    before, now = (verdict_of(ATTENTION, text, words).positive for words in ((), blocked))
    what = "it" if len(blocked) == 1 else "them"
    if len(blocked) == len(read_sentence(text).words):
        return "Every word is blocked: the answer is the network's prejudice."
    if abs(before - now) < HARDLY:
        return (
            f"Blocking {what} changes nothing: positive {before:.0%} before, {now:.0%} now. The neighbours' states had "
            f"read {what}."
        )
    return f"Positive {before:.0%} before, {now:.0%} now that attention may not look at {what}."


def surprise(text: str) -> TryThis:
    """Return the page's surprise: attention is kept from the word that it weighs most, and the answer stays."""
    weights, before = attention_trace(NEGATION).weights()[0], verdict_of(ATTENTION, NEGATION, ())
    heaviest = int(weights.argmax())
    word = read_sentence(NEGATION).words[heaviest]

    def act() -> None:
        text_field(NAME).value = NEGATION
        BLOCKED.value = [heaviest]

    def outcome() -> tuple[int, str]:
        was, now = (verdict_of(ATTENTION, text, words) for words in ((), tuple(BLOCKED.value)))
        said = f"{was.answer.capitalize()} {was.confidence:.0%} before, {now.answer} {now.confidence:.0%} now."
        if now.answer != was.answer:
            return 0, said
        return (1 if was.confidence - now.confidence >= HARDLY else 2), said

    return TryThis(
        f"keep attention from *{word}*",
        f"*{word}* has {float(weights[heaviest]):.0%} of the weight in *{NEGATION}* What if attention may not look at "
        f"it? The answer, {before.answer} {before.confidence:.0%}:",
        ("turns round", "grows less sure", "hardly changes"),
        act,
        outcome,
        SHOWN,
    )


MAX_PICKED = 12  # words that can be picked to see their neighbours: the heaviest ones


def alike_words(sentence: Sentence, trace: AttentionTrace) -> None:
    """Draw a word's nearest neighbours with their weights."""
    place = _pick_word(sentence, trace)
    if place is None:
        st.caption("There is no word with letters here.")
        return
    near = _neighbours(model_or_stop(ATTENTION), sentence, place)
    words = literal(sentence.labels[place], 30)
    draw_chart(
        neighbours_chart(near), width="stretch", key="matter_near", alt=f"Weights of the words nearest to {words}"
    )
    st.caption(
        f"The eight words nearest to {words}, each put in its place. Near words speak for the same side, whatever else "
        "they mean."
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
