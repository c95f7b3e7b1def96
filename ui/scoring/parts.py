"""What follows the vectors on the page of scoring functions: side by side, fields, cosines, the printed formula."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.score import Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Role
from attention_core.charts import ROLE_COLOURS, matrix_chart
from attention_core.charts.palette import BLUE_ORANGE, Ramp
from attention_core.device import to_array
from attention_core.topics.scoring.compare import (
    Parts,
    comparison_frame,
    cosine_matrix,
    favourites,
    nearest_key,
    printed_parts,
    score_field,
)
from ui.scoring.bars import score_bars
from ui.scoring.fields import score_fields
from ui.scoring.state import NAME
from ui.scoring.vector_plane import EXTENT

FIELD_POINTS = 41


def key_name(place: int) -> str:
    """Return k₁ for 0, k₂ for 1 and so on."""
    return "k" + str(place + 1).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def side_by_side(traces: Mapping[str, AttentionTrace], active: int) -> None:
    """Draw scores and weights of all functions on common axes, and say who prefers which key."""
    scores = {name: trace.scores(0)[0].tolist() for name, trace in traces.items()}
    weights = {name: trace.weights(0)[0].tolist() for name, trace in traces.items()}
    formulas = {name: trace.score.short for name, trace in traces.items()}
    names = [key_name(place) for place in range(next(iter(traces.values())).n_keys)]
    score_bars(NAME, scores, weights, formulas, names, active=active)


def verdict(traces: Mapping[str, AttentionTrace], query: Tensor, key: Tensor) -> None:
    """Say which function likes which key best, and which key is nearest."""
    by_key: dict[int, list[str]] = {}
    undecided = []
    for name, favourite in favourites(traces).items():
        if favourite.key is None:
            undecided.append(name)
        else:
            by_key.setdefault(favourite.key, []).append(f"{name} ({favourite.weight:.0%})")
    parts = [f"**{key_name(place)}**: {', '.join(names)}" for place, names in sorted(by_key.items())]
    if undecided:
        parts.append(f"nobody in particular: {', '.join(undecided)}")
    st.markdown(f"Largest weight to {'; '.join(parts)}. Nearest to q is **{key_name(nearest_key(query, key))}**.")


def fields(functions: Mapping[str, Score], query: Tensor, key: Tensor, changed: list[str], shared_scale: bool) -> None:
    """Draw every function as a field over all key positions in the plane."""
    values = {
        name: to_array(score_field(function, query, extent=EXTENT, n=FIELD_POINTS))
        for name, function in functions.items()
    }
    st.caption(
        "Blue arrow: query. Orange dots: keys. A key on an orange spot scores high, on a blue spot low; the borders "
        "of the bands are level lines. The learned ones were trained on the upper half of the plane; below it they "
        "guess."
    )
    shapes = {name: function.picture for name, function in functions.items()}
    own = {name: "With the parameters that you put in." for name in changed}
    score_fields(NAME, values, shapes | own, query.tolist(), key.tolist(), extent=EXTENT, shared_scale=shared_scale)


def cosines(query: Tensor, key: Tensor) -> None:
    """Draw the cosine of every pair of vectors as a matrix."""
    values = to_array(cosine_matrix(torch.cat([query[None], key])))
    axis = Axis("vectors", ["q", *(key_name(place) for place in range(len(key)))])
    st.altair_chart(
        matrix_chart(
            values, axis, axis, Role.SCORES, title="cosine of the angle", size=330, ramp=Ramp(BLUE_ORANGE, -1, 1)
        ),
        width="content",
        key=f"{NAME}_cosines",
        alt="Cosine of every pair of vectors",
    )


def printed_section(vector: Tensor, query: Tensor, key: Tensor) -> None:
    """Show why v^T tanh([q; k]) gives every query the same weights, on three queries."""
    queries = torch.stack([query, query.flip(0), -query])
    parts = printed_parts(vector, queries, key)
    words, numbers = st.columns([0.85, 1.3], gap="medium")
    with words:
        st.latex(
            r"\begin{aligned} v^{\top}\tanh([q; k]) = {} "
            r"& \underbrace{v_q^{\top}\tanh(q)}_{\text{same for every key}} \\ "
            r"& + \underbrace{v_k^{\top}\tanh(k)}_{\text{same for every query}} \end{aligned}"
        )
        st.markdown(
            "Without W no unit of the tanh ever sees query and key together. The query's part is a constant along a "
            "row, and the softmax cancels constants: **every query gets the same weights**. A matrix W in front mixes "
            "the two inside the tanh, and that is what makes the function look."
        )
    with numbers:
        st.html(_printed_table(parts))
        st.caption(
            "Three queries: yours, yours with its numbers in reverse order, and its opposite; "
            "v is 1, −0.5, 1, −0.5 and so on."
        )


def _printed_table(parts: Parts) -> str:
    n = len(parts.key_part)
    heads = "".join(f"<th>{key_name(place)}</th>" for place in range(n))
    rows = []
    for place, name in enumerate(("q", "q reversed", "−q")):
        scores = "".join(f"<td>{_signed(one)}</td>" for one in parts.scores[place].tolist())
        weights = "".join(f"<td>{_weight_cell(one)}</td>" for one in parts.weights[place].tolist())
        rows.append(
            f"<tr><th style='text-align:left;color:{ROLE_COLOURS[Role.QUERY]}'>{name}</th>"
            f"<td>{_signed(float(parts.query_part[place]))}</td>{scores}{weights}</tr>"
        )
    key_part = "".join(f"<td>{_signed(one)}</td>" for one in parts.key_part.tolist())
    return f"""<style>
.printed {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.84rem; width: 100%; }}
.printed th, .printed td {{ padding: 4px 5px; text-align: right; font-weight: 400; white-space: nowrap; }}
.printed .top th {{ font-weight: 600; text-align: center; }}
.printed tr.keypart td, .printed tr.keypart th {{ opacity: 0.75; }}
.printed-scroll {{ overflow-x: auto; }}
</style><div class="printed-scroll"><table class="printed">
<tr class="top"><th></th><th>query's part</th><th colspan="{n}" style="color:{ROLE_COLOURS[Role.SCORES]}">scores</th>
<th colspan="{n}" style="color:{ROLE_COLOURS[Role.WEIGHTS]}">weights</th></tr>
<tr><th></th><th></th>{heads}{heads}</tr>
<tr class="keypart"><th style="text-align:left">key's part</th><td></td>{key_part}{"<td></td>" * n}</tr>
{"".join(rows)}</table></div>"""


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _weight_cell(weight: float) -> str:
    shade = int(np.clip(round(60 * weight), 4, 60))
    return (
        f"<span style='display:block;background:color-mix(in srgb,{ROLE_COLOURS[Role.WEIGHTS]} {shade}%,transparent);"
        f"padding:1px 4px;border-radius:2px'>{weight:.0%}</span>"
    )


def export(traces: Mapping[str, AttentionTrace]) -> None:
    """Offer the numbers of all functions as a table; the address is the link."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            "Scores and weights of all (.csv)",
            lambda: comparison_frame(traces).to_csv(index=False),
            "scores.csv",
            on_click="ignore",
            key=f"{NAME}_csv",
        )
        st.caption("The page's address holds your vectors: a link reopens them.")
