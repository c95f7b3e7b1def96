"""What holds of every page: questions in the address, controls for the Tab key, room on a phone."""

import pytest
from playwright.sync_api import expect

from tests.support.axe import violations
from tests.support.layout import FOCUSED, TOUCHING_TEXTS, UNHEARD, WATCH_SHIFTS
from tests.support.on_page import HEIGHT, SIZES, assert_fits, settle
from ui.questions import MAX_LINKS

MAX_PIXELS = 2 * 900 + 60
"""Two screens, and some more for the fonts of other machines."""
PHONE_SIZE = (360, 740)
MIN_LETTER_PIXELS = 10
TRY_THIS = "[class*=_try_this]"


def test_it_opens_at_rest_and_back_comes_from_an_experiment_to_the_page(visit, app_url, entry):
    page = visit("about:blank")
    page.add_init_script(f"({WATCH_SHIFTS})()")
    visit(f"{app_url}/{entry.url_path}")
    if entry.name == "start":
        page.locator(".st-key-start_sentence_scene").wait_for()
    else:
        page.locator(".st-key-questions button").first.wait_for()
    settle(page)
    assert "?" not in page.url, "plain arrival must leave the address alone"
    page.wait_for_function("document.getElementById('opening').disabled", timeout=4000)  # it slows every change down
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, *_ in shifts) < 0.1, shifts
    assert page.evaluate(HEIGHT) <= MAX_PIXELS or entry.name in ("start", "pixels", "model")
    for number, question in enumerate(entry.questions[:MAX_LINKS]):  # an experiment links all others
        page.get_by_role("button", name=question.text).click()
        page.get_by_role("heading", name=question.text).wait_for()
        settle(page)
        assert f"question={question.slug}" in page.url
        page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")
        assert page.evaluate(HEIGHT) <= MAX_PIXELS
        if number == 0:
            page.go_back()
            page.get_by_role("heading", name=entry.heading).wait_for()
            settle(page)
            assert "question=" not in page.url


def test_the_tab_key_comes_to_controls_with_names_and_on_a_phone_all_is_read_and_no_end_is_covered(
    visit, app_url, entry
):
    page = visit(f"{app_url}/{entry.url_path}?lecture=0")
    page.locator(".st-key-page_after a, .st-key-page_before a").first.wait_for()
    settle(page)
    assert not page.evaluate(TOUCHING_TEXTS)
    assert page.title() == entry.window_title
    assert page.evaluate(UNHEARD) == []
    assert violations(page) == []
    page.evaluate("document.body.tabIndex = -1, document.body.focus()")  # else Tab goes on from the element before
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    stops = []
    while not stops or not stops[-1]["isLast"]:
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        assert stops[-1]["isInside"], stops
        assert stops[-1]["isVisible"], stops
        assert stops[-1]["name"], stops
        assert not stops[-1]["isLinkToHeading"], stops
    assert not stops[0]["isTool"], stops
    width, height = PHONE_SIZE
    assert_fits(page, width, height)
    assert min(page.evaluate(SIZES), default=MIN_LETTER_PIXELS) >= MIN_LETTER_PIXELS - 0.1
    if entry.name == "start":  # which has no Try this
        return
    sheet = page.locator(TRY_THIS)
    sheet.get_by_role("button").wait_for()
    assert sheet.bounding_box()["y"] > height / 2
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    foot = page.get_by_test_id("stPageLink").last.bounding_box()
    assert foot["y"] + foot["height"] <= sheet.bounding_box()["y"]
    sheet.get_by_role("button").click()
    sheet.get_by_role("radio").first.click()
    sheet.get_by_role("button", name="Close").wait_for()
    settle(page)
    box = sheet.bounding_box()
    assert box["y"] + box["height"] == pytest.approx(height)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert violations(page) == []
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("address", ["pixels?map=rows&", "train?lesson=digits&"])
def test_a_pad_and_its_buttons_are_whole_beside_the_open_list_of_pages(visit, app_url, address):
    page = visit(f"{app_url}/{address}lecture=0")
    page.set_viewport_size({"width": 1024, "height": 768})
    pad = page.locator("canvas.upper-canvas")
    pad.wait_for()
    settle(page)
    canvas, column = pad.bounding_box(), page.get_by_test_id("stColumn").filter(has=pad).last.bounding_box()
    assert canvas["x"] + canvas["width"] <= column["x"] + column["width"]
    buttons = page.locator("[class*=_presets] button p")
    assert buttons.evaluate_all("texts => texts.every((text) => text.getBoundingClientRect().width > 5)")
