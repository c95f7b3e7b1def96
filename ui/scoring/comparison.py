"""Two scores that disagree, all of them, and their fields; a formula that cannot attend, and the scale on trial.

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
from attention_core.topics.scoring.charts import vector_plane as plane
from attention_core.topics.scoring.compare import (
    DIMENSIONS,
    ScaleRow,
    compare,
    example_weights,
    favourites,
    measure_scale,
    nearest_key,
    printed_parts,
    score_field,
)
from attention_core.topics.scoring.presets import EXTENT, VECTOR_PRESETS, Vectors
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.computed import cached_computation
from ui.labels import number
from ui.layout import figures_table
from ui.scoring.controls import ACTIVE, ALL, NAME, PLANE, VECTORS, arrange, key_name, put_formula, take_move
from ui.skeleton import note, paragraph
from ui.state import Field, one_of

POINTS = 41
BANDS = 17
"""Colour bands: their borders are level lines, which show a field's shape better than a smooth ramp."""

_fields = component("score_fields")


TWO = ("dot", "L2 distance")


def score_plane(vectors: Vectors, traces: Mapping[str, AttentionTrace]) -> None:
    """Draw the arrows and what two functions, or all, make of them. Call it last, see VectorPlane.draw."""
    query, keys, bare = list(vectors.query), [list(key) for key in vectors.keys], vectors.d != 2
    shown = traces if ALL.value or bare else {name: traces[name] for name in TWO}
    rows = [
        {
            "name": name,
            "formula": trace.score.short,
            "scores": trace.scores(0)[0].tolist(),
            "weights": trace.weights(0)[0].tolist(),
        }
        for name, trace in shown.items()
    ]
    limit = _nice_limit(max(abs(score) for row in rows for score in row["scores"]))
    note_picture(lambda: _bar_picture(rows, limit), "Scores and weights of every key")
    if not bare:
        note_picture(lambda: plane(query, keys, EXTENT), "The query and the keys as arrows")
    data = {
        "names": ["q", *map(key_name, range(len(keys)))],
        "kinds": ["query", *["key"] * len(keys)],
        "extent": EXTENT,
        "functions": rows if shown is traces else None,
        "limit": limit,
        "bare": bare,
    }
    PLANE.draw([query, *keys], data, take_move, active=ACTIVE.value + 1)


def lay_on_query() -> None:
    """Put the first example, with its first key where the query is."""
    first = VECTOR_PRESETS[0]
    arrange(Vectors(first.query, (first.query, *first.keys[1:]), "k₁ is the query itself, k₂ is longer."))


def what_dot_chose() -> tuple[int, str]:
    """Return the key that the dot product chooses now, and in words what it and nearness make of it."""
    query, key = (torch.tensor(part, dtype=torch.float64) for part in ([VECTORS.value.query], VECTORS.value.keys))
    best = favourites(compare({name: SCORES[name]() for name in TWO}, query, key))
    (dot, weight), (near, share) = (best[name] for name in TWO)
    if dot is None or near is None:
        return -1, "All keys fit equally well now."
    words = f"The dot product gives {key_name(dot)} {weight:.0%}, nearness gives {key_name(near)} {share:.0%}. "
    is_longer = bool(key[dot].norm() > key[near].norm())
    return dot, words + (f"{key_name(dot)} is longer, and a dot product grows with length." if is_longer else "")


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
    st.markdown(f"Largest weight to {'; '.join(parts)}. Nearest to q is **{key_name(nearest_key(query, key))}**.")


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
    st.caption(
        "Blue arrow: query. Dots: keys. A key on an orange spot would score high, on a blue spot low. The learned ones "
        "were trained on the upper half of the plane; below it they guess."
    )
    fields = {
        name: to_array(score_field(function, query, extent=EXTENT, n=POINTS)) for name, function in functions.items()
    }
    panels, ramps = [], []
    for name, field in fields.items():
        middle, reach = (field.max() + field.min()) / 2, max(float(np.ptp(field)) / 2, 1e-9)
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
    vectors = {"query": query.tolist(), "keys": key.tolist()}
    _fields(key="scoring_fields", data={"panels": panels, "n": POINTS, "colours": colours, "extent": EXTENT, **vectors})


