"""Two formulas on trial: one that cannot attend, and the dot product, measured with and without its division."""

import math

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.topics.scoring.charts import scale_chart, sorted_weights_chart
from attention_core.topics.scoring.compare import AdditiveParts, printed_parts
from attention_core.topics.scoring.scaling import DIMENSIONS, ScaleRow, example_weights, measure_scale
from ui.chart import draw_chart
from ui.computed import computed
from ui.labels import number
from ui.layout import role_colour, shade
from ui.scoring.vector_plane import NAME, key_name
from ui.skeleton import note, say
from ui.state import Field, between, choice, one_of

MANY_KEYS = (4, 16, 64)
N_KEYS = Field(NAME, "n_keys", 16, address="keys", parse=one_of(MANY_KEYS))
D_K = Field(NAME, "d_k", 64, address="d_k", parse=one_of(DIMENSIONS))
SEED = Field(NAME, "scale_seed", 0, address="seed", parse=between(0, 9999))


def printed_tab(query: Tensor, key: Tensor) -> None:
    """Show why v^T tanh([q; k]) gives every query the same weights, on three queries."""
    vector = torch.tensor([1.0, -0.5] * len(query), dtype=torch.float64)
    parts = printed_parts(vector, torch.stack([query, query.flip(0), -query]), key)
    words, numbers = st.columns([0.85, 1.3], gap="medium")
    with words:
        st.latex(
            r"\begin{aligned} v^{\top}\tanh([q; k]) = {} "
            r"& \underbrace{v_q^{\top}\tanh(q)}_{\text{same for every key}} \\ "
            r"& + \underbrace{v_k^{\top}\tanh(k)}_{\text{same for every query}} \end{aligned}"
        )
        say(
            "Without W no unit of the tanh ever sees query and key together. The query's part is a constant along a "
            "row, and the softmax cancels constants: **every query gets the same weights**. A matrix W in front mixes "
            "the two inside the tanh, and only then can the function choose."
        )
    with numbers:
        st.html(_printed_table(parts))
        st.caption(
            "Three queries: yours, yours with its numbers in reverse order, and its opposite; "
            "v is 1, −0.5, 1, −0.5 and so on."
        )


def _printed_table(parts: AdditiveParts) -> str:
    n = len(parts.key_part)
    heads = "".join(f"<th>{key_name(place)}</th>" for place in range(n))
    names, rows = ("q", "q reversed", "−q"), ""
    for name, part, scores, weights in zip(names, *(parts[i].tolist() for i in (0, 2, 3)), strict=True):
        cells = [*map(number, [part, *scores]), *map(_weight_cell, weights)]
        rows += f"<tr><th style='text-align:left;color:{role_colour(Role.QUERY)}'>{name}</th>"
        rows += "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    key_part = "".join(f"<td>{number(part)}</td>" for part in parts.key_part.tolist())
    return f"""<style>
.printed {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.84rem; width: 100%; }}
.printed th, .printed td {{ padding: 4px 5px; text-align: right; font-weight: 400; white-space: nowrap; }}
.printed .top th {{ font-weight: 600; text-align: center; }}
.printed tr.keypart td, .printed tr.keypart th {{ opacity: 0.75; }}
.printed-scroll {{ overflow-x: auto; }}
</style><div class="printed-scroll"><table class="printed">
<tr class="top"><th></th><th>query's part</th><th colspan="{n}" style="color:{role_colour(Role.SCORES)}">scores</th>
<th colspan="{n}" style="color:{role_colour(Role.WEIGHTS)}">weights</th></tr>
<tr><th></th><th></th>{heads}{heads}</tr>
<tr class="keypart"><th style="text-align:left">key's part</th><td></td>{key_part}{"<td></td>" * n}</tr>
{rows}</table></div>"""


def _weight_cell(weight: float) -> str:
    return (
        f"<span style='display:block;background:{shade(max(weight, 0.06))};"
        f"padding:1px 4px;border-radius:2px'>{weight:.0%}</span>"
    )


def scale_tab() -> None:
    """Draw variance, entropy, largest weight and gradient over d_k, and one query's weights at a chosen d_k."""
    words, controls = st.columns([1, 1.1], gap="medium", vertical_alignment="center")
    with words:
        say(
            "A dot product adds up dₖ products. For random numbers of variance 1 the sum has variance dₖ, so scores "
            "grow with the width alone: the softmax saturates, one key takes all, and its gradient vanishes. "
            "Dividing by √dₖ keeps the variance at 1 for every width."
        )
    with controls, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        n_keys = choice("Keys per query", N_KEYS, MANY_KEYS)
        d_k = D_K.widget(st.select_slider, "dₖ of the example", DIMENSIONS, width=190)
        seed = SEED.widget(st.number_input, "Seed", 0, 9999, width=100)
    rows = _measured(n_keys, seed)
    panels = [
        ("variance", "variance of the scores", None),
        ("entropy", "entropy of the weights (bits)", math.log2(n_keys)),
        ("largest", "largest weight", 1 / n_keys),
        ("gradient", "size of the softmax's gradient", None),
    ]
    for column, (field, title, reference) in zip(st.columns(4, gap="small"), panels, strict=True):
        with column:
            chart = scale_chart(rows, field, title, reference=reference, chosen=d_k)
            alt = f"{title} over d_k, with and without the division by its square root"
            draw_chart(chart, key=f"scoring_{field}", alt=alt)
    without, with_scale = example_weights(d_k, n_keys=n_keys, seed=seed)
    chart, words = st.columns([1.2, 1], gap="large", vertical_alignment="center")
    with chart:
        bars = sorted_weights_chart(without.tolist(), with_scale.tolist())
        alt = "One query's weights, largest first, with and without the division"
        draw_chart(bars, key="scoring_example", alt=alt)
    with words:
        here = {row.scaled: row for row in rows if row.d_k == d_k}
        st.markdown(
            f"One random query at dₖ = {d_k}, {n_keys} keys. Without the division its largest weight is "
            f"**{without[0]:.1%}**, with it **{with_scale[0]:.1%}**.\n\n"
            f"Over {8192 // n_keys:,} queries the variance of q · k is **{here[False].variance:.3g}** "
            f"(with the division {here[True].variance:.3g}) and the gradient's size **{here[False].gradient:.3g}** "
            f"(with it {here[True].gradient:.3g})."
        )
        note(
            "Gradient: the Frobenius norm of the softmax's Jacobian diag(w) − w wᵀ, mean over queries. Dotted: what "
            "uniform weights would give. Source: Vaswani et al. 2017, section 3.2.1."
        )


@computed(spinner="Drawing random vectors")
def _measured(n_keys: int, seed: int) -> list[ScaleRow]:
    return measure_scale(n_queries=8192 // n_keys, n_keys=n_keys, seed=seed)
