"""Do all six models say the same? What each makes of the sentence, in one table."""

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.inference.translation import Translation, probability_per_word
from pages.translate.forcing import forced_pieces
from pages.translate.inputs import draw_sentence
from ui import translators as network
from ui.layout import figures_table
from ui.read_back import IN_ENGLISH


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
    """Draw a table of the translations."""
    rows = []
    for translator, called in network.TRANSLATORS.items():
        sure, english, french = "", "", "cannot be loaded"
        if translation := translations.get(translator):
            sure = percent(probability_per_word(translation.probabilities, len(translation.word_labels)))
            english, french = IN_ENGLISH.get(translation.text, ""), translation.text or "(nothing)"
        rows.append((called, network.passes(translator).removesuffix(" passes"), sure, english, french))
    with st.container(key="translate_list"):
        says = "it says, French given" if forced_pieces() else "it says"
        figures_table(("", "passes", "sure per word", "in English", says), *rows, ends_in_french=True)
