"""The digit page without a browser: presets, an empty pad, other drawings, steps, damaged weights."""

import json
import re

import numpy as np
import pytest
import torch
from PIL import Image

from attention_core.data.drawing import prepare
from attention_core.data.presets import preset_paths
from attention_core.hub.pictures import png_of
from attention_core.models import load
from attention_core.weights import FOLDER
from tests.support.app import (
    charts,
    covering_strokes,
    data_of,
    draw_strokes,
    html_of,
    html_with,
    leave_and_return,
    open_question,
    path_object,
    picture_numbers,
    read_digits,
    set_fields,
    step_through,
    strokes_of,
    text_of,
    turn_dark,
)
from ui.chart import LECTURE_SCALE
from ui.navigation import entry_of
from ui.player import CODE_OPEN

PAGE = "pages/pixels/page.py"
NAME = "pixels"
PAD_SIDE = 256
DOT = path_object([[128, 128]], 2)


def first_drawing() -> np.ndarray:
    """Return the drawing on arrival as the networks see it, float (28, 28)."""
    from pages.pixels.first_screen import PAD
    from ui.canvas import render_strokes  # not before there is an app

    return prepare(render_strokes(PAD.presets["7"](), PAD.size, "light")).image


def digit_strokes(number):
    return [path_object(path) for path in preset_paths(number, PAD_SIDE)]


def scene(page) -> dict:
    return data_of(page, "pixels_scene")


def answers(page) -> list[int]:
    """Return the digit read with learned weights and that with equal ones."""
    if page.session_state[f"{NAME}_had_scene"]:
        return [int(scene(page)[name][0][0]) for name in ("answer", "even")]
    return [digit for digit, _ in read_digits(page)]


def n_figures(page) -> int:
    """Return the number of charts, pictures in layers, moving steps and sets of bars."""
    return len(charts(page)) + html_of(page).count('class="bars"')


def pixel_map_data(page) -> dict:
    """Return the data of the component that lays a map over the pad where there is no scene."""
    return data_of(page, "pixels_looks")


def test_arrival_shows_how_a_pixel_of_a_drawing_asks_all_others_and_what_they_say(page):
    data, trace = scene(page), load("pixel-notes", "cpu").trace(torch.from_numpy(first_drawing()))
    row = trace.weights(0, [data["asker"]])[0]
    assert answers(page) == [7, 8]
    assert data["grid"] == [28, 28]
    assert data["looks"][0]["weights"] == pytest.approx(row.numpy(), rel=2e-3, abs=1e-6)
    taken = trace.weights(0) @ torch.tensor(data["ink"], dtype=torch.float)
    assert data["taken"] == pytest.approx(taken.numpy(), abs=6e-4)
    exponentials = np.exp(data["looks"][0]["scores"])
    assert data["looks"][0]["weights"] == pytest.approx(exponentials / exponentials.sum(), rel=1e-2)
    counts = [n_figures(open_question(page, slug)) for slug in ("", "elsewhere", "learned")]
    assert counts == [2, 1, 2]


def test_ten_digits_are_read_with_both_weights(page):
    data = data_of(page, "pixels_ten")
    drawn, learned, equal = data["rows"]
    assert drawn["digits"] == [None] * 10
    assert (learned["digits"], equal["digits"]) == ([*range(10)], [8, 8, 8, 8, 8, 8, 8, 8, 5, 8])
    assert data["claim"] == "With every weight equal, 9 of these 10 digits are read as an 8, and the 8 as a 5."
    assert len({*drawn["pictures"], *learned["pictures"], *equal["pictures"]}) > 20
    figures = [f"{share}% of 10,000 new digits read" for share in (98, 6)]
    assert [row["figure"] for row in data["rows"]] == ["", *figures]
    assert equal["note"] == "Even trained on such greys, a network reads 22%."
    assert data["plays"]


def test_a_pixel_of_the_seven_is_traced_to_those_that_it_takes_most_from(page):
    traced, heaviest = data_of(page, "pixels_ten")["traced"], np.argmax(scene(page)["looks"][0]["weights"])
    assert (traced["digit"], traced["pixel"]) == (7, scene(page)["asker"])
    assert (traced["sources"][0], traced["note"]) == ([heaviest, "56%"], "one pixel takes; 782 others 29%")
    set_fields(page, layer="pixel-notes-product")
    assert data_of(page, "pixels_ten")["traced"] is None, "its weights are no shares"


