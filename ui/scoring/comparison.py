"""All functions side by side, as bars and as coloured fields; a formula that cannot attend, and the scale on trial.

Components rather than Altair charts because they are redrawn many times a second while an arrow is dragged: building
and checking an Altair chart takes Python longer than all of the page's other work together.
"""

import base64
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.scores import SCORES, Score
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.vega import BLUE_ORANGE, ROLE_COLOURS, Chart, Ramp
from attention_core.charts.words import Bars, bar_table
from attention_core.device import to_array
from attention_core.topics.scoring.charts import scale_chart, score_fields, sorted_weights_chart
from attention_core.topics.scoring.compare import (
    DIMENSIONS,
    AdditiveParts,
    ScaleRow,
    example_weights,
    favourites,
    measure_scale,
    nearest_key,
    printed_parts,
    score_field,
)
from attention_core.topics.scoring.presets import EXTENT
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.computed import cached_computation
from ui.labels import number
from ui.layout import role_colour, shade
from ui.scoring.controls import NAME, key_name
from ui.skeleton import note, paragraph
from ui.state import Field, between, one_of, single_choice

SHARED = Field(NAME, "shared", False, address="shared")
TAKEN = Field(NAME, "taken", "scaled dot", address="taken", parse=one_of(SCORES))
"""The function whose numbers are taken along."""
POINTS = 41
BANDS = 17
"""Colour bands: their borders are level lines, which show a field's shape better than a smooth ramp."""

_bars = component("score_bars")
_fields = component("score_fields")


def side_by_side(traces: Mapping[str, AttentionTrace], active: int) -> None:
    """Draw one block per function with one line per key, the active one at full strength."""
    rows = [
        {
            "name": name,
            "formula": trace.score.short,
            "scores": trace.scores(0)[0].tolist(),
            "weights": trace.weights(0)[0].tolist(),
        }
        for name, trace in traces.items()
    ]
    limit = _nice_limit(max(abs(score) for row in rows for score in row["scores"]))
    keys = [key_name(place) for place in range(len(rows[0]["scores"]))]
    note_picture(lambda: _bar_picture(rows, limit), "Scores and weights under every function")
    _bars(key="scoring_bars", data={"functions": rows, "keys": keys, "limit": limit, "active": active})


def _bar_picture(rows: Sequence[Mapping], limit: float) -> Chart:
    n_keys = len(rows[0]["scores"])
    scores, weights = ([one for row in rows for one in row[what]] for what in ("scores", "weights"))
    columns = [
        Bars("score", scores, limit, [number(score, ".3g") for score in scores], (ROLE_COLOURS[Role.SCORES],) * 2),
        Bars("weight", weights, 1.0, [f"{weight:.0%}" for weight in weights], (ROLE_COLOURS[Role.WEIGHTS],)),
    ]
    heads = [(number * n_keys, row["name"]) for number, row in enumerate(rows)]
    return bar_table([f"k{place + 1}" for _ in rows for place in range(n_keys)], columns, heads)


def verdict(traces: Mapping[str, AttentionTrace], query: Tensor, key: Tensor) -> None:
    """Say which function likes which key best, and which key is nearest."""
    by_key, undecided = defaultdict(list), []
    for name, (place, weight) in favourites(traces).items():
        if place is None:
            undecided.append(name)
        else:
            by_key[place].append(f"{name} ({weight:.0%})")
    parts = [f"**{key_name(place)}**: {', '.join(names)}" for place, names in sorted(by_key.items())]
    if undecided:
        parts.append(f"nobody in particular: {', '.join(undecided)}")
    paragraph(f"Largest weight to {'; '.join(parts)}. Nearest to q is **{key_name(nearest_key(query, key))}**.")


def _nice_limit(largest: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... that is not below: an axis that seldom jumps while scores move."""
    if not math.isfinite(largest) or largest <= 1:
        return 1
    power = 10 ** math.floor(math.log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest)


def fields_tab(functions: Mapping[str, Score], query: Tensor, key: Tensor, changed: Sequence[str]) -> None:
    """Draw every function as a field over all key positions: blue = low, orange = high, pale = its middle.

    The softmax ignores a constant, so that the middle need not be 0. Query (d,), key (n_keys, d); changed are the
    functions whose parameters the visitor put in.
    """
    if len(query) != 2:
        st.info("A field needs a plane: choose 2 numbers per vector.")
        return
    words, drawn = st.columns([0.3, 1], gap="medium")
    with words:
        st.markdown("**What would a key score there?**")
        shared = SHARED.widget(st.toggle, "One colour scale for all")
        st.caption(
            "Blue arrow: query. Orange dots: keys. A key on an orange spot scores high, on a blue spot low; the "
            "borders of the bands are level lines. The learned ones were trained on the upper half of the plane; below "
            "it they guess."
        )
    fields = {
        name: to_array(score_field(function, query, extent=EXTENT, n=POINTS)) for name, function in functions.items()
    }
    largest = max(float(np.ptp(field)) for field in fields.values())
    panels, ramps = [], []
    for name, field in fields.items():
        middle = (field.max() + field.min()) / 2
        reach = max((largest if shared else float(np.ptp(field))) / 2, 1e-9)
        ramps.append(ramp := Ramp(BLUE_ORANGE, middle - reach, middle + reach))
        index = np.rint(ramp.position(field) * 255).astype(np.uint8)
        panels.append(
            {
                "name": name,
                "field": base64.b64encode(index.tobytes()).decode(),
                "low": number(ramp.low, ".3g"),
                "high": number(ramp.high, ".3g"),
                "shape": "With the parameters that you put in." if name in changed else functions[name].picture,
            }
        )
    note_picture(
        lambda: score_fields(fields, ramps, query.tolist(), key.tolist(), EXTENT, bands=BANDS),
        "What each function would score at every place of the plane",
    )
    band = np.minimum(np.arange(256) * BANDS // 256, BANDS - 1)
    colours = base64.b64encode(Ramp(BLUE_ORANGE, 0, 1).lookup(BANDS)[band].tobytes()).decode()
    with drawn:
        vectors = {"query": query.tolist(), "keys": key.tolist()}
        data = {"panels": panels, "n": POINTS, "colours": colours, "extent": EXTENT, **vectors}
        _fields(key="scoring_fields", data=data)


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
        paragraph(
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
        paragraph(
            "A dot product adds up dₖ products. For random numbers of variance 1 the sum has variance dₖ, so scores "
            "grow with the width alone: the softmax saturates, one key takes all, and its gradient vanishes. "
            "Dividing by √dₖ keeps the variance at 1 for every width."
        )
    with controls, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        n_keys = single_choice("Keys per query", N_KEYS, MANY_KEYS)
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


@cached_computation(spinner="Drawing random vectors")
def _measured(n_keys: int, seed: int) -> list[ScaleRow]:
    return measure_scale(n_queries=8192 // n_keys, n_keys=n_keys, seed=seed)
