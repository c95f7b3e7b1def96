"""The workbench page without a browser: presets, steps, settings, typed numbers."""

import numpy as np
import pytest

from attention_core.attention.scores import SCORES
from pages.vectors.problem import PRESETS, trace_of
from tests.support.app import charts, component_data, open_question, set_fields, text_of


@pytest.fixture
def page(visit):
    """The workbench, at a step that draws quickly, reached without drawing the start page first."""
    return visit("vectors", step="query")


@pytest.fixture
def rules(visit):
    """The experiment with the rules."""
    return visit("vectors", question="rules")


def retype(page, table, row, column, number):
    """Put a number into a cell, as the table does."""
    cells = [list(numbers) for numbers in page.session_state["vectors_cells"][table]]
    cells[row][column] = number
    return set_fields(page, cells=page.session_state["vectors_cells"] | {table: cells})


def sound(page):
    assert not page.error
    return page


def choose(page, widget, key, value):
    """Set a widget, and nothing goes wrong."""
    return sound(getattr(page, widget)(key=f"vectors_{key}").set_value(value).run())


def show(page, step):
    page.session_state["vectors_step"] = step
    return page.run()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_draws_its_steps_and_says_what_it_shows(page, preset):
    choose(page, "selectbox", "preset", preset)
    assert charts(page)
    assert PRESETS[preset].line in text_of(page)
    assert charts(sound(show(page, "context")))


def pairs(page):
    """What the component of the first screen was given, with the weights of its scene."""
    shown = component_data(page, "nine_pairs")
    return shown | {"weights": shown["scene"]["weights"]}


def test_it_opens_on_three_arrows_and_the_scene_of_their_nine_pairs(page):
    shown, trace = pairs(page), trace_of(PRESETS["pairs"].problem())
    assert len(shown["arrows"]) == 3
    np.testing.assert_allclose(shown["weights"], trace.weights(), rtol=1e-3)
    np.testing.assert_allclose(shown["scene"]["scores"], trace.scores(), atol=1e-5)
    assert not page.get("arrow_data_frame")


def test_the_softmax_is_switched_off_and_told_in_the_address(rules):
    page = choose(rules, "toggle", "softmax", False)
    assert page.query_params["softmax"] in ("0", ["0"])
    assert "By these rules, x1 takes 2.4, 1.92, 0." in text_of(page)
    assert all("The softmax is off" in text_of(open_question(page, slug)) for slug in ("elsewhere", "average"))
    page.session_state["vectors_step"] = "weights"
    assert any("A = S'" in formula.value for formula in open_question(page, "").latex)


def test_who_has_no_pointer_chooses_the_row_whose_weight_is_changed(page):
    open_question(page, "elsewhere")
    page.selectbox(key="vectors_asks").set_value(2).run()
    assert page.selectbox(key="vectors_weight_of").label == "x3 takes from"
    page.button(key="vectors_cut").click().run()
    assert [box.label for box in page.checkbox if "_edit_" in box.key] == [
        "Row x3 no longer looks at x1; the others share the rest"
    ]


@pytest.mark.parametrize("scoring", SCORES)
def test_every_scoring_function_can_be_chosen(page, scoring):
    assert charts(sound(set_fields(page, scoring=scoring)))


def test_scores_need_not_be_scaled_and_may_look_back_only(rules):
    page = choose(rules, "selectbox", "scoring", "dot")
    scaled = np.array(pairs(page)["weights"])
    assert not np.allclose(pairs(choose(page, "toggle", "scaled", False))["weights"], scaled)
    assert page.query_params["scale"] in ("none", ["none"])
    choose(page, "toggle", "causal", True)
    sound(show(open_question(page, ""), "mask"))
    assert page.session_state["vectors_step"] == "mask"
    assert np.triu(pairs(page)["weights"], 1).max() == 0
    page.session_state["lecture"] = True
    assert sound(page.run()).get("html")
    assert len(pairs(page)["arrows"]) == 3


