"""A Streamlit app in its own process and a Chromium page that looks at it, for what is measured in a browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(app: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run an app, a path from the repository's root; gives its process when it answers."""
    command = [sys.executable, "-m", "streamlit", "run", app, "--server.port", str(port), "--server.headless", "true"]
    options = ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    with started([*command, *options], f"http://127.0.0.1:{port}") as process:
        yield process


@contextmanager
def started(command: Sequence[str], *addresses: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that serves an app at some addresses; gives its process when all of them answer."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for address in addresses:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def running(app: str) -> Iterator[str]:
    """Run an app, a path from the repository's root; gives its address."""
    port = free_port()
    with serving(app, port):
        yield f"http://127.0.0.1:{port}"


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
