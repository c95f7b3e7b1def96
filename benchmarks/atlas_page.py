"""Go from one tile of the atlas to the next in Chromium: python -m benchmarks.atlas_page [ROUNDS].

A key is pressed on the map, which moves by nine tenths of its width, on to tiles of 256 x 256 that were never there,
most often two of them. Timed is the way from the key to the first frame in which all of them are painted, at level 0
(single weights, a pixel and a half or more each) of a made-up text of 16,384 words; beside it a trivial component in a
fragment that answers a key with a number, the floor of any rerun. Fetching neighbours ahead is off for "not fetched
ahead" and on for "as visitors have it", where a second passes between two keys. Chromium: variable CHROMIUM, or on the
PATH.
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.browser import settle, visitor
from benchmarks.report import publish, spread
from benchmarks.server import running

ADDRESS = "atlas?show=made-near-16384&map={row},{column},250"
ROOT = "document.querySelector('.st-key-atlas_map [data-testid$=Isolated]').shadowRoot.querySelector('.root')"
MAP = f"{ROOT}.map"
WATCH = """(painted) => {
  window.took = null;
  let began = null;
  const start = () => { began ??= performance.now(); };
  window.addEventListener('keydown', start, { capture: true, once: true });
  const look = () => {
    if (began !== null && eval(painted)) { window.took = performance.now() - began; return; }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
KEYS = ("Shift+ArrowDown", "Shift+ArrowRight")


def press(page, key: str, painted: str) -> float:
    """Press a key; returns the milliseconds until the JavaScript expression `painted` is true in a drawn frame."""
    page.evaluate(WATCH, painted)
    page.keyboard.press(key)
    page.wait_for_function("window.took !== null")
    return page.evaluate("window.took")


def move(page, number: int) -> float:
    """Move the map by a key; returns the milliseconds until all that is in view was painted."""
    before = page.evaluate(f"{ROOT}.dataset.view")
    took = press(
        page, KEYS[number % len(KEYS)], f"{ROOT}.dataset.view !== '{before}' && {ROOT}.dataset.complete === 'true'"
    )
    settle(page, 1.0)
    return took


def main(rounds: int = 12) -> None:
    """Measure, print, write results/atlas_page.json."""
    taken: dict[str, list[float]] = {"floor": [], "not fetched ahead": [], "as visitors have it": []}
    tiles: list[int] = []
    with running("app.py") as app, running("benchmarks/apps/atlas_floor_app.py") as floor, visitor() as page:
        page.goto(app)
        settle(page)
        other = page.context.browser.new_page(viewport=page.viewport_size)
        other.goto(floor)
        other.locator(".root").wait_for()
        settle(other)
        page.goto(f"{app}/{ADDRESS.format(row=6000, column=1000)}")
        page.locator("canvas.map").wait_for()
        page.evaluate(f"{MAP}.prefetching = false")
        page.wait_for_function(f"{ROOT}?.dataset.complete === 'true'")
        settle(page, 3)
        for number in range(2 * (rounds + 1)):
            ahead = number > rounds
            page.evaluate(f"{MAP}.prefetching = {str(ahead).lower()}")
            other.bring_to_front()
            other.locator(".root").focus()
            answered = other.evaluate(f"{ROOT}.dataset.answered")
            ground = press(other, "ArrowDown", f"{ROOT}.dataset.answered !== '{answered}'")
            settle(other, 0.3)
            page.bring_to_front()
            page.locator("canvas.map").focus()
            known = page.evaluate(f"{MAP}.shelf.tiles.size")
            mine = move(page, number)
            new = page.evaluate(f"{MAP}.shelf.tiles.size") - known
            if number % (rounds + 1) == 0 or (new == 0 and not ahead):  # the first is nobody's; or nothing was fetched
                continue
            taken["floor"].append(ground)
            taken["as visitors have it" if ahead else "not fetched ahead"].append(mine)
            if not ahead:
                tiles.append(new)
    base = statistics.median(taken["floor"])
    rows = [["key to painted", "ms, median (lowest to highest)", "ratio (goal: at most 2)"]]
    rows += [[name, spread(some), f"{statistics.median(some) / base:.2f}"] for name, some in taken.items()]
    figures = {
        "milliseconds": {name: [round(time, 1) for time in some] for name, some in taken.items()},
        "ratios": {name: round(statistics.median(some) / base, 2) for name, some in taken.items()},
        "new_tiles_each": tiles,
    }
    publish("atlas_page", rows, figures)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
