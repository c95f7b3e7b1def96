"""The page on finding a digit without a browser: clutter, presets, odd drawings, steps, blocking, missing weights."""

import re

import numpy as np
import pytest

from attention_core.data.presets import CLUTTER_WIDTH, digit_strokes
from tests.support.app import (
    covering_strokes,
    data_of,
    digit_tiles,
    draw_strokes,
    html_of,
    leave_and_return,
    open_question,
    path_object,
    picture_numbers,
    rerun,
    set_fields,
    strokes_of,
    text_of,
    turn_dark,
)
from ui.player import CODE_OPEN

PAGE = "pages/find/page.py"
NAME = "find"
SIDE = 256


def digits(*placed):
    """Return the strokes of digits, each (digit, x, y, height) in canvas pixels."""
    paths = [stroke.path for digit, x, y, height in placed for stroke in digit_strokes(digit, (x, y), height)]
    return [path_object(path, 10) for path in paths]


def scene(page) -> dict:
    return data_of(page, "find_scene")


def answer(page) -> int:
    return int(scene(page)["answer"][0][0])


def mask(page) -> np.ndarray:
    return np.array(scene(page)["looks"][0]["weights"])


def clutter_of(page) -> int:
    return sum(abs(stroke["strokeWidth"] - CLUTTER_WIDTH) < 1e-6 for stroke in strokes_of(page))


def test_arrival_shows_how_a_digit_in_clutter_is_found(page):
    data, weights = scene(page), mask(page)
    assert (data["answer"][0][0], data["even"][0][0]) == ("4", "1")
    assert clutter_of(page) == 20
    assert not page.info
    assert weights == pytest.approx(np.array(picture_numbers(page, "find_small")) / 100, abs=1e-3)
    exponentials = np.exp(data["looks"][0]["scores"])
    assert weights == pytest.approx(exponentials / exponentials.sum(), abs=1e-4)
    row, column = divmod(int(weights.argmax()), data["grid"][1])
    assert abs((column + 0.5) / 15 - 0.7) < 0.12  # where the page hid it, off the middle
    assert abs((row + 0.5) / 15 - 0.62) < 0.15
    assert "misreads 2.6% of digits in clutter; trained without attention it is almost as good: 2.9%." in text_of(page)


def test_surprise_is_guessed_and_says_what_came_out(page):
    page.button(key=f"{NAME}_try").click().run()
    assert scene(page)["covered"]
    set_fields(page, tried="2")
    assert not scene(page)["covered"]
    drawn_tiles, learned, equal = digit_tiles(page)
    assert [digit for _, digit in drawn_tiles] == [digit for _, digit in learned]
    assert {kind for kind, _ in learned} == {"right"}
    assert [kind == "right" for kind, _ in equal] == [
        drawn == digit for (_, drawn), (_, digit) in zip(drawn_tiles, equal, strict=True)
    ]
    assert f"{sum(kind == 'right' for kind, _ in equal)} with every weight equal" in page.success[0].value


def test_ready_drawings_are_read_as_the_digits_that_they_hide(page):
    for digit in (0, 5, 9):
        page.button(key=f"{NAME}_preset_{digit}").click().run()
        assert answer(page) == digit


def test_clutter_is_scattered_and_erased_and_the_digit_stays(page):
    before, objects = clutter_of(page), len(strokes_of(page))
    page.button(key=f"{NAME}_scatter").click().run()
    assert clutter_of(page) == before + 8
    assert not page.info  # no clutter looks like a digit
    assert page.query_params["digit"] in ("drawn", ["drawn"])
    page.button(key=f"{NAME}_erase").click().run()
    assert clutter_of(page) == 0
    assert len(strokes_of(page)) == objects - before
    assert page.button(key=f"{NAME}_erase").disabled
    assert answer(page) == 4
    draw_strokes(page, [path_object([[20, 20], [30, 30]], CLUTTER_WIDTH)] * 96)
    assert page.button(key=f"{NAME}_scatter").disabled, "it has an end"


def test_cleared_pad_asks_for_a_digit_and_the_last_answer_stays_grey(page):
    draw_strokes(page, digits((2, 190, 180, 84)))
    before = scene(page)["answer"]
    page.button(key=f"{NAME}_clear").click().run()
    assert not page.error
    assert page.info[0].value == "Draw a digit on the empty picture, or take one of the ten."
    assert (scene(page)["answer"], scene(page)["isEmpty"]) == (before, True)
    assert ".st-key-tells_find { opacity: 0.35; }" in html_of(page)
    assert page.button(key=f"{NAME}_step_next")
    page.button(key=f"{NAME}_undo").click().run()


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (covering_strokes(SIDE, SIDE), "The whole pad has one colour"),
        ([path_object([[128, 128]], 2)], "That is a dot"),
        ([path_object([[60, 128], [190, 128]], 10)], "as tall as"),
        ([path_object([[128, 8], [128, 248]], 10)], "across the canvas"),
        (digits((3, 70, 80, 90), (8, 190, 180, 90)), "several digits"),
        (digits((3, 120, 120, 110), (8, 130, 120, 110)), ""),
    ],
    ids=["all black", "dot", "one flat line", "line across", "two digits", "overlapping digits"],
)
def test_odd_drawing_gets_a_kind_word_and_is_not_lost(page, objects, words):
    draw_strokes(page, objects)
    assert not page.error
    assert words in text_of(page)
    assert scene(page)["answer"]
    assert len(strokes_of(page)) == len(objects)


