"""Phones: Try this at the foot of the screen, charts that can be read, nothing beside the screen."""

import pytest

from tests.browser.tools import SIZES, assert_fits, settle
from ui.navigation import PAGES

WIDTH, HEIGHT = 360, 740
MIN_LETTERS = 10
SHEET = "[class*=_try_this]"


@pytest.mark.parametrize("entry", [page for page in PAGES[1:] if page.name != "train"], ids=lambda entry: entry.name)
def test_try_this_waits_at_the_foot_covers_no_end_and_charts_can_be_read(page, app_url, entry):
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(f"{app_url}/{entry.url_path}")
    page.get_by_role("tab").first.wait_for()
    settle(page, 600)
    assert_fits(page, WIDTH, HEIGHT)
    assert min(page.evaluate(SIZES), default=MIN_LETTERS) >= MIN_LETTERS - 0.1
    sheet = page.locator(SHEET)
    sheet.get_by_role("button").wait_for()
    assert sheet.bounding_box()["y"] > HEIGHT / 2
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    foot = page.get_by_test_id("stPageLink").last.bounding_box()
    assert foot["y"] + foot["height"] <= sheet.bounding_box()["y"]
    sheet.get_by_role("button").click()
    sheet.get_by_role("radio").first.click()
    sheet.get_by_role("button", name="Close").wait_for()
    settle(page, 600)
    place = sheet.bounding_box()
    assert place["y"] + place["height"] == pytest.approx(HEIGHT)
