"""The cure in one picture: what the last states know of every word, and the context when a French word is said."""

import streamlit as st

from attention_core.device import to_array
from attention_core.topics.memory.attention_gain import WordKnowledge, last_state_shares, longer, word_knowledge
from attention_core.topics.memory.charts import cure_chart
from attention_core.topics.translate.translation import read_source, translate
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_none
from ui.labels import as_percent, literal
from ui.memory.first_screen import NAME, recurrent
from ui.player import Walk
from ui.skeleton import note, paragraph
from ui.state import Field, whole_number

MODEL, WITHOUT = "translator-additive", "translator-none"
FRENCH = Walk(f"{NAME}_cure", first=4, label="French word")
CLAUSES = Field(NAME, "clauses", 0, address="clauses", parse=whole_number)


_translated = cached_computation(by_model=True)(translate)
_what_is_known = cached_computation(by_model=True)(word_knowledge)
_last_states_know = cached_computation(by_model=True)(last_state_shares)


def cure_tab(text: str) -> None:
    """Let a French word be clicked and a sentence grow; draw what is known of each English word, before and then."""
    why = model_or_none(MODEL)[1]
    if why:
        st.info(f"The additive model is not there. {why}")
        return
    paragraph(
        "Attention gives the forgotten words back. Click a French word: to the left what the encoder's last states "
        "still know of each English word, to the right what the context knows when the French word is said."
    )
    model, sentence = recurrent(MODEL), read_source(text)
    made = _translated(model, sentence)
    first = {word: piece for piece, word in reversed(list(enumerate(made.word_of)))}
    labels, pieces = [made.word_labels[word] for word in sorted(first)], [first[word] for word in sorted(first)]
    words, picture = st.columns([1, 1], gap="large")
    with words:
        said = made.ids[: pieces[FRENCH.draw(labels)]]
        ways = longer(text)
        CLAUSES.clamp(0, len(ways) - 1)
        if len(ways) > 1:
            names = [f"{way.n_added} more words" if way.n_added else "as typed" for way in ways]
            label = "Make the sentence longer, before and behind"
            CLAUSES.widget(st.select_slider, label, range(len(ways)), format_func=names.__getitem__)
        else:
            note("The sentence is as long as it can be: forty words are read.")
        way = ways[CLAUSES.value]
        source = read_source(way.english)
        known = _what_is_known(model, source, [*way.before, *said])
        short = known if way.n_added == 0 else _what_is_known(model, sentence, said)
        asked = int(short.weights.argmax())
        here = asked + way.n_before if asked < len(sentence.words) else len(source.words)
        _verdict(literal(labels[FRENCH.field.value], 24), source.word_labels[here], known, here)
        if way.n_added:
            before, then = (as_percent(float(part[asked])) for part in (short.last, short.context))
            holds = float(known.context[here]) > 0.5 * float(short.context[asked])
            end = "the last states forget, the context does not."
            if not holds:
                end = "here the decoder loses its way, and the context with it."
            st.markdown(f"Without the {way.n_added} more words it was {before} against {then}: {end}")
        note(
            "Shares of the gradient's norm, of the additive model. The last states are where its two readings end, all "
            "that a decoder without attention gets. They never had to hold everything here"
            + (
                "."
                if model_or_none(WITHOUT)[1]
                else f"; those of the GRU that was trained without attention keep "
                f"{as_percent(float(_last_states_know(recurrent(WITHOUT), source)[here]))} of "
                f"{literal(source.word_labels[here], 24)}."
            )
            + " What is added has its own French, said before."
        )
    first_own, n_own = way.n_before, len(sentence.words)
    own = [first_own <= place < first_own + n_own for place in range(len(source.words))] + [True]
    chart = cure_chart(source.word_labels, to_array(known.last), to_array(known.context), marked=here, own=own)
    alt = f"What the last states and the context know of each of {len(source.words)} English words"
    draw_chart(chart, width="content", key="memory_cure", alt=alt, on=picture)


def _verdict(french: str, english: str, known: WordKnowledge, place: int) -> None:
    last, context = float(known.last[place]), float(known.context[place])
    times = f", {context / last:.0f} times as much" if context >= 1.5 * last > 0 else ""
    st.markdown(
        f"When {french} is said, most weight lies on {literal(english, 24)}: **{as_percent(context)}** of what the "
        f"context knows is of that word, against **{as_percent(last)}** of what the last states know{times}."
    )
