"""The cure in one picture: every word's share in the one vector, and in the context when a French word is said."""

from bisect import bisect

import streamlit as st

from attention_core.device import to_array
from attention_core.topics.memory.attention_gain import WordKnowledge, word_knowledge
from attention_core.topics.memory.charts import TRANSLATOR_COLOURS, cure_chart
from attention_core.topics.translate.translation import Translation, read_source
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_none
from ui.glossary import paragraph
from ui.labels import as_percent, literal
from ui.lecture import LECTURE
from ui.memory.first_screen import ATTENTIVE, SAYS, WITHOUT, translated, vector_shares
from ui.memory.networks import NAME, recurrent
from ui.player import Walk
from ui.skeleton import OPEN_TAB
from ui.try_this import TryThis

GUESSED, BOUNDS = 5, (0.05, 0.25)
"""The French word that is guessed about; shares between the options of the guess."""
FRENCH = Walk(f"{NAME}_cure", first=GUESSED, label="French word")
_what_is_known = cached_computation(by_model=True)(word_knowledge)


def look_back(text: str) -> TryThis:
    """Return the page's surprise: what attention hands over of one English word."""
    _, labels, pieces = _said(text)
    place = min(GUESSED, len(labels) - 1)
    french = literal(labels[place], 24)

    def act() -> None:
        FRENCH.field.value = place
        if not LECTURE.value:  # a tab is a screen of its own there, without what came out
            OPEN_TAB[NAME].value = "cure"

    def known_then() -> WordKnowledge:
        return _what_is_known(recurrent(ATTENTIVE), read_source(text), _said(text)[0].ids[: pieces[place]])

    def outcome() -> tuple[int, str]:
        known = known_then()
        return bisect(BOUNDS, float(known.context[known.weights.argmax()])), _verdict(french, text, known)

    question = f"Attention says {french}. How much of what it receives is about the English word that it needs?"
    options = ("less than 5%", "5 to 25%", "more than 25%")
    shown = "memory_long"
    return TryThis(
        "let the network look back", question, options, act, outcome, shown, lambda: _two_bars(text, known_then())
    )


def _two_bars(text: str, known: WordKnowledge) -> None:
    place = int(known.weights.argmax())
    shares = {ATTENTIVE: known.context[place], WITHOUT: vector_shares(text)[place]}
    rows = "".join(
        f'<span>{SAYS[name]}</span><i style="--share:{float(share):.4f}; --line:{TRANSLATOR_COLOURS[name]}"></i>'
        f"<b>{as_percent(float(share))}</b>"
        for name, share in shares.items()
    )
    st.html(f'<div class="two-bars">{rows}</div>')


def _said(text: str) -> tuple[Translation, list[str], list[int]]:
    """Return what attention makes of a sentence: its words, and the piece at which each begins."""
    made = translated(recurrent(ATTENTIVE), read_source(text))
    first = {word: piece for piece, word in reversed(list(enumerate(made.word_of)))}
    return made, [made.word_labels[word] for word in sorted(first)], [first[word] for word in sorted(first)]


def cure_tab(text: str) -> None:
    """Let a French word be clicked; draw what is known of each English word, before and then."""
    why = why_missing()
    if why:
        st.info(f"The additive model is not there. {why}")
        return
    paragraph("Click a French word: what is known of each English word when it is said?")
    sentence = read_source(text)
    made, labels, pieces = _said(text)
    words, picture = st.columns([1, 1], gap="large")
    with words:
        said = made.ids[: pieces[FRENCH.draw(labels)]]
        known = _what_is_known(recurrent(ATTENTIVE), sentence, said)
        st.markdown(_verdict(literal(labels[FRENCH.field.value], 24), text, known))
    here = int(known.weights.argmax())
    chart = cure_chart(sentence.word_labels, vector_shares(text), to_array(known.context), marked=here)
    alt = f"Shares of {len(sentence.words)} English words in the one vector and in the context"
    with picture, st.container(key="memory_cure_picture"):
        draw_chart(chart, width="content", key="memory_cure", alt=alt)


def _verdict(french: str, text: str, known: WordKnowledge) -> str:
    place = int(known.weights.argmax())
    english = literal(read_source(text).word_labels[place], 24)
    return (
        f"To say {french}, the decoder looks at {english}: **{as_percent(float(known.context[place]))}** of what "
        f"attention gives is about that word, of the one vector **{as_percent(float(vector_shares(text)[place]))}**."
    )


def why_missing() -> str:
    """Return why one of the two networks cannot be loaded, "" if both can."""
    return model_or_none(ATTENTIVE)[1] or model_or_none(WITHOUT)[1]
