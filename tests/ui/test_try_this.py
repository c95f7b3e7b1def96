"""A page's surprise: it asks first, then shows what came out beside the guess."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest


def page_with_a_surprise() -> None:
    import streamlit as st

    from ui.state import APP, Field
    from ui.try_this import TryThis, try_this

    light = Field(APP, "light", "off")
    Field("start", "edits", (), address="edits")

    def act() -> None:
        light.value = "on"

    surprise = TryThis(
        "Press the switch",
        "What will the light be?",
        ("off", "on"),
        act,
        lambda: (
            ("off", "on").index(light.value) if light.value in ("off", "on") else -1,
            f"The light is {light.value}.",
        ),
        "lamp",
    )
    try_this("start", surprise)
    st.container(key="lamp").write(light.value)


def test_surprise_asks_first_and_then_shows_what_came_out_beside_the_guess():
    page = AppTest.from_function(page_with_a_surprise, default_timeout=60).run()
    assert page.button(key="start_try").label == "**Try this**: Press the switch"
    page.button(key="start_try").click().run()
    assert page.markdown[-1].value == "off", "nothing happens before the guess"
    page.get("button_group")[0].set_value(0).run()
    assert page.info[0].value == "You guessed: off. **Not so:** The light is on."
    assert page.markdown[-1].value == "on"
    page.session_state["start_tried"] = "1"
    page.run()
    assert page.success[0].value == "You guessed: on. **Right**: The light is on."
    page.button(key="start_try_close").click().run()
    assert page.button(key="start_try")
    assert page.markdown[-1].value == "on", "what was done stays"


def test_a_lecturer_reveals_without_a_guess():
    page = AppTest.from_function(page_with_a_surprise, default_timeout=60).run()
    page.button(key="start_try").click().run()
    assert "start_try_reveal" not in [button.key for button in page.button], "a visitor guesses"
    page.session_state["lecture"] = True
    page.run()
    page.button(key="start_try_reveal").click().run()
    assert page.info[0].value == "**on**. The light is on."
    assert page.markdown[-1].value == "on"


def test_an_answer_goes_away_with_what_it_was_about():
    page = AppTest.from_function(page_with_a_surprise, default_timeout=60).run()
    for changed in ({"light": "broken"}, {"start_edits": ("another",)}):
        page.button(key="start_try").click().run()
        page.get("button_group")[0].set_value(0).run()
        assert page.info
        for key, value in changed.items():
            page.session_state[key] = value
        assert not page.run().info
        assert page.button(key="start_try"), "it can be asked again"


def test_none_of_the_options_is_said_to_be_true_where_another_came_out():
    page = AppTest.from_function(page_with_a_surprise, default_timeout=60)
    page.session_state["light"], page.session_state["start_tried"] = "broken", "revealed"
    assert page.run().info[0].value.strip() == "The light is broken."


def test_styles_are_written_in_one_place(root: Path):
    writers = [path for folder in ("ui", "pages") for path in (root / folder).rglob("*.py")]
    found = {path.name for path in writers if re.search("<style", path.read_text())}
    documents = {"middleware.py", "menu.py"}
    assert found == {"style.py"} | documents
