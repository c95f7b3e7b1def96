"""The page on finding a digit in a real browser: strokes are answered, clutter comes and goes, clicks ask."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_pad import press_for_new_pad
from tests.support.on_page import draw, settle

SAY = ".scene .say"


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/find?step=key")
    page.locator("canvas.upper-canvas").wait_for()
    page.locator(".scene .picture").wait_for()
    settle(page)
    page.locator("canvas.upper-canvas").scroll_into_view_if_needed()  # a link to a step opens on it
    return page


def test_drawn_digit_is_found_among_scattered_clutter_and_after_it_is_erased(visitor):
    press_for_new_pad(visitor, ".st-key-find_clear button")
    visitor.get_by_text("Draw a digit on the empty picture, or take one of the ten.").wait_for()
    draw(visitor, [(0.55, 0.55), (0.8, 0.55), (0.66, 0.88)])  # a seven, off the middle
    expect(visitor.locator(SAY)).to_contain_text("comes “7”")
    alone = visitor.locator(SAY).inner_text()
    visitor.locator(".st-key-find_scatter button").first.click()  # the other one is for narrow screens
    expect(visitor.locator(SAY)).not_to_have_text(alone)
    visitor.locator(".st-key-find_erase button").click()
    expect(visitor.locator(SAY)).to_have_text(alone)


def test_the_pad_lies_over_the_picture_and_is_seen_while_one_draws(visitor):
    picture, pad = visitor.locator(".scene .picture"), visitor.locator("canvas.upper-canvas")
    one, other = picture.bounding_box(), pad.bounding_box()
    assert [one[side] for side in ("x", "y", "width")] == pytest.approx([other[s] for s in ("x", "y", "width")], abs=2)
    frame = visitor.locator(".st-key-find_canvas_frame")
    expect(frame).to_have_css("opacity", "0")
    expect(visitor.get_by_text("draw here")).to_be_visible()
    visitor.mouse.move(one["x"] + 20, one["y"] + 20)
    visitor.mouse.down()
    expect(frame).to_have_css("opacity", "1")
    visitor.mouse.move(one["x"] + 60, one["y"] + 60)
    visitor.mouse.up()
    expect(frame).to_have_css("opacity", "0")
    expect(visitor.get_by_text("draw here")).to_be_hidden()


def test_every_weight_is_made_equal_and_stays_so_in_the_link(visitor):
    visitor.get_by_role("button", name="scores").click()
    expect(visitor.locator(SAY)).to_have_text("Each region gets a score. The bluer, the better it fits.")
    visitor.get_by_role("button", name="all equal").click()
    expect(visitor.locator(SAY)).to_contain_text("With every weight equal it says “1” (22%); as learned, “4”.")
    visitor.wait_for_url(re.compile("even=1"))


def test_click_on_a_region_chooses_and_frames_it(visitor):
    small = visitor.locator(".st-key-find_small .picture")
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    visitor.mouse.click(box["x"] + 0.23 * box["width"], box["y"] + 0.9 * box["width"])
    visitor.wait_for_url(re.compile(r"[?&]region=\d+"))
    region = int(re.search(r"region=(\d+)", visitor.url)[1])
    assert divmod(region, 15) == (pytest.approx(13, abs=1), pytest.approx(3, abs=1))
    visitor.get_by_text(f"Region {region + 1} is framed").wait_for()
