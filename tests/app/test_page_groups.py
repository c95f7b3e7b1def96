"""Beyond pairs, without a browser: presets, typed numbers, both heads, what survives, what is missing."""

import shutil

import pytest

from attention_core.data.match3 import PRESETS
from attention_core.weights import FOLDER
from tests.app.tools import open_tab, opened, said, steps_to_the_end

PAGE, OTHER = "pages/groups.py", "pages/start.py"
NUMBERS = "groups_text"


def table(page) -> str:
    return next(one.proto.body for one in page.get("html") if 'class="answers"' in one.proto.body)


def n_answered(page) -> int:
    return table(page).count("<th class=")


def type_numbers(page, text):
    page.text_input(key=NUMBERS).set_value(text).run()
    return page


def test_it_arrives_with_numbers_answers_and_charts(page):
    assert not page.error
    assert table(page).count('class="wrong"') > 0
    assert sum(len(open_tab(page, tab).get("vega_lite_chart")) for tab in ("steps", "all", "right", "why")) == 3
    open_tab(page, "right")
    assert next(one.value for one in page.metric) == "100.0%"


def test_every_preset_is_answered_and_explained(page):
    for place, preset in enumerate(PRESETS.values()):
        page.button(key=f"groups_preset_{place}").click().run()
        assert not page.error
        assert page.text_input(key=NUMBERS).value == " ".join(map(str, preset.numbers))
        assert preset.note in said(page)
        assert n_answered(page) == len(preset.numbers)


def test_what_cannot_be_read_is_told_and_the_last_numbers_stay(page):
    type_numbers(page, "3 4 24 9")
    faults = {"1 2 x": "“x” is not", "": "none", "5": "at least 3", "1.5 2 3": "“1.5”", "<b>1</b> 2 3": "not a whole"}
    for text, remark in faults.items():
        type_numbers(page, text)
        assert remark in page.error[0].value
        assert n_answered(page) == 4
        assert page.text_input(key=NUMBERS).value == text


def test_numbers_beyond_the_modulus_and_too_many_are_bounded_and_told(page):
    type_numbers(page, " ".join(["40"] * 30))
    assert "The first 16 of 30" in page.info[0].value
    assert "40 → 9" in page.info[0].value
    assert table(page).count(">9</th>") == 16


@pytest.mark.parametrize("head", ["triples", "pairs"])
def test_every_step_of_both_heads_can_be_shown(page, head):
    page.segmented_control(key="groups_head").set_value(head).run()
    seen = steps_to_the_end(page)
    assert seen[-1] == "answer"


def test_choosing_a_query_shows_its_pairs(page):
    page.session_state["groups_step"] = "weights"
    page.button(key="groups_preset_1").click().run()
    page.segmented_control(key="groups_query").set_value(7).run()
    assert "1 + 24 and 4 + 21 and 15 + 10. Together with 6 each gives a multiple of 31" in said(page)
    page.button(key="groups_preset_2").click().run()
    assert "No two others give a multiple" in said(page)


def test_equal_numbers_are_told_apart(page):
    type_numbers(page, "0 0 0 0")
    labels = [one.content for one in page.segmented_control(key="groups_query").proto.options]
    assert len(set(labels)) == 4
    page.segmented_control(key="groups_query").set_value(2).run()
    assert page.session_state["groups_query"] == 2


def test_numbers_query_and_step_survive_leaving_the_page(page):
    type_numbers(page, "3 4 24 9 1")
    page.segmented_control(key="groups_query").set_value(3).run()
    opened(page, OTHER)
    opened(page, PAGE)
    assert page.text_input(key=NUMBERS).value == "3 4 24 9 1"
    assert page.session_state["groups_query"] == 3
    assert n_answered(page) == 5


def test_an_address_can_carry_numbers(app):
    app.query_params["numbers"] = "1-2-28-5"
    opened(app, PAGE)
    assert app.text_input(key=NUMBERS).value == "1 2 28 5"


def test_fresh_sequences_are_answered_when_asked(page):
    open_tab(page, "right").button(key="groups_fresh").click().run()
    assert "two at once **100.00%**" in said(page)


def test_missing_weights_are_told_without_a_traceback(app, tmp_path, monkeypatch):
    shutil.copy(FOLDER / "match3-simplicial.json", tmp_path)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    import streamlit as st

    st.cache_resource.clear()
    opened(app, PAGE)
    assert "cannot be loaded" in app.error[0].value
    st.cache_resource.clear()
