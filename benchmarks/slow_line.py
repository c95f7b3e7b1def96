"""Opening pages on a phone six times slower, at 50 kB a second, beside an earlier commit: seconds, bytes, requests.

    python -m benchmarks.slow_line --before COMMIT [PAGE ...]

Beside it the server's processor time for twenty openings in a row on a fast line (Linux).
"""

import argparse

from playwright.sync_api import Browser, sync_playwright

from benchmarks.paint import checked_out
from benchmarks.report import publish
from tests.support.browser import ARGUMENTS, CHROMIUM
from tests.support.server import command, free_port, processor_seconds, started

LINE = {"offline": False, "latency": 200, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
OPENINGS = 20
WATCH = """{
  const app = "[data-testid=stApp]", done = `${app}[data-test-script-state=notRunning]:has(h1)`;
  const signs = {
    words: () => document.body?.innerText.trim(),
    heading: () => document.querySelector(`${app} h1`),
    usable: () => document.querySelector(`${done}:not(:has([data-testid=stSkeleton]))`),
  };
  window.seen = {};
  const look = () => {
    for (const name in signs) if (!(name in seen) && signs[name]()) seen[name] = performance.now() / 1000;
    if (!seen.usable) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""Notes in which frame a page first has words, has a heading, and has nothing more to wait for."""


def open_page(browser: Browser, url: str, is_slow: bool) -> list[float]:
    """Return the seconds of WATCH, the megabytes received (websocket included), and the number of requests."""
    with browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True) as context:
        page, sizes, requests = context.new_page(), list[float](), list[str]()
        line = context.new_cdp_session(page)
        line.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
        page.on("request", lambda request: requests.append(request.url))
        line.send("Network.enable")
        if is_slow:
            line.send("Network.emulateNetworkConditions", LINE)
            line.send("Emulation.setCPUThrottlingRate", {"rate": 6})
        page.add_init_script(WATCH)
        page.goto(url, wait_until="commit", timeout=180_000)
        page.wait_for_function("seen.usable", timeout=240_000)
        seen = page.evaluate("seen")
        return [*(round(seen[name], 1) for name in ("words", "heading", "usable")), sum(sizes) / 1e6, len(requests)]


def main(pages: list[str], before: str) -> None:
    """Measure all pages on the files here and on those of a commit."""
    rows = [["page", "", "first words, s", "heading, s", "usable, s", "MB", "requests", f"{OPENINGS} openings, s"]]
    with checked_out(before) as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for side, where in (("before", {"folder": folder}), ("now", {})):
            port = free_port()
            url = f"http://127.0.0.1:{port}"
            with started(command("app.py", port), url, ATTENTION_WARM="0", **where) as server:
                for name in pages:
                    open_page(browser, f"{url}/{name}", False)
                    slow = open_page(browser, f"{url}/{name}", True)
                    processor = processor_seconds(server.pid)
                    for _ in range(OPENINGS):
                        open_page(browser, f"{url}/{name}", False)
                    figures = [*slow, processor_seconds(server.pid) - processor]
                    rows.append([name or "start", side, *(f"{figure:.4g}" for figure in figures)])
    publish("slow_line", rows, {"before": before, "rows": rows})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=["", "lookup", "translate"], help="paths of pages")
    parser.add_argument("--before", required=True, help="the commit that is measured beside the files here")
    main(**vars(parser.parse_args()))
