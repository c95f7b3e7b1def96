"""Look up softly, without a browser: presets, edited records, queries, temperature, what survives, bad input."""

import re
from operator import itemgetter

import pytest
import torch

from attention_core.inference.soft_lookup import PLANE_HEIGHT, SPELLING, soft_lookup
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


def drawn(page) -> dict:
    """Return what the scene draws."""
    return data_of(page, "lookup_scene")


def found(page) -> tuple[str, float]:
    """Return the key of most weight, and its weight."""
    scene = drawn(page)
    return max(zip(scene["keys"], scene["weights"][scene["query"]], strict=True), key=itemgetter(1))


def stored(page) -> str | None:
    """Return the value that a dictionary finds."""
    scene = drawn(page)
    key = scene["exact"][scene["query"]]
    return None if key is None else scene["values"][key]


def greyed(page) -> bool:
    return ".st-key-lookup_scene { opacity: 0.35; }" in html_of(page)


def test_arrival_finds_a_car_softly_and_what_is_typed_is_asked_first(page):
    assert stored(page) is None
    key, weight = found(page)
    assert (key, weight > 0.9) == ("car", True)
    assert not page.query_params
    page.text_input(key="lookup_asked").set_value("  locomotive ").run()
    assert drawn(page)["queries"] == ["locomotive", "automobile", "instructor", "car"]
    assert found(page)[0] == "train"
    assert not greyed(page)


def test_the_scene_has_the_numbers_of_the_look_up(page):
    for preset, brought in PRESETS.items():
        scene = drawn(take(page, preset))
        assert not page.error
        assert not page.info
        encoder = {"spelling": SPELLING}.get(brought.by)
        assert scene["values"] == list(brought.records.values)
        assert scene["names"] == [brought.records.key_name, brought.records.value_name]
        assert scene["queries"] == list(brought.queries)
        assert f"a cosine by {brought.by}." in scene["note"]
        if encoder:
            trace = soft_lookup(brought.records, brought.queries, brought.temperature, encoder)
            assert torch.tensor(scene["weights"]) == pytest.approx(trace.weights().float(), abs=1e-4)
            assert torch.tensor(scene["scores"]) == pytest.approx(trace.scores().float(), abs=1e-4)
        assert charts(page)


def test_a_misspelled_query_hits_softly_and_temperature_leads_to_the_plain_average(page):
    ask(by_title(page), "Show, attend and tell\nShow atend an tel")
    for query, value in enumerate(("2015", None)):
        set_fields(page, query=query)
        assert stored(page) == value
        assert found(page)[0] == "Show, attend and tell"
        assert found(page)[1] > 0.99
    ask(by_title(page), "Neural Turing machines")
    page.select_slider(key="lookup_temperature").set_value(0.005).run()
    assert found(page)[1] == 1
    page.select_slider(key="lookup_temperature").set_value(5.0).run()
    assert drawn(page)["weights"][0] == pytest.approx([0.2] * 5, abs=0.04)
    ask(page, "zzzz qqqq")
    assert drawn(page)["unlike"][drawn(page)["query"]]


def test_a_record_of_many_is_changed_where_it_stands(page):
    take(page, "Phone book")
    names = [f"{letter}{number}" for number in range(9) for letter in "ab"]
    set_fields(ask(page, "b7"), records="\n".join(f"{name} = {name.upper()}" for name in names))
    scene = drawn(page)
    assert (scene["keys"], scene["exact"]) == (names, [names.index("b7")])
    scene = drawn(edit(page, names.index("b7")))
    assert (scene["weights"][0][names.index("b7")], scene["cut"]) == (0, [[names.index("b7")]])
    assert scene["isEdited"]
    assert step_through(page)[-1] == "context"


