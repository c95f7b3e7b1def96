"""The workbench page without a browser: presets, steps, settings, slips of the keyboard."""

import numpy as np
import pytest

from attention_core.attention.scores import SCORES
from attention_core.topics.vectors import PRESETS, trace_of
from attention_core.topics.vectors.presets import PIXELS
from tests.app.test_page_scoring import component
from tests.app.tools import App, open_tab, said


@pytest.fixture
def page(root, monkeypatch):
    """The workbench, its rules open, at a step that draws quickly, reached without drawing the start page first."""
    monkeypatch.chdir(root)
    app = App(root / "app.py", default_timeout=60).switch_page("pages/vectors.py")
    app.query_params["step"], app.query_params["rules"] = "query", "1"
    return app.run()


def put(page, cells, labels=None):
    """Put texts into tables as the editors do; these start anew from them."""
    page.session_state["vectors_cells"] = page.session_state["vectors_cells"] | cells
    page.session_state["vectors_labels"] = page.session_state["vectors_labels"] | (labels or {})
    page.session_state["vectors_editors"] = {}
    return page.run()


def retype(page, table, row, column, text):
    """Type into a cell."""
    cells = [list(texts) for texts in page.session_state["vectors_cells"][table]]
    cells[row][column] = text
    return put(page, {table: cells})


def errors(page):
    return [error.value for error in page.error]


def sound(page):
    assert errors(page) == []
    return page


def choose(page, widget, key, value):
    """Set a widget, and nothing goes wrong."""
    return sound(getattr(page, widget)(key=f"vectors_{key}").set_value(value).run())


def press(page, key):
    return sound(page.button(key=f"vectors_{key}").click().run())


def show(page, step):
    page.session_state["vectors_step"] = step
    return page.run()


@pytest.mark.parametrize("preset", [*PRESETS, PIXELS])
def test_every_preset_draws_its_steps_and_says_what_it_shows(page, preset):
    choose(page, "selectbox", "preset", preset)
    assert page.get("vega_lite_chart")
    if preset in PRESETS:
        assert PRESETS[preset].line in said(page)
    assert sound(show(page, "context")).get("vega_lite_chart")


def pairs(page):
    """What the component of the first screen was given."""
    return component(page, "nine_pairs")


def test_it_opens_on_nine_pairs_and_three_arrows_with_the_rules_closed(root, monkeypatch):
    monkeypatch.chdir(root)
    page = App(root / "app.py", default_timeout=60).switch_page("pages/vectors.py").run()
    shown = pairs(page)
    assert (len(shown["arrows"]), np.shape(shown["weights"])) == (3, (3, 3))
    assert shown["neuron"] == ["0.8, −0.5", "−0.7, 0.6", "0.5, −0.8"]
    assert not page.get("arrow_data_frame")
    assert "vectors_scoring" not in [box.key for box in page.selectbox]


def test_what_the_browser_computes_of_arrows_is_what_python_does(page):
    for preset in ("pairs", "huge", "projections", "causal"):
        shown = pairs(choose(page, "selectbox", "preset", preset))
        given = {name: np.array(rows) for name, rows in shown["given"].items()}
        scores = given[shown["query"]] @ np.array(shown["map"]) @ given[shown["key"]].T
        allowed = np.ones(scores.shape) if shown["allowed"] is None else np.array(shown["allowed"])
        powers = np.exp(scores) * allowed
        np.testing.assert_allclose(powers / powers.sum(1, keepdims=True), shown["weights"], atol=1e-12)


def test_a_slip_greys_the_pairs_and_no_tab_vanishes(page):
    tabs = [tab.label for tab in page.tabs]
    assert not pairs(page)["old"]
    shown = pairs(retype(page, "X", 1, 0, "abc"))
    assert shown["old"]
    assert shown["weights"] == pairs(retype(page, "X", 1, 0, "-0.5"))["weights"]
    assert [tab.label for tab in page.tabs] == tabs


def test_the_first_preset_puts_nine_pairs_beside_a_neuron(page):
    open_tab(show(page, "scores"), "pairs")
    assert "3 × 3 pairs" in said(page)
    assert "neuron" in said(page)


