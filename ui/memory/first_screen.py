"""The first screen: the sentence, how it is read, and how much of each word is left at the end."""

import html
from dataclasses import replace
from typing import cast

import numpy as np
import streamlit as st

from attention_core.data.sentence_presets import REMEMBERED
from attention_core.device import to_array
from attention_core.models.translator import Translator
from attention_core.topics.memory.charts import NETWORK_COLOURS
from attention_core.topics.memory.influence import DIRECTIONS, MemoryOverview, gradient_norms, remember
from attention_core.topics.translate.translation import read_source
from ui.computed import cached_computation, model_or_none
from ui.labels import error_markdown
from ui.layout import end_here
from ui.player import LAST_POSITION, Walk
from ui.skeleton import abbr, note
from ui.state import Field, one_of, single_choice
from ui.words import reading_remarks, sentence_box

NAME = "memory"
NOTEBOOK = """from attention_core import load
from attention_core.topics.memory.influence import gradient_norms
from attention_core.topics.translate.translation import read_source

source = read_source({text!r})
for name in ("translator-none", "translator-plain"):
    norms = gradient_norms(load(name, "cpu"), source.ids, word_of=source.word_of)
    print(name, norms.shape)  # rows are states, columns the words that they have read
    print(norms[-1] / norms[-1].sum())  # the last state: each word's share
"""
NETWORKS = {"translator-none": "GRU", "translator-plain": "plain RNN"}
READINGS = {"causal": "forwards only", "bidirectional": "forwards and backwards"}
READING = Field(NAME, "reading", "causal", address="reading", parse=one_of(READINGS))
BY_PIECES = Field(NAME, "pieces", False, address="pieces")
WALK = Walk(NAME, first=LAST_POSITION)
STYLE = """<style>
.shaded { line-height: 1.3; margin: 0.1rem 0 0.5rem; }
.shaded .word { display: inline-block; text-align: center; padding: 0.15rem 0.3rem; margin: 0 0.15rem 0.3rem 0;
  border-radius: 3px; max-width: 100%; overflow-wrap: anywhere; }
.shaded .share { display: block; font-size: 0.68rem; font-variant-numeric: tabular-nums; }
.shaded .name { font-weight: 600; display: block; margin-bottom: 0.25rem; }
</style>"""


_remember = cached_computation(spinner="Reading the sentence", by_model=True)(remember)
_gradient_norms = cached_computation(by_model=True)(gradient_norms)


def recurrent(name: str) -> Translator:
    return cast(Translator, model_or_none(name)[0])


def read_sentence() -> str:
    """Let a person type a sentence and choose how it is read."""
    text = sentence_box(NAME, REMEMBERED, on_change=_walk_to_the_end)
    if text is None:
        end_here()
    single_choice(
        "Reading",
        READING,
        READINGS,
        help="Forwards only: a state knows the words before it. Backwards too: a second network reads from the end.",
    )
    told = "The networks read pieces of words from a vocabulary of 8,000; most common words are one piece."
    BY_PIECES.widget(st.toggle, "Piece by piece", on_change=_walk_to_the_end, help=told)
    try:
        source = read_source(text)
    except ValueError as error:
        st.info(error_markdown(error))
        end_here()
    reading_remarks(source)
    return text


def _walk_to_the_end() -> None:
    WALK.field.value = LAST_POSITION


def memories_of(text: str, both: bool) -> dict[str, MemoryOverview]:
    """Return what each network that is there remembers of the sentence, with gradient norms at the end alone.

    Those of the backward reading are left out unless `both` readings are looked at. Says what is missing, and ends the
    page if all is.
    """
    found = {}
    for name, label in NETWORKS.items():
        model, fault = model_or_none(name)
        if model is None:
            st.error(f"**The {label} cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
        else:
            found[label] = _remember(model, read_source(text), BY_PIECES.value, at_end=True, both=both)
    if not found:
        end_here()
    return found


def with_norms(memories: dict[str, MemoryOverview], text: str, both: bool) -> dict[str, MemoryOverview]:
    """Return memories with the gradient norms of all states, in one or both directions."""
    source = read_source(text)
    word_of = None if BY_PIECES.value else source.word_of

    def norms(name: str, way: str) -> np.ndarray:
        return to_array(_gradient_norms(recurrent(name), source.ids, way, word_of))

    return {
        label: replace(memories[label], norms={way: norms(name, way) for way in DIRECTIONS[: 1 + both]})
        for name, label in NETWORKS.items()
        if label in memories
    }


def end_section(memories: dict[str, MemoryOverview], both: bool) -> None:
    """Shade the sentence by how much of each word reached what is handed over at the end."""
    share = {label: memory.share_at_end(both) for label, memory in memories.items()}
    largest = max(float(part.max()) for part in share.values())
    st.html(STYLE + "".join(_shaded(label, memory, share[label], largest) for label, memory in memories.items()))
    state = "the two last states, all that a translator without attention hands over," if both else "the last state"
    note(f"Below each word: how much {state} still depends on it, in per cent (shares of the gradient's norm).")


def _shaded(label: str, memory: MemoryOverview, share: np.ndarray, largest: float) -> str:
    colour = NETWORK_COLOURS[label]
    words = "".join(
        f'<span class="word" style="background:color-mix(in srgb, {colour} {55 * part / largest:.0f}%, transparent)">'
        f'{html.escape(word)}<span class="share">{100 * part:.{0 if part >= 0.0095 else 1}f}</span></span>'
        for word, part in zip(memory.labels, share, strict=True)
    )
    return f'<div class="shaded"><span class="name">{label.replace("GRU", abbr("GRU"))}</span>{words}</div>'
