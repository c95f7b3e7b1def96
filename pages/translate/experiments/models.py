"""Do all six models say the same? What each makes of the sentence, in one list."""

import html

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.inference.translation import Translation, probability_per_word
from pages.translate.first_screen import MODELS, english_gloss
from pages.translate.forcing import forced_pieces
from pages.translate.inputs import draw_sentence
from ui import translators as network


def draw_input() -> dict[str, Translation]:
    """Draw the box of the sentence; return the translations of the models that load, by their names."""
    text = draw_sentence()
    loaded = [translator for translator in network.TRANSLATORS if not network.why_missing(translator)]
    return {translator: network.translation(translator, text, forced_pieces()) for translator in loaded}


def answer(translations: dict[str, Translation]) -> str:
    """Say how many different translations there are."""
    n_models, n = len(translations), len({translation.text for translation in translations.values()})
    return f"All {n_models} say the same here." if n == 1 else f"{n_models} models, {n} different translations."


def draw(translations: dict[str, Translation]) -> None:
    """Draw the translations in one list."""
    rows = []
    for translator, called in network.TRANSLATORS.items():
        css_class = "one shown" if translator in MODELS.value.values() else "one"
        certainty, french, gloss = "", "<i>cannot be loaded</i>", ""
        if translation := translations.get(translator):
            share = probability_per_word(translation.probabilities, len(translation.word_labels))
            certainty, french = f"{percent(share)} sure per word", html.escape(translation.text) or "(nothing)"
            gloss = f'<div class="back">{html.escape(english_gloss(translation.text))}</div>'
        training, forcing = network.passes(translator), "French given" if forced_pieces() else ""
        heading = ", ".join(filter(None, (called, training, forcing)))
        rows.append(
            f'<div class="{css_class}"><div class="top"><span>{heading}</span><span>{certainty}</span></div>'
            f'<div class="fr" lang="fr">{french}</div>{gloss}</div>'
        )
    with st.container(key="translate_list"):
        st.html(f'<div class="said-by-all">{"".join(rows)}</div>')
