"""Whether similar words draw similar weights: a word's nearest neighbours, in its place and on their own."""

import html
from collections.abc import Sequence

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.data.review_presets import BANK
from attention_core.topics.matter.charts import neighbours_chart
from attention_core.topics.matter.sentences import Sentence, read_sentence, sentences_with
from attention_core.topics.matter.word_space import Neighbour, neighbours_in_place, usual_weights
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import computed, load_snapshots, model_or_stop
from ui.labels import distinct, literal, said
from ui.layout import shade
from ui.matter.answer import ATTENTION, PICKED, attention_trace

MOST_PICKED = 12  # words that can be picked to see their neighbours: the heaviest ones
N_EXAMPLES = 5
STYLE = """<style>
.examples p { margin: 0 0 8px; line-height: 1.7; }
.examples span { padding: 2px 3px; border-radius: 4px; }
.examples .near { outline: 1.5px solid currentColor; }
</style>"""


def neighbours_tab(sentence: Sentence, text: str, trace: AttentionTrace) -> None:
    """Draw a word's nearest neighbours with their weights, and sentences in which they can be met."""
    place = _pick_word(sentence, trace)
    if place is None:
        st.caption("There is no word with letters here.")
        return
    try:
        near = _neighbours(text, place)
    except WeightsError as error:
        st.warning(said(error))
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
            st.html(STYLE + '<div class="examples">' + "".join(_shaded(example, near) for example in found) + "</div>")


@computed(by_model=True)
def _neighbours(text: str, place: int) -> list[Neighbour]:
    usual = usual_weights(load_snapshots(ATTENTION))
    return neighbours_in_place(model_or_stop(ATTENTION), read_sentence(text), place, usual)


def _pick_word(sentence: Sentence, trace: AttentionTrace) -> int | None:
    heaviest = trace.weights()[0].argsort(descending=True, stable=True).tolist()
    options = sorted([place for place in heaviest if any(map(str.isalpha, sentence.words[place]))][:MOST_PICKED])
    if not options:
        return None
    PICKED.among(options, next(place for place in heaviest if place in options))
    labels = dict(zip(options, distinct([said(sentence.labels[place]) for place in options]), strict=True))
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
