"""The first screen: a short and a long sentence, what is left of each and said of it, and BLEU by length."""

import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.data.pieces import english_words
from attention_core.data.sentence_presets import READ_BACK, REMEMBERED, SHORTER
from attention_core.device import to_array
from attention_core.topics.memory.attention_gain import last_state_shares
from attention_core.topics.memory.charts import NETWORK_COLOURS, TRANSLATOR_COLOURS, length_chart
from attention_core.topics.translate.training import bleu_by_length, group_of
from attention_core.topics.translate.translation import read_source, translate
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_none
from ui.glossary import note
from ui.labels import error_markdown
from ui.memory.networks import NAME, WALK, recurrent
from ui.player import LAST_POSITION, counted
from ui.words import readable_sentence, reading_remarks, sentence_box

WITHOUT, ATTENTIVE = "translator-none", "translator-additive"
SAYS = {WITHOUT: "one vector", ATTENTIVE: "attention"}
FIRST_WORDS = 6
"""Words of a sentence of one's own that make the short one."""

_translated = cached_computation(by_model=True)(translate)
_last_states_know = cached_computation(spinner="Reading the sentence", by_model=True)(last_state_shares)


def read_sentence() -> str:
    """Let a person type a sentence; return what there is to read, or was."""
    typed = sentence_box(NAME, REMEMBERED, label="A long English sentence", height=68, on_change=_walk_to_the_end)
    text = readable_sentence(NAME, typed, next(iter(REMEMBERED.values())), "memory_pair")
    reading_remarks(read_source(text))
    return text


def _walk_to_the_end() -> None:
    WALK.field.value = LAST_POSITION


def shorter(text: str) -> str:
    """Return a short sentence to compare with a long one: what an example begins with, or the first words."""
    return SHORTER.get(text) or "".join(english_words(text)[:FIRST_WORDS]).replace("▁", " ").strip()


def n_words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in read_source(text).words)


def compare_lengths(text: str) -> None:
    """Draw a short sentence beside the long one: each word's share in the one vector, what two networks make of it."""
    shares = {}
    fault = model_or_none(WITHOUT)[1]
    if fault:
        st.error(
            f"**The network without attention cannot be loaded.** {error_markdown(fault)}", icon=":material/error:"
        )
    sentences = dict.fromkeys((shorter(text), text))
    if not fault:
        shares = {one: to_array(_last_states_know(recurrent(WITHOUT), read_source(one))) for one in sentences}
    largest = max((float(share.max()) for share in shares.values()), default=1.0)
    with st.container(key="memory_pair"):
        columns = st.columns([1, 1.9], gap="large")
        for column, one in zip(columns, sentences, strict=False):
            labels = read_source(one).word_labels
            words = shaded_words(labels, shares[one], largest) if one in shares else html.escape(one)
            said = "".join(_says(name, one) for name in SAYS)
            column.html(f'<div class="short-and-long"><b>{counted(n_words(one), "words")}</b>{words}{said}</div>')


def _says(name: str, text: str) -> str:
    model, fault = model_or_none(name)
    french = "" if fault else _translated(model, read_source(text)).text
    back = f'<span class="back">“{READ_BACK[french]}”</span>' if french in READ_BACK else ""
    told = html.escape(french) if not fault else "<i>cannot be loaded</i>"
    line = f'<p style="--line:{TRANSLATOR_COLOURS[name]}"><span class="who">{SAYS[name]}</span>'
    return f'{line}<span class="fr" lang="fr">{told}</span>{back}</p>'


def shaded_words(labels: Sequence[str], shares: np.ndarray, largest: float) -> str:
    """Return HTML of words, the darker the larger their share, which stands below each in per cent."""
    words = "".join(
        f'<span class="word" style="background:color-mix(in srgb, {NETWORK_COLOURS["GRU"]} '
        f'{55 * part / largest:.0f}%, transparent)">{html.escape(word)}'
        f'<span class="share">{100 * part:.{0 if part >= 0.0095 else 1}f}</span></span>'
        for word, part in zip(labels, shares, strict=True)
    )
    return f'<div class="shaded">{words}</div>'


def what_lengths_show() -> None:
    """Say what stands below the words, and how both networks do on long sentences."""
    note("All words share the one vector. Below each word: its share, in per cent.")
    figures = bleu_by_length(tuple(SAYS))
    if set(SAYS) <= set(figures.long):
        without, attentive = (figures.long[name] for name in (WITHOUT, ATTENTIVE))
        note(
            f"From twelve words on: BLEU **{without:.1f}** from one vector, **{attentive:.1f}** with attention "
            f"({figures.n:,} new sentences)."
        )


def draw_lengths(text: str) -> None:
    """Draw BLEU by the length of the sentence, without attention and with it."""
    figures = bleu_by_length(tuple(SAYS))
    with st.container(key="memory_wide"):
        if figures.scores:
            lengths = map(n_words, (text, shorter(text)))
            marked = {group_of(figures.groups, n): counted(n, "words") for n in lengths}
            chart = length_chart(figures, width=600, height=150, called=SAYS, marked=marked)
            draw_chart(chart, width="content", key="memory_lengths", alt="BLEU by length of the sentence")
