"""All the numbers: the states of both networks, as they fill up word by word."""

import numpy as np
import streamlit as st

from attention_core.attention.wording import percent
from attention_core.charts import signed_ramp
from attention_core.inference import word_influence as influence
from attention_core.inference.translation import read_source
from attention_core.models.translator import Translator
from pages.memory import first_screen as screen
from pages.memory.charts import over_time
from ui.chart import draw_chart
from ui.computed import cached_computation, card_or_empty, model_or_fault
from ui.labels import error_markdown, literal, paragraph
from ui.layout import stop_run
from ui.state import Field, one_of, single_choice

NETWORKS = {"translator-none": "GRU", "translator-plain": "plain RNN"}
READINGS = {"causal": "forwards only", "bidirectional": "forwards and backwards"}
READING = Field(screen.NAME, "reading", "causal", address="reading", parse=one_of(READINGS))
CHART_SIZE = (470, 112)  # screen pixels
RAMP = signed_ramp(np.array([-1.0, 1.0]))

_memory_overview = cached_computation(spinner="Reading the sentence", on_cluster=True)(influence.memory_overview)


def draw_numbers(text: str) -> None:
    """Walk through the reading: the states of both networks fill up column by column."""
    with st.container(key="desk_memory_reading"):
        choice, formula_column = st.columns(2, gap="large")
        with choice:
            single_choice("Reading", READING, READINGS, label_visibility="collapsed")
        formulas = formula_column.expander("Formulas and code", key="memory_formulas_open", on_change="rerun")
    is_bidirectional = READING.value == "bidirectional"
    memories = {label: _memory_overview(model, read_source(text)) for label, model in _networks().items()}
    labels, names = next(iter(memories.values())).labels, {label: name for name, label in NETWORKS.items()}
    stops = range(len(labels) - 1, -1, -max(1, len(labels) // 4))
    position = screen.WALK.draw(labels, stops)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        positions = {"forward": position} | ({"backward": len(memory) - 1 - position} if is_bidirectional else {})
        with column:
            sentences = (_describe_update(memory, *step) for step in positions.items())
            passes = card_or_empty(names[label]).get("epochs")
            heading = f"**{label}**, {passes:g} passes of training" if passes else f"**{label}**"
            paragraph("  \n".join([heading, *sentences]))
            for direction, current in positions.items():
                title = f"state, read {direction}s"
                is_forward = direction == "forward"
                read = [index <= current if is_forward else index >= current for index in range(len(memory))]
                chart = over_time(memory, direction, RAMP, title=title, read=read, present=current, size=CHART_SIZE)
                key = f"memory_{label}_states_{direction}"
                draw_chart(chart, width="content", key=key, alt=label)
    for label in memories if formulas.open else ():
        formulas.latex(influence.FORMULAS[label])
        formulas.code(influence.CODE[label])


def _describe_update(memory: influence.MemoryOverview, direction: str, step: int) -> str:
    share = memory.retained_share(direction, step)
    action = "writes the whole state anew" if share is None else f"keeps **{percent(share)}** of the state"
    if step == {"forward": 0, "backward": len(memory) - 1}[direction]:
        action = "no state to keep yet"
    return f"{direction.capitalize()}s, {literal(memory.labels[step], 20)}: {action}."


def _networks() -> dict[str, Translator]:
    """Return the networks that are there by what they are called; say what is missing, end the fragment if all is."""
    models = {}
    for name, label in NETWORKS.items():
        model, fault = model_or_fault(name)
        if model is None:
            st.error(f"**The {label} cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
        else:
            models[label] = model
    if not models:
        stop_run()
    return models