def test_surprise_is_that_a_network_without_attention_is_as_good(page):
    page.button(key=f"{NAME}_try").click().run()
    assert "98%, with" not in text_of(page)
    assert data_of(page, "pixels_ten")["rows"][0]["digits"] == [None] * 10
    assert not data_of(page, "pixels_ten")["claim"], "the question is the headline"
    assert not data_of(page, "pixels_ten")["rows"][2]["note"]
    set_fields(page, tried="2")
    assert "98%, with attention 98%: here attention buys nothing." in page.success[0].value
    alone, learned, equal = data_of(page, "pixels_ten")["rows"]
    assert ("even" in learned, equal["even"], "even" in alone) == (False, True, False)
    assert alone["digits"] == [*range(10)]
    assert alone["figure"] == learned["figure"] == "98% of 10,000 new digits read"


def test_averages_over_all_pixels_are_drawn_on_the_drawing(page):
    for average in ("who is looked at", "who looks"):
        page.segmented_control(key=f"{NAME}_map").set_value(average).run()
        assert len(pixel_map_data(page)["map"]) == 784
        assert max(map(abs, pixel_map_data(page)["map"])) == 1
        assert "means of Q Kᵀ, blue below 0" in pixel_map_data(page)["legend"]
        assert pixel_map_data(page)["about"].endswith(pixel_map_data(page)["legend"])
        assert answers(page) == [7, 8]


def test_presets_are_read_as_the_digits_that_they_are_by_the_attention_model(page):
    for number in (1, 4, 9):
        page.button(key=f"{NAME}_preset_{number}").click().run()
        assert answers(page)[0] == number


def test_odd_drawings_get_a_remark_and_no_error(page):
    page.button(key=f"{NAME}_clear").click().run()
    assert page.info
    assert answers(page) == [7, 8]  # the answers to the drawing before, greyed
    assert scene(page)["isEmpty"]
    assert ".st-key-tells_pixels { opacity: 0.35; }" in html_of(page)
    several = [path * 0.45 + [0, 70] for path in preset_paths(3, PAD_SIDE)]
    several += [path * 0.45 + [140, 70] for path in preset_paths(5, PAD_SIDE)]
    full, almost_full = (covering_strokes(PAD_SIDE, PAD_SIDE, n_blank) for n_blank in (0, 3))
    for drawing in ([DOT], almost_full, full, [path_object(path, 9) for path in several]):
        draw_strokes(page, drawing)
        assert not page.error
        assert page.info or drawing == almost_full
        if drawing == full:
            assert page.info[0].value == "The whole pad has one colour. Undo takes the last stroke away."
    assert len(answers(page)) == 2


def test_redo_draws_again_what_undo_and_clear_took(page):
    draw_strokes(page, digit_strokes(4))
    before = strokes_of(page)
    assert page.button(key=f"{NAME}_redo").disabled
    for button, n in (("undo", 2), ("clear", 0), ("redo", 1), ("redo", 2), ("redo", 3)):
        page.button(key=f"{NAME}_{button}").click().run()
        assert strokes_of(page) == before[:n]
    assert page.button(key=f"{NAME}_redo").disabled
    page.button(key=f"{NAME}_undo").click().run()
    draw_strokes(page, digit_strokes(4))
    assert page.button(key=f"{NAME}_redo").disabled  # what was undone is lost after a new stroke


def test_undo_takes_the_last_stroke_away(page):
    page.button(key=f"{NAME}_preset_7").click().run()
    before = scene(page)["answer"]
    page.button(key=f"{NAME}_undo").click().run()
    assert len(strokes_of(page)) == 1
    assert scene(page)["answer"] != before
    page.button(key=f"{NAME}_undo").click().run()
    assert page.info  # nothing is left
    page.button(key=f"{NAME}_undo").click().run()


def test_injected_drawing_is_read_on_light_and_stays_when_the_page_is_dark(page, monkeypatch):
    draw_strokes(page, [stroke | {"stroke": "#15191E"} for stroke in digit_strokes(2)])
    assert answers(page)[0] == 2
    before, address = scene(page)["answer"], page.query_params["strokes"]
    turn_dark(page, monkeypatch)
    assert {stroke["stroke"] for stroke in strokes_of(page)} == {"#F4F6F8"}
    assert scene(page)["answer"] == before
    assert page.query_params["strokes"] == address


