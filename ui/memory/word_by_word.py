"""Word by word: what states hold, and how much of them is kept."""

import numpy as np
import streamlit as st

from attention_core.charts import signed_ramp
from attention_core.topics.memory.charts import over_time
from attention_core.topics.memory.influence import CODE, FORMULAS, MemoryOverview, memory_overview
from attention_core.topics.translate.translation import read_source
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.glossary import paragraph
from ui.labels import literal
from ui.memory.networks import WALK, choose_reading, networks

CHART_WIDTH = 470
RAMP = signed_ramp(np.array([-1.0, 1.0]))

_remember = cached_computation(spinner="Reading the sentence", by_model=True)(memory_overview)


def walk_tab(text: str) -> None:
    """Walk through the reading: the states of both networks fill up column by column."""
    both = choose_reading()
    memories = {label: _remember(model, read_source(text)) for label, model in networks().items()}
    at = WALK.draw(next(iter(memories.values())).labels)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        places = {"forward": at, "backward": len(memory) - 1 - at} if both else {"forward": at}
        with column:
            paragraph(f"**{label}**")
            paragraph("  \n".join(_kept_in_words(memory, *reading) for reading in places.items()))
            for direction, now in places.items():
                _over_time(label, memory, direction, now)
    with column, st.container(key="desk_memory_formulas"):
        place = st.expander("Formulas and code", key="memory_formulas_open", on_change="rerun")
        for label in memories if place.open else ():
            place.latex(FORMULAS[label])
            place.code(CODE[label])


def _kept_in_words(memory: MemoryOverview, direction: str, now: int) -> str:
    kept = memory.share_kept(direction, now)
    does = "writes the whole state anew" if kept is None else f"keeps **{kept:.0%}** of the state"
    return f"{direction.capitalize()}s, {literal(memory.labels[now], 20)}: {does}."


def _over_time(label: str, memory: MemoryOverview, direction: str, now: int) -> None:
    title = f"state, read {direction}s"
    read = [place <= now if direction == "forward" else place >= now for place in range(len(memory))]
    chart = over_time(memory, direction, RAMP, title=title, read=read, now=now, size=(CHART_WIDTH, 128))
    draw_chart(chart, width="content", key=f"memory_{label}_states_{direction}", alt=f"{label}, {title}")
