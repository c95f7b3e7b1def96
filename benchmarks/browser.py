"""A Chromium page that looks at an app, and its clock, for what is measured in a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
CLOCK = """(sign) => {
  const value = () => eval(sign) || "";
  const before = value(), mine = window.clock = { took: null };
  addEventListener("keydown", () => {
    const pressed = performance.now();
    const look = () => {
      if (window.clock !== mine) return;
      const now = value();
      if (!now || now === before) requestAnimationFrame(look);
      else mine.took = performance.now() - pressed;
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true });
}"""
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
"""The system's, or the one that the variable names."""


@contextmanager
def visitor() -> Iterator[Page]:
    """Open a page of 1440 x 900 in the system's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(180_000)
        yield page
        browser.close()


def settle(page: Page, seconds: float = 0.8) -> None:
    """Wait until the script has stopped and stayed still for a while."""
    page.wait_for_function(IDLE)
    page.wait_for_timeout(1000 * seconds)
    page.wait_for_function(IDLE)


def paint_time(page: Page, act: Callable[[], object], sign: str) -> float:
    """Press a key, and return the milliseconds, by the browser's clock, from it to the painted result.

    That is the first frame in which the sign, a JavaScript expression, has another text than before.
    """
    page.evaluate(CLOCK, sign)
    act()
    page.wait_for_function("window.clock.took !== null")
    return page.evaluate("window.clock.took")
