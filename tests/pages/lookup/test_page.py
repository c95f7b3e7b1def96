"""Look up softly, without a browser: presets, edited records, queries, temperature, what survives, bad input."""

import re

import pytest

from pages.lookup.records import PRESETS
from tests.support.app import (
    charts,
    data_of,
    html_of,
    html_with,
    open_page,
    open_question,
    set_fields,
    step_through,
    text_of,
)

PAGE, OTHER = "pages/lookup/page.py", "pages/start/page.py"
TITLES = """
Sequence to sequence learning = 2014
Neural Turing machines = 2014
Show, attend and tell = 2015
Attention is all you need = 2017
FlashAttention = 2022
"""


def take(page, preset):
    page.segmented_control(key="lookup_preset").set_value(preset).run()
    return page


def with_records(page, text):
    """Put these records into the papers' place."""
    return set_fields(take(page, "Papers"), records=text)


def by_title(page):
    """The titles of papers and their years."""
    return with_records(page, TITLES)


def ask(page, text):
    """Ask some queries, one per line, and look at the first."""
    return set_fields(page, queries=text, query=0)


def answers(page) -> str:
    return html_with(page, 'class="looked-up"')


def greyed(page) -> bool:
    return ".st-key-lookup_answer { opacity: 0.35; }" in html_of(page)


def test_arrival_finds_a_car_softly_and_what_is_typed_is_asked_first(page):
    assert "<b>not found</b> no key is exactly “automobile”" in answers(page)
    assert re.search(r"<b>car</b> 9[\d.]+% of the attention", answers(page))
    assert "The answer is the mixture" in answers(page)
    assert not page.query_params
    page.text_input(key="lookup_asked").set_value("  locomotive ").run()
    assert page.segmented_control(key="lookup_query").options[0] == "locomotive"
    assert "<b>train</b>" in answers(page)
    assert page.session_state["lookup_queries"].split() == ["locomotive", "automobile", "instructor", "car"]
    assert not greyed(page)


def test_every_preset_is_looked_up_exactly_and_softly(page):
    for preset in PRESETS:
        take(page, preset)
        assert not page.error
        assert not page.info
        assert PRESETS[preset].note in text_of(page)
        for query in range(len(PRESETS[preset].queries)):
            assert not re.search("Catherine|Johns", PRESETS[preset].note), "of one query alone"
            answer = answers(set_fields(page, query=query))
            share = re.search(r"</b> (most, but only )?([\d.]+)% of the attention", answer)
            assert bool(share.group(1)) == (float(share.group(2)) < 50), (preset, query)
        assert len(page.segmented_control(key="lookup_query").options) == len(PRESETS[preset].queries)
        assert "A dictionary" in answers(page)
        assert charts(page)


def test_a_misspelled_query_hits_softly_and_temperature_leads_to_the_plain_average(page):
    ask(by_title(page), "Show, attend and tell\nShow atend an tel")
    assert "not found" not in answers(page)
    assert re.search(r"<b>Show, attend and tell</b> (99\.\d+|100)% of the attention", answers(page))
    set_fields(page, query=1)
    assert "not found" in answers(page)
    assert re.search(r"<b>Show, attend and tell</b> (99\.\d+|100)% of the attention", answers(page))
    ask(by_title(page), "Neural Turing machines")
    page.select_slider(key="lookup_temperature").set_value(0.005).run()
    assert "<strong>100% 2014</strong>" in answers(page)
    page.select_slider(key="lookup_temperature").set_value(5.0).run()
    share = float(re.search(r"([\d.]+)% 2014", answers(page)).group(1))
    assert share == pytest.approx(40, abs=4), "two of five"
    ask(page, "zzzz qqqq")
    assert "a softmax cannot answer “nothing fits”" in text_of(page)


def test_what_a_query_finds_is_in_view_and_a_long_list_says_that_it_is_scrolled(page):
    first = {
        preset: re.search(r"<tr[^>]*><td[^>]*>(.*?)</td>", html_with(take(page, preset), 'class="records')).group(1)
        for preset in ("Papers", "Phone book")
    }
    assert first["Papers"].startswith("Attention is all you need.")
    assert first["Phone book"] == "Ada Lovelace", "a few records keep their order"
    for preset, is_long in {"Eight words": False, "Ask a text": False, "Papers": True, "Phone book": False}.items():
        take(page, preset)
        n = len(PRESETS[preset].records.keys)
        assert html_with(page, 'class="records').count("<tr") == n + 1
        assert ("records scrolled" in html_of(page)) == is_long
        assert (f"{n} records, the heaviest first: scroll the list to see all." in text_of(page)) == is_long
    set_fields(take(page, "Phone book"), records="\n".join(f"a{n} = {n}" for n in range(11)))
    assert "11 records, the heaviest first" in text_of(page)
    assert step_through(page)[-1] == "context"


def test_records_of_ones_own_are_not_told_as_those_of_the_preset(page):
    for preset in PRESETS:
        take(page, preset)
        set_fields(page, records="bank = a house for money\nriver = moving water")
        assert PRESETS[preset].note not in text_of(page)
        assert "Records of your own." in text_of(page)
        set_fields(page, records="nothing of use")
        assert PRESETS[preset].note in text_of(page), "the table as it comes stands there in grey"


