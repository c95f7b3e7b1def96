"""Word by word: what both networks' states hold at a moment, and how much each word still matters to them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.charts.memory import gradient_heatmap, gradient_ramp, over_time
from attention_core.charts.palette import VIRIDIS, Ramp
from attention_core.topics.memory.overview import MEASURES, Memory
from ui.labels import literal
from ui.memory.reading import NAME, WALK
from ui.state import Field

MEASURE = Field(NAME, "measure", "norm")
LOGARITHMIC = Field(NAME, "log", False)
CHART_WIDTH = 470
FORMULAS = {
    "GRU": r"h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t",
    "plain RNN": r"h_t = \tanh(W_x x_t + W_h h_{t-1} + b)",
}
CODE = {
    "GRU": "reset, update = torch.sigmoid(W_x[:2] @ x + W_h[:2] @ h + b[:2])\n"
    "proposal = torch.tanh(W_x[2] @ x + b_x + reset * (W_h[2] @ h + b_h))\n"
    "h = update * h + (1 - update) * proposal",
    "plain RNN": "h = torch.tanh(W_x @ x + W_h @ h + b)",
}
GATE_RAMP = Ramp(VIRIDIS, 0.0, 1.0)


def walk_tab(memories: dict[str, Memory], both: bool) -> None:
    """Walk through the reading: states and gates of both networks fill up column by column."""
    at = WALK.draw(_labels(memories))
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        with column:
            st.markdown(f"**{label}**")
            _gates_in_words(memory, at, both)
            for direction in ("forward", "backward") if both else ("forward",):
                _state_chart(label, memory, direction, at)
            if not both:
                _gates(label, memory, at)
            with st.expander("Formula and PyTorch lines"):
                st.latex(FORMULAS[label])
                st.code(CODE[label])


def _labels(memories: dict[str, Memory]) -> list[str]:
    return next(iter(memories.values())).labels


def _gates_in_words(memory: Memory, at: int, both: bool) -> None:
    """Say what is read at this moment and what the gates do with the old state."""
    places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
    sentences = []
    for direction, place in places.items():
        gates = memory.gate_means(direction, place)
        word = f"{direction.capitalize()}s, {literal(memory.labels[place], 20)}"
        if gates is None:
            sentences.append(f"{word}: writes the whole state anew.")
        else:
            sentences.append(f"{word}: keeps **{gates[0]:.0%}** of the state (reset gate {gates[1]:.0%}).")
    st.markdown("  \n".join(sentences))


def _state_chart(label: str, memory: Memory, direction: str, at: int) -> None:
    values = memory.states[direction]
    n = len(memory)
    now = at if direction == "forward" else n - 1 - at
    read = [place <= now if direction == "forward" else place >= now for place in range(n)]
    chart = over_time(
        values,
        memory.labels,
        signed_ramp(np.array([-1.0, 1.0])),
        title=f"hidden state, read {direction}s; dimensions that behave alike are neighbours",
        bar="number in the state",
        columns=memory.column_facts("states", direction),
        read=read,
        now=now,
        size=(CHART_WIDTH, 192),
    )
    st.altair_chart(
        chart,
        width="content",
        key=f"memory_{label}_{direction}",
        alt=f"Hidden state of the {label} over the words, read {direction}s",
    )


def _gates(label: str, memory: Memory, at: int) -> None:
    if not memory.update:
        st.caption("A plain network has no gates: nothing decides what is worth keeping.")
        return
    titles = {
        "update": "update gate: the share of the old state that is kept",
        "reset": "reset gate: the share of it that the proposal for the new one sees",
    }
    for kind, title in titles.items():
        chart = over_time(
            getattr(memory, kind)["forward"],
            memory.labels,
            GATE_RAMP,
            title=title,
            bar="gate, 0 closed to 1 open" if kind == "reset" else None,
            columns=memory.column_facts(kind, "forward"),
            read=[place <= at for place in range(len(memory))],
            now=at,
            size=(CHART_WIDTH, 64),
            words=False,
        )
        st.altair_chart(chart, width="content", key=f"memory_{label}_{kind}", alt=f"{title}, over the words")


def gradient_tab(memories: dict[str, Memory], both: bool) -> None:
    """Compare how much each word still matters to each state; a click on a row goes to that state."""
    st.markdown(
        "The norm of the gradient of state $h_t$ by the word vector $x_s$: how far the state would move if the word "
        "were nudged. One row per state; rest the mouse on a cell to read it, click to walk there."
    )
    at = WALK.draw(_labels(memories))
    left, right = st.columns([2.2, 1], vertical_alignment="bottom")
    with left:
        measure = st.segmented_control(
            "Shown",
            list(MEASURES),
            format_func=MEASURES.__getitem__,
            key=MEASURE.key,
            required=True,
            persist_state="session",
            label_visibility="collapsed",
            wrap=True,
        )
    with right:
        logarithmic = st.toggle("Logarithmic colours", key=LOGARITHMIC.key, persist_state="session")
    matrices = {label: memory.matrix(measure, both) for label, memory in memories.items()}
    ramp = gradient_ramp(list(matrices.values()), logarithmic)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        with column:
            st.markdown(f"**{label}**")
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
            st.altair_chart(
                chart,
                width="content",
                key=key,
                on_select=lambda key=key: _walk_to_clicked(key),
                selection_mode="cell",
                alt=f"How much each word still matters to each state of the {label}",
            )


def _walk_to_clicked(key: str) -> None:
    picked = (st.session_state.get(key) or {}).get("selection", {}).get("cell") or []
    if picked and isinstance(picked[0].get("row"), int):
        WALK.field.value = picked[0]["row"]
