"""What every page promises, in one visit: short tabs that the address tells, a hall's projector, a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import HEIGHT, SIZES, assert_fits, open_tab, project, settle
from ui.navigation import PAGES

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
IN_CORNER = """() => {
  const seen = [], step = 10 * Math.min(innerWidth / 1920, innerHeight / 1080);
  for (let right = 1; right < 24; right++) {
    for (let below = 1; below < 24; below++) {
      const x = innerWidth - right * step, y = innerHeight - below * step;
      const node = document.elementFromPoint(x, y), letters = document.caretPositionFromPoint(x, y)?.offsetNode;
      const range = document.createRange();
      if (letters?.nodeType === Node.TEXT_NODE) range.selectNodeContents(letters);
      const isHit = ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom;
      const isPart = node.matches("canvas, img, button, input, textarea, svg *");
      if (isPart || [...range.getClientRects()].some(isHit)) seen.push([x, y]);
    }
  }
  return seen;
}"""
"""Where in the lower right corner something of the page is seen."""
OVERLAPS = """() => {
  const lines = [], letters = document.createRange();
  const isSeen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const gather = (root) => {
    for (const node of root.querySelectorAll(":not(svg *, .katex *, style, script, .st-key-lecture_screens *)")) {
      if (node.shadowRoot) gather(node.shadowRoot);
      if (!isSeen(node)) continue;
      if (node.matches(".bars i")) lines.push([node, "a bar", node.getBoundingClientRect()]);
      for (const child of node.childNodes) {
        if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) continue;
        letters.selectNodeContents(child);
        const end = getComputedStyle(node).overflowX === "visible" ? Infinity : node.getBoundingClientRect().right;
        for (const { left, right, top, bottom, width, height } of letters.getClientRects())
          if (width > 2) lines.push([node, child.data, { left, right: Math.min(right, end), top, bottom, height }]);
      }
    }
  };
  gather(document.querySelector("[data-testid=stMain]"));
  const common = (one, other, from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]);
  const isOver = (one, other) => common(one, other, "left", "right") > 2
    && common(one, other, "top", "bottom") > Math.min(one.height, other.height) / 2;
  return lines.flatMap(([node, text, box], place) => lines.slice(place + 1)
    .filter(([other, , over]) => other !== node && isOver(box, over)).map(([, words]) => `${text} / ${words}`));
}"""
"""Lines of words, and bars, that lie over others; of charts and formulas the browser tells no letters' ends."""
PROJECTORS = ((1280, 720), (1366, 768), (1920, 1080), (3840, 2160))
PHONE = (360, 740)
MIN_LETTERS = 10
SHEET = "[class*=_try_this]"


@pytest.fixture(scope="module", params=PAGES, ids=lambda entry: entry.name)
def entry(request):
    """A page; being the module's, the tests look at one page after the other."""
    return request.param


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


def test_it_fits_every_projector_in_large_letters_and_leaves_the_corner_free(visit, app_url, entry):
    page = visit(f"{app_url}/{entry.url_path}?lecture=1")
    page.wait_for_function("window.lecture?.on")
    settle(page, 700)
    for width, height in PROJECTORS:
        project(page, width, height)
        assert_whole(page)
        sizes = sorted(size * 1080 / height for size in page.evaluate(SIZES))
        if sizes:
            assert sizes[0] >= 15.9
            assert sizes[len(sizes) // 2] >= 19.9
        assert not page.evaluate(IN_CORNER)


def test_each_screen_of_what_forgets_fits_a_small_projector_and_its_answer_covers_no_words(visit, app_url):
    page = visit(f"{app_url}/memory?lecture=1")
    page.wait_for_function("window.lecture?.on")
    project(page, *PROJECTORS[0])
    for _ in range(2):  # the question of Try this, and its answer
        page.keyboard.press("PageDown")
        settle(page, 600)
        project(page, *PROJECTORS[0])
        assert_whole(page)
    for screen in page.locator(".st-key-lecture_screens [role=radio]").all()[1:]:
        screen.click()
        settle(page, 600)
        project(page, *PROJECTORS[0])
        assert_whole(page)


def assert_whole(page) -> None:
    """Make sure that of a lecture's screen nothing lies outside of the window or over something else."""
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"[innerWidth - {main}.scrollWidth, innerHeight - {main}.scrollHeight]") == [0, 0]
    assert not page.evaluate(OVERLAPS)


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
