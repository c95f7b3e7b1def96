"""What every page has in common: tabs that are told in the address, never over two screens; Back; the foot."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tools import open_tab, settle
from ui.navigation import PAGES

MAX_PIXELS = 2 * 900 + 60
"""Two screens, and what other machines' letters may add to them."""
CHOSEN = "[role=tab][aria-selected=true]"
MAX_TABS = 4
WATCH_SHIFTS = """() => {
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
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"


@pytest.mark.parametrize("entry", PAGES[1:], ids=lambda entry: entry.name)
def test_tabs_are_short_and_back_undoes_the_last_one(page, app_url, entry):
    page.add_init_script(f"({WATCH_SHIFTS})()")
    page.goto(f"{app_url}/{entry.url_path}")
    page.get_by_role("tab").first.wait_for()
    settle(page, 600)
    assert "?" not in page.url, "plain arrival must leave the address alone"
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, *_ in shifts) < 0.1, shifts
    labels = page.get_by_role("tab").all_inner_texts()
    assert len(labels) <= MAX_TABS
    heights = {labels[0]: page.evaluate(HEIGHT)}
    for label in labels[1:]:
        before = page.url
        open_tab(page, label)
        page.wait_for_url(lambda url, before=before: url != before and re.search(r"[?&]tab=[a-z0-9-]+", url))
        heights[label] = page.evaluate(HEIGHT)
    assert max(heights.values()) <= MAX_PIXELS or entry.name == "model", heights
    page.go_back()
    settle(page, 600)
    expect(page.locator(CHOSEN)).to_have_text(labels[-2])
    assert ("tab=" in page.url) == (len(labels) > 2)


def test_foot_leads_from_page_to_page_and_back_comes_home(page, app_url):
    page.goto(f"{app_url}/{PAGES[-2].url_path}")
    foot = page.get_by_test_id("stPageLink")
    foot.filter(has_text=PAGES[-1].title).last.click()
    page.get_by_role("heading", name=PAGES[-1].title, exact=True).wait_for()
    settle(page)
    assert foot.filter(has_text=PAGES[-2].title).count()
    page.go_back()
    page.get_by_role("heading", name=PAGES[-2].title, exact=True).wait_for()


def test_back_goes_back_step_by_step_and_forward_again(page, app_url):
    page.goto(f"{app_url}/pixels?step=scaled")
    page.locator("canvas.upper-canvas").wait_for()
    settle(page, 600)
    seen = [page.url]
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
        page.wait_for_url(lambda url, before=seen[-1]: url != before)
        settle(page)
        seen.append(page.url)
    chip = page.locator("[class*=_stepper] [role=radio][aria-checked=true]")
    last = chip.inner_text()
    for url in seen[-2::-1]:
        page.go_back()
        settle(page, 600)
        assert page.url == url
    assert chip.inner_text().split("\n") == ["Scaled scores", "÷√dₖ"]
    for url in seen[1:]:
        page.go_forward()
        settle(page, 600)
        assert page.url == url
    assert chip.inner_text() == last


def test_colour_bars_keep_their_colours_when_the_address_changes(page, app_url):
    page.goto(f"{app_url}/find?step=weights")
    page.locator("svg.marks").first.wait_for()
    settle(page, 1000)
    for _ in range(2):
        fills = page.evaluate("[...document.querySelectorAll('[fill^=url]')].map((node) => node.getAttribute('fill'))")
        assert fills
        assert all(fill.startswith("url(#") for fill in fills)
        before = page.url
        page.keyboard.press("ArrowLeft")
        page.wait_for_url(lambda url, before=before: url != before)
        settle(page, 1000)


def test_answers_say_that_a_page_loads_nothing_from_elsewhere(page, app_url):
    headers = page.goto(app_url).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"
    expect(page.locator("h1")).to_have_text("Attention Explorer")


def test_who_has_no_pointer_skips_to_the_page_and_draws_by_keys(page, app_url):
    page.goto(f"{app_url}/find")
    pad = page.locator("canvas.upper-canvas[tabindex='0']")
    pad.wait_for()
    settle(page, 600)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain")).to_be_focused()
    pad.focus()
    for key in (" ", *["ArrowRight"] * 4, *["ArrowDown"] * 4, " "):
        page.keyboard.press(key)
    page.wait_for_url("**strokes=**")
