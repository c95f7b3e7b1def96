"""Look up softly, without a browser: presets, edited records, queries, temperature, what survives, bad input."""

import math
import re

import pytest

from attention_core.topics.lookup.records import PRESETS
from tests.app.tools import bodies, body_with, given, open_tab, opened, said, steps_to_the_end

PAGE, OTHER = "pages/lookup.py", "pages/start.py"


def take(page, preset):
    page.segmented_control(key="lookup_preset").set_value(preset).run()
    return page


def by_title(page):
    """The papers, asked by their titles for their years."""
    return given(take(page, "Papers"), key=["title"], value="year")


def ask(page, text):
    """Ask some queries, one per line, and look at the first."""
    return given(page, queries=text, query=0)


def with_rows(page, rows):
    """Come to the papers with these records, as after an edit and a visit elsewhere."""
    by_title(page)
    opened(page, OTHER)
    page.query_params.clear()  # as a browser does when another page is opened
    page.session_state["lookup_rows"] = rows
    return opened(page, PAGE)


def answers(page) -> str:
    return body_with(page, 'class="looked-up"')


def greyed(page) -> bool:
    return ".st-key-lookup_answer { opacity: 0.35; }" in bodies(page)


def test_arrival_finds_a_car_where_a_dictionary_finds_nothing(page):
    assert "<b>not found</b> no key is exactly “automobile”" in answers(page)
    assert re.search(r"<b>car</b> 9\d% of the weight", answers(page))
    assert not page.query_params


def test_every_preset_is_looked_up_exactly_and_softly(page):
    for preset in PRESETS:
        take(page, preset)
        assert not page.error
        assert not page.info
        assert PRESETS[preset].note in said(page)
        assert len(page.segmented_control(key="lookup_query").options) == len(PRESETS[preset].queries)
        assert "A dictionary" in answers(page)
        assert sum(len(open_tab(page, tab).get("vega_lite_chart")) for tab in ("closer", "steps")) >= 2


def test_a_misspelled_query_misses_exactly_and_hits_softly(page):
    ask(by_title(page), "Show, attend and tell\nShow atend an tel")
    assert "not found" not in answers(page)
    assert "100% of the weight lies on Show, attend and tell" in answers(page)
    given(page, query=1)
    assert "not found" in answers(page)
    assert "100% of the weight lies on Show, attend and tell" in answers(page)


def test_what_is_typed_is_asked_first_and_joins_the_others(page):
    page.text_input(key="lookup_asked").set_value("  locomotive ").run()
    assert page.segmented_control(key="lookup_query").options[0] == "locomotive"
    assert "<b>train</b>" in answers(page)
    assert page.session_state["lookup_queries"].split() == ["locomotive", "automobile", "instructor", "car"]
    take(page, "Noisy time series")
    page.text_input(key="lookup_asked").set_value("soon").run()
    assert "“soon” is not a finite number" in said(page)
    assert not greyed(page)


def test_try_this_compares_in_the_other_way_and_says_what_came_out(page):
    page.button(key="lookup_try").click().run()
    names = page.segmented_control(key="lookup_try_guess").options
    page.segmented_control(key="lookup_try_guess").set_value(names.index("money")).run()
    assert "By spelling it finds *money*; by meaning, *car*." in page.success[0].value
    assert "<b>money</b>" in answers(page)


def test_temperature_takes_look_up_into_the_plain_average(page):
    ask(by_title(page), "Neural Turing machines")
    page.select_slider(key="lookup_temperature").set_value(0.005).run()
    assert "<b>2014</b> the weighted average" in answers(page)
    page.select_slider(key="lookup_temperature").set_value(5.0).run()
    years = [row[2] for row in PRESETS["Papers"].table.rows]
    average = float(re.search(r"<b>([\d.]+)</b> the weighted average", answers(page)).group(1))
    assert average == pytest.approx(sum(years) / len(years), abs=0.4)


def test_a_query_that_resembles_nothing_is_told(page):
    ask(by_title(page), "zzzz qqqq")
    assert "a softmax cannot answer “nothing fits”" in said(page)


def test_another_column_can_be_asked_and_another_handed_over(page):
    open_tab(take(page, "Papers"), "try")
    page.selectbox(key="lookup_value").set_value("abstract").run()
    assert "layers of self-attention" in answers(page)
    page.multiselect(key="lookup_key").set_value(["year"]).run()
    assert "is not a finite number" in said(page)
    assert greyed(page)
    ask(page, "2016")
    assert not greyed(page)
    assert len(page.segmented_control(key="lookup_query").options) == 1


