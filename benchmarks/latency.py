"""From an edit to the painted result on pages, and on their floors: python -m benchmarks.latency [ROUNDS [NAMES]].

Each page is measured in turns with its floor (benchmarks/apps/floor_app.py), in two windows of Chromium; NAMES are
those of PLACES, all if none are given. An edit that was not taken (on a crowded machine a table can lose the focus) is
left out and counted. Goal: at most twice the floor.

pixels, find, read, ask: pen lifted, or Enter in the question, to changed answer and map; the floor is the page's own
pad (and its question) with no model and one trivial chart.

vectors: a digit is typed into one of five 16 x 16 tables, Enter, to the changed sentence and first chart; the floor has
the same tables and one trivial chart.

atlas: a key moves the map of a made-up text of 16,384 words by nine tenths of its width, at level 0 (single weights, a
pixel and a half or more each), on to tiles of 256 x 256 that were never there, most often two, to all of them painted.
Fetching neighbours ahead is off for "not ahead" and on for "as visitors have it", where a second passes between two
keys. The floor is a trivial component in a fragment that answers a key with a number.
"""

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, TimeoutError

from attention_core.topics.vectors import PRESETS, Problem, randomised
from attention_core.topics.vectors.tables import write_npz
from benchmarks.browser import clocked, settle, visitor
from benchmarks.report import publish, spread
from benchmarks.server import running
from ui.navigation import entry_of

Edit = Callable[[Page, int], float | None]
"""Does something for the how-manieth time; gives the milliseconds to painted, None if it was not taken."""
CHART = """(chart => {
    if (!chart || !chart.querySelector('svg.marks')) return '';
    const bars = [...chart.querySelectorAll('.mark-rect path')].map(bar => bar.getAttribute('d')).join();
    const images = [...chart.querySelectorAll('svg.marks image')];
    const links = images.map(image => image.getAttribute('href') ?? image.getAttribute('xlink:href') ?? '');
    return bars + links.map(link => link.length + link.slice(-400, -40)).join();
})(document.querySelector('.st-key-NAME'))"""
STROKES = ((0.2, 0.3, 0.4, 0.35), (0.6, 0.7, 0.8, 0.75), (0.25, 0.8, 0.45, 0.7), (0.7, 0.2, 0.8, 0.4))
QUESTIONS = ("how many red digits?", "what digit is at the top left?", "is there a 3?", "how many digits are there?")
BOX = "input[aria-label='Your question, in English']"
SIDE, HEADER, ROW = 16, 36, 29
EDITED = (
    "[...document.querySelectorAll('[data-testid=stMain] p')].map((p) => p.textContent)"
    ".filter((text) => /meets key|cells changed|edited/.test(text)).join()",
    "document.querySelector('[data-testid=stVegaLiteChart] svg')?.innerHTML",
)
ROOT = "document.querySelector('.st-key-atlas_map [data-testid$=Isolated]').shadowRoot.querySelector('.root')"
MAP = f"{ROOT}.map"
IN_VIEW = f"{ROOT}.dataset.complete === 'true' && {ROOT}.dataset.view"
ANSWERED = "document.querySelector('.st-key-floor [data-testid$=Isolated]').shadowRoot.querySelector('.root')"


@dataclass(frozen=True)
class Place:
    """A page to measure.

    Attributes:
        edits: by their names, what is done to the page and to its floor.
        opened: what waits until the page can be edited.
        query: of its address.
    """

    edits: dict[str, tuple[Edit, Edit]]
    opened: Callable[[Page], object]
    query: str = ""