def test_steps_go_forth_and_back_with_formula_and_code_and_stop_at_the_ends(page):
    page.session_state[CODE_OPEN] = True
    for step in ("query", "weights", "class", "pixels"):
        set_fields(page, step=step)
        assert page.session_state[f"{NAME}_step"] == step
        assert page.latex
        assert page.code
    steps = step_through(page)
    assert steps[-1] == "class"
    assert len(set(steps)) == len(steps)
    page.button(key=f"{NAME}_step_previous").click().run()
    assert page.session_state[f"{NAME}_step"] == steps[-2]


def test_drawing_survives_going_to_another_page_and_stepping(page):
    draw_strokes(page, digit_strokes(2))
    before = scene(page)["answer"]
    page.button(key=f"{NAME}_step_next").click().run()
    leave_and_return(page)
    assert scene(page)["answer"] == before


def test_chosen_pixel_survives_and_is_shown(page):
    set_fields(page, query=300)
    leave_and_return(page)
    assert page.session_state[f"{NAME}_query"] == 300
    assert scene(page)["asker"] == 300


def test_a_drawing_stays_where_another_layer_has_no_scene_and_its_pad_another_place(page):
    draw_strokes(page, digit_strokes(2))
    strokes, generation = strokes_of(page), page.session_state[f"{NAME}_generation"]
    for layer in ("pixel-notes-product", "pixel-notes-ink"):
        set_fields(page, layer=layer)
        generation += 1
        assert (strokes_of(page), page.session_state[f"{NAME}_generation"]) == (strokes, generation)
        assert answers(page)[0] == 2


def test_corrupted_weights_are_told_on_the_page_and_the_drawing_stays(weights, start_app):
    path = weights / "pixel-notes.safetensors"
    before = path.read_bytes()
    path.write_bytes(before[:5000] + b"\0" + before[5001:])
    page = start_app().switch_page(PAGE).run()
    assert "damaged" in page.error[0].value
    strokes = strokes_of(page)
    path.write_bytes(before)
    page.run()
    assert not page.error
    assert answers(page)
    assert strokes_of(page) == strokes


def test_missing_snapshots_cost_no_more_than_their_section(weights, start_app):
    (weights / "pixel-notes.snapshots.safetensors").unlink()
    page = start_app().switch_page(PAGE).run()
    assert len(answers(page)) == 2
    assert "snapshots" in text_of(open_question(page, "learned"))


def test_it_says_what_q_and_k_are_up_to_after_training(page):
    open_question(page, "learned")
    assert "a pixel's Q is mostly up to its ink (80%), its K mostly up to its place" in text_of(page)
    set_fields(page, snapshot=0)
    assert "(80%)" in text_of(page), "the sentence is about the trained network"


def test_ink_alone_makes_the_drawing_times_itself(page):
    page.session_state[f"{NAME}_layer"] = "pixel-notes-ink"
    open_question(page, "learned")
    assert "of rank one" in text_of(page)
    assert "mostly up to" not in text_of(page)


def test_ink_is_erased_by_the_jacobian_of_the_other_network(page):
    open_question(page, "erase")
    random_text = text_of(page)
    assert "at random" in random_text
    assert "20 draws" in random_text
    page.segmented_control(key=f"{NAME}_erased").set_value("largest Jacobian").run()
    assert text_of(page) != random_text


def test_patches_answer_beside_pixels(page):
    open_question(page, "patches")
    assert "a vision transformer reads **7**" in text_of(page)
    page.slider(key=f"{NAME}_patch_layer").set_value(1).run()
    assert page.query_params["patch_layer"] in ("1", ["1"])


