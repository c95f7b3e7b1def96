"""Look up softly, without a browser: presets, edited records, queries, temperature, what survives, bad input."""

import math
import re

import pytest

from attention_core.topics.lookup.records import PRESETS
from tests.app.tools import body_with, open_tab, opened, said, steps_to_the_end

PAGE, OTHER = "pages/lookup.py", "pages/start.py"
QUERIES = "lookup_queries"


def take(page, preset):
    page.segmented_control(key="lookup_preset").set_value(preset).run()
    return page


def ask(page, text):
    page.text_area(key=QUERIES).set_value(text).run()
    return page


def with_rows(page, rows):
    """Come to the page with these records, as after an edit and a visit elsewhere."""
    opened(page, OTHER)
    page.query_params.clear()  # as a browser does when another page is opened
    page.session_state["lookup_rows"] = rows
    return opened(page, PAGE)


def answers(page) -> str:
    return body_with(page, 'class="looked-up"')


def test_every_preset_is_looked_up_exactly_and_softly(page):
    for preset in PRESETS:
        take(page, preset)
        assert not page.error
        assert not page.info
        assert PRESETS[preset].note in said(page)
        assert answers(page).count("<tr>") == 1 + len(PRESETS[preset].queries)
        assert page.text_area(key=QUERIES).value == "\n".join(PRESETS[preset].queries)
        assert sum(len(open_tab(page, tab).get("vega_lite_chart")) for tab in ("closer", "steps")) >= 3


def test_a_misspelled_query_misses_exactly_and_hits_softly(page):
    ask(page, "Show, attend and tell\nShow atend an tel")
    body = answers(page)
    assert body.count(">miss<") == 1
    assert body.count("Show, attend and tell (100%") == 2


def test_temperature_takes_look_up_into_the_plain_average(page):
    ask(page, "Neural Turing machines")
    page.select_slider(key="lookup_temperature").set_value(0.005).run()
    assert ">2014<" in answers(page)
    page.select_slider(key="lookup_temperature").set_value(5.0).run()
    years = [row[2] for row in PRESETS["Papers"].table.rows]
    average = float(re.search(r"<td>2014</td><td>(.*?)</td>", answers(page)).group(1))
    assert average == pytest.approx(sum(years) / len(years), abs=0.4)


def test_a_query_that_resembles_nothing_is_told(page):
    ask(page, "zzzz qqqq")
    assert "a softmax cannot answer “nothing fits”" in said(page)


def test_another_column_can_be_asked_and_another_handed_over(page):
    page.selectbox(key="lookup_value").set_value("abstract").run()
    assert "layers of self-attention" in answers(page)
    page.multiselect(key="lookup_key").set_value(["year"]).run()
    assert "is not a finite number" in said(page)
    ask(page, "2016")
    assert answers(page).count("<tr>") == 2


@pytest.mark.parametrize("preset", ["Phone book", "Noisy time series"])
def test_every_step_can_be_shown(page, preset):
    open_tab(take(page, preset), "steps")
    seen = steps_to_the_end(page)
    assert seen[-1] == "context"


def test_records_queries_and_temperature_survive_leaving_the_page(page):
    take(page, "Phone book")
    ask(page, "Somebody")
    page.select_slider(key="lookup_temperature").set_value(0.3).run()
    with_rows(page, [["Some Body", "555-0001"], ["Else", "555-0002"]])
    assert page.segmented_control(key="lookup_preset").value == "Phone book"
    assert page.text_area(key=QUERIES).value == "Somebody"
    assert page.select_slider(key="lookup_temperature").value == 0.3
    assert "555-0001" in answers(page)


def test_restore_brings_the_preset_back(page):
    with_rows(page, [["only one", "text", 2000]])
    page.button(key="lookup_restore").click().run()
    assert "Attention is all you need (100%" in answers(page)


def test_rows_that_cannot_be_used_are_named_and_the_rest_is_kept(page):
    faults = (
        (["bad", "text", None], "row 2 (year)"),
        (["bad", "text", math.inf], "row 2 (year)"),
        ([None, "text", 2001], "row 2 (title)"),
        (["first", "text", 2001], "“first” is the key of several records"),
    )
    for row, remark in faults:
        with_rows(page, [["first", "text", 2000], row])
        assert remark in said(page)
        assert not page.error
        assert answers(page)


