"""What a checker of accessibility finds in what is opened, or on a small screen."""

import pytest
from playwright.sync_api import expect

from tests.support.axe import violations
from tests.support.layout import FAINT, UNREACHED
from tests.support.on_page import assert_fits, settle

POPOVERS = {"": "Give a lecture", "photograph": "Your own photograph", "atlas": "Another map"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", POPOVERS)
def test_what_stands_on_a_page_and_in_a_popover_can_be_read(visit, app_url, path, theme):
    page = visit(f"{app_url}/{path}")
    page.emulate_media(color_scheme=theme)
    page.get_by_role("button", name=POPOVERS[path]).click()
    page.get_by_test_id("stPopoverBody").wait_for()
    settle(page)
    page.wait_for_function(f"() => !({FAINT})().length")  # colours take a moment to change
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="light")


def test_a_chart_that_a_phone_scrolls_is_scrolled_by_keys(visit, app_url):
    page = visit(f"{app_url}/memory")
    page.locator(".st-key-numbers svg.marks").first.wait_for()
    assert_fits(page)
    expect(page.get_by_test_id("stVegaLiteChart").first).to_have_attribute("tabindex", "0")
    assert page.evaluate(UNREACHED) == []


@pytest.mark.parametrize("path", ["atlas", "groups", "ask", "pixels?map=rows", "ask?question=elsewhere"])
def test_nothing_lies_beside_a_screen_of_320_pixels_and_no_pad_scrolls(visit, app_url, path):
    page = visit(f"{app_url}/{path}")
    settle(page)
    assert_fits(page, 320, 568)
    assert all(page.locator(".dc-scroll").evaluate_all("pads => pads.map((pad) => pad.scrollWidth <= pad.clientWidth)"))


def test_try_this_lies_over_nothing_on_a_page_enlarged_four_times(visit, app_url):
    page = visit(f"{app_url}/lookup")
    page.set_viewport_size({"width": 320, "height": 256})
    expect(page.locator(".st-key-lookup_try_this")).to_have_css("position", "static")
    page.set_viewport_size({"width": 3840, "height": 2160})
    settle(page)
    assert page.get_by_test_id("stMainBlockContainer").bounding_box()["width"] > 1900


def test_what_became_of_a_guess_is_heard(visit, app_url):
    page = visit(f"{app_url}/groups")
    heard = page.locator(".st-key-groups_try_this[aria-live=polite]")
    page.locator(".st-key-groups_try button").click()
    page.locator(".st-key-groups_try_guess [role=radio]").first.click()
    expect(heard).to_contain_text("You guessed")


@pytest.mark.parametrize(("path", "language"), [("translate", "fr"), ("scoring", "")])
def test_words_are_said_in_their_language(visit, app_url, path, language):
    page = visit(f"{app_url}/{path}")
    query = page.locator(".words .query").first
    query.wait_for()
    assert query.get_attribute("lang") == (language or None)
