"""Word by word: what both networks' states hold at a moment, and how much each word still matters to them."""

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.charts.palette import VIRIDIS, Ramp
from attention_core.topics.memory.charts import gradient_heatmap, gradient_ramp, over_time
from attention_core.topics.memory.overview import MEASURES, MemoryOverview
from attention_core.topics.memory.recurrence import CODE, FORMULAS
from ui.chart import click, draw_chart
from ui.labels import literal
from ui.memory.reading import NAME, WALK
from ui.skeleton import say
from ui.state import Field, choice, one_of

MEASURE = Field(NAME, "measure", "norm", address="measure", parse=one_of(MEASURES))
LOGARITHMIC = Field(NAME, "log", False, address="log")
CHART_WIDTH = 470
STATE_RAMP, GATE_RAMP = signed_ramp(np.array([-1.0, 1.0])), Ramp(VIRIDIS, 0.0, 1.0)
GATES = {
    "update": ("update gate: the share of the old state that is kept", None),
    "reset": ("reset gate: the share of it that the proposal for a new state may use", "gate, 0 closed to 1 open"),
}


def walk_tab(memories: dict[str, MemoryOverview], both: bool) -> None:
    """Walk through the reading: states and gates of both networks fill up column by column."""
    at = WALK.draw(next(iter(memories.values())).labels)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
        with column:
            say(f"**{label}**")
            say("  \n".join(_gates_in_words(memory, *reading) for reading in places.items()))
            for direction, now in places.items():
                title = f"hidden state, read {direction}s; numbers that behave alike lie side by side"
                _over_time(label, memory, "states", direction, now, title, "number in the state")
            for kind, (title, bar) in GATES.items() if memory.update and not both else ():
                _over_time(label, memory, kind, "forward", at, title, bar)
            if not memory.update and not both:
                st.caption("A plain network has no gates: nothing decides what is worth keeping.")
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


def gradient_tab(memories: dict[str, MemoryOverview], both: bool) -> None:
    """Compare how much each word still matters to each state; a click on a row goes to that state."""
    say(
        "Nudge a word a little: how far does each later state move? A row is a state, a column a word, and the colour "
        "the norm of the gradient of state $h_t$ by the word vector $x_s$. Rest the mouse on a cell to read it; click "
        "to go there."
    )
    at = WALK.draw(next(iter(memories.values())).labels)
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        measure = choice("Shown", MEASURE, MEASURES, label_visibility="collapsed", wrap=True)
        logarithmic = LOGARITHMIC.widget(st.toggle, "Logarithmic colours")
    matrices = {label: memory.matrix(measure, both) for label, memory in memories.items()}
    ramp = gradient_ramp(list(matrices.values()), logarithmic)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        key = f"memory_cells_{label}_{len(memory)}"
        chart = gradient_heatmap(
            matrices[label],
            memory.labels,
            ramp,
            title=MEASURES[measure],
            told=memory.told(measure, both),
            logarithmic=logarithmic,
            marked_row=at,
            select="cell",
            size=CHART_WIDTH - 90,
        )
        with column:
            say(f"**{label}**")
            draw_chart(
                chart,
                width="content",
                **click(key, "cell", "row", WALK.field),
                alt=f"How much each word still matters to each state of the {label}",
            )
