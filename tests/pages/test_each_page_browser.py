"""What every page promises: short tabs that the address tells, a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import HEIGHT, SIZES, assert_fits, open_tab, settle

MAX_PIXELS = 2 * 900 + 60
"""Two screens, and what other machines' letters may add to them."""
CHOSEN = "[role=tab][aria-selected=true]"
MAX_TABS = 4
WATCH_SHIFTS = """() => {
  if (window.shifts) return;
  window.shifts = [];
  const isSidebar = ({ node, previousRect, currentRect }) =>
    node?.closest?.("[data-testid=stSidebar]") || currentRect.x - previousRect.x === 300;
  new PerformanceObserver((list) => {
    for (const { sources, value, hadRecentInput } of list.getEntries()) {
      const parts = sources.map(({ node }) => (node?.innerText ?? "").slice(0, 40));
      if (!hadRecentInput && !sources.some(isSidebar)) window.shifts.push([value, ...parts]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""
"""Notes what moves while a page opens, but for what Streamlit's sidebar moves."""
PHONE = (360, 740)
MIN_LETTERS = 10
SHEET = "[class*=_try_this]"


def test_it_opens_at_rest_with_short_tabs_and_back_undoes_the_last_one(visit, app_url, entry):
    page = visit("about:blank")
    page.add_init_script(f"({WATCH_SHIFTS})()")
    visit(f"{app_url}/{entry.url_path}")
    if entry.name == "start":
        page.locator(".answers b").first.wait_for()
    else:
        page.get_by_role("tab").first.wait_for()
    settle(page, 600)
    assert "?" not in page.url, "plain arrival must leave the address alone"
    page.wait_for_function("document.getElementById('opening').disabled", timeout=4000)  # it makes every change dear
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, *_ in shifts) < 0.1, shifts
    labels = page.get_by_role("tab").all_inner_texts()
    assert len(labels) <= MAX_TABS
    heights = [page.evaluate(HEIGHT)]
    for label in labels[1:]:
        before = page.url
        open_tab(page, label)
        page.wait_for_url(lambda url, before=before: url != before and re.search(r"[?&]tab=[a-z0-9-]+", url))
        heights.append(page.evaluate(HEIGHT))
    assert max(heights) <= MAX_PIXELS or entry.name in ("start", "model"), heights
    if len(labels) > 1:
        page.go_back()
        settle(page, 600)
        expect(page.locator(CHOSEN)).to_have_text(labels[-2])
        assert ("tab=" in page.url) == (len(labels) > 2)


def test_on_a_phone_it_can_be_read_and_try_this_waits_at_the_foot_and_covers_no_end(visit, app_url, entry):
    page = visit(f"{app_url}/{entry.url_path}?lecture=0")
    width, height = PHONE
    page.set_viewport_size({"width": width, "height": height})
    page.locator(".st-key-page_after a, .st-key-page_before a").first.wait_for(state="attached")
    settle(page, 600)
    assert_fits(page, *PHONE)
    assert min(page.evaluate(SIZES), default=MIN_LETTERS) >= MIN_LETTERS - 0.1
    if entry.name in ("start", "train"):  # which are tried without being told
        return
    sheet = page.locator(SHEET)
    sheet.get_by_role("button").wait_for()
    assert sheet.bounding_box()["y"] > height / 2
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")
    foot = page.get_by_test_id("stPageLink").last.bounding_box()
    assert foot["y"] + foot["height"] <= sheet.bounding_box()["y"]
    sheet.get_by_role("button").click()
    sheet.get_by_role("radio").first.click()
    sheet.get_by_role("button", name="Close").wait_for()
    settle(page, 600)
    place = sheet.bounding_box()
    assert place["y"] + place["height"] == pytest.approx(height)


@pytest.mark.parametrize("name", ["pixels", "find", "ask", "train"])
def test_a_pad_and_its_buttons_are_whole_beside_the_open_list_of_pages(visit, app_url, name):
    page = visit(f"{app_url}/{name}?lecture=0")
    page.set_viewport_size({"width": 1024, "height": 768})
    pad = page.locator("canvas.upper-canvas")
    pad.wait_for()
    settle(page, 600)
    canvas, column = pad.bounding_box(), page.get_by_test_id("stColumn").filter(has=pad).last.bounding_box()
    assert canvas["x"] + canvas["width"] <= column["x"] + column["width"]
    buttons = page.locator("[class*=_presets] button p")
    assert buttons.evaluate_all("all => all.every((one) => one.getBoundingClientRect().width > 5)")
