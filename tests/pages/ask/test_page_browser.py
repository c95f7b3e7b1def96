"""Ask about a drawing in a real browser: a question is answered, a stroke changes what is seen, pens wipe nothing."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import draw, settle

INK = "() => document.querySelector('canvas.lower-canvas, .st-key-ask_canvas_frame canvas')?.toDataURL()"


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/ask?scene=Threes&q=how many black digits%3F")
    page.locator("canvas.upper-canvas").wait_for()
    page.locator(".scene .picture").wait_for()
    settle(page)
    return page


def ask(page, text) -> None:
    """Type a question and press Enter."""
    box = page.locator(".st-key-ask_text input")
    box.fill(text)
    box.press("Enter")
    settle(page)


def test_a_new_question_is_answered_and_in_the_address(visitor):
    say = visitor.locator(".scene .say")
    expect(say).to_contain_text("comes “1” (")
    ask(visitor, "is there a 0?")
    expect(say).to_contain_text("comes “yes” (")
    assert "q=is" in visitor.url
    ask(visitor, "where is the 7?")
    visitor.get_by_test_id("stAlert").first.wait_for()
    visitor.get_by_role("button", name="how many green digits are there?").click()
    expect(visitor.locator(".scene .say")).to_contain_text("comes “2” (")


def test_a_second_pen_wipes_nothing_and_its_stroke_is_counted(visitor):
    ask(visitor, "how many green digits?")
    ink, pens = visitor.evaluate(INK), visitor.locator(".st-key-ask_pen")
    expect(pens).to_be_hidden()
    visitor.locator(".st-key-ask_shows_pens").get_by_text("Draw").click()
    pens.get_by_text("green").click()
    settle(visitor)
    assert visitor.evaluate(INK) == ink
    draw(visitor, [(0.2, 0.6), (0.2, 0.9)])  # a one
    expect(visitor.locator(".scene .say")).to_contain_text("comes “3” (")
    settle(visitor)


def test_looks_follow_one_another_and_all_weights_are_made_equal_and_learned_again(visitor):
    ask(visitor, "which digit is left of the blue one?")
    say, looks = visitor.locator(".scene .say"), visitor.get_by_role("group", name="Looks").get_by_role("button")
    expect(looks).to_have_text(["look 1", "look 2"])
    expect(looks.last).to_have_attribute("aria-pressed", "true")
    learned = say.inner_text()
    looks.first.click()
    settle(visitor)
    expect(visitor.get_by_role("radio", name="Look 1")).to_be_checked()
    visitor.get_by_role("button", name="scores").click()
    expect(say).to_contain_text("Look 1 of 2: each region gets a score")
    picture = visitor.get_by_role("application", name=re.compile("^The picture"))
    picture.press("ArrowRight")
    expect(picture).to_have_attribute("aria-label", re.compile(r"Region 2: score -?\d+\.\d\d, weight"))
    visitor.get_by_role("button", name="all equal").click()
    settle(visitor)
    expect(say).to_contain_text("With every weight equal it says")
    visitor.get_by_text("The weights are all alike.").wait_for()
    visitor.get_by_role("button", name="as learned").click()
    settle(visitor)
    expect(say).to_have_text(learned)


def test_a_piece_that_is_crossed_out_takes_its_digit_from_the_network_until_all_is_as_learned(visitor):
    visitor.get_by_role("button", name="Five colours").click()
    ask(visitor, "which digit is left of the blue one?")
    say = visitor.locator(".scene .say")
    expect(say).to_contain_text("comes “7”")
    visitor.get_by_role("button", name="Cross out what most is taken from").press("Enter")
    expect(say).to_contain_text("as learned, “7”")
    visitor.get_by_role("button", name="as learned").click()
    expect(say).to_contain_text("comes “7”")
