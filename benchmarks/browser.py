"""A Chromium page that looks at an app, for what is measured in a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


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
