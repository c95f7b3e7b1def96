"""Is grammar caught? The gender of an article with English words barred, and figures of held-out sentences."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.inference.grammar import GENDERS, OPPOSITE, committed_grammar, gender_probability, gendered_words
from attention_core.inference.translation import TracedTranslation, read_source
from ui.computed import cached_computation
from ui.labels import paragraph
from ui.layout import figures_table
from ui.translators import TRANSLATORS, model_of

GENDER_TRANSLATORS = ("additive", "dot")
_gender_probability = cached_computation(on_cluster=True)(gender_probability)


def draw_grammar(models: Mapping[str, TracedTranslation], text: str) -> None:
    """Draw how likely both genders of an article are with English words barred, and figures of held-out sentences."""
    traced = next((model for model in models.values() if model.translator in GENDER_TRANSLATORS), None)
    if traced is None:
        st.info("Choose additive or dot attention above: their articles are tried here.")
        return
    of_sentence, of_test = st.columns(2, gap="large")
    with of_sentence:
        _draw_article(traced, text)
    with of_test:
        _draw_grammar_figures(traced.translator)


def _draw_article(traced: TracedTranslation, text: str) -> None:
    """Draw how likely both genders of the sentence's first article are, as learned and with English words barred."""
    article = next(gendered_words(traced.view), None)
    if article is None:
        st.info(f"{_why_no_article(traced.view.target)} Try *The red car is here.*")
        return
    view = traced.view
    model, source = model_of(traced.translator), read_source(text)
    probabilities = _gender_probability(model, source, traced.translation, view, article)
    noun, heaviest = (as_markdown(view.source[column]) for column in (article.noun, article.heaviest))
    noun_weight, heaviest_weight = (
        percent(float(view.weights[article.row, column])) for column in (article.noun, article.heaviest)
    )
    paragraph(
        f"**{article.form} or {article.opposite}?** Before *{as_markdown(view.target[article.row + 1])}*, "
        f"{article.form} looks at *{heaviest}* ({heaviest_weight}) and at the noun, *{noun}* ({noun_weight})."
    )
    variants = "as learned", f"{noun} barred", f"{heaviest} barred", "each English word read alone"
    rows = [(name, percent(share), percent(1 - share)) for name, share in zip(variants, probabilities, strict=True)]
    figures_table(("", article.form, article.opposite), *rows)


def _why_no_article(target: Sequence[str]) -> str:
    """Say why no article is tried: there is none, or its noun looks at no English noun."""
    if form := next((word for word in target if word.lower() in OPPOSITE), ""):
        return (
            f"*{as_markdown(form)}* cannot be tried here: that takes a noun after it that looks at an "
            "English word with *the*, *a*, *my* or the like at most two words before."
        )
    return f"This French has no {', '.join(' or '.join(pair) for pair in GENDERS)}."


def _draw_grammar_figures(translator: str) -> None:
    figures = committed_grammar(translator)
    if not figures:
        return
    learned, noun, heaviest, word_by_word = figures["right"].values()
    st.markdown(
        "**Gender is caught by the states, not by a look at the noun. Attention catches the order of words**: it "
        f"follows {figures['turned']} of {figures['n_turned']} neighbours that French turns round."
    )
    figures_table(
        (TRANSLATORS[translator].capitalize(), f"right gender of {figures['n']} articles in test sentences"),
        ("as it is", percent(learned)),
        (f"the noun barred, {percent(figures['noun_weight'])} of the weight", percent(noun)),
        ("the heaviest other word barred", percent(heaviest)),
        ("each English word read alone", percent(word_by_word)),
        ("always masculine", percent(figures["masculine"])),
    )
