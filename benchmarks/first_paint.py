"""What the first visitor of a cold server waits for: python -m benchmarks.first_paint --rounds 5.

Each round starts an empty page, the app, and the app asked for one of its pages by a link, each on a server of its own
that nobody has seen. Measured in Chromium from the request to the first heading, and to the end of the first run.
"""

import argparse
import statistics
import time

from benchmarks.browser import IDLE, visitor
from benchmarks.report import publish
from benchmarks.server import running

EMPTY = "an empty page"
PLACES = {EMPTY: ("benchmarks/apps/empty_app.py", ""), "Start": ("app.py", ""), "a link": ("app.py", "pixels")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--after", type=float, default=0, help="seconds that the server is alone before somebody comes")
    options = parser.parse_args()
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in PLACES}
    for _ in range(options.rounds):
        for name, (app, path) in PLACES.items():
            with running(app) as url, visitor() as page:
                time.sleep(options.after)
                began = time.perf_counter()
                page.goto(f"{url}/{path}", wait_until="commit")
                page.locator("h1").first.wait_for()
                painted = time.perf_counter() - began
                page.wait_for_function(IDLE)
                seconds[name].append((painted, time.perf_counter() - began))
    middle = {name: [statistics.median(some) for some in zip(*found, strict=True)] for name, found in seconds.items()}
    floor = middle[EMPTY][0]
    rows = [["page", "first heading, s", "of the empty page's", "first run, s"]]
    rows += [[name, f"{one:.2f}", f"{one / floor:.2f}", f"{two:.2f}"] for name, (one, two) in middle.items()]
    publish("first_paint", rows, {"rounds": options.rounds, "alone_s": options.after, "seconds": seconds})


if __name__ == "__main__":
    main()