def test_the_three_pixels_lead_to_the_digit_page(page):
    page.selectbox(key="vectors_preset").set_value(PIXELS).run()
    links = open_tab(page, "pixels").get("page_link")
    assert len(links) == 3
    assert all("pixel" in link.proto.label for link in links)


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "", "1e308"])
def test_a_slip_is_named_with_its_cell_and_everything_else_is_kept(page, text):
    retype(page, "X", 1, 0, text)
    assert len(errors(page)) == 1
    assert "X, row 2, column 1" in page.error[0].value
    assert "last input that could be computed" in said(page)
    assert page.get("vega_lite_chart")
    held = page.session_state["vectors_cells"]
    assert held["X"][1][0] == text
    assert held["X"][0] == ["1", "0.5"]
    sound(retype(page, "X", 1, 0, "2"))


def test_a_decimal_comma_is_kept_and_what_was_read_is_said(page):
    sound(retype(page, "X", 1, 0, "1,5"))
    assert "X, row 2, column 1: “1,5” is read as 1.5." in said(page)
    assert page.session_state["vectors_cells"]["X"][1][0] == "1,5"
    assert page.session_state["vectors_good"].tables["X"][1, 0] == 1.5


def test_the_softmax_is_switched_off_and_told_in_the_address(page):
    page.session_state["vectors_step"] = "weights"
    choose(page, "toggle", "softmax", False)
    assert any("A = S'" in formula.value for formula in page.latex)
    assert "The softmax is off" in said(open_tab(page, "cell"))
    assert page.query_params["softmax"] in ("0", ["0"])
    assert "The softmax is off" in said(open_tab(page, "softmax"))
    open_tab(page, "steps")
    sound(show(page, "context"))
    assert page.session_state["vectors_before"] is not None  # it counts as an edit


def test_a_width_that_does_not_fit_names_both_tables_and_can_be_made_to_fit(page):
    put(page, {"W_K": [["1", "0", "2"], ["0", "1", "2"]]})
    assert "W_Q is 2 × 2 and W_K is 2 × 3" in errors(page)[0]
    press(page, "fit")
    assert page.session_state["vectors_cells"]["W_K"] == [["1", "0"], ["0", "1"]]


def test_no_rows_are_an_error_beside_the_table(page):
    put(page, {"X": []}, {"X": []})
    assert "X has no rows" in errors(page)[0]


def paste(page, text):
    page.text_area(key="vectors_paste").set_value(text).run()
    return page.button(key="vectors_paste_button").click().run()


def test_a_pasted_table_replaces_the_present_one(page):
    sound(paste(page, "cat\t1\t2\ndog\t3\t4\nowl\t0,5\t6\nemu\t7\t8"))
    assert page.session_state["vectors_cells"]["X"][2] == ["0.5", "6"]
    assert page.session_state["vectors_labels"]["X"] == ["cat", "dog", "owl", "emu"]


@pytest.mark.parametrize(
    ("text", "says"), [("1,2\n3\n4,5", "Row 2"), ("1,2\n3,x", "“x” is not a number"), ("", "no rows")]
)
def test_a_bad_paste_is_refused_and_the_table_and_the_text_stay(page, text, says):
    paste(page, text)
    assert says in errors(page)[0]
    assert page.session_state["vectors_cells"]["X"][0] == ["1", "0.5"]
    assert page.text_area(key="vectors_paste").value == text
    assert page.get("vega_lite_chart")


def test_ten_thousand_rows_are_bounded_and_told(page):
    sound(paste(page, "1,2\n" * 10_000))
    assert len(page.session_state["vectors_cells"]["X"]) == 256
    assert "10,000 rows" in said(page)


def test_two_hundred_and_fifty_six_rows_of_sixty_four_stay_usable(page):
    rows = np.random.default_rng(0).normal(size=(256, 64)).round(2)
    paste(page, "\n".join(",".join(map(str, row)) for row in rows))
    press(page, "fit")
    for step in ("weights", "context"):
        assert sound(show(page, step)).get("vega_lite_chart")


@pytest.mark.parametrize(
    ("setting", "value"), [*(("scoring", name) for name in SCORES), ("scale", "none"), ("scale", "free")]
)
def test_every_scoring_function_and_scale_can_be_chosen(page, setting, value):
    choose(page, "selectbox", setting, value)
    assert getattr(page.session_state["vectors_good"].settings, setting) == value


def test_a_scores_own_parameters_can_be_edited_and_put_back(page):
    page.selectbox(key="vectors_scoring").set_value("additive").run()
    page.button(key="vectors_own_parameters").click().run()
    retype(page, "additive.v", 0, 1, "x")
    assert "v, row 1, column 2" in errors(page)[0]
    press(page, "plain_parameters")