@pytest.mark.parametrize("is_dark", [False, True])
def test_drawn_digit_is_read_wherever_it_stands(page, is_dark, monkeypatch):
    if is_dark:
        turn_dark(page, monkeypatch)
    draw_strokes(page, digits((2, 190, 180, 84)))
    assert not page.info
    assert answer(page) == 2


def test_steps_go_forth_and_back_and_stop_at_the_ends(page):
    page.session_state[CODE_OPEN] = True
    set_fields(page, step="picture")
    assert page.button(key=f"{NAME}_step_previous").disabled
    steps = ["picture"]
    while not page.button(key=f"{NAME}_step_next").disabled:
        page.button(key=f"{NAME}_step_next").click().run()
        assert page.latex
        assert page.code
        steps.append(page.session_state[f"{NAME}_step"])
    assert steps == ["picture", "key", "query", "scores", "weights", "context", "output"]
    page.button(key=f"{NAME}_step_previous").click().run()
    assert page.session_state[f"{NAME}_step"] == "context"


def test_a_photograph_is_sent_to_a_model_of_the_hub(page):
    assert "Take `facebook/deit-tiny-patch16-224` (23 MB) from *Small models to try*" in text_of(page)
    link = next(link for link in page.get("page_link") if "photograph" in link.proto.label)
    assert link.proto.query_string == "model=digit-vit&picture=upload"


def test_every_step_but_the_answer_is_numbers_that_move(page):
    for step in ("picture", "key", "query", "scores", "weights", "context"):
        set_fields(page, step=step)
        data = data_of(page, "find_moving_step")
        assert data["now"] == step
        assert data["steps"][step]["grid"] == {"picture": [60, 60], "query": None, "context": None}.get(step, [15, 15])
        assert not page.get("vega_lite_chart")
        if step == "key":
            assert data["steps"]["key"]["shape"] == [225, 18], "channels are shown by what they do to the map"
            assert len(data["parts"][data["steps"]["key"]["columns"]]) == 18


def test_chosen_region_is_shown_in_numbers_and_survives_another_page(page):
    page.session_state[f"{NAME}_step"] = "scores"
    page.session_state[f"{NAME}_region"] = 100
    rerun(page)
    assert any("S_{101}" in latex.value for latex in page.latex)
    leave_and_return(page)
    assert any("S_{101}" in latex.value for latex in page.latex)


def test_a_region_that_it_may_not_look_at_gets_no_weight(page):
    heaviest = np.argsort(-mask(page))[:10].tolist()
    set_fields(open_question(page, "elsewhere"), brushed=heaviest)
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert page.checkbox(key=f"{NAME}_edit_0").label == "It no longer looks at 10 regions"
    assert re.search("falls from 100%|rises from|The answer stays", text_of(page))
    changed = mask(open_question(page, ""))
    assert changed[heaviest] == pytest.approx(0)
    assert changed.sum() == pytest.approx(1, abs=3e-3)
    open_question(page, "elsewhere")
    page.button(key=f"{NAME}_region_look_nowhere_else").click().run()
    assert "Nothing is left to look at for learned constant" in text_of(page)


def test_a_link_brings_equal_weights_and_a_mask_of_nothing_is_drawn(visit):
    page = visit(NAME, even="1")
    assert scene(page)["isEven"]
    set_fields(open_question(page, "elsewhere"), brushed=list(range(225)))
    page.button(key=f"{NAME}_region_look_away").click().run()
    assert "100% of the attention moved" in text_of(page)
    assert mask(open_question(page, "")).max() == 0
    assert not page.error


def test_a_digit_is_read_alone_and_among_clutter_and_with_no_digit_at_all(page):
    page.button(key=f"{NAME}_preset_5").click().run()
    open_question(page, "clutter")
    assert "Alone it reads **5**; among 32 pieces it still reads **5**, with every weight equal **" in text_of(page)
    assert text_of(page).count("As learned: **5** (") == 3
    draw_strokes(page, [path_object([[20, 20], [30, 30]], CLUTTER_WIDTH)])
    assert "Alone it reads" in text_of(page), "clutter is no digit, and nothing breaks"
