"""Is grammar caught? The gender of an article with English words barred, and figures of held-out sentences."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.inference.grammar import GENDERS, OPPOSITE, committed_grammar, gender_probability, gendered_words
from attention_core.inference.translation import TracedTranslation, read_source
from ui.computed import cached_computation
from ui.layout import figures_table
from ui.translators import model_of

GENDER_TRANSLATORS = ("additive", "dot")
VARIANTS = ("as learned", "without the noun", "without the heaviest other word", "each English word read alone")
_gender_probability = cached_computation(on_cluster=True)(gender_probability)


def draw_grammar(models: Mapping[str, TracedTranslation], text: str) -> None:
    """Draw how likely the gender of an article is with English words barred, here and in held-out sentences."""
    traced = next((model for model in models.values() if model.translator in GENDER_TRANSLATORS), None)
    if traced is None:
        st.info("Choose additive or dot attention above: their articles are tried here.")
        return
    columns, figures = [["", *VARIANTS, "always masculine"]], committed_grammar(traced.translator)
    if figures:
        st.markdown(
            "**Gender is caught by the states, not by a look at the noun. Attention catches the order of words**: it "
            f"follows {figures['turned']} of {figures['n_turned']} neighbours that French turns round."
        )
    if article := next(gendered_words(traced.view), None):
        noun, heaviest = (traced.view.source[column] for column in (article.noun, article.heaviest))
        columns[0][2:4] = f"{VARIANTS[1]}: {noun}", f"{VARIANTS[2]}: {heaviest}"
        shares = _gender_probability(
            model_of(traced.translator), read_source(text), traced.translation, traced.view, article
        )
        columns.append([f"{article.form}, not {article.opposite}", *map(percent, shares), ""])
    else:
        st.info(f"{_why_no_article(traced.view.target)} Try *The red car is here.*")
    if figures:
        right = *figures["right"].values(), figures["masculine"]
        columns.append([f"right gender of {figures['n']} held-out articles", *map(percent, right)])
    figures_table(*zip(*columns, strict=True))


def _why_no_article(target: Sequence[str]) -> str:
    """Say why no article is tried: there is none, or its noun looks at no English noun."""
    if form := next((word for word in target if word.lower() in OPPOSITE), ""):
        return (
            f"*{as_markdown(form)}* cannot be tried here: that takes a noun after it that looks at an "
            "English word with *the*, *a*, *my* or the like at most two words before."
        )
    return f"This French has no {', '.join(' or '.join(pair) for pair in GENDERS)}."
