"""The first screen: a short and a long sentence, what two networks say of each, and their BLEU by length."""

import html
import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.wording import format_count, percent
from attention_core.data.pieces import english_words
from attention_core.data.sentence_presets import REMEMBERED, SHORTER
from attention_core.device import to_array
from attention_core.evaluate.translation_figures import bleu_by_length, group_of
from attention_core.faithfulness.assessment import over_many
from attention_core.inference.read_back import words_only_in
from attention_core.inference.translation import read_source, translate
from attention_core.inference.word_influence import last_state_shares
from pages.memory.charts import TRANSLATOR_COLOURS, length_chart
from ui.chart import draw_chart
from ui.computed import by_model, cached_computation, card_or_empty, model_or_fault, model_or_stop
from ui.labels import error_markdown, note
from ui.player import Walk
from ui.read_back import IN_ENGLISH, read_back
from ui.take_along import take_along
from ui.words import readable_sentence, reading_remarks, sentence_box

NAME = "memory"
WALK = Walk(NAME)
WITHOUT, ATTENTIVE = "translator-none", "translator-additive"
LABELS = {WITHOUT: "one vector", ATTENTIVE: "attention"}
FIRST_WORDS = 6  # words of a sentence of one's own that make the short one

NOTEBOOK = """from attention_core import load
from attention_core.inference.word_influence import last_state_shares
from attention_core.inference.translation import read_source

source = read_source({text!r})
shares = last_state_shares(load("translator-none", "cpu"), source)
print(dict(zip(source.word_labels, shares.tolist())))
"""

translated = by_model(translate)
_last_states_know = cached_computation(spinner="Reading the sentence", on_cluster=True)(last_state_shares)


def read_sentence() -> str:
    """Let a person type a sentence; return what there is to read, or was."""
    entry = sentence_box(NAME, REMEMBERED, label="A long English sentence", on_change=WALK.field.reset)
    text = readable_sentence(NAME, entry, next(iter(REMEMBERED.values())), "memory_long", "memory_short")
    reading_remarks(read_source(text))
    take_along(lambda: st.code(NOTEBOOK.format(text=text), language="python"))
    return text


def draw_sentence() -> str:
    """Draw the box of the sentence on the screen of an experiment; return the sentence."""
    with st.container(key="experiment_input"):
        return read_sentence()


def shorter(text: str) -> str:
    """Return a short sentence to compare with a long one: what an example begins with, or the first words."""
    return SHORTER.get(text) or "".join(english_words(text)[:FIRST_WORDS]).replace("▁", " ").strip()


def n_words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in read_source(text).words)


def vector_shares(text: str) -> np.ndarray:
    """Return each word's share in the one vector of the network without attention, the end included."""
    return to_array(_last_states_know(model_or_stop(WITHOUT), read_source(text)))


def report_missing_network() -> None:
    """Say why the network without attention cannot be loaded, if so."""
    fault = model_or_fault(WITHOUT)[1]
    if fault:
        st.error(
            f"**The network without attention cannot be loaded.** {error_markdown(fault)}", icon=":material/error:"
        )


def draw_readings(text: str, pair: Sequence[str]) -> None:
    """Draw a sentence with each word's share in the one vector, as dark as among some sentences, and its French."""
    translations, words = "".join(_draw_translation(name, text) for name in LABELS), html.escape(text)
    if not model_or_fault(WITHOUT)[1]:
        largest = max(float(vector_shares(candidate).max()) for candidate in pair)
        words = shaded_words(read_source(text).word_labels, vector_shares(text), largest)
        if text == pair[-1]:
            words += f'<p class="below">Below each word: {describe_shares()}'
            is_marked = re.search('class="read-back" lang="fr">[^/]*<mark>', translations)
            words += " Coloured French: words that one translation alone says.</p>" if is_marked else "</p>"
    st.html(f'<div class="short-and-long"><b>{format_count(n_words(text), "words")}</b>{words}{translations}</div>')


def describe_shares() -> str:
    """Say what a word's share of the one vector is, and what it does not tell."""
    description = "how far a small change of it moves the one vector, in per cent of all."
    if figures := card_or_empty(WITHOUT).get("faithfulness"):
        verdict = over_many(figures)
        description += f" It does not tell what is remembered: {verdict[:1].lower()}{verdict[1:]}"
    return description


def called(name: str) -> str:
    """Return what a network is called here, with its passes of training where the two had not as many."""
    passes = {network: card_or_empty(network).get("epochs") for network in LABELS}
    is_unequal = all(passes.values()) and len({*passes.values()}) > 1
    return f"{LABELS[name]}, {passes[name]:g} passes of training" if is_unequal else LABELS[name]


def _draw_translation(name: str, text: str) -> str:
    """Return HTML for the French of a network, below what it says in English where that is known."""
    fault = model_or_fault(name)[1]
    line = f'<section style="--line:{TRANSLATOR_COLOURS[name]}"><span class="who">{called(name)}</span>'
    if fault:
        return f"{line}<p><i>cannot be loaded</i></p></section>"
    source, rival = read_source(text), next(network for network in LABELS if network != name)
    translation, has_rival = translated(name, source), not model_or_fault(rival)[1]
    french, unique = translation.text, list[int]()
    if has_rival:
        unique = words_only_in([*translation.words, ""], translated(rival, source).words)
    below = f'<span class="fr">In French: <i lang="fr">{html.escape(french)}</i></span>' if french in IN_ENGLISH else ""
    return f"{line}{read_back(french, text, translation.words, unique)}{below}</section>"


def shaded_words(labels: Sequence[str], shares: np.ndarray, largest: float) -> str:
    """Return HTML of words, the darker the larger their share, which stands below each in per cent."""
    words = "".join(
        f'<span class="word" style="background:color-mix(in srgb, {TRANSLATOR_COLOURS[WITHOUT]} '
        f'{55 * share / largest:.0f}%, transparent)">{html.escape(word)}'
        f'<span class="share">{percent(share).removesuffix("%")}</span></span>'
        for word, share in zip(labels, shares, strict=True)
    )
    return f'<div class="shaded">{words}</div>'


def draw_lengths(text: str) -> None:
    """Draw BLEU by the length of the sentence, without attention and with it."""
    figures = bleu_by_length(tuple(LABELS))
    with st.container(key="memory_wide"):
        if figures.scores:
            lengths = map(n_words, (shorter(text), text))
            marked = {group_of(figures.groups, n): format_count(n, "words") for n in lengths}
            chart = length_chart(figures, width=320, height=130, called=LABELS, marked=marked)
            draw_chart(chart, width="content", key="memory_lengths", alt="BLEU by length of the sentence")
            trained = " Both after five passes of training." * ("after_five_epochs" in card_or_empty(ATTENTIVE))
            note(f"BLEU: 100 would be word for word as a person translated it.{trained}")