def test_what_an_example_shows_is_said_of_it_before_ones_own_changes(page):
    line = PRESETS["huge"].line
    assert f"\n{line}" in text_of(choose(page, "selectbox", "preset", "huge"))
    assert f"Before your changes: {line}" in text_of(set_fields(page, scoring="cosine"))
    choose(page, "selectbox", "preset", "equal")
    assert PRESETS["equal"].line not in text_of(retype(page, "K", 0, 0, -1)), "it is about other numbers"


def test_what_was_crossed_out_in_one_example_is_no_change_of_another(page):
    open_question(page, "elsewhere").button(key="vectors_cut").click().run()
    assert pairs(open_question(page, ""))["scene"]["isEdited"]
    assert "Before your changes" not in text_of(choose(page, "selectbox", "preset", "equal"))
    assert not pairs(choose(page, "selectbox", "preset", "pairs"))["scene"]["isEdited"]
    assert "Before your changes" not in text_of(page)


def test_what_examples_say_is_so():
    weights = {name: preset.problem() for name, preset in PRESETS.items()}
    weights = {name: trace_of(problem).weights().numpy() for name, problem in weights.items()}
    np.testing.assert_allclose(weights["equal"][:, 0], weights["equal"][:, 1])
    assert (weights["huge"][:, 2] > 0.98).sum() == 2
    keys = PRESETS["huge"].problem().tables["K"]
    assert np.linalg.norm(keys, axis=1).tolist() == [1, 1, 10]
    assert (weights["pairs"].argmax(1).tolist(), weights["projections"][0].argmax()) == ([0, 1, 2], 2)
    lengths = np.linalg.norm(PRESETS["pairs"].problem().tables["X"], axis=1)
    np.testing.assert_allclose(lengths, lengths[0])  # so that angles alone make the weights
    assert np.triu(weights["causal"], 1).max() == 0
    assert weights["causal"][0, 0] == 1


@pytest.mark.parametrize("change", ["drag", "softmax", "edit"])
def test_the_verdict_goes_when_x1_is_moved_on(page, change):
    page.button(key="vectors_try").click().run()
    page.segmented_control(key="vectors_try_guess").set_value(2).run()
    assert page.success
    if change == "drag":
        retype(page, "X", 0, 0, 2.0)
    elif change == "softmax":
        set_fields(page, softmax=False)
    else:
        open_question(page, "elsewhere")
        page.button(key="vectors_cut").click().run()
        open_question(page, "")
    assert not page.success
    assert page.session_state["vectors_tried"] == ""


def test_edges_of_a_graph_are_its_mask_and_can_be_chosen(page):
    shown = pairs(choose(page, "selectbox", "preset", "graph"))
    assert shown["edges"] == [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]]
    assert np.array(shown["weights"])[0, 3:].tolist() == [0, 0]
    shown = pairs(sound(set_fields(page, edges=[15])))
    assert shown["edges"] == [[0, 4]]
    assert (np.array(shown["weights"])[0] > 0).tolist() == [True, False, False, False, True]
    assert page.query_params["edges"] in ("15", ["15"])
    assert pairs(sound(set_fields(page, edges=[])))["allowed"] is None


def test_slips_of_other_texts_are_put_right(page):
    open_question(page, "notations")
    assert all(words in text_of(page) for words in ("784, not 748", "high, not low", "*Attention is all you need*"))


def test_the_chosen_cell_is_written_out_beside_the_matrix(page):
    set_fields(page, step="scores", cell={"query": 2, "key": 1, "dimension": 0})
    assert r"S_{3,2} = q_{3} \cdot k_{2} = (-1.2) \cdot 0.4 + 1.4 \cdot 1.8 = 2.04" in "".join(
        one.value for one in page.latex
    )


