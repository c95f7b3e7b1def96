"""How fast a word fades, and what that does to translations: BLEU against the length of the sentence."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from attention_core.evaluate.forgetting import read_forgetting
from attention_core.topics.memory.line_charts import fading_chart, length_chart
from attention_core.topics.memory.overview import MemoryOverview
from attention_core.topics.translate.lengths import PARTS, TRANSLATORS, bleu_by_length
from ui.chart import draw_chart
from ui.layout import section
from ui.memory.reading import NAME, NETWORKS
from ui.player import counted
from ui.skeleton import note, say
from ui.state import Field, choice, one_of

LOGARITHMIC = Field(NAME, "fading_log", True, address="fading_log")
PART = Field(NAME, "part", PARTS[0], address="part", parse=one_of(PARTS))


def fading_tab(memories: dict[str, MemoryOverview]) -> None:
    """Draw how fast the first word of this sentence fades, and words in general."""
    logarithmic = LOGARITHMIC.widget(st.toggle, "Logarithmic axis")
    here, general = st.columns(2, gap="large")
    labels = next(iter(memories.values())).labels
    with here:
        section(f"What is left of the first word, “{labels[0][:24]}”")
        left = {label: memory.left_after() for label, memory in memories.items()}
        chart = fading_chart(left, words=labels, logarithmic=logarithmic)
        alt = "What is left of the first word after more words"
        draw_chart(chart, width="content", key="memory_fading", alt=alt)
        _who_keeps_more(left)
    figures = read_forgetting()
    with general:
        if figures is None:
            st.caption("The average over many sentences has not been measured with these weights.")
            return
        known = {NETWORKS[name]: facts for name, facts in figures["networks"].items() if name in NETWORKS}
        section("What is left of any word: median, and the middle half")
        chart = fading_chart(
            {label: facts["median"] for label, facts in known.items()},
            bands={label: (facts["lower"], facts["upper"]) for label, facts in known.items()},
            logarithmic=logarithmic,
        )
        alt = "What is left of a word after more words, over many sentences"
        draw_chart(chart, width="content", key="memory_average", alt=alt)
        _who_keeps_more({label: facts["median"] for label, facts in known.items()})
        st.caption(f"Measured on {figures['sentences']} development sentences.", help=f"`{figures['command']}`")
    st.markdown(
        "**Does the plain RNN remember better, since its words fade later at first?** No: it lets every word fade "
        "alike, a little at each step. The GRU lets most words go at once and holds on to a few. Which of them serves "
        "better is told by the translations made from it: *Why attention was needed* compares them."
    )


def _who_keeps_more(left: Mapping[str, Sequence[float]]) -> None:
    if len(left) < 2:
        return
    (first, here), (second, there), *_ = left.items()
    is_more = [one > other for one, other in zip(here, there, strict=False)]
    n_at_the_end = len(is_more) if all(is_more) else is_more[::-1].index(False)
    if not n_at_the_end:
        st.markdown(f"More is left in the **{second}**, however many words follow.")
    else:
        st.markdown(f"From {counted(len(is_more) - n_at_the_end, 'words')} later on, more is left in the **{first}**.")


def length_tab() -> None:
    """Draw chart and table of every translator's BLEU by length; name those whose figures are missing."""
    say(
        "Without attention, long sentences break. The decoder gets the last states and nothing else: 384 numbers, for "
        "four words or for forty. A GRU learns to keep what carries the meaning, but every further word has to share "
        "those numbers. Attention hands over *all* states, and each French word chooses among them (after figure 2 of "
        "Bahdanau et al. 2015)."
    )
    part = choice("Sentences", PART, {part: f"{part} sentences" for part in PARTS}, label_visibility="collapsed")
    figures = bleu_by_length(part=part)
    if figures.scores:
        alt = "BLEU of every translator by the length of the sentence; the table below has the numbers"
        with st.container(key="memory_wide"):
            draw_chart(length_chart(figures, width=760), width="content", key="memory_lengths", alt=alt)
        none, attention = figures.long.get("translator-none"), figures.long.get("translator-additive")
        if none is not None and attention is not None:
            st.markdown(
                f"Sentences of twelve words and more: BLEU **{none:.1f}** without attention, **{attention:.1f}** with "
                f"additive attention, a gap of **{attention - none:.1f}**."
            )
        table = pd.DataFrame.from_dict(figures.scores, "index", columns=figures.groups).assign(all=figures.overall)
        number = st.column_config.NumberColumn(format="%.1f", width=56)
        columns = dict.fromkeys(table.columns, number)
        table.insert(0, "translator", [TRANSLATORS.get(name, name) for name in table.index])
        st.dataframe(table, hide_index=True, width="stretch", column_config=columns)
        note(
            f"Lower-cased BLEU (sacrebleu, beam search) on {figures.n:,} {part} sentences that no translator was "
            "trained on. There are few sentences of each length: a difference of a point or two is chance."
        )
    if figures.missing:
        missing = ", ".join(f"{TRANSLATORS[name]} (`{name}`)" for name in figures.missing)
        st.info(f"Not evaluated yet: {missing}.")
