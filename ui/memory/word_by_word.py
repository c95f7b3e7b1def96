"""Word by word: what states hold, and what gates let through."""

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.charts.vega import VIRIDIS, Ramp
from attention_core.topics.memory.charts import over_time
from attention_core.topics.memory.influence import CODE, FORMULAS, MemoryOverview, memory_overview
from attention_core.topics.translate.translation import read_source
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.glossary import paragraph
from ui.labels import literal
from ui.memory.networks import WALK, choose_reading, networks

CHART_WIDTH = 470
STATE_RAMP, GATE_RAMP = signed_ramp(np.array([-1.0, 1.0])), Ramp(VIRIDIS, 0.0, 1.0)

_remember = cached_computation(spinner="Reading the sentence", by_model=True)(memory_overview)


def walk_tab(text: str) -> None:
    """Walk through the reading: states and gates of both networks fill up column by column."""
    both = choose_reading()
    memories = {label: _remember(model, read_source(text)) for label, model in networks().items()}
    at = WALK.draw(next(iter(memories.values())).labels)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
        with column:
            paragraph(f"**{label}**")
            paragraph("  \n".join(_kept_in_words(memory, *reading) for reading in places.items()))
            for direction, now in places.items():
                _over_time(label, memory, "states", direction, now)
            if memory.update and not both:
                with st.container(key=f"desk_memory_{label}"):
                    _over_time(label, memory, "update", "forward", at)
    with column, st.container(key="desk_memory_formulas"):
        place = st.expander("Formulas and code", key="memory_formulas_open", on_change="rerun")
        for label in memories if place.open else ():
            place.latex(FORMULAS[label])
            place.code(CODE[label])


def _kept_in_words(memory: MemoryOverview, direction: str, now: int) -> str:
    kept = memory.share_kept(direction, now)
    does = "writes the whole state anew" if kept is None else f"keeps **{kept:.0%}** of the state"
    return f"{direction.capitalize()}s, {literal(memory.labels[now], 20)}: {does}."


def _over_time(label: str, memory: MemoryOverview, kind: str, direction: str, now: int) -> None:
    is_state = kind == "states"
    title = f"state, read {direction}s" if is_state else "share of the old state that is kept, dark 0 to bright 1"
    chart = over_time(
        getattr(memory, kind)[direction],
        memory.labels,
        STATE_RAMP if is_state else GATE_RAMP,
        title=title,
        bar="number in the state" if is_state else None,
        columns=memory.column_facts(kind, direction),
        read=[place <= now if direction == "forward" else place >= now for place in range(len(memory))],
        now=now,
        size=(CHART_WIDTH, 128 if is_state else 48),
        words=is_state,
    )
    draw_chart(chart, width="content", key=f"memory_{label}_{kind}_{direction}", alt=f"{label}, {title}")