def stroke(*charts: str) -> Edit:
    """Return the edit that draws one stroke, until the last of the charts is painted."""

    def draw(page: Page, number: int) -> float:
        box = page.locator("canvas.upper-canvas").bounding_box()
        assert box
        x0, y0, x1, y1 = STROKES[number % len(STROKES)]
        shift = 0.03 * (number // len(STROKES))
        page.mouse.move(box["x"] + (x0 + shift) * box["width"], box["y"] + y0 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + (x1 + shift) * box["width"], box["y"] + y1 * box["height"], steps=6)
        return clocked(page, page.mouse.up, [CHART.replace("NAME", name) for name in charts], "pointerup")

    return draw


def question(*charts: str) -> Edit:
    """Return the edit that asks a question, until the last of the charts is painted."""

    def ask(page: Page, number: int) -> float:
        page.locator(BOX).fill(QUESTIONS[number % len(QUESTIONS)])
        return clocked(page, lambda: page.locator(BOX).press("Enter"), [CHART.replace("NAME", one) for one in charts])

    return ask


def cell(left: float, step: int, page: Page, number: int) -> float | None:
    """Type a digit into a cell of the first table, a share of its width from the left."""
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box
    for _ in range(20):
        page.mouse.click(box["x"] + left * box["width"], box["y"] + HEADER + ROW * (number % 2 * step + 0.5))
        page.wait_for_timeout(200)
        if page.evaluate("document.activeElement.closest('[data-testid=stDataFrame]') !== null"):
            break
    page.keyboard.press(str(2 + number % 8))
    page.locator("textarea.gdg-input").wait_for()
    try:
        return clocked(page, lambda: page.keyboard.press("Enter"), EDITED, patience=8)
    except TimeoutError:
        return None


def key(ahead: bool, page: Page, number: int) -> float | None:
    """Move the map by a key; one that needed no new tile does not count unless they are fetched ahead."""
    page.evaluate(f"{MAP}.prefetching = {str(ahead).lower()}")
    page.locator("canvas.map").focus()
    known = page.evaluate(f"{MAP}.shelf.tiles.size")
    took = clocked(page, lambda: page.keyboard.press(("Shift+ArrowDown", "Shift+ArrowRight")[number % 2]), [IN_VIEW])
    settle(page, 1)
    return took if ahead or page.evaluate(f"{MAP}.shelf.tiles.size") > known else None


def answer(page: Page, number: int) -> float:
    """Press a key on the atlas' floor."""
    page.locator(".st-key-floor .root").focus()
    return clocked(page, lambda: page.keyboard.press("ArrowDown"), [f"{ANSWERED}.dataset.answered"])


def pad(*charts: str, asks: bool = False, tab: str = "") -> Place:
    """Return a page with a pad to draw on, whose answer and map are these charts."""

    def opened(page: Page) -> None:
        page.locator("canvas.upper-canvas").wait_for()
        page.locator("svg.marks").first.wait_for()

    edits = {"stroke": (stroke(*charts), stroke("floor_chart"))}
    if asks:
        edits["question"] = question(*charts), question("floor_chart")
    return Place(edits, opened, f"tab={tab}")


def fill_tables(page: Page) -> None:
    """Give the workbench five 16 x 16 tables through its own upload."""
    page.locator("[data-testid=stVegaLiteChart] svg").first.wait_for()
    if not page.get_by_role("button", name="Paste, files").count():  # the floor has its tables
        return
    start = PRESETS["pairs"].problem()
    shapes = {name: np.zeros((SIDE, SIDE)) for name in start.tables}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tables.npz"
        file.write_bytes(write_npz(randomised(Problem(start.mode, shapes), 1)))
        page.get_by_role("button", name="Paste, files").click()
        page.locator("input[type=file]").first.set_input_files(file)
        page.get_by_text("16 queries × 16 keys").wait_for()
        page.keyboard.press("Escape")


PLACES = {
    "pixels": pad("pixels_answer", "pixels_looks_at", tab="pixel"),
    "find": pad("find_hero", "find_answer"),
    "read": pad("read_film"),  # what the first look says may stay as it was
    "ask": pad("ask_look_0", "ask_bars", asks=True),
    "vectors": Place({"cell": (partial(cell, 0.55, 2), partial(cell, 0.03, 0))}, fill_tables, "step=scores"),
    "atlas": Place(
        {"key, not ahead": (partial(key, False), answer), "key, as visitors have it": (partial(key, True), answer)},
        lambda page: page.locator("canvas.map, .st-key-floor .root").wait_for(),
        "show=made-echo-16384&map=6000,1000,250",
    ),
}


def main(rounds: int = 8, *names: str) -> None:
    rows = [["edit", "floor, median (lowest to highest)", "page", "ratio (goal: at most 2)"]]
    milliseconds: dict[str, dict[str, list[int]]] = {}
    ratios, n_lost = {}, 0
    with running("app.py") as app, running("benchmarks/apps/floor_app.py") as floor, visitor() as page:
        page.goto(app)
        settle(page)
        for name in names or PLACES:
            place, browser = PLACES[name], page.context.browser
            assert browser
            with browser.new_context(viewport=page.viewport_size) as apart:
                windows = {"page": page, "floor": apart.new_page()}
                places = f"{app}/{entry_of(name).url_path}?{place.query}", f"{floor}/?pad={name}"
                for window, address in zip(windows.values(), places, strict=True):
                    window.set_default_timeout(180_000)
                    window.bring_to_front()
                    window.goto(address)
                    place.opened(window)
                    settle(window, 3)
                for what, edits in place.edits.items():
                    taken: dict[str, list[float]] = {who: [] for who in windows}
                    for number in range(rounds + 1):
                        for (who, window), edit in zip(windows.items(), edits, strict=True):
                            window.bring_to_front()
                            took = edit(window, number)
                            settle(window)
                            n_lost += took is None
                            if number and took is not None:  # the first is nobody's
                                taken[who].append(took)
                    own = f"{name}, {what}"
                    milliseconds[own] = {who: [round(one) for one in some] for who, some in taken.items()}
                    ratios[own] = round(statistics.median(taken["page"]) / statistics.median(taken["floor"]), 2)
                    rows.append([own, spread(taken["floor"]), spread(taken["page"]), f"{ratios[own]:.2f}"])
    command = " ".join(["python -m benchmarks.latency", *sys.argv[1:]])
    figures = {"command": command, "milliseconds": milliseconds, "ratios": ratios, "edits_not_taken": n_lost}
    publish("_".join(("latency", *names)), rows, figures)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
