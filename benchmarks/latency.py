"""From a key on the page of the atlas to the painted tiles, and on its floor: python -m benchmarks.latency [ROUNDS].

The page is measured in turns with its floor (benchmarks/apps/floor_app.py), in two windows of Chromium. A key moves the
map by nine tenths of its width, on to tiles that were never there. Neighbours are not fetched ahead for "not ahead";
"as visitors have it" they are, and a second passes between two keys.
"""

import statistics
import sys
from collections.abc import Callable
from functools import partial

from playwright.sync_api import Page

from benchmarks.browser import paint_time, settle, visitor
from benchmarks.report import publish, spread
from benchmarks.server import running
from ui.navigation import entry_of

Edit = Callable[[Page, int], float | None]
"""Does something for the how-manieth time; gives the milliseconds to painted, None if it does not count."""
ISOLATED = "document.querySelector('.st-key-NAME [data-testid$=Isolated]').shadowRoot.querySelector('.root')"
ROOT, ANSWERED = (ISOLATED.replace("NAME", name) for name in ("atlas_map", "floor"))
MAP = f"{ROOT}.map"
IN_VIEW = f"{ROOT}.dataset.complete === 'true' && {ROOT}.dataset.view"
QUERY = "show=made-echo-16384&map=6000,1000,250"


def key(ahead: bool, page: Page, number: int) -> float | None:
    """Move the map by a key; one that needed no new tile does not count unless they are fetched ahead."""
    page.evaluate(f"{MAP}.prefetching = {str(ahead).lower()}")
    page.locator("canvas.map").focus()
    known = page.evaluate(f"{MAP}.cache.tiles.size")
    took = paint_time(page, lambda: page.keyboard.press(("Shift+ArrowDown", "Shift+ArrowRight")[number % 2]), IN_VIEW)
    settle(page, 1)
    return took if ahead or page.evaluate(f"{MAP}.cache.tiles.size") > known else None


def answer(page: Page, number: int) -> float:
    """Press a key on the floor."""
    page.locator(".st-key-floor .root").focus()
    return paint_time(page, lambda: page.keyboard.press("ArrowDown"), f"{ANSWERED}.dataset.answered")


EDITS: dict[str, Edit] = {"key, not ahead": partial(key, False), "key, as visitors have it": partial(key, True)}


def main(rounds: int = 8) -> None:
    rows = [["edit", "floor, median (lowest to highest)", "page", "ratio (goal: at most 2)"]]
    milliseconds: dict[str, dict[str, list[int]]] = {}
    ratios, n_lost = {}, 0
    with running("app.py") as app, running("benchmarks/apps/floor_app.py") as floor, visitor() as page:
        windows = {"page": page, "floor": page.context.new_page()}
        addresses = f"{app}/{entry_of('atlas').url_path}?{QUERY}", floor
        for window, address in zip(windows.values(), addresses, strict=True):
            window.set_default_timeout(180_000)
            window.bring_to_front()
            window.goto(address)
            window.locator("canvas.map, .st-key-floor .root").wait_for()
            settle(window, 3)
        for what, edit in EDITS.items():
            taken: dict[str, list[float]] = {who: [] for who in windows}
            for number in range(rounds + 1):
                for (who, window), act in zip(windows.items(), (edit, answer), strict=True):
                    window.bring_to_front()
                    took = act(window, number)
                    settle(window)
                    n_lost += took is None
                    if number and took is not None:  # the first is nobody's
                        taken[who].append(took)
            milliseconds[what] = {who: [round(one) for one in some] for who, some in taken.items()}
            ratios[what] = round(statistics.median(taken["page"]) / statistics.median(taken["floor"]), 2)
            rows.append([what, spread(taken["floor"]), spread(taken["page"]), f"{ratios[what]:.2f}"])
    publish("latency", rows, {"milliseconds": milliseconds, "ratios": ratios, "edits_not_taken": n_lost})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
