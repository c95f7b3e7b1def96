"""The line with what to try: there on arrival, gone once it was done or the page was set otherwise."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.tools import open_tab, opened, settled


def tries(page) -> bool:
    bodies = [one.proto.body for one in page.get("html")]
    return any("Try this" in body for body in bodies) and not any('class="tried"' in body for body in bodies)


@pytest.mark.parametrize("name", ["scoring", "groups"])
def test_the_line_is_there_on_arrival_and_while_tabs_are_opened(app, name):
    page = opened(app, f"pages/{name}.py")
    assert tries(page)
    assert tries(open_tab(page, "take"))
    assert tries(settled(page, lecture=True))


def test_it_goes_when_something_else_is_tried_and_is_no_other_pages(app):
    page = opened(app, "pages/groups.py")
    page.button(key="groups_preset_1").click().run()
    assert not tries(page)
    page.query_params.clear()
    assert not tries(opened(app, "pages/start.py"))
    assert tries(opened(app, "pages/scoring.py"))


def test_a_tab_may_be_all_there_is_to_do(app):
    page = opened(app, "pages/find.py")
    assert tries(page)
    assert not tries(open_tab(page, "block"))


def test_a_link_to_something_else_comes_without_the_line(app):
    app.query_params["numbers"] = "1-2-3"
    assert not tries(opened(app, "pages/groups.py"))


def test_no_part_that_reruns_alone_is_another_when_it_goes(app):
    page = opened(app, "pages/vectors.py")
    parts = set(page._fragment_storage._fragments)
    page.query_params["other"] = "1"
    assert not tries(settled(page))
    assert set(page._fragment_storage._fragments) == parts


def page_with_a_surprise() -> None:
    import streamlit as st

    from ui.state import APP, Field
    from ui.try_this import TryThis, try_this

    light = Field(APP, "light", "off")

    def act() -> None:
        light.value = "on"

    surprise = TryThis(
        "Press the switch",
        "What will the light be?",
        ("off", "on"),
        act,
        lambda: (1, f"The light is {light.value}."),
        "lamp",
    )
    try_this("start", surprise)
    st.container(key="lamp").write(light.value)


def test_surprise_asks_first_and_then_shows_what_came_out_beside_the_guess():
    page = AppTest.from_function(page_with_a_surprise).run()
    assert page.button(key="start_try").label == "**Try this**: Press the switch"
    page.button(key="start_try").click().run()
    assert page.markdown[-1].value == "off", "nothing happens before the guess"
    page.get("button_group")[0].set_value(0).run()
    assert page.info[0].value == "You guessed: off. The light is on."
    assert page.markdown[-1].value == "on"
    page.session_state["start_tried"] = "1"
    page.run()
    assert page.success[0].value == "You guessed: on. **Right**: The light is on."
    page.button(key="start_try_close").click().run()
    assert page.button(key="start_try")
    assert page.markdown[-1].value == "on", "what was done stays"