@pytest.mark.parametrize("preset", ["Phone book", "Noisy time series"])
def test_every_step_can_be_shown(page, preset):
    open_tab(take(page, preset), "steps")
    seen = steps_to_the_end(page)
    assert seen[-1] == "context"


def test_records_queries_and_temperature_survive_leaving_the_page(page):
    take(page, "Phone book")
    ask(page, "Somebody")
    page.select_slider(key="lookup_temperature").set_value(0.3).run()
    opened(page, OTHER)
    page.query_params.clear()
    page.session_state["lookup_rows"] = [["Some Body", "555-0001"], ["Else", "555-0002"]]
    opened(page, PAGE)
    assert page.segmented_control(key="lookup_preset").value == "Phone book"
    assert page.segmented_control(key="lookup_query").options == ["Somebody"]
    assert page.select_slider(key="lookup_temperature").value == 0.3
    assert "555-0001" in answers(page)


def test_restore_brings_the_preset_back(page):
    open_tab(with_rows(page, [["only one", "text", 2000]]), "try")
    page.button(key="lookup_restore").click().run()
    assert "Attention is all you need" in answers(page)


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


def test_an_empty_table_says_what_to_do_and_the_tables_own_answer_stays(page):
    with_rows(page, [])
    assert "Add a row" in said(page)
    assert greyed(page)


def test_queries_outlive_an_empty_table(page):
    ask(by_title(page), "attension")
    opened(page, OTHER)
    for rows in ([], [["attention", "text", 2000]]):
        page.session_state["lookup_rows"] = rows
        opened(page, PAGE)
    assert page.session_state["lookup_queries"] == "attension"
    assert "100% of the weight lies on attention" in answers(page)


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
    assert "<img" not in bodies(page)


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
    assert re.search("the old car would not start.</b> 6", answers(take(page, "Ask a text")))
    for tab in ("closer", "steps", "numbers"):
        open_tab(page, tab)
    assert re.search(r"these \*\*\d+ pieces\*\*", said(page))
    page.segmented_control(key="lookup_by").set_value("spelling").run()
    assert "they baked bread and listened to the radio.</b> 5" in answers(page)


def test_without_a_sentence_encoder_the_page_says_so_and_keeps_to_spelling(page, monkeypatch):
    monkeypatch.setattr("ui.lookup.first_screen.MODELS", ("nowhere/at-all",))
    take(page, "Ask a text")
    assert "MiniLM is not on this machine" in said(page)
    assert not page.error
    assert "baked bread" in answers(page)


def test_several_columns_make_one_key(page):
    open_tab(by_title(page), "try")
    page.multiselect(key="lookup_key").set_value(["title", "abstract"]).run()
    ask(page, "FlashAttention. Exact attention, computed tile by tile in fast memory, without writing the matrix down")
    assert "2022" in answers(page)
    page.multiselect(key="lookup_key").set_value(["title", "year"]).run()
    ask(page, "FlashAttention. 2022")
    assert page.query_params["key"] in ("0.2", ["0.2"])
    assert "100% of the weight lies on FlashAttention. 2022" in answers(page)


def test_no_key_column_says_what_to_choose(page):
    given(take(page, "Papers"), key=[])
    assert "choose at least one column" in said(page)
    assert greyed(page)


def test_a_link_carries_several_key_columns_and_the_way_of_comparing(app):
    app.query_params["key"], app.query_params["by"] = "1.0", "meaning"
    opened(app, PAGE)
    assert app.session_state["lookup_key"] == ["abstract", "title"]
    assert app.segmented_control(key="lookup_preset").value == "Papers", "which came first when links named no table"
    assert app.segmented_control(key="lookup_by").value == "meaning"
    assert answers(app)


@pytest.mark.parametrize("places", ["7", "-1", "0.x", ""])
def test_a_link_to_columns_that_are_not_there_asks_the_presets_own(app, places):
    app.query_params["key"] = places
    opened(app, PAGE)
    assert app.session_state["lookup_key"] == [*PRESETS[app.session_state["lookup_preset"]].key]


def test_one_row_and_a_thousand_are_looked_up_by_meaning(page):
    take(page, "Ask a text")
    for rows in ([["A single sentence.", "line 1"]], [[f"Sentence {n}.", "line"] for n in range(1000)]):
        opened(page, OTHER)
        page.session_state["lookup_rows"] = rows
        assert answers(opened(page, PAGE))
