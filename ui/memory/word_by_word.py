"""Word by word: what states hold, how much each word still matters to them, and how fast it fades."""

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.charts.vega import VIRIDIS, Ramp
from attention_core.evaluate.forgetting import read_forgetting
from attention_core.topics.memory.charts import fading_chart, gradient_heatmap, gradient_ramp, over_time
from attention_core.topics.memory.influence import CODE, FORMULAS, MEASURES, MemoryOverview
from ui.chart import click, draw_chart
from ui.labels import literal
from ui.layout import section
from ui.memory.networks import NAME, NETWORKS, READING, WALK, choose_reading, memories_of, with_norms
from ui.player import counted
from ui.skeleton import paragraph
from ui.state import Field, one_of, single_choice

MEASURE = Field(NAME, "measure", "norm", address="measure", parse=one_of(MEASURES))
CHART_WIDTH = 470
STATE_RAMP, GATE_RAMP = signed_ramp(np.array([-1.0, 1.0])), Ramp(VIRIDIS, 0.0, 1.0)
GATES = {
    "update": ("update gate: the share of the old state that is kept", None),
    "reset": ("reset gate: the share of it that the proposal for a new state may use", "gate, 0 closed to 1 open"),
}


def walk_tab(text: str) -> None:
    """Walk through the reading: states and gates of both networks fill up column by column."""
    both = choose_reading()
    memories = memories_of(text, both)
    at = WALK.draw(next(iter(memories.values())).labels)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
        with column:
            paragraph(f"**{label}**")
            paragraph("  \n".join(_gates_in_words(memory, *reading) for reading in places.items()))
            for direction, now in places.items():
                title = f"hidden state, read {direction}s; numbers that behave alike lie side by side"
                _over_time(label, memory, "states", direction, now, title, "number in the state")
            if not memory.update and not both:
                st.caption("A plain network has no gates: nothing decides what is worth keeping.")
            with st.container(key=f"desk_memory_{label}"):
                for kind, (title, bar) in GATES.items() if memory.update and not both else ():
                    _over_time(label, memory, kind, "forward", at, title, bar)
                with st.expander("Formula and PyTorch lines"):
                    st.latex(FORMULAS[label])
                    st.code(CODE[label])


def _gates_in_words(memory: MemoryOverview, direction: str, now: int) -> str:
    gates = memory.gate_means(direction, now)
    word = f"{direction.capitalize()}s, {literal(memory.labels[now], 20)}"
    if gates is None:
        return f"{word}: writes the whole state anew."
    return f"{word}: keeps **{gates[0]:.0%}** of the state (reset gate {gates[1]:.0%})."


def _over_time(
    label: str, memory: MemoryOverview, kind: str, direction: str, now: int, title: str, bar: str | None
) -> None:
    is_state = kind == "states"
    chart = over_time(
        getattr(memory, kind)[direction],
        memory.labels,
        STATE_RAMP if is_state else GATE_RAMP,
        title=title,
        bar=bar,
        columns=memory.column_facts(kind, direction),
        read=[place <= now if direction == "forward" else place >= now for place in range(len(memory))],
        now=now,
        size=(CHART_WIDTH, 192 if is_state else 64),
        words=is_state,
    )
    alt = f"{label}, {title}, over the words"
    draw_chart(chart, width="content", key=f"memory_{label}_{kind}_{direction}", alt=alt)


def gradient_tab(text: str) -> None:
    """Compare how much each word still matters to each state; a click on a row goes to that state."""
    paragraph(
        "Nudge a word a little: how far does each later state move? A row is a state, a column a word, the colour the "
        "norm of the gradient of state $h_t$ by the word vector $x_s$."
    )
    both = READING.value == "bidirectional"
    memories = with_norms(text, both)
    at = WALK.draw(next(iter(memories.values())).labels)
    measure = single_choice("Shown", MEASURE, MEASURES, label_visibility="collapsed", wrap=True)
    matrices = {label: memory.matrix(measure, both) for label, memory in memories.items()}
    ramp = gradient_ramp(list(matrices.values()))
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        key = f"memory_cells_{label}_{len(memory)}"
        chart = gradient_heatmap(
            matrices[label],
            memory.labels,
            ramp,
            title=MEASURES[measure],
            told=memory.told(measure, both),
            marked_row=at,
            select="cell",
            size=CHART_WIDTH - 90,
        )
        with column:
            paragraph(f"**{label}**")
            draw_chart(
                chart,
                width="content",
                **click(key, "cell", "row", WALK.field),
                alt=f"How much each word still matters to each state of the {label}",
            )


FADING_LOG = Field(NAME, "fading_log", True, address="fading_log")


def fading_tab(text: str) -> None:
    """Draw how fast the first word of this sentence fades, and words in general."""
    memories = with_norms(text, both=False)
    logarithmic = FADING_LOG.widget(st.toggle, "Logarithmic axis")
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
    paragraph(
        "The plain RNN lets every word fade alike, a little at each step. The GRU lets most words go at once and holds "
        "on to a few, and translates far better: switch on *All seven translators* above."
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