def test_the_fair_control_has_as_many_parameters_and_its_errors_are_told(page):
    open_question(page, "worth")
    table = html_with(page, 'class="figures"')
    error_rates = []
    for name, parameters in (("pixel-notes", "831,914"), ("pixel-notes-self", "830,890")):
        card = json.loads((FOLDER / f"{name}.json").read_text())
        assert f"{card['parameters']:,}" == parameters
        assert f"<td>{parameters}</td>" in table
        seeds = [seed for seed in card.get("other_seeds", {}).values() if isinstance(seed, dict)]
        error_rates.append(np.mean([1 - run["test_accuracy"] for run in (card, *seeds)]))
    attention, control = error_rates
    assert "<td>95.9% to 96.3%</td>" in table
    assert "Ranges: trained with several seeds" in text_of(page)
    assert f"misreads {1e4 * attention:.0f} on average" in text_of(page)
    assert f"almost as good: {1e4 * control:.0f}." in text_of(page)


def test_dot_and_blank_query_break_no_experiment(page):
    draw_strokes(page, [path_object([[128, 128]], 8)])
    page.session_state[f"{NAME}_query"] = 0
    for question in entry_of(NAME).questions:
        open_question(page, question.slug)


@pytest.mark.parametrize(("layer", "answer"), [("pixel-notes", "No"), ("pixel-notes-ink", "Yes")])
def test_what_can_be_read_back_from_the_values_is_said_for_each_layer(page, layer, answer):
    open_question(set_fields(page, layer=layer), "kept")
    assert f"**{answer}**" in text_of(page)
    assert html_of(page).count("<tr><td>") == 4, "Q, K, V and the heading, whose corner is empty"


def test_a_drawing_that_comes_along_is_read_back_by_the_nine_others(page, monkeypatch):
    from pages.pixels.experiments import kept

    n_fitted = set()
    original = kept._compute_readouts
    monkeypatch.setattr(kept, "_compute_readouts", lambda *args: n_fitted.add(len(args[2])) or original(*args))
    open_question(page, "kept")
    assert n_fitted == {9}


def test_letters_of_charts_are_larger_in_a_lecture(page):
    def sizes() -> list[float]:
        config = json.loads(page.get("vega_lite_chart")[0].proto.spec)["config"]
        axis, legend = (config.get(name, {}) for name in ("axis", "legend"))
        return [axis.get("labelFontSize", 12), legend.get("labelFontSize", 14), legend.get("labelLimit", 160)]

    open_question(page, "learned")
    before = sizes()
    page.session_state["lecture"] = True
    page.run()
    assert sizes() == pytest.approx([LECTURE_SCALE * size for size in before])


LAYERS = ["pixel-notes", "pixel-notes-ink", "pixel-notes-product", "pixel-classifier"]


@pytest.mark.parametrize(
    ("accuracy", "baseline", "are_errors", "comparison"),
    [
        ("98.1%", "98.1%", False, "as good"),
        ("98.1%", "98.4%", False, "almost as good"),
        ("98.1%", "97.4%", False, "better"),
        ("22.4%", "98.4%", False, "worse"),
        ("2.9%", "2.6%", True, "almost as good"),
        ("2.6%", "2.9%", True, "better"),
        ("98.1% to 98.3%", "98.2%", False, "as good"),
    ],
)
def test_a_comparison_says_no_more_than_the_figures_as_they_are_printed(accuracy, baseline, are_errors, comparison):
    from ui.digits import compare_accuracies

    assert compare_accuracies(accuracy, baseline, are_errors) == comparison


@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_said_of_a_layer_is_what_its_cards_say(page, layer):
    set_fields(page, layer=layer)
    card, begun = (json.loads((FOLDER / f"{name}.json").read_text()) for name in (layer, "pixel-notes-uniform"))
    equal = card.get("test_accuracy_with_uniform_attention")
    data, shares = data_of(page, "pixels_ten"), (card["test_accuracy"], equal)
    figures = [f"{share:.0%} of 10,000 new digits read" for share in shares] if equal else ["", ""]
    assert [row["figure"] for row in data["rows"][1:]] == figures, "one measure"
    from_start = f"Even trained on such greys, a network reads {begun['test_accuracy']:.0%}."
    assert data["rows"][2]["note"] == from_start * (layer == "pixel-notes")
    if layer == "pixel-notes-product":
        assert "Every weight 0: reads" in re.sub(r"<[^>]+>", "", html_of(page))
        assert picture_numbers(page, "pixels_equal_map") == [0] * 784
    assert page.query_params.get("layer", "pixel-notes") in (layer, [layer])
    for slug in ("", "elsewhere", "learned", "patches"):
        assert n_figures(open_question(page, slug)) >= (1 if slug == "elsewhere" else 2), slug


