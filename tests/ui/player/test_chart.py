"""A step as a chart, without a browser: the switch beside Play, in the link, and what it follows."""

import json

import pytest

from pages.transformer.reading import TransformerHead
from tests.support.app import charts, frames, open_page, set_fields


def heatmap(page):
    """Return the description of the step's chart and the numbers of its cells; nothing else is drawn of the step."""
    (chart,) = charts(page)
    cells = next(frame for frame in frames(page) if "value" in frame.columns)
    return chart.proto.alt, cells["value"].tolist()


@pytest.fixture
def page(app):
    return open_page(app, "pages/lookup/page.py")


def test_the_switch_draws_a_chart_that_follows_input_and_step_and_is_clicked_where_rows_ask(page):
    assert [chart.type for chart in charts(page)] == ["bidi_component"]
    page.toggle(key="lookup_step_chart").set_value(True).run()
    assert [chart.type for chart in charts(page)] == ["vega_lite_chart"]
    assert page.query_params["chart"] in ("1", ["1"])
    page.toggle(key="lookup_step_chart").set_value(False).run()
    assert [chart.type for chart in charts(page)] == ["bidi_component"]
    assert "chart" not in page.query_params
    set_fields(page, step_chart=True, step="scores")
    description, scores = heatmap(page)
    assert description.startswith("Scores: ")
    set_fields(page, step="weights")
    description, weights = heatmap(page)
    assert description.startswith("Weights: ")
    assert weights != scores
    set_fields(page, temperature=5.0)
    assert heatmap(page)[1] != weights
    modes = {}
    for step in ("key", "scores"):
        set_fields(page, step_chart=True, step=step)
        modes[step] = list(charts(page)[0].proto.selection_mode)
        params = json.loads(charts(page)[0].proto.spec)["params"]
        assert any("select" in param for param in params), "rows stand out under the pointer, or are clicked"
    assert modes == {"key": [], "scores": ["cell"]}


def test_a_link_shows_the_chart(app):
    app.query_params["chart"] = "1"
    assert charts(open_page(app, "pages/lookup/page.py"))[0].type == "vega_lite_chart"


def test_the_chart_follows_the_head_and_probabilities_are_bars(app):
    page = set_fields(open_page(app, "pages/transformer/page.py"), step_chart=True, step="weights")
    before = heatmap(page)[1]
    assert heatmap(set_fields(page, chosen=TransformerHead("decoder", 2, 4)))[1] != before
    page = set_fields(open_page(app, "pages/pixels/page.py"), step_chart=True, step="class")
    assert "vega_lite_chart" in [chart.type for chart in charts(page)]
