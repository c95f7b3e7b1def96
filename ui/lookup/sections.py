"""Below the first screen: one query step by step, word by word, in numbers and letters."""

from itertools import groupby
from operator import attrgetter

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.hub.model import readable
from attention_core.topics.lookup.encoders import SPELLING, Encoder, shared_runs
from attention_core.topics.lookup.soft_lookup import weigh_words
from ui.glossary import paragraph
from ui.labels import literal
from ui.layout import section, shaded_word
from ui.lookup.table import NAME, LookupRequest
from ui.player import Stepper, at_query, query_row, show_step_chart, show_words

STEPS = Stepper(NAME)


def lookup_steps(trace: AttentionTrace, query: int) -> None:
    """Step through the look-up of one query."""
    if not (step := STEPS.draw(trace, query)):
        return
    words, matrix = st.columns([0.82, 1], gap="large")
    with words:
        show_words(trace, step, 0, query, folds_formula=step.role in (Role.QUERY, Role.KEY))
    with matrix:
        show_step_chart(trace, step, 0, at_query(trace, query), NAME, stepper=STEPS)


def word_by_word(asked: LookupRequest, temperature: float, query: int, encoder: Encoder) -> None:
    """Draw the words of the keys, each as dark as the weight that the query gives it."""
    words = weigh_words(asked.records, asked.queries[query], temperature, encoder)
    most = max((word.weight for word in words), default=1.0)
    asks = literal(str(asked.queries[query]))
    paragraph(f"{asks}  \nEvery word is a key of its own, whatever stands around it:")
    sentences = (sentence for _, sentence in groupby(words, key=attrgetter("key")))
    lines = (" ".join(shaded_word(word.text, word.weight, most) for word in sentence) for sentence in sentences)
    st.html(f'<p style="margin:0;line-height:1.8">{"<br>".join(lines)}</p>')
    first = [f"{literal(word.text)} {word.weight:.0%}" for word in sorted(words, key=attrgetter("weight"))[::-1][:3]]
    st.caption(f"Most weight: {', '.join(first)}.")


def in_numbers(asked: LookupRequest, trace: AttentionTrace, query: int, encoder: Encoder) -> None:
    """Draw one query's row, and what a text has in common with the key that gets most weight."""
    records = asked.records
    numbers, spelling = st.columns([1.5, 1], gap="large")
    with numbers:
        query_row(trace, 0, query, 8, records.key_name)
    with spelling:
        section("How a text becomes a vector")
        text, key = asked.queries[query], records.keys[int(trace.weights(0, [query])[0].argmax())]
        if encoder is SPELLING:
            _runs(text, key)
        else:
            _pieces(encoder, text)


def _runs(text: str, key: str) -> None:
    both = shared_runs(text, key)
    st.markdown(
        f"{literal(text)} and {literal(key)} share **{len(both)}** runs of two or three letters: "
        + (" ".join(f"`{run}`" for run in both[:24]) or "none")
        + ". _ marks the end of a word. Each run adds to one of 512 numbers, chosen by its letters."
    )


def _pieces(encoder: Encoder, text: str) -> None:
    tokenizer = encoder.named["tokenizer"]
    pieces = readable(tokenizer, tokenizer(text)["input_ids"])
    st.markdown(" ".join(literal(piece) for piece in pieces))
    paragraph(
        f"The encoder reads these **{len(pieces)} pieces**; [CLS] and [SEP] mark the ends. In six layers every piece "
        "asks all others."
    )
    st.page_link("pages/model.py", label="See where its heads look", icon=":material/arrow_forward:")