def test_a_softer_look_up_is_spread_wider(page):
    take(page, "Phone book")
    shares = []
    for temperature in (0.005, 0.1, 5.0):
        set_fields(page, temperature=temperature)
        shares.append(float(re.search(r"([\d.]+)% of the attention", answers(page)).group(1)))
    assert shares == sorted(shares, reverse=True)
    label = page.select_slider(key="lookup_temperature").label
    assert label == "How soft? (high: all alike)"
    assert shares[0] > 99
    assert shares[-1] < 15, "ten alike"


def test_a_query_whose_records_are_all_cut_finds_nothing(page):
    from attention_core.attention.edits import SetWeights
    from ui.edits import ListedEdit  # not before there is an app

    edits = (ListedEdit(SetWeights(0, tuple((key, 0.0) for key in range(8)), 0), "cut"),)
    set_fields(page, queries="zzzz qqqq", edits=edits)
    assert "<b>nothing</b> every record is cut" in answers(page)
    assert "sum to 100%" not in text_of(page)
    assert "class=best" not in html_of(page)


def test_the_guess_is_about_the_other_way_than_the_one_that_is_shown(visit):
    page = visit("lookup", by="spelling", table="eight-words")
    assert page.button(key="lookup_try").label == "**Try this**: compare by meaning"
    page.button(key="lookup_try").click().run()
    assert "compare by meaning only" in page.segmented_control(key="lookup_try_guess").label
    page.segmented_control(key="lookup_try_guess").set_value(0).run()
    assert "By meaning it finds *car*; by spelling, *money*." in text_of(page) + page.success[0].value
    assert "<b>car</b>" in answers(page)


def test_the_number_that_was_clicked_is_the_one_that_is_told(page):
    for step in ("scores", "weights"):
        page.session_state["lookup_moving_step"] = {"chosen": {"step": step, "row": 1, "column": 4}}
        set_fields(page, step=step, query=1)
        assert "_{2,5}" in "".join(one.value for one in page.latex)
        assert data_of(page, "lookup_moving_step")["steps"][step]["column"] == 4
        set_fields(page, query=0)
        assert "_{1,5}" not in "".join(one.value for one in page.latex), "another row has a number of its own"


def test_words_of_a_text_are_weighed_or_it_is_told_which_are_not(page):
    open_question(page, "words")
    assert "Each of the first 200 words is a key" in text_of(take(page, "Papers"))
    assert "Every word is a key" in text_of(take(page, "Phone book"))
    set_fields(page, records="?! = 1")
    assert "the keys have no words." in text_of(page)
    take(page, "Ask a text")
    assert "Most weight: `car`" in text_of(page)
    set_fields(page, query=2)
    assert "Most weight: `baked`" in text_of(page)
    assert ">bread</span>" in html_of(page)


def test_try_this_compares_in_the_other_way_and_says_what_came_out(page):
    page.button(key="lookup_try").click().run()
    names = page.segmented_control(key="lookup_try_guess").options
    page.segmented_control(key="lookup_try_guess").set_value(names.index("money")).run()
    assert "By spelling it finds *money*; by meaning, *car*." in page.success[0].value
    assert "Letters in common: auto**mo**bile, **mo**ney." in page.success[0].value
    assert "<tr class=best><td>money</td>" in html_of(page)
    assert "<b>money</b>" in answers(page)


def test_records_queries_and_temperature_survive_leaving_the_page(page):
    take(page, "Phone book")
    ask(page, "Somebody")
    page.select_slider(key="lookup_temperature").set_value(0.3).run()
    open_question(page, "records")
    page.text_area(key="lookup_records").set_value("Some Body = 555-0001\nElse\t555-0002").run()
    assert re.search(r"`Somebody` finds \*\*`Some Body`\*\*: [\d.]+% of the attention", text_of(page))
    assert "555-0001" in html_of(page)
    open_question(page, "")
    open_page(page, OTHER)
    page.query_params.clear()
    open_page(page, PAGE)
    assert page.segmented_control(key="lookup_preset").value == "Phone book"
    assert page.segmented_control(key="lookup_query").options == ["Somebody"]
    assert page.select_slider(key="lookup_temperature").value == 0.3
    assert "555-0001" in answers(page)


def test_restore_brings_the_preset_back(page):
    assert "text" in answers(with_records(page, "only one = text"))
    open_question(page, "records")
    page.button(key="lookup_restore").click().run()
    assert "Attention is all you need" in page.session_state["lookup_records"]
    assert "only one" not in html_of(page)