@pytest.mark.parametrize(
    ("ink", "text"),
    [
        (0.8, "mostly up to its ink (80%)"),
        (0.3, "mostly up to its place (70%)"),
        (0.502, "up to its ink and its place alike"),
        (1.09, "mostly up to its ink (109%; its place works the other way)"),
        (-0.02, "mostly up to its place (102%; its ink works the other way)"),
    ],
)
def test_a_share_of_more_than_all_is_explained_and_halves_are_alike(ink, text):
    from pages.pixels.experiments import learned

    assert learned._describe_larger_share(ink) == text


def test_what_began_with_a_head_start_is_never_called_random(page):
    open_question(set_fields(page, layer="pixel-classifier"), "learned")
    assert "Never: near pixels and ink were preferred from the start." in text_of(page)


def test_equal_weights_have_one_colour_wherever_they_are_drawn(page, monkeypatch):
    """Every map of weights has the scale of the page, so that 1/784 is one pink."""
    from pages.pixels import first_screen as screen
    from ui import chart, faithfulness

    scales = {}
    original = chart.draw_map

    def draw_map(*args, **kwargs):
        scales[args[2]] = kwargs["high"]
        return original(*args, **kwargs)

    for module in (screen, faithfulness):
        monkeypatch.setattr(module, "draw_map", draw_map)
    page.session_state[f"{NAME}_query"] = 10  # paper, which looks at all pixels nearly alike
    open_question(page, "elsewhere")
    page.button(key=f"{NAME}_region_look_everywhere_alike").click().run()
    (brushed, _) = data_of(page, "pixels_brush")["layers"]
    open_question(page, "")
    assert scene(page)["looks"][0]["weights"] == pytest.approx([1 / 784] * 784, rel=1e-3)
    assert scene(page)["learned"][0][0] == "7"
    set_fields(page, map="who looks")
    assert scales["pixels_equal_map"] == screen.MAX_MAP_WEIGHT
    assert brushed == data_of(page, "pixels_equal_map")["layers"][0], "the same map, pixel by pixel"
    set_fields(page, step="weights")
    assert data_of(page, "pixels_moving_step")["steps"]["weights"]["glow"] == screen.MAX_MAP_WEIGHT
    open_question(page, "doubts")
    assert set(scales.values()) == {screen.MAX_MAP_WEIGHT}


def test_without_softmax_no_share_of_attention_is_told_and_equal_weights_are_0(page):
    set_fields(page, layer="pixel-notes-product", brushed=list(range(400)))
    assert data_of(page, "pixels_ten")["claim"] == "With every weight 0, 10 of these 10 digits are read as an 8."
    open_question(page, "elsewhere")
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert "Orange grew, blue shrank" in text_of(page)
    assert "of the attention moved" not in text_of(page)
    page.button(key=f"{NAME}_region_make_every_weight_0").click().run()
    open_question(page, "")
    assert pixel_map_data(page)["row"] == [0] * 784
    assert [answers(page)[0]] * 2 == answers(page)


def test_a_photograph_of_paper_is_read_step_by_step(visit):
    page = visit(NAME, question="paper", sheet="ruled")
    assert "It reads **4" in text_of(page)
    assert "only shrunk it reads 4" not in text_of(page)
    key = f"{NAME}_handwriting_upload"
    page.file_uploader(key=key).set_value(
        ("mine.png", png_of(Image.new("RGB", (300, 200), "white")), "image/png")
    ).run()
    assert "too little ink" in text_of(page)
    page.file_uploader(key=key).set_value(("mine.heic", b"\0\0\0\x18ftypheic", "image/heic")).run()
    assert "HEIC" in page.error[0].value
    assert "too little ink" in text_of(page)
    page.segmented_control(key=f"{NAME}_sheet").set_value("plain").run()
    assert "It reads" in text_of(page)
    page.segmented_control(key=f"{NAME}_sheet").set_value("own").run()
    assert "too little ink" in text_of(page)
    assert not page.info


@pytest.mark.parametrize("name", [NAME, "read"])
def test_a_photograph_of_paper_that_is_not_here_any_more_is_told(visit, name):
    page = visit(name, question="paper", sheet="own")
    assert "no link holds one" in page.info[0].value
    assert "It reads" in text_of(page)
