"""From an edit to the painted result on the pages of pictures, and on their floors: python -m benchmarks.latency.

`python -m benchmarks.latency ROUNDS find ask` takes other rounds than eight, and only these pages.
For each of Draw a digit, Find the digit, Read a number and Ask about a drawing: pen lifted to the changed answer and
map; for the last also Enter pressed in the question. The floor of a page is its own pad (and its question) with no
model and one trivial chart. Page and floor are measured in Chromium, in one run, in turns. Painted: the charts of
answer and map have changed and a frame has been drawn since. Goal: at most twice the floor.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass

from benchmarks.browser import settle, visitor
from benchmarks.report import publish, spread
from benchmarks.server import running
from ui.navigation import entry_of

WATCH = """([names, event]) => {
    const sign = name => {
        const chart = document.querySelector('.st-key-' + name);
        if (!chart || !chart.querySelector('svg.marks')) return '';
        const bars = [...chart.querySelectorAll('.mark-rect path')].map(bar => bar.getAttribute('d')).join();
        const images = [...chart.querySelectorAll('svg.marks image')];
        const links = images.map(image => image.getAttribute('href') ?? image.getAttribute('xlink:href') ?? '');
        return bars + links.map(link => link.length + link.slice(-400, -40)).join();
    };
    const signs = names.map(sign);
    window.changes = {};
    window.began = null;
    window.addEventListener(event, now => {
        if (event === 'pointerup' || now.key === 'Enter') window.began ??= performance.now();
    }, {capture: true});
    cancelAnimationFrame(window.watching);
    const look = now => {
        names.forEach((name, place) => {
            const shown = sign(name);
            if (window.changes[name] === undefined && shown && shown !== signs[place]) window.changes[name] = now;
        });
        window.watching = requestAnimationFrame(look);
    };
    window.watching = requestAnimationFrame(look);
}"""
DONE = "names => names.every(name => window.changes[name] !== undefined)"
STROKES = ((0.2, 0.3, 0.4, 0.35), (0.6, 0.7, 0.8, 0.75), (0.25, 0.8, 0.45, 0.7), (0.7, 0.2, 0.8, 0.4))
QUESTIONS = ("how many red digits?", "what digit is at the top left?", "is there a 3?", "how many digits are there?")
BOX = "input[aria-label='Your question, in English']"
FLOOR = ("floor",)


@dataclass(frozen=True)
class Looking:
    """A page to measure.

    Attributes:
        name: see PageEntry.name.
        charts: keys of its charts of answer and map.
        questions: whether a question is asked too.
        tab: the open one.
    """

    name: str
    charts: tuple[str, ...]
    questions: bool = False
    tab: str = ""


LOOKING = (
    Looking("pixels", ("pixels_answer", "pixels_looks_at"), tab="pixel"),
    Looking("find", ("find_hero", "find_answer")),
    Looking("read", ("read_film",)),  # what the first look says may stay as it was
    Looking("ask", ("ask_look_0", "ask_bars"), questions=True),
)


def stroke(page, number: int, charts: tuple[str, ...]) -> float:
    """Draw one stroke; returns the milliseconds from the pen lifted to the last of the charts painted."""
    page.evaluate(WATCH, [list(charts), "pointerup"])
    box = page.locator("canvas.upper-canvas").bounding_box()
    x0, y0, x1, y1 = STROKES[number % len(STROKES)]
    shift = 0.03 * (number // len(STROKES))
    page.mouse.move(box["x"] + (x0 + shift) * box["width"], box["y"] + y0 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + (x1 + shift) * box["width"], box["y"] + y1 * box["height"], steps=6)
    page.mouse.up()
    return _painted(page, charts)


def question(page, number: int, charts: tuple[str, ...]) -> float:
    """Ask a question; returns the milliseconds from Enter to the last of the charts painted."""
    page.locator(BOX).fill(QUESTIONS[number % len(QUESTIONS)])
    page.evaluate(WATCH, [list(charts), "keydown"])
    page.locator(BOX).press("Enter")
    return _painted(page, charts)


def _painted(page, charts: tuple[str, ...]) -> float:
    page.wait_for_function(DONE, arg=list(charts))
    settle(page)
    return page.evaluate("names => Math.max(...names.map(name => window.changes[name])) - window.began", list(charts))


def measure(app: str, floor: str, page, looking: Looking, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return for each kind of edit the milliseconds on the floor and on the page, in turns."""
    address = f"{entry_of(looking.name).url_path}?tab={looking.tab}"
    apart = page.context.browser.new_context(viewport=page.viewport_size)
    other = apart.new_page()
    other.set_default_timeout(180_000)
    for window, where, charts in (
        (page, f"{app}/{address}", looking.charts),
        (other, f"{floor}/?pad={looking.name}", FLOOR),
    ):
        window.bring_to_front()
        window.goto(where)
        window.locator("canvas.upper-canvas").wait_for()
        for chart in charts:
            window.locator(f".st-key-{chart} svg.marks").first.wait_for()
        settle(window, 2)
    times = {}
    for edit, does in (("stroke", stroke), *((("question", question),) if looking.questions else ())):
        taken: dict[str, list[float]] = {"floor": [], "page": []}
        for number in range(rounds + 1):
            other.bring_to_front()
            ground = does(other, number, FLOOR)
            page.bring_to_front()
            mine = does(page, number, looking.charts)
            if number:  # the first is nobody's
                taken["floor"].append(ground)
                taken["page"].append(mine)
        times[edit] = taken
    apart.close()
    return times


def main(rounds: int = 8, *only: str) -> None:
    """Measure, print, write results/latency.json."""
    pages = [looking for looking in LOOKING if not only or looking.name in only]
    rows = [["edit", "floor, ms", "page, ms, median (lowest to highest)", "ratio (goal: at most 2)"]]
    milliseconds, ratios = {}, {}
    with running("app.py") as app, running("benchmarks/apps/latency_floor_app.py") as floor, visitor() as page:
        page.goto(app)
        settle(page)
        for looking in pages:
            for edit, taken in measure(app, floor, page, looking, rounds).items():
                name = f"{looking.name}, {edit}"
                ratio = statistics.median(taken["page"]) / statistics.median(taken["floor"])
                milliseconds[name] = {kind: [round(time) for time in some] for kind, some in taken.items()}
                ratios[name] = round(ratio, 2)
                rows.append([name, spread(taken["floor"]), spread(taken["page"]), f"{ratio:.2f}"])
    figures = {"milliseconds": milliseconds, "ratios": ratios}
    publish("latency", rows, figures)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
