"""√d: d of what? Scores divided by √dₖ as trained, by √d_model and by nothing: weights, and what is said then."""

import math
from functools import partial
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.edits import Edit, NoScale, Temperature
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.device import to_array
from attention_core.inference.translation import read_source
from attention_core.models.transformer import KINDS
from pages.transformer.charts import RowText, mask_chart
from pages.transformer.inputs import draw_reading
from pages.transformer.reading import CHOICES, CHOSEN, CONFIG, Reading, traces, translate_sources
from ui.chart import draw_chart
from ui.labels import note
from ui.layout import figures_table, section
from ui.lecture.mode import LECTURE
from ui.state import controlled

D_K = CONFIG.d_model // CONFIG.n_heads
EDIT: dict[str, Edit | None] = {
    f"√{D_K}, of a head": None,
    f"√{CONFIG.d_model}, of the model": Temperature(math.sqrt(CONFIG.n_heads)),
    "nothing": NoScale(),
}
MAX_BESIDE = 7  # pieces up to which three matrices stand side by side


class Division(NamedTuple):
    """What the transformer makes of a sentence where its scores are divided by one of these."""

    text: str
    traces: dict[tuple[str, int], AttentionTrace]

    @property
    def rows(self) -> list[Tensor]:
        """The weights of all heads."""
        return [trace.weights(head) for trace in self.traces.values() for head in range(trace.n_heads)]


def draw_input() -> dict[str, Division]:
    """Draw the sentence, and the choice of a head of the encoder; return what comes of it, by what divides."""
    text = draw_reading().text
    with st.container(horizontal=True, gap="medium", key="experiment_input_head"):
        for name in ("layer", "head"):
            label, numbers = CHOICES[name]
            chosen = controlled(f"transformer_divisor_{name}", getattr(CHOSEN.value, name), partial(_choose, name))
            st.segmented_control(label, numbers, format_func=lambda number: str(number + 1), required=True, **chosen)
    return {name: _divided(text, edit) for name, edit in EDIT.items()}


def _choose(name: str, number: int) -> None:
    head = CHOSEN.value._replace(kind="encoder")
    CHOSEN.value = head._replace(layer=number) if name == "layer" else head._replace(head=number)


def _divided(text: str, edit: Edit | None) -> Division:
    layers = [(kind, layer) for kind in KINDS for layer in range(CONFIG.n_layers)]
    reading = Reading(text, dict.fromkeys(layers, (edit,)) if edit else {})
    (french,) = translate_sources(reading, read_source(text))
    return Division(french, traces(reading))


def answer(_: dict[str, Division]) -> str:
    """Say of what, and what the others do to the weights."""
    return f"Of one head's query: dₖ = {D_K}. By √{CONFIG.d_model} the weights spread out; undivided, they sharpen."


def draw(divisions: dict[str, Division]) -> None:
    """Draw a head's weights three times, and what the whole model says with each."""
    _, layer, head = CHOSEN.value
    n = divisions[next(iter(EDIT))].traces["encoder", layer].n_keys
    columns = st.columns(3, gap="small") if n <= MAX_BESIDE or LECTURE.value else [st.container() for _ in EDIT]
    for column, (name, division) in zip(columns, divisions.items(), strict=True):
        trace = division.traces["encoder", layer]
        weights = trace.weights(head)
        title = f"Divided by {name}"
        behind = {"largest": [RowText(percent(share)) for share in weights.amax(1).tolist()]}
        with column:
            section(title)
        chart = mask_chart(
            trace.story.key_axis.labels, to_array(torch.ones(n, n, dtype=torch.bool)), to_array(weights), behind
        )
        draw_chart(chart, width="content", alt=title, key=f"transformer_divisor_{name}", container=column)
    rows = [(name, percent(_mean_largest(division)), division.text) for name, division in divisions.items()]
    figures_table(("all scores divided by", "largest weight, mean", "it says"), *rows, ends_in_french=True)
    note("Over all heads, layers, queries. Trained with the first; the others are changed after.")


def _mean_largest(division: Division) -> float:
    return float(torch.cat([rows.amax(1) for rows in division.rows]).mean())
