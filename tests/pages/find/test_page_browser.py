"""The page on finding a digit in a real browser: strokes are answered, clutter comes and goes, clicks ask."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_pad import press_for_new_pad
from tests.support.on_page import draw, settle, wait_for_change

ANSWER = "() => [...document.querySelectorAll('.reads')].map(one => one.innerText).join()"
MASK = """() => [...document.querySelectorAll('.st-key-find_equal *')].find(node => node.shadowRoot)
    .shadowRoot.querySelector('.picture')?.style.background"""
READ = ".reads b"


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/find?step=key")
    page.locator("canvas.upper-canvas").wait_for()
    page.locator(READ).first.wait_for()
    page.locator(".st-key-find_equal .picture").wait_for()
    settle(page)
    page.locator("canvas.upper-canvas").scroll_into_view_if_needed()  # a link to a step opens on it
    return page


def test_drawn_digit_is_found_among_scattered_clutter_and_after_it_is_erased(visitor):
    press_for_new_pad(visitor, ".st-key-find_clear button")
    visitor.get_by_text("Draw a digit, or take one below.").wait_for()
    draw(visitor, [(0.55, 0.55), (0.8, 0.55), (0.66, 0.88)])  # a seven, off the middle
    expect(visitor.locator(READ).first).to_have_text("7")
    alone = visitor.evaluate(MASK)
    visitor.locator(".st-key-find_scatter button").first.click()  # the other one is for narrow screens
    wait_for_change(visitor, MASK, alone)
    cluttered = visitor.evaluate(MASK)
    visitor.locator(".st-key-find_erase button").click()
    wait_for_change(visitor, MASK, cluttered)
    expect(visitor.locator(READ).first).to_have_text("7")


TOPS = """() => ["find_hero", "find_equal"].map((key) => {
  const roots = [...document.querySelectorAll(`.st-key-${key} *`)].map(({ shadowRoot }) => shadowRoot);
  return roots.map((root) => root?.querySelector(".picture")).find(Boolean).getBoundingClientRect().top;
})"""


def test_a_notice_pushes_neither_picture_of_the_pair(visitor):
    before = visitor.evaluate(TOPS)
    assert before[0] == pytest.approx(before[1], abs=2)
    draw(visitor, [(0.1, 0.15), (0.3, 0.15), (0.2, 0.5)])
    visitor.get_by_text("These look like several digits.").wait_for()
    settle(visitor)
    assert visitor.evaluate(TOPS) == pytest.approx(before, abs=2)


def test_stroke_changes_the_answer_and_the_mask(visitor):
    answer, mask = visitor.evaluate(ANSWER), visitor.evaluate(MASK)
    draw(visitor, [(0.15, 0.2), (0.45, 0.45)])  # beside the four
    wait_for_change(visitor, ANSWER, answer)
    wait_for_change(visitor, MASK, mask)


def test_click_on_a_region_chooses_and_frames_it(visitor):
    small = visitor.locator(".st-key-find_small .picture")
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    visitor.mouse.click(box["x"] + 0.23 * box["width"], box["y"] + 0.9 * box["width"])
    visitor.wait_for_url(re.compile(r"[?&]region=\d+"))
    region = int(re.search(r"region=(\d+)", visitor.url)[1])
    assert divmod(region, 15) == (pytest.approx(13, abs=1), pytest.approx(3, abs=1))
    visitor.get_by_text(f"Region {region + 1} is framed").wait_for()