D_K = Field(NAME, "d_k", 64, address="d_k", parse=one_of(DIMENSIONS))
EXAMPLE_KEYS = 16


def printed_tab(query: Tensor, key: Tensor) -> None:
    """Show why v^T tanh([q; k]) gives every query the same weights, on three queries."""
    vector = torch.tensor([1.0, -0.5] * len(query), dtype=torch.float64)
    weights = printed_parts(vector, torch.stack([query, query.flip(0), -query]), key).weights
    words, numbers = st.columns([1, 1], gap="large", vertical_alignment="center")
    with words:
        st.latex(
            r"\begin{aligned} v^{\top}\tanh([q; k]) = {} "
            r"& \underbrace{v_q^{\top}\tanh(q)}_{\text{same for every key}} \\ "
            r"& + \underbrace{v_k^{\top}\tanh(k)}_{\text{same for every query}} \end{aligned}"
        )
        paragraph(
            "Without W, query and key never meet inside the tanh. The query's part is the same for every key, and the "
            "softmax cancels what all scores share: **every query gets the same weights**. A matrix W in front mixes "
            "the two, and only then can the function choose."
        )
        st.button("Put it in the place of concat", key="scoring_printed", on_click=put_formula, args=("printed",))
    with numbers:
        names, places = ("q", "q reversed", "−q"), range(len(key))
        rows = [[name, *(f"{weight:.0%}" for weight in row)] for name, row in zip(names, weights.tolist(), strict=True)]
        figures_table(["weights of", *map(key_name, places)], *rows)
        st.caption("Three queries: yours, its numbers in reverse order, its opposite. v is 1, −0.5, 1, −0.5 and so on.")


def scale_tab() -> None:
    """Draw variance and gradient over d_k, and one query's weights at a chosen d_k, with and without the division."""
    paragraph(
        "A dot product adds up dₖ products. For random numbers of variance 1 the sum has variance dₖ: scores grow with "
        "the width alone, one key takes all, and the softmax's gradient vanishes. Divided by √dₖ, the variance stays 1 "
        "for every width."
    )
    d_k = D_K.widget(st.select_slider, "dₖ of the example", DIMENSIONS, width=260)
    rows, pictures = _measured(), st.columns([1, 1, 1.3], gap="medium")
    panels = (("variance", "variance of the scores"), ("gradient", "size of the softmax's gradient"))
    for (field, title), column in zip(panels, pictures, strict=False):
        with column:
            alt = f"{title} over d_k, with and without the division by its square root"
            draw_chart(scale_chart(rows, field, title, chosen=d_k), key=f"scoring_{field}", alt=alt)
    without, with_scale = example_weights(d_k, n_keys=EXAMPLE_KEYS)
    with pictures[2]:
        bars = sorted_weights_chart(without.tolist(), with_scale.tolist())
        draw_chart(bars, key="scoring_example", alt="One query's weights, largest first, with and without the division")
    here = {row.scaled: row for row in rows if row.d_k == d_k}
    st.markdown(
        f"One random query at dₖ = {d_k}, {EXAMPLE_KEYS} keys: its largest weight is **{without[0]:.1%}** without the "
        f"division, **{with_scale[0]:.1%}** with it. Over 512 queries the variance of q · k is "
        f"**{here[False].variance:.3g}** (with it {here[True].variance:.3g}), the gradient's size "
        f"**{here[False].gradient:.3g}** (with it {here[True].gradient:.3g})."
    )
    note(
        "Gradient: the Frobenius norm of the softmax's Jacobian diag(w) − w wᵀ, mean over queries. Source: Vaswani et "
        "al. 2017, section 3.2.1."
    )


@cached_computation(spinner="Drawing random vectors")
def _measured() -> list[ScaleRow]:
    return measure_scale(n_keys=EXAMPLE_KEYS)