def test_what_was_typed_survives_leaving_the_page(page):
    open_question(retype(page, "X", 0, 0, 42), "rules")
    page.slider(key="vectors_temperature").set_value(2.0).run()
    page.switch_page("pages/start/page.py").run()
    page.switch_page("pages/vectors/page.py").run()
    sound(page)
    assert page.session_state["vectors_cells"]["X"][0][0] == 42
    assert page.slider(key="vectors_temperature").value == 2.0


def test_a_non_linearity_lets_one_vector_change_what_another_does(page):
    open_question(page, "pairs")
    assert "A weight for each of 9 pairs, made from the inputs. A neuron has 3" in text_of(page)
    assert "mixed effect: **exactly 0**" in text_of(page)
    page.toggle(key="vectors_deep").set_value(True).run()
    assert "mixed effect: **exactly 0**" in text_of(page)
    for deep in (True, False):
        page.toggle(key="vectors_deep").set_value(deep).run()
        page.toggle(key="vectors_bends").set_value(True).run()
        sound(page)
        assert "exactly 0" not in text_of(page)
        assert "mixed effect: **" in text_of(page)


def test_nine_weights_change_with_one_input_and_the_verdict_goes_with_the_example(page):
    before = np.array(pairs(page)["weights"])
    page.button(key="vectors_try").click().run()
    assert pairs(page)["scene"]["covered"]
    page.segmented_control(key="vectors_try_guess").set_value(2).run()
    assert "**Right**: **9**: softmax divides each row" in page.success[0].value
    assert pairs(page)["arrows"][0] == [-1.8, 0.2]
    assert np.abs(np.array(pairs(page)["weights"]) - before).min() > 0.01
    choose(page, "selectbox", "preset", "huge")
    assert not page.success
    assert "vectors_try" not in [button.key for button in page.button], "the guess is about the first example"
    choose(page, "selectbox", "preset", "pairs")
    assert page.button(key="vectors_try")


def test_a_weighted_average_is_drawn_of_values_in_a_plane_and_sizes_change_all_tables_together(page):
    open_question(page, "average")
    assert len(page.get("vega_lite_chart")) == 1
    assert "**x1** takes:" in text_of(page)
    assert "No: x1 takes 59% x1 + 36% x2 + 5% x3" in text_of(page)
    choose(open_question(page, "rules"), "number_input", "size_d_v", 3)
    choose(page, "number_input", "size_d_model", 4)
    held = page.session_state["vectors_cells"]
    assert [len(held["X"][0]), len(held["W_Q"]), len(held["W_O"][0])] == [4, 4, 4]
    assert held["X"][0] == [1.4, 1.2, 0, 0]
    assert "these have 3" in text_of(open_question(page, "average"))


def test_a_press_counts_though_the_browser_has_not_heard_of_the_one_before(page):
    page.button(key="vectors_step_next").click().run()
    page.segmented_control(key="vectors_step").set_value("query")
    page.button(key="vectors_step_next").click().run()
    assert page.session_state["vectors_step"] == "value"
    page.segmented_control(key="vectors_step").set_value("query").run()
    page.button(key="vectors_step_next").click().run()
    assert page.session_state["vectors_step"] == "key"


def test_a_lecture_takes_its_surprise_back_before_the_steps_and_stops_at_those_that_tell_the_story(visit):
    page = visit("vectors", lecture="1")
    before = page.session_state["vectors_cells"]["X"]
    for key in ("vectors_try", "vectors_try_reveal"):
        page.button(key=key).click().run()
    assert page.session_state["vectors_cells"]["X"] != before
    sound(page.segmented_control(key="vectors_question").set_value("numbers").run())
    assert (page.session_state["vectors_question"], page.session_state["vectors_tried"]) == ("numbers", "")
    assert page.session_state["vectors_cells"]["X"] == before
    seen = [page.session_state["vectors_step"]]
    while not page.button(key="vectors_step_next").disabled:
        sound(page.button(key="vectors_step_next").click().run())
        seen.append(page.session_state["vectors_step"])
    assert seen[1:4] == ["scaled", "weights", "context"]
    assert len(seen) <= 5