def test_an_empty_table_says_what_to_do(page):
    with_rows(page, [])
    assert "Add a row" in page.error[0].value
    assert not answers(page)


def test_queries_outlive_an_empty_table(page):
    ask(page, "attension")
    with_rows(page, [])
    with_rows(page, [["attention", "text", 2000]])
    assert page.text_area(key=QUERIES).value == "attension"
    assert "attention (100%" in answers(page)


def test_ten_thousand_rows_are_bounded_and_told(page):
    with_rows(page, [[f"title {n}", "text", 2000 + n % 20] for n in range(10_000)])
    assert "the first 64 are used" in said(page)
    assert answers(page)


def test_queries_are_bounded_and_told(page):
    faults = (
        ("Papers", "", "Type a query"),
        ("Papers", "\n".join(f"query {n}" for n in range(30)), "The first 12 of"),
        ("Noisy time series", "2\nnan\nsoon", "“soon” is not a finite number"),
        ("Noisy time series", "-1e9", ""),
    )
    for preset, text, remark in faults:
        ask(take(page, preset), text)
        assert not page.error
        assert remark in said(page)


def test_what_people_type_is_shown_as_text_not_as_html(page):
    ask(page, "<img src=x onerror=alert(1)>")
    assert "<img" not in answers(page)


def test_an_address_can_carry_a_table(app):
    app.query_params["table"] = "noisy-time-series"
    opened(app, PAGE)
    assert app.segmented_control(key="lookup_preset").value == "Noisy time series"


def test_words_of_a_link_are_no_markdown(app):
    app.query_params["q"] = "![x](https://elsewhere.example/x.png)\nWho?"
    page = app.switch_page(PAGE).run()
    options = [option for group in page.button_group for option in group.options]
    assert any("elsewhere" in str(option) for option in options)
    assert not any("![" in str(option) for option in options)


def test_a_question_finds_by_meaning_what_it_does_not_find_by_spelling(page):
    body = answers(take(page, "Ask a text"))
    assert "On Monday the old car would not start. (6" in body
    for tab in ("closer", "steps", "numbers"):
        open_tab(page, tab)
    assert "8 pieces" in said(page)
    page.segmented_control(key="lookup_by").set_value("spelling").run()
    assert "they baked bread and listened to the radio. (5" in answers(page)


def test_without_a_sentence_encoder_the_page_says_so_and_keeps_to_spelling(page, monkeypatch):
    monkeypatch.setattr("ui.lookup.records.MODELS", ("nowhere/at-all",))
    take(page, "Ask a text")
    assert "MiniLM is not on this machine" in said(page)
    assert not page.error
    assert "baked bread" in answers(page)


def test_several_columns_make_one_key(page):
    page.multiselect(key="lookup_key").set_value(["title", "abstract"]).run()
    ask(page, "FlashAttention. Exact attention, computed tile by tile in fast memory, without writing the matrix down")
    assert ">2022<" in answers(page)
    assert page.query_params["key"] in ("0.1", ["0.1"])
    page.multiselect(key="lookup_key").set_value(["title", "year"]).run()
    ask(page, "FlashAttention. 2022")
    assert "FlashAttention. 2022 (100%" in answers(page)


def test_no_key_column_says_what_to_choose(page):
    page.multiselect(key="lookup_key").set_value([]).run()
    assert "choose at least one column" in page.error[0].value
    assert not answers(page)


def test_a_link_carries_several_key_columns_and_the_way_of_comparing(app):
    app.query_params["key"], app.query_params["by"] = "1.0", "meaning"
    opened(app, PAGE)
    assert app.multiselect(key="lookup_key").value == ["abstract", "title"]
    assert app.segmented_control(key="lookup_by").value == "meaning"
    assert answers(app)


@pytest.mark.parametrize("places", ["7", "-1", "0.x", ""])
def test_a_link_to_columns_that_are_not_there_asks_the_presets_own(app, places):
    app.query_params["key"] = places
    opened(app, PAGE)
    assert app.multiselect(key="lookup_key").value == ["title"]


def test_one_row_and_a_thousand_are_looked_up_by_meaning(page):
    take(page, "Ask a text")
    for rows in ([["A single sentence.", "line 1"]], [[f"Sentence {n}.", "line"] for n in range(1000)]):
        with_rows(page, rows)
        assert answers(page)