def test_records_and_queries_that_cannot_be_used_are_told_and_the_rest_is_answered(page):
    many = "\n".join(f"title {n} = {2000 + n % 20}" for n in range(4_000))
    ask(by_title(page), "attension")
    for records, remark in {
        "first = 2000\nbad": "line 2, which is not of the form",
        "first = 2000\nfirst = 1": "“first” is the key of several",
        many: "The first 64 of 4,000 records are used",
        "": "Write one as key = value",
        "attention = 2000": "",
    }.items():
        set_fields(page, records=records)
        assert remark in text_of(page)
        assert not page.error
        assert answers(page)
        assert greyed(page) == (not records)
    assert "<b>attention</b> 100% of the attention" in answers(page), "the query stays"
    for queries, remark in {"": "Type a query", "\n".join(f"query {n}" for n in range(30)): "The first 12 of"}.items():
        ask(page, queries)
        assert not page.error
        assert remark in text_of(page)
    ask(page, "<img src=x onerror=alert(1)>")
    assert "<img" not in html_of(page)


LINKS = [
    ({"table": "noisy-time-series"}, "Eight words", "meaning", r"<b>car</b> 9[\d.]+% of the attention"),
    ({"key": "1.0", "by": "meaning"}, "Papers", "meaning", "% of the attention"),
    ({"table": "phone-book", "records": "Somebody Else = 555-0001"}, "Phone book", "spelling", "555-0001"),
]
"""Addresses, one of a table that is gone and one of when there were none, and the table, the way and the answer."""


@pytest.mark.parametrize(("address", "table", "by", "answer"), LINKS, ids=["gone", "old", "records"])
def test_a_link_opens_its_table(visit, address, table, by, answer):
    page = visit("lookup", **address)
    assert page.segmented_control(key="lookup_preset").value == table
    assert page.segmented_control(key="lookup_by").value == by
    assert re.search(answer, answers(page))


def test_words_of_a_link_are_no_markdown(app):
    app.query_params["q"] = "![x](https://elsewhere.example/x.png)\nWho?"
    page = app.switch_page(PAGE).run()
    options = [option for group in page.button_group for option in group.options]
    assert any("elsewhere" in str(option) for option in options)
    assert not any("![" in str(option) for option in options)


def test_a_question_finds_by_meaning_what_it_does_not_find_by_spelling(page):
    assert re.search("the old car would not start.</b> 6", answers(take(page, "Ask a text")))
    assert "`[CLS]` `why` `did`" in text_of(open_question(page, "vector")), "its pieces are shown"
    page.segmented_control(key="lookup_by").set_value("spelling").run()
    assert "`_br`" in text_of(page), "so are the letters that it shares"
    open_question(page, "")
    assert "they baked bread and listened to the radio.</b> 5" in answers(page)


def test_without_a_sentence_encoder_the_page_says_so_and_keeps_to_spelling(page, monkeypatch):
    monkeypatch.setattr("ui.meaning.find_local", lambda name: None)
    take(page, "Ask a text")
    assert "MiniLM is not here" in text_of(page)
    assert not page.error
    assert "baked bread" in answers(page)


def test_what_came_of_a_guess_goes_with_the_query_that_it_was_about(page):
    for change in (lambda: page.segmented_control(key="lookup_query").set_value(1), lambda: take(page, "Ask a text")):
        page.button(key="lookup_try").click().run()
        page.segmented_control(key="lookup_try_guess").set_value(0).run()
        assert page.button(key="lookup_try_close")
        change()
        page.run()
        assert page.button(key="lookup_try")


def test_one_record_and_a_thousand_are_looked_up_by_meaning(page):
    take(page, "Ask a text")
    for records in ("A single sentence. = line 1", "\n".join(f"Sentence {n}. = line" for n in range(1000))):
        assert answers(set_fields(page, records=records))


@pytest.fixture
def short(monkeypatch):
    """A training of two steps of its progress."""
    from attention_core.live_training import series
    from ui.computed import result_cache

    monkeypatch.setattr(series, "N_BATCHES", 40)
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.mark.parametrize("hidden", ["the end", "a gap, looking back", "a gap, looking both ways"])
def test_a_curve_is_told_once_a_network_is_trained_and_kept(page, short, hidden):
    set_fields(open_question(page, "time"), hiding=hidden)
    assert not page.get("vega_lite_chart")
    page.button(key="lookup_train").click().run()
    assert len(page.get("vega_lite_chart")) == 2
    assert html_with(page, "your curve").count("<tr><td>") == 3
    told = re.search(r"better from both sides: (\d\.\d+), looking back (\d\.\d+)", text_of(page))
    assert not told or float(told.group(1)) <= float(told.group(2))
    page.button(key="lookup_curve_preset_Saw").click().run()
    assert len(page.get("vega_lite_chart")) == 2
    assert not [button for button in page.button if button.key == "lookup_train"]


def test_an_empty_pad_leaves_the_last_curve(page, short):
    open_question(page, "time").button(key="lookup_train").click().run()
    before = html_with(page, "your curve")
    page.button(key="lookup_curve_clear").click().run()
    assert "Draw from left to right" in text_of(page)
    assert html_with(page, "your curve") == before


def test_a_link_opens_a_curve_and_what_is_hidden_of_it(app):
    for name, text in (("question", "time"), ("hidden", "both"), ("curve_preset", "Climb")):
        app.query_params[name] = text
    open_page(app, PAGE)
    assert app.session_state["lookup_hiding"] == "a gap, looking both ways"
    assert app.session_state["lookup_curve_preset"] == "Climb"
    assert len(app.session_state["lookup_curve_drawing"]["objects"]) == 1
