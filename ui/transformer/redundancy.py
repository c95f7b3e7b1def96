"""Is the order of words learned twice, by states and by attention? What it costs to leave one of them out."""

from collections.abc import Mapping

import streamlit as st

from attention_core.topics.translate.redundancy import WITHOUT, Cost, committed_costs
from ui.glossary import note, say
from ui.layout import figures_table, section

MODELS = {"additive": "GRU with additive attention", "transformer": "transformer"}


def order_twice() -> None:
    """Draw what both kinds of translator lose without order, without attention, and say whether one is too many."""
    costs, n = committed_costs()
    if not costs:
        st.info("Nothing was measured beforehand: `python -m benchmarks.redundancy` does it.")
        return
    section("Is the order learned twice?")
    say(
        "A recurrent network's states know the order, and attention over them follows it too: is one of the two "
        "redundant? Leave one out and translate again."
    )
    whole = {one.model: one for one in costs if not one.without}
    table, words = st.columns([1.35, 1], gap="large")
    with table:
        figures_table(
            ("", "BLEU", "lost", "long ones", "lost"),
            *((_name(one), *_figures(one, whole[one.model])) for one in costs if one.model in whole),
        )
    found = {(one.model, one.without): one.bleu for one in costs}
    with words:
        _in_words(found)
        note(
            f"{n} test sentences, beam search; long ones have twelve words and more. *Trained so*: a network of "
            "the same size that never had it. All else is taken from a network that was trained with it, and so costs "
            "more than it would have had to; the decoder's start stays as trained. To measure again: "
            "`python -m benchmarks.redundancy`."
        )


def _name(one: Cost) -> str:
    return f"– without {WITHOUT.get(one.without, one.without)}" if one.without else MODELS[one.model]


def _figures(one: Cost, whole: Cost) -> list[str]:
    pairs = (one.bleu, whole.bleu), (one.bleu_long, whole.bleu_long)
    return [text for now, then in pairs for text in (f"{now:.1f}", "" if one is whole else f"{then - now:.1f}")]


def _in_words(found: Mapping[tuple[str, str], float]) -> None:
    def lost(model: str, without: str) -> str:
        return f"**{found[model, ''] - found[model, without]:.0f}**"

    say(
        f"Neither is too many. Read every piece alone, so that only attention is left to know the order, and the GRU "
        f"loses {lost('additive', 'recurrence')} points of BLEU. Keep the states and give up the choice, and even a "
        f"network trained so loses {lost('additive', 'choice_trained')}; trained without attention at all, "
        f"{lost('additive', 'attention_trained')}. The states know the order, attention knows where to look."
    )
    st.markdown(
        "The transformer did away with the recurrence and pays with positions: without them it loses "
        f"{lost('transformer', 'positions')}, and {lost('transformer', 'order')} when the words are shuffled."
    )
