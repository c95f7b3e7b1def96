"""A scoring function that is in the registry is on the pages, without a word there that names it."""

import json

import pytest

from attention_core.attention.scores import SCORES
from tests.support.app import frames, open_page, open_question
from tests.support.city_block import CityBlock


@pytest.fixture
def pages(app, monkeypatch):
    monkeypatch.setitem(SCORES, CityBlock.name, CityBlock)
    return app


def sent_data(app, name):
    """The data that Python sent to a component."""
    protos = [element.proto for element in app.get("bidi_component") if element.proto.component_name.endswith(name)]
    return json.loads(protos[0].mixed.json if protos[0].HasField("mixed") else protos[0].json)


def test_it_is_compared_and_has_a_field(pages):
    pages.query_params["all"] = "1"
    open_question(open_page(pages, "pages/scoring/page.py"), "all")
    scene = sent_data(pages, "score_plane")["scene"]
    assert (scene["queries"][-1], scene["formulas"][-1]) == ("city block", CityBlock.short)
    assert sum(scene["weights"][-1]) == pytest.approx(1, abs=1e-3)
    open_question(pages, "field")
    assert [frame for frame in frames(pages) if "ends" in frame][-1]["name"].tolist()[-1] == "city block"


def test_it_is_chosen_and_stepped_through_in_the_workbench(pages):
    pages.query_params["step"], pages.query_params["rules"] = "scores", "1"
    open_page(pages, "pages/vectors/page.py")
    pages.selectbox(key="vectors_scoring").set_value("city block").run()
    open_question(pages, "")
    assert CityBlock.explanation in [element.value for element in pages.markdown]
