"""Ask about a drawing in a real browser: a question is answered, a stroke changes what is seen, pens wipe nothing."""

import pytest

from tests.support.on_page import draw, settle

ANSWER = "() => document.querySelector('.answer')?.innerText"
INK = "() => document.querySelector('canvas.lower-canvas, .st-key-ask_canvas_frame canvas')?.toDataURL()"


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/ask?scene=Threes&q=how many black digits%3F")
    page.locator("canvas.upper-canvas").wait_for()
    page.locator(".answer").first.wait_for()
    settle(page)
    return page


def ask(page, text) -> None:
    """Type a question and press Enter."""
    box = page.locator(".st-key-ask_text input")
    box.fill(text)
    box.press("Enter")
    settle(page)


def test_a_new_question_is_answered_and_in_the_address(visitor):
    assert visitor.evaluate(ANSWER).startswith("1")
    ask(visitor, "is there a 0?")
    visitor.wait_for_function(f"() => ({ANSWER})()?.startsWith('yes')")
    assert "q=is" in visitor.url
    assert visitor.locator(".st-key-ask_glow .glow rect").count()
    ask(visitor, "where is the 7?")
    visitor.get_by_test_id("stAlert").first.wait_for()
    visitor.get_by_role("button", name="how many green digits are there?").click()
    visitor.wait_for_function(f"() => ({ANSWER})()?.startsWith('2')")


def test_a_second_pen_wipes_nothing_and_its_stroke_is_counted(visitor):
    ink = visitor.evaluate(INK)
    visitor.locator(".st-key-ask_pen").get_by_role("button", name="black").or_(
        visitor.locator(".st-key-ask_pen").get_by_text("black")
    ).first.click()
    settle(visitor)
    assert visitor.evaluate(INK) == ink
    draw(visitor, [(0.2, 0.6), (0.2, 0.9)])  # a one
    visitor.wait_for_function(f"() => ({ANSWER})()?.startsWith('2')")
    settle(visitor)
