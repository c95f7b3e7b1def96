"""What varies of a chart is data: its spec stays as it is, so that a browser keeps it, and it looks the same."""

import json
import re

import numpy as np
import pytest
import vl_convert

from attention_core.attention.types import Axis, Role
from attention_core.charts.chart import Chart, Spec, data_url
from attention_core.charts.columns import Columns
from attention_core.charts.matrix import matrix_chart
from ui.vary import with_row

SYMBOLS = re.compile(r'<g class="mark-symbol role-mark layer_marks"[^>]*><path[^>]*opacity="0"[^>]*/></g>')


def cells(n: int, seed: int, title: str = "") -> Chart:
    """Return weights of n words, another matrix for each seed."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(n), n)
    words = Axis("words", [f'"{seed}\'s" {number}' for number in range(n)])
    chart = matrix_chart(weights, words, words, Role.WEIGHTS, size=40 * n)
    return chart.properties(title=title) if title else chart


def states(n: int, seed: int, title: str = "") -> Chart:
    """Return a wide matrix, drawn as an image, of which only the columns have names."""
    rows, columns = Axis("numbers", [str(number) for number in range(70)]), Axis("words", [f"w{i}" for i in range(n)])
    chart = matrix_chart(np.random.default_rng(seed).normal(size=(70, n)), rows, columns, Role.VALUE)
    return chart.properties(title=title) if title else chart


def drawn(spec: Spec, data: dict[str, Columns]) -> str:
    """Return the picture of a spec, without the numbers by which it names its parts."""
    frames = {name: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
              for name, columns in data.items()}  # fmt: skip
    plain = json.loads(json.dumps(spec | {"datasets": frames}, default=lambda one: one.item()))
    svg = re.sub(r"<clipPath.*?</clipPath>", "", vl_convert.vegalite_to_svg(plain))
    return SYMBOLS.sub("", re.sub(r"(clip|gradient|layer)_?\d+", r"\1", svg))


@pytest.mark.parametrize("title", ["", "what varies"])
@pytest.mark.parametrize("make", [cells, states])
def test_the_spec_stays_while_words_numbers_size_and_title_change(make, title):
    charts = [make(n, seed, title and f"{title} {seed}") for n, seed in ((9, 0), (9, 1), (11, 2))]
    specs = [chart.spec for chart in charts]
    assert len({json.dumps(spec) for spec in specs}) > 1
    params = [{"name": side, "value": 40, "on": []} for side in ("width", "height")]
    kept, rows = zip(*(with_row(spec | {"params": [*spec.get("params", []), *params]}) for spec in specs), strict=True)
    assert kept[0] == kept[1] == kept[2]
    assert rows[0] != rows[2]


@pytest.mark.parametrize("make", [cells, states])
def test_it_looks_as_before(make):
    chart = make(9, 3, "its title")
    spec, data = chart.spec, chart.data
    data = {name: {column: [data_url(one) if isinstance(one, bytes) else one for one in values]
                   for column, values in columns.items()} for name, columns in data.items()}  # fmt: skip
    kept, row = with_row(spec)
    assert "its title" not in json.dumps(kept)
    assert drawn(kept, data | row) == drawn(spec, data)


def test_a_size_is_told_by_its_param_and_a_spec_without_layers_stays():
    spec = {
        "layer": [],
        "width": 300,
        "autosize": {"type": "pad"},
        "params": [{"name": "width", "value": 300, "on": []}],
    }
    kept, row = with_row(spec)
    assert kept["width"] == 100
    assert kept["layer"][0]["data"] == {"name": "vary"}, "below what can be clicked"
    (name,) = (name for name, values in row["vary"].items() if values == [300])
    assert kept["params"][0]["expr"].endswith(name)
    assert with_row({"mark": "bar", "title": "one"}) == ({"mark": "bar", "title": "one"}, {})


def test_only_lists_and_whole_numbers_of_an_expression_are_data():
    plain = """datum.value < 1e+20 ? {"3": "page 4"}[datum.value] : datum['x 2'] + format(datum.value, '.3~g')"""
    row = {"layer": [{"encoding": {"x": {"axis": {"labelExpr": plain}}}}]}
    said = with_row(row)[0]["layer"][1]["encoding"]["x"]["axis"]["labelExpr"]
    assert said == plain.replace("1e+20", "data('vary')[0].v0")
