"""The 784 x 784 weights as our image chart against a rect per cell: python -m benchmarks.heatmap [ROUNDS].

Measured in Chromium, in one run, in turns: bytes over the websocket, and seconds from the click to the painted chart.
Goals: at most 600 kB, and painted at least 20 times faster.
"""

from __future__ import annotations

import statistics
import sys
import time

from benchmarks.browser import settle, visitor
from benchmarks.report import publish
from benchmarks.server import running

CHART = "[data-testid=stVegaLiteChart] .marks"
PAINTED = """async () => {
    for (const image of document.querySelectorAll('svg.marks image')) {
        const copy = new Image();
        copy.src = image.getAttribute('href') ?? image.getAttribute('xlink:href');
        await copy.decode();
    }
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def measure(page, url: str, kind: str) -> tuple[float, int]:
    """Return seconds from the click to the painted chart, and bytes received over the websocket meanwhile."""
    received = []

    def listen(socket) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))

    page.on("websocket", listen)
    page.goto(f"{url}/?kind={kind}")
    page.locator(".st-key-draw button").wait_for()
    settle(page)
    received.clear()
    began = time.perf_counter()
    page.locator(".st-key-draw button").click()
    page.wait_for_function(f"document.querySelector('{CHART}')", polling="raf")
    page.evaluate(PAINTED)
    seconds = time.perf_counter() - began
    page.remove_listener("websocket", listen)
    return seconds, sum(received)


def main(rounds: int = 3) -> None:
    """Measure, print, write results/heatmap.json."""
    seconds, sizes = {"image": [], "rects": []}, {"image": 0, "rects": 0}
    with running("benchmarks/apps/heatmap_app.py") as url, visitor() as page:
        measure(page, url, "image")  # the server's and the browser's first time is nobody's
        for _ in range(rounds):
            for kind in seconds:
                spent, sizes[kind] = measure(page, url, kind)
                seconds[kind].append(spent)
    middle = {kind: statistics.median(some) for kind, some in seconds.items()}
    faster = middle["rects"] / middle["image"]
    rows = [["784 x 784 weights", "kB to the browser", "click to painted"]]
    rows += [[kind, f"{sizes[kind] / 1000:,.0f}", f"{middle[kind]:.2f} s"] for kind in seconds]
    rows += [["goal", "at most 600", "20 times faster"], ["reached", "", f"{faster:.0f} times faster"]]
    figures = {
        "kilobytes": {kind: round(size / 1000, 1) for kind, size in sizes.items()},
        "seconds": {kind: [round(taken, 3) for taken in some] for kind, some in seconds.items()},
        "times_faster": round(faster, 1),
    }
    publish("heatmap", rows, figures)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