@pytest.mark.parametrize("mask", ["causal", "padding", "drawn"])
def test_every_mask_adds_its_step(page, mask):
    page.selectbox(key="vectors_mask").set_value(mask).run()
    sound(show(page, "mask"))
    assert page.session_state["vectors_step"] == "mask"


def test_a_query_that_may_see_nothing_is_named_and_gets_zeros(page):
    page.selectbox(key="vectors_mask").set_value("padding").run()
    choose(page, "number_input", "n_padding", 3)
    assert "x1, x2, x3 may see no key" in page.warning[0].value
    assert "zeros" in page.warning[0].value
    sound(show(page, "weights"))
    sound(show(page, "context"))


def test_heads_that_do_not_fit_are_explained_and_two_heads_can_be_looked_at(page):
    page.number_input(key="vectors_n_heads").set_value(3).run()
    assert "3 heads" in errors(page)[0]
    choose(page, "number_input", "n_heads", 2)
    sound(show(page, "merged"))


def test_the_change_since_the_last_edit_is_shown(page):
    assert "Change a number" in said(open_tab(page, "cell"))
    retype(page, "X", 0, 0, "3")
    assert "2 of 6 cells changed" in said(page)
    show(page, "residual")
    assert "of 6 cells changed" in said(page)


def test_what_was_typed_survives_leaving_the_page(page):
    retype(page, "X", 0, 0, "42")
    page.slider(key="vectors_temperature").set_value(2.0).run()
    page.switch_page("pages/start.py").run()
    page.switch_page("pages/vectors.py").run()
    assert errors(page) == []
    assert page.session_state["vectors_cells"]["X"][0][0] == "42"
    assert page.slider(key="vectors_temperature").value == 2.0


def test_sizes_change_all_tables_together(page):
    choose(page, "number_input", "size_d_model", 4)
    held = page.session_state["vectors_cells"]
    assert [len(held["X"][0]), len(held["W_Q"]), len(held["W_O"][0])] == [4, 4, 4]
    assert held["X"][0][:2] == ["1", "0.5"]


def test_the_mode_keeps_the_weights(page):
    before = trace_of(PRESETS["pairs"].problem()).weights().numpy()
    choose(page, "button_group", "mode", "direct")
    cells = page.session_state["vectors_cells"]
    query, key = (np.array(cells[name], dtype=float) for name in ("Q", "K"))
    exponentials = np.exp(query @ key.T / np.sqrt(2))
    np.testing.assert_allclose(exponentials / exponentials.sum(1, keepdims=True), before, atol=1e-12)


def test_lecture_mode_shows_the_same_pairs(page):
    page.session_state["lecture"] = True
    assert sound(page.run()).get("html")
    assert len(pairs(page)["arrows"]) == 3


@pytest.mark.parametrize(
    ("widget", "key", "value", "words"),
    [("slider", "constant", 2.0, "the shares are the same"), ("toggle", "nothing", True, "the shares sum to 100")],
)
def test_the_softmax_shows_what_a_constant_and_no_relevance_do(page, widget, key, value, words):
    open_tab(show(page, "weights"), "softmax")
    assert words in said(choose(page, widget, key, value))


def test_a_non_linearity_lets_one_vector_change_what_another_does(page):
    open_tab(show(page, "scores"), "pairs")
    assert "mixed effect: **exactly 0**" in said(page)
    page.toggle(key="vectors_deep").set_value(True).run()
    assert "mixed effect: **exactly 0**" in said(page)
    for deep in (True, False):
        page.toggle(key="vectors_deep").set_value(deep).run()
        page.toggle(key="vectors_bends").set_value(True).run()
        assert errors(page) == []
        assert "exactly 0" not in said(page)
        assert "mixed effect: **" in said(page)


def test_a_press_counts_though_the_browser_has_not_heard_of_the_one_before(page):
    page.button(key="vectors_step_next").click().run()
    page.segmented_control(key="vectors_step").set_value("query")
    page.button(key="vectors_step_next").click().run()
    assert page.session_state["vectors_step"] == "value"
    page.segmented_control(key="vectors_step").set_value("query").run()
    page.button(key="vectors_step_next").click().run()
    assert page.session_state["vectors_step"] == "key"