def test_a_softer_look_up_is_spread_wider(page):
    take(page, "Phone book")
    shares = [found(set_fields(page, temperature=temperature))[1] for temperature in (0.005, 0.1, 5.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.99
    assert shares[-1] < 0.15, "ten alike"


def edit(page, *keys):
    """Take all weight from some records."""
    from attention_core.attention.edits import SetWeights
    from ui.edits import ListedEdit  # not before there is an app

    return set_fields(page, edits=(ListedEdit(SetWeights(0, tuple((key, 0.0) for key in keys), 0), "cut"),))


def test_a_query_whose_records_are_all_cut_finds_nothing(page):
    edit(ask(page, "zzzz qqqq"), *range(8))
    assert not any(drawn(page)["weights"][0])
    assert not any(drawn(page)["unlike"])


def test_the_guess_is_about_the_other_way_than_the_one_that_is_shown(visit):
    page = visit("lookup", by="spelling", table="eight-words")
    assert page.button(key="lookup_try").label == "**Try this**: compare by meaning"
    page.button(key="lookup_try").click().run()
    assert "By meaning alone" in page.segmented_control(key="lookup_try_guess").label
    page.segmented_control(key="lookup_try_guess").set_value(0).run()
    assert "By meaning it finds *car*; by spelling, *money*." in text_of(page) + page.success[0].value
    assert found(page)[0] == "car"


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
    page.session_state["lecture"] = True
    assert "“Which vehicle broke down?” looks most at *car*" in text_of(take(page, "Eight words"))
    page.session_state["lecture"] = False
    assert "Every word is a key" in text_of(take(page, "Phone book"))
    set_fields(page, records="?! = 1")
    assert "the keys have no words." in text_of(page)
    take(page, "Ask a text")
    assert "looks most at *car*" in text_of(page)
    set_fields(page, query=2)
    assert "looks most at *baked*" in text_of(page)
    assert ">bread</span>" in html_of(page)


def test_try_this_asks_a_query_that_finds_something_else_the_other_way_or_is_not_offered(page):
    page.text_input(key="lookup_asked").set_value("garage").run()
    page.button(key="lookup_try").click().run()
    assert "which key is nearest to *automobile*?" in page.segmented_control(key="lookup_try_guess").label
    page.segmented_control(key="lookup_try_guess").set_value(0).run()
    assert "By spelling it finds *money*; by meaning, *car*." in text_of(page) + page.info[0].value
    assert drawn(page)["queries"][drawn(page)["query"]] == "automobile"
    ask(page, "garage")
    assert "lookup_try" not in [button.key for button in page.button]
    assert drawn(page)["covered"] is False


def directions(page):
    return torch.nn.functional.normalize(torch.tensor(drawn(page)["points"][0]) - torch.tensor([0.5, PLANE_HEIGHT / 2]))


def test_try_this_compares_in_the_other_way_and_says_what_came_out(page):
    before = directions(page)
    page.button(key="lookup_try").click().run()
    names = page.segmented_control(key="lookup_try_guess").options
    page.segmented_control(key="lookup_try_guess").set_value(names.index("money")).run()
    assert "By spelling it finds *money*; by meaning, *car*." in page.success[0].value
    assert page.success[0].value.endswith("in a row or at an end: *money* mo, *butter* ut, *garage* e.")
    assert found(page)[0] == "money"
    assert torch.allclose(directions(page), before, atol=0.01), "each key only comes nearer, or goes"
    assert "By accident, different runs meet in 1 number, too." in text_of(open_question(page, "vector"))


def test_records_queries_and_temperature_survive_leaving_the_page(page):
    take(page, "Phone book")
    ask(page, "Somebody")
    page.select_slider(key="lookup_temperature").set_value(0.3).run()
    open_question(page, "records")
    page.text_area(key="lookup_records").set_value("Some Body = 555-0001\nElse\t555-0002").run()
    assert "`Somebody` finds **`Some Body`**." in text_of(page)
    assert "555-0001" in drawn(page)["values"]
    open_question(page, "")
    open_page(page, OTHER)
    page.query_params.clear()
    open_page(page, PAGE)
    assert page.segmented_control(key="lookup_preset").value == "Phone book"
    assert drawn(page)["queries"] == ["Somebody"]
    assert page.select_slider(key="lookup_temperature").value == 0.3
    assert "555-0001" in drawn(page)["values"]


def test_restore_brings_the_preset_back(page):
    assert drawn(with_records(page, "only one = text"))["values"] == ["text"]
    open_question(page, "records")
    page.button(key="lookup_restore").click().run()
    assert "Attention is all you need" in page.session_state["lookup_records"]
    assert len(drawn(page)["values"]) == 12


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
        assert drawn(page)["covered"] is False
        assert greyed(page) == (not records)
    assert found(page) == ("attention", 1), "the query stays"
    for queries, remark in {"": "Type a query", "\n".join(f"query {n}" for n in range(30)): "The first 12 of"}.items():
        ask(page, queries)
        assert not page.error
        assert remark in text_of(page)
    ask(page, "<img src=x onerror=alert(1)>")
    assert "<img" not in html_of(page)


LINKS = [
    ({"table": "noisy-time-series"}, "Eight words", "meaning", "a road vehicle with an engine"),
    ({"key": "1.0", "by": "meaning"}, "Papers", "meaning", "arXiv:1706.03762 (Vaswani and others, 2017)"),
    ({"table": "phone-book", "records": "Somebody Else = 555-0001"}, "Phone book", "spelling", "555-0001"),
]
"""Addresses, one of a table that is gone and one of when there were none, and the table, the way and a value."""


@pytest.mark.parametrize(("address", "table", "by", "answer"), LINKS, ids=["gone", "old", "records"])
def test_a_link_opens_its_table(visit, address, table, by, answer):
    page = visit("lookup", **address)
    assert page.segmented_control(key="lookup_preset").value == table
    assert page.segmented_control(key="lookup_by").value == by
    assert answer in drawn(page)["values"]


def test_words_of_a_link_are_no_markdown(app):
    app.query_params["question"], app.query_params["q"] = "records", "![x](https://elsewhere.example/x.png)\nWho?"
    page = app.switch_page(PAGE).run()
    options = [option for group in page.button_group for option in group.options]
    assert any("elsewhere" in str(option) for option in options)
    assert not any("![" in str(option) for option in options)


def test_a_question_finds_by_meaning_what_it_does_not_find_by_spelling(page):
    assert found(take(page, "Ask a text"))[0] == "On Monday the old car would not start."
    assert "`[CLS]` `which` `vehicle`" in text_of(open_question(page, "vector")), "its pieces are shown"
    page.segmented_control(key="lookup_by").set_value("spelling").run()
    assert "`_w`" in text_of(page), "so are the letters that it shares"
    open_question(page, "")
    assert found(page)[0].startswith("It cost ninety euros")


def test_without_a_sentence_encoder_the_page_says_so_and_keeps_to_spelling(page, monkeypatch):
    monkeypatch.setattr("ui.meaning.find_local", lambda name: None)
    take(page, "Ask a text")
    assert "MiniLM is not here" in text_of(page)
    assert not page.error
    assert "ninety euros" in found(page)[0]


def test_what_came_of_a_guess_goes_with_the_query_that_it_was_about(page):
    for change in (lambda: page.text_input(key="lookup_asked").set_value("radio"), lambda: take(page, "Ask a text")):
        page.button(key="lookup_try").click().run()
        page.segmented_control(key="lookup_try_guess").set_value(0).run()
        assert page.button(key="lookup_try_close")
        change()
        page.run()
        assert page.button(key="lookup_try")


def test_one_record_and_a_thousand_are_looked_up_by_meaning(page):
    take(page, "Ask a text")
    for records in ("A single sentence. = line 1", "\n".join(f"Sentence {n}. = line" for n in range(1000))):
        assert drawn(set_fields(page, records=records))["values"]


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
