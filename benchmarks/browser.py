"""A Chromium page that looks at an app, and its clock, for what is measured in a browser."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
CLOCK = """([signs, event]) => {
  const values = () => signs.map((sign) => eval(sign) || "");
  const before = values(), changed = new Set(), mine = window.clock = { took: null };
  addEventListener(event, () => {
    const pressed = performance.now();
    mine.began = performance.timeOrigin + pressed;
    const look = () => {
      if (window.clock !== mine) return;
      values().forEach((value, place) => { if (value && value !== before[place]) changed.add(place); });
      if (changed.size < signs.length) requestAnimationFrame(look);
      else mine.took = performance.now() - pressed;
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true });
}"""


def chromium() -> str | None:
    """Return the system's Chromium, or the one that the variable CHROMIUM names."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def visitor() -> Iterator[Page]:
    """Open a page of 1440 x 900 in the system's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(180_000)
        yield page
        browser.close()


def settle(page: Page, seconds: float = 0.8) -> None:
    """Wait until the script has stopped and stayed still for a while."""
    page.wait_for_function(IDLE)
    page.wait_for_timeout(1000 * seconds)
    page.wait_for_function(IDLE)


def clocked(
    page: Page, act: Callable[[], object], signs: Sequence[str], event: str = "keydown", patience: float = 180
) -> float:
    """Act, and return the milliseconds, by the browser's clock, from the act's first event to the painted result.

    That is the first frame in which every sign, a JavaScript expression, has had a text other than before the act.

    Raises:
        TimeoutError: playwright's, after so many seconds.
    """
    page.evaluate(CLOCK, [list(signs), event])
    act()
    page.wait_for_function("window.clock.took !== null", timeout=1000 * patience)
    return page.evaluate("window.clock.took")
