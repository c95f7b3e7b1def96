"""What every page promises in a lecture: each of its screens fits a projector, and nothing covers anything else."""

import pytest
from playwright.sync_api import expect

from tests.support.on_page import FITTED, SIZES, project, settle

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
      if (node.matches(".bars i, .bar button")) lines.push([node, node.title || "a bar", node.getBoundingClientRect()]);
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
  gather(document.querySelector("#lecture").shadowRoot);
  const common = (one, other, from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]);
  const isOver = (one, other) => common(one, other, "left", "right") > 2
    && common(one, other, "top", "bottom") > Math.min(one.height, other.height) / 2;
  return lines.flatMap(([node, text, box], place) => lines.slice(place + 1)
    .filter(([other, , over]) => other !== node && isOver(box, over)).map(([, words]) => `${text} / ${words}`));
}"""
"""Lines of words, bars, and buttons of the lecture that lie over others; of charts and formulas the browser tells no
letters' ends."""
PROJECTORS = ((3840, 2160), (1920, 1080), (1366, 768), (1280, 720))


@pytest.fixture
def lecture(visit, app_url):
    """A function that opens a page in lecture mode."""

    def open_lecture(name):
        page = visit(f"{app_url}/{name}?lecture=1")
        page.wait_for_function("window.lecture?.on")
        settle(page, 700)
        return page

    return open_lecture


def test_a_first_screen_fits_projectors_in_large_letters_and_each_other_the_smallest_and_covers_no_words(
    lecture, entry
):
    page = lecture(entry.url_path)
    for size in PROJECTORS:
        assert_readable(page, *size)
    if entry.name not in ("start", "train"):  # which are tried without being told
        for part in ("_try_guess", "_try_scroll"):  # the question of Try this, and its answer
            page.keyboard.press("PageDown")
            page.locator(f"[class*={part}]").wait_for(state="attached")
            settle(page)
            page.wait_for_function(FITTED)
            assert_whole(page)
    for screen in page.locator(".st-key-lecture_screens [role=radio]").all()[1:]:
        screen.click()
        expect(screen).to_be_checked()
        settle(page, 100)
        page.wait_for_function(FITTED)
        assert_whole(page)


def assert_readable(page, width: int, height: int) -> None:
    """Make sure that a first screen fits a projector, its charts in large letters, and leaves the corner free."""
    project(page, width, height)
    assert_whole(page)
    sizes = sorted(size * 1080 / height for size in page.evaluate(SIZES))
    if sizes:
        assert sizes[0] >= 15.9
        assert sizes[len(sizes) // 2] >= 19.9
    assert not page.evaluate(IN_CORNER)


def assert_whole(page) -> None:
    """Make sure that of a lecture's screen nothing lies outside of the window or over something else."""
    main = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"[innerWidth - {main}.scrollWidth, innerHeight - {main}.scrollHeight]") == [0, 0]
    assert not page.evaluate(OVERLAPS)
