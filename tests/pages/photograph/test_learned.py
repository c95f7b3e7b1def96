"""A learned mask, an experiment of the photograph's page, without a browser: clutter, odd drawings, steps, a region."""

import numpy as np
import pytest

from attention_core.data.presets import CLUTTER_WIDTH, digit_strokes
from tests.support.app import (
    covering_strokes,
    data_of,
    draw_strokes,
    html_of,
    path_object,
    picture_numbers,
    rerun,
    set_fields,
    strokes_of,
    text_of,
    turn_dark,
)

NAME = "photograph"
SIDE = 256


@pytest.fixture
def page(visit):
    return visit(NAME, question="learned")


def digits(*placed):
    """Return the strokes of digits, each (digit, x, y, height) in canvas pixels."""
    paths = [stroke.path for digit, x, y, height in placed for stroke in digit_strokes(digit, (x, y), height)]
    return [path_object(path, 10) for path in paths]


def reads(page, digit: int) -> bool:
    return f"reads **{digit}**" in text_of(page)


def test_a_learned_mask_finds_the_digit_in_clutter_and_equal_weights_do_not(page):
    assert "reads **4**, with every weight equal **1**." in text_of(page)
    assert "The learned mask reads</span> <b>4</b>" in html_of(page)
    mask = np.array(picture_numbers(page, f"{NAME}_mask_0")).reshape(15, 15)
    row, column = np.unravel_index(mask.argmax(), mask.shape)
    assert abs((column + 0.5) / 15 - 0.7) < 0.12  # where the page hid it, off the middle
    assert abs((row + 0.5) / 15 - 0.62) < 0.15
    assert "misreads 2.6% of digits in clutter; trained without attention it is almost as good: 2.9%." in text_of(page)
    for digit in (0, 5, 9):
        page.button(key=f"{NAME}_preset_{digit}").click().run()
        assert reads(page, digit)


def test_clutter_is_scattered_and_erased_and_the_digit_stays(page):
    def n_pieces() -> int:
        return sum(abs(stroke["strokeWidth"] - CLUTTER_WIDTH) < 1e-6 for stroke in strokes_of(page))

    before, objects = n_pieces(), len(strokes_of(page))
    page.button(key=f"{NAME}_scatter").click().run()
    assert n_pieces() == before + 8
    assert not page.info  # no clutter looks like a digit
    page.button(key=f"{NAME}_erase").click().run()
    assert len(strokes_of(page)) == objects - before
    assert page.button(key=f"{NAME}_erase").disabled
    assert reads(page, 4)
    draw_strokes(page, [path_object([[20, 20], [30, 30]], CLUTTER_WIDTH)] * 96)
    assert page.button(key=f"{NAME}_scatter").disabled, "it has an end"


def test_cleared_pad_asks_for_a_digit_and_the_last_answer_stays(page):
    page.button(key=f"{NAME}_clear").click().run()
    assert page.info[0].value == "Draw a digit on the empty picture, or take one of the ten."
    assert reads(page, 4)


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (covering_strokes(SIDE, SIDE), "The whole pad has one colour"),
        ([path_object([[128, 128]], 2)], "That is a dot"),
        ([path_object([[60, 128], [190, 128]], 10)], "as tall as"),
        ([path_object([[128, 8], [128, 248]], 10)], "across the canvas"),
        (digits((3, 70, 80, 90), (8, 190, 180, 90)), "several digits"),
    ],
    ids=["all black", "dot", "one flat line", "line across", "two digits"],
)
def test_odd_drawing_gets_a_kind_word_and_is_not_lost(page, objects, words):
    draw_strokes(page, objects)
    assert not page.error
    assert words in text_of(page)
    assert len(strokes_of(page)) == len(objects)


def test_drawn_digit_is_read_on_dark_paper_too(page, monkeypatch):
    turn_dark(page, monkeypatch)
    draw_strokes(page, digits((2, 190, 180, 84)))
    assert not page.info
    assert reads(page, 2)


def test_every_step_but_the_answer_is_numbers_that_move(page):
    for step in ("picture", "key", "query", "scores", "weights", "context"):
        set_fields(page, step=step)
        data = data_of(page, f"{NAME}_moving_step")
        assert data["now"] == step
        assert data["steps"][step]["grid"] == {"picture": [60, 60], "query": None, "context": None}.get(step, [15, 15])
        if step == "key":
            assert data["steps"]["key"]["shape"] == [225, 18], "channels are shown by what they do to the map"
    set_fields(page, step="output")
    assert page.button(key=f"{NAME}_step_next").disabled


def test_chosen_region_is_shown_in_numbers(page):
    page.session_state[f"{NAME}_step"] = "scores"
    page.session_state[f"{NAME}_mask_region"] = 100
    rerun(page)
    assert any("S_{101}" in latex.value for latex in page.latex)
