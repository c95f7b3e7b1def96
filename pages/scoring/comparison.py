"""Two scores that disagree, all of them, and their fields; a formula that cannot attend; what dividing by √d_k does.

The plane is a component rather than a chart because it is redrawn many times a second while an arrow is dragged.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.scores import SCORES, Score, printed_concat
from attention_core.attention.wording import percent
from attention_core.charts.bars import bar_table
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.device import to_array
from attention_core.live_training import score_comparison as measures
from attention_core.live_training.score_comparison import EXTENT, VECTOR_PRESETS, Vectors
from pages.scoring import controls
from pages.scoring.charts import scale_chart, score_fields, weights_chart
from ui.chart import draw_chart, note_picture
from ui.computed import cached_computation
from ui.edits import WeightsRow, matrix_editor, show_contexts, show_weights_difference
from ui.labels import paragraph
from ui.layout import figures_table
from ui.lecture.guided.items import GUIDED, REVEALED, STAGE
from ui.state import Field, one_of

RIVAL_SCORES = ("dot", "L2 distance")
D_K = Field(controls.NAME, "d_k", 256, address="dk", parse=one_of(measures.DIMENSIONS))
"""Width of the random vectors whose weights are drawn."""


def draw_plane(vectors: Vectors, traces: Mapping[str, AttentionTrace]) -> None:
    """Draw the arrows, and the scores of two functions or of all. Call it last, see VectorPlane.draw."""
    query, keys, is_planar = list(vectors.query), [list(key) for key in vectors.keys], vectors.d == 2
    shows_all, is_edited = controls.ALL.value or not is_planar, any(trace.edits for trace in traces.values())
    visible = {name: trace for name, trace in traces.items() if shows_all or name in RIVAL_SCORES or trace.edits}
    rows: list[dict[str, Any]] = []
    for name, trace in visible.items():
        numbers = {"scores": trace.scores(0)[0].tolist(), "weights": trace.weights(0)[0].tolist()}
        rows.append({"name": name, "formula": trace.score.short, **numbers})
    labels, names = [f"k{key + 1}" for key in range(len(keys))], list(visible)
    for quantity, role in (("scores", Role.SCORES), ("weights", Role.WEIGHTS)):
        columns = {quantity: [value for row in rows for value in row[quantity]]}
        drawing = partial(bar_table, labels, columns, [ROLE_COLOURS[role]], names)
        note_picture(drawing, f"{quantity.capitalize()} of every key")
    data = {
        "names": ["q", *map(controls.key_name, range(len(keys)))],
        "kinds": ["query", *["key"] * len(keys)],
        "extent": EXTENT,
        "functions": rows if shows_all or is_edited else None,
        "limit": _nice_limit(max(abs(score) for row in rows for score in row["scores"])),
        "bare": not is_planar,
    }
    controls.PLANE.draw([query, *keys], data, controls.on_move, active=controls.ACTIVE.value + 1)


def lay_on_query() -> None:
    """Put the first example, with its first key where the query is."""
    first = VECTOR_PRESETS[0]
    controls.arrange(Vectors(first.query, (first.query, *first.keys[1:]), "k₁ is the query itself, k₂ is longer."))


def key_of_dot_product() -> tuple[int, str]:
    """Return the key that the dot product prefers, and a sentence on its weight and that of the nearest key."""
    query, key = controls.query_and_keys(controls.VECTORS.value)
    traces = measures.compare({name: SCORES[name]() for name in RIVAL_SCORES}, query[None], key)
    favourites = measures.favourites(traces)
    dot, near = (favourites[name] for name in RIVAL_SCORES)
    if dot.key is None or near.key is None:
        return -1, "All keys fit equally well now."
    longer, nearer = controls.key_name(dot.key), controls.key_name(near.key)
    sentence = f"The dot product gives {longer} {percent(dot.weight)}, nearness gives {nearer} {percent(near.weight)}."
    if key[dot.key].norm() > key[near.key].norm():
        sentence += f" {longer} is longer, and a dot product grows with length."
    return dot.key, sentence


def draw_favourites(traces: Mapping[str, AttentionTrace], query: Tensor, key: Tensor) -> None:
    """Draw a sentence: which function prefers which key, and which key is nearest."""
    by_key, undecided = defaultdict(list), []
    for name, (favourite, weight) in measures.favourites(traces).items():
        if favourite is None:
            undecided.append(name)
        else:
            by_key[favourite].append(f"{name} ({percent(weight)})")
    clauses = [f"**{controls.key_name(favourite)}**: {', '.join(names)}" for favourite, names in sorted(by_key.items())]
    if undecided:
        clauses.append(f"nobody in particular: {', '.join(undecided)}")
    nearest = controls.key_name(measures.nearest_key(query, key))
    st.markdown(f"Largest weight to {'; '.join(clauses)}. Nearest to q is **{nearest}**.")


def _nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)


def with_edits(traces: Mapping[str, AttentionTrace]) -> dict[str, AttentionTrace]:
    """Return the traces with the edits of this page, each of which is of one score."""
    return {name: trace.replace(controls.EDITS.fitting(trace, name)) for name, trace in traces.items()}


def change_weights(traces: Mapping[str, AttentionTrace]) -> None:
    """Draw the weights of a score, which can be set, and the context of the query before and after."""
    left, right = st.columns(2, gap="large")
    with left:
        controls.SCORE.widget(st.selectbox, "Weights of which score", list(traces), width=190)
        trace = traces[controls.SCORE.value]
        row = WeightsRow(controls.EDITS, trace, attention=controls.SCORE.value, prefix=f"{controls.SCORE.value}: ")
        matrix_editor(row, lambda query: None)
    with right:
        unedited = trace.replace(())
        show_contexts(unedited, trace, 0)
        show_weights_difference(controls.NAME, unedited, trace)


def fields_tab(functions: Mapping[str, Score], query: Tensor, key: Tensor) -> None:
    """Draw every function as a field over all key positions; query (d,), key (n_keys, d)."""
    if len(query) != 2:
        st.info("A field needs vectors of two numbers.")
        return
    st.caption(
        "The stronger the colour, the higher a key (dot) scores there. Learned scores saw only keys in the upper half."
    )
    fields = {
        name: to_array(measures.score_field(function, query, extent=EXTENT)) for name, function in functions.items()
    }
    names, middle = list(fields), math.ceil(len(fields) / 2)
    halves = zip(st.columns(2, gap="medium"), (names[:middle], names[middle:]), strict=True)
    for number, (column, half) in enumerate(halves):
        chart = score_fields({name: fields[name] for name in half}, query.tolist(), key.tolist(), EXTENT)
        alt = f"Score fields of {', '.join(half)}: what they would score at every place of the plane"
        draw_chart(chart, key=f"scoring_fields_{number}", width="content", alt=alt, container=column)


def printed_tab(query: Tensor, key: Tensor) -> None:
    """Show why v^T tanh([q; k]) gives every query the same weights, on three queries."""
    score = printed_concat(torch.tensor([1.0, -0.5] * len(query), dtype=torch.float64))
    weights = score(torch.stack([query, query.flip(0), -query]), key).softmax(-1)
    text_column, table_column = st.columns(2, gap="large", vertical_alignment="center")
    with text_column:
        st.latex(
            r"\begin{aligned} v^{\top}\tanh([q; k]) = {} "
            r"& \underbrace{v_q^{\top}\tanh(q)}_{\text{same for every key}} \\ "
            r"& + \underbrace{v_k^{\top}\tanh(k)}_{\text{same for every query}} \end{aligned}"
        )
        paragraph("Query and key never meet inside the tanh: **every query gets the same weights**.")
    with table_column:
        names = ("q", "q reversed", "−q")
        rows = [[name, *map(percent, row)] for name, row in zip(names, weights.tolist(), strict=True)]
        figures_table(["weights of", *map(controls.key_name, range(len(key)))], *rows)


def scale_tab() -> None:
    """Draw one row of weights at a chosen d_k, and variance and gradient over d_k, with and without the division."""
    if not GUIDED.value or STAGE.value == REVEALED:  # else it would answer the lecture's question
        paragraph(
            "More numbers in a vector make larger dot products: one key takes all, and the softmax's gradient "
            "vanishes. Divided by √dₖ, scores keep their size."
        )
    weights_column, *chart_columns = st.columns([1.15, 1, 1], gap="medium")
    with weights_column:
        _draw_row_of_weights()
    titles = {"variance": "variance of the scores", "gradient": "size of the softmax's gradient"}
    for (field, title), column in zip(titles.items(), chart_columns, strict=True):
        with column:
            alt = f"{title} over d_k, with and without the division by its square root"
            draw_chart(scale_chart(_measured(), field, title), key=f"scoring_{field}", alt=alt)


def _draw_row_of_weights() -> None:
    """Draw the weights of a random query over eight random keys."""
    d_k = D_K.widget(st.select_slider, "Numbers in a vector, dₖ", measures.DIMENSIONS)
    raw = measures.random_scores(d_k, n_queries=1, n_keys=8, seed=0)[0]
    weights = [scores.softmax(-1) for scores in (raw, raw / math.sqrt(d_k))]
    draw_chart(weights_chart(*(row.tolist() for row in weights)), key="scoring_row", alt="Weights of eight random keys")
    undivided, divided = (
        f"{percent(row.max().item())}, gradient {measures.softmax_jacobian_norm(row):.2f}" for row in weights
    )
    st.markdown(f"Largest weight undivided: **{undivided}**; divided: **{divided}**.")


@cached_computation(spinner="Drawing random vectors")
def _measured() -> list[measures.ScaleRow]:
    return measures.measure_scale()
