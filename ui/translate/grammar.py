"""Is grammar caught? English words barred where a French article's gender is chosen, and how often that was right."""

from collections.abc import Mapping

import streamlit as st

from attention_core.bounds import as_markdown
from attention_core.topics.translate.grammar import committed_grammar, gender_probability, gendered_words
from attention_core.topics.translate.translation import ShownTranslation, read_source
from ui.computed import cached_computation
from ui.glossary import note, paragraph
from ui.layout import figures_table
from ui.translate.models import TRANSLATORS, model_of

SCORES = ("additive", "dot", "general")
_gender_probability = cached_computation(by_model=True)(gender_probability)


def grammar(models: Mapping[str, ShownTranslation], text: str) -> None:
    """Draw how likely both genders of an article are with English words barred, and figures of held-out sentences."""
    shown = next((one for one in models.values() if one.translator in SCORES), None)
    if shown is None:
        st.info("Choose additive, dot or general attention above: their articles are tried here.")
        return
    word = next(gendered_words(shown.view), None)
    if word is None:
        st.info("This French has no le or la, un or une, mon or ma before its noun. Try *The red car is here.*")
    else:
        view = shown.view
        likely = _gender_probability(model_of(shown.translator), read_source(text), shown.translation, view, word)
        noun, heaviest = (as_markdown(view.source[place]) for place in (word.noun, word.heaviest))
        weights = view.weights[word.row]
        paragraph(
            f"**{word.form} or {word.other}?** Before *{as_markdown(view.target[word.row + 1])}*, {word.form} looks at "
            f"*{heaviest}* ({weights[word.heaviest]:.0%}) and at the noun, *{noun}* ({weights[word.noun]:.0%})."
        )
        ways = "as learned", f"{noun} barred", f"{heaviest} barred", "each English word read alone"
        rows = [(way, f"{share:.0%}", f"{1 - share:.0%}") for way, share in zip(ways, likely, strict=True)]
        figures_table(("", word.form, word.other), *rows)
    _measured(shown.translator)


def _measured(translator: str) -> None:
    found = committed_grammar(translator)
    if not found:
        return
    learned, noun, heaviest, alone = found["right"].values()
    paragraph(
        "**Gender is caught by the states, not by a look at the noun**: read both ways, the state of *the* "
        "mostly knows its noun."
    )
    figures_table(
        (TRANSLATORS[translator].capitalize(), "articles in the right gender"),
        ("as it is", f"{learned:.0%}"),
        (f"the noun barred, {found['noun_weight']:.0%} of the weight", f"{noun:.0%}"),
        ("the heaviest other word barred", f"{heaviest:.0%}"),
        ("each English word read alone", f"{alone:.0%}"),
        ("always masculine", f"{found['masculine']:.0%}"),
    )
    note(
        f"Of {found['n']} articles of held-out sentences. **Attention catches the order of words**: it follows "
        f"{found['turned']} of {found['n_turned']} neighbours that French turns round (pairs aligned by hand)."
    )
