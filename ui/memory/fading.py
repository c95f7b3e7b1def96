"""How fast a word fades: in this sentence, and over many."""

from __future__ import annotations

import streamlit as st

from attention_core.charts.memory import fading_chart
from attention_core.evaluate.forgetting import read_forgetting
from attention_core.topics.memory.overview import Memory
from ui.memory.reading import NAME, NETWORKS
from ui.state import Field

LOGARITHMIC = Field(NAME, "fading_log", True)


def fading_tab(memories: dict[str, Memory]) -> None:
    """Draw how fast the first word of this sentence fades, and words in general."""
    logarithmic = st.toggle("Logarithmic axis", key=LOGARITHMIC.key, persist_state="session")
    here, general = st.columns(2, gap="large")
    labels = next(iter(memories.values())).labels
    with here:
        chart = fading_chart(
            {label: memory.left_after() for label, memory in memories.items()},
            words=labels,
            logarithmic=logarithmic,
            title=f"What is left of the first word, “{labels[0][:24]}”",
        )
        st.altair_chart(
            chart, width="content", key="memory_fading", alt="What is left of the first word after more words"
        )
        st.markdown("  \n".join(_half_life_words(label, memory.half_life()) for label, memory in memories.items()))
    with general:
        _average(logarithmic)


def _half_life_words(label: str, half: float | None) -> str:
    if half is None:
        return f"**{label}**: more than half of it is left at the end."
    return f"**{label}**: half of it is gone after {half:.1f} words."


def _average(logarithmic: bool) -> None:
    figures = read_forgetting()
    if figures is None:
        st.caption("The average over many sentences has not been measured with these weights.")
        return
    known = {NETWORKS[key]: facts for key, facts in figures["networks"].items() if key in NETWORKS}
    chart = fading_chart(
        {label: facts["median"] for label, facts in known.items()},
        bands={label: (facts["lower"], facts["upper"]) for label, facts in known.items()},
        logarithmic=logarithmic,
        title="What is left of any word: median, and the middle half",
    )
    st.altair_chart(
        chart,
        width="content",
        key="memory_average",
        alt="What is left of a word after more words, over many sentences",
    )
    halves = "  \n".join(_half_life_words(label, facts["half_life"]) for label, facts in known.items())
    st.markdown(halves)
    st.caption(f"Over {figures['sentences']} development sentences; `{figures['command']}`.")
