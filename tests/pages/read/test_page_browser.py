"""The reading page in a real browser: a number drawn by hand is read, looks are chosen, a phone can be drawn on."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_pad import press_for_new_pad
from tests.support.on_page import assert_fits, draw, settle

SAY = ".scene .say"
FOUR = ([(0.30, 0.2), (0.25, 0.6), (0.345, 0.6)], [(0.325, 0.4), (0.325, 0.82)])
SEVEN = ([(0.55, 0.22), (0.65, 0.22), (0.585, 0.8)],)


def test_try_this_reads_the_rest_and_shows_it(visitor):
    visitor.locator(".st-key-read_try button").click()
    begins = "It began with nothing read, and read 31415. Now it begins with 3 already read."
    expect(visitor.locator(SAY)).to_have_text(begins)
    expect(visitor.get_by_role("group", name="Looks").get_by_text("3", exact=True)).to_be_hidden()
    visitor.get_by_text("Only 1415", exact=True).click()
    expect(visitor.locator(SAY)).to_contain_text("It has read 1415")
    expect(visitor.get_by_text("its state alone knows how far it has come")).to_be_visible()
    expect(visitor.get_by_role("button", name="3 already read")).to_have_attribute("aria-pressed", "true")
    visitor.get_by_role("group", name="Looks").get_by_role("button").first.click()
    expect(visitor.locator(SAY)).to_contain_text("Look 1 of 5: out of that mixture comes “1”")
    visitor.get_by_role("button", name="asks").click()
    expect(visitor.locator(SAY)).to_contain_text("the state, with 3 read, asks every region")
    settle(visitor)


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/read")
    page.locator("canvas.upper-canvas").wait_for()
    page.locator("canvas.moving").wait_for()
    settle(page)
    return page


def open_question(page, text) -> None:
    page.get_by_role("button", name=text).click()
    page.get_by_role("heading", name=text).wait_for()
    settle(page)


def clear(page) -> None:
    press_for_new_pad(page, ".st-key-read_clear button")
    page.get_by_text("Write a number on the pad").wait_for()


def ink_box(page) -> list[float]:
    """Return left, top, right, bottom of the ink on the canvas, as shares of it."""
    return page.locator("canvas.lower-canvas.dc-canvas").evaluate(
        """canvas => {
            const {width, height} = canvas, data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
            const i = (x, y) => 4 * (y * width + x);
            let box = [1, 1, 0, 0];
            for (let y = 0; y < height; y++) for (let x = 0; x < width; x++)
                if (data[i(x, y)] < 128 && data[i(x, y) + 3] > 128)
                box = [Math.min(box[0], x / width), Math.min(box[1], y / height),
                       Math.max(box[2], x / width), Math.max(box[3], y / height)];
            return box;
        }"""
    )


def test_number_drawn_by_hand_is_read_and_comes_back_after_another_page(visitor):
    expect(visitor.locator(SAY)).to_contain_text("It has read 31415")
    clear(visitor)
    draw(visitor, *FOUR, *SEVEN)
    expect(visitor.locator(SAY)).to_contain_text("It has read 47 in 3 looks")
    settle(visitor)
    visitor.get_by_test_id("stSidebarNavLink").first.click()
    visitor.get_by_role("heading", name="Attention Explorer", level=1).wait_for()  # before it, Back would undo a stroke
    settle(visitor)
    visitor.go_back()
    visitor.get_by_role("heading", name="Read a number", level=1).wait_for()  # Start names the page, too
    expect(visitor.locator(SAY)).to_contain_text("It has read 47 in 3 looks")  # whatever look was chosen before it
    settle(visitor)


def test_a_look_is_chosen_and_every_weight_is_made_equal(visitor):
    say, looks = visitor.locator(SAY), visitor.get_by_role("group", name="Looks").get_by_role("button")
    expect(looks).to_have_text(["3 >99%", "1 69%", "4 99%", "1 71%", "5 >99%", "end 98%"], use_inner_text=True)
    looks.nth(1).click()
    expect(say).to_contain_text("Look 2 of 6: out of that mixture comes “1”")
    visitor.wait_for_url(re.compile(r"[?&]at=1"))
    visitor.get_by_role("button", name="asks").click()
    expect(say).to_contain_text("the state, with 3 read, asks every region")
    visitor.get_by_role("button", name="all equal").click()
    expect(say).to_contain_text("With every weight equal it says “1”")
    expect(say).to_contain_text("as learned, “31415”")


def test_a_look_that_is_not_told_yet_says_nothing(visitor):
    looks = visitor.get_by_role("group", name="Looks").get_by_role("button")
    expect(looks.last).to_contain_text("end")
    visitor.get_by_role("button", name="Play again").click()
    looks.nth(1).click()
    visitor.wait_for_url(re.compile(r"[?&]at=1"))
    expect(looks.nth(1)).to_contain_text("1")
    settle(visitor)
    expect(looks.nth(2)).to_have_text("·", use_inner_text=True)


def test_click_on_the_map_follows_a_region(visitor):
    open_question(visitor, "Why does it look elsewhere next?")
    regions = visitor.locator(".st-key-read_regions .picture")
    regions.wait_for()
    regions.scroll_into_view_if_needed()
    box = regions.bounding_box()
    visitor.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"])
    visitor.wait_for_url("**region=**")
    settle(visitor)
    visitor.locator(".st-key-read_region_choice button").nth(2).click()
    visitor.wait_for_url(re.compile(r"[?&]at=2"))
    settle(visitor)


def test_phone_fits_the_pad_and_keeps_the_pen_under_the_finger(visitor):
    assert_fits(visitor, 360, 740)
    pad = visitor.locator("canvas.upper-canvas").bounding_box()
    assert pad["x"] >= 0
    assert pad["x"] + pad["width"] <= 360
    assert pad["width"] > 280
    clear(visitor)
    visitor.locator("canvas.upper-canvas").scroll_into_view_if_needed()
    draw(visitor, [(0.5, 0.2), (0.5, 0.8)], [(0.75, 0.2), (0.75, 0.8)])
    expect(visitor.locator(SAY)).to_contain_text("It has read 11")
    assert ink_box(visitor) == pytest.approx([0.5, 0.2, 0.75, 0.8], abs=0.05)
    settle(visitor)
