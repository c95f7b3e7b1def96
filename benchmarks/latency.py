"""From the end of a pen stroke to the painted result, on the digit page and on its floor: python -m benchmarks.latency.

The floor is the same pad with no model and one trivial chart. Both are measured in Chromium, in one run, in turns.
Painted: the chart of the answer and the map of the chosen pixel have changed and a frame has been drawn since.
Goal: at most twice the floor.
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.browser import running, settle, visitor
from benchmarks.report import load_average, publish, spread
from ui.navigation import PAGES

WATCH = """() => {
    const charts = () => [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
    const sign = chart => {
        const bars = chart.querySelector('image') ? [] : [...chart.querySelectorAll('.mark-rect path')];
        const images = [...chart.querySelectorAll('svg.marks image')];
        const links = images.map(image => image.getAttribute('href') ?? image.getAttribute('xlink:href') ?? '');
        return bars.map(bar => bar.getAttribute('d')).join()
            + links.map(link => link.length + link.slice(-120, -40)).join();
    };
    const signs = charts().map(sign);
    window.changes = {};
    window.lifted = null;
    window.addEventListener('pointerup', () => { window.lifted ??= performance.now(); }, {capture: true, once: true});
    const look = now => {
        charts().forEach((chart, place) => {
            if (window.changes[place] === undefined && sign(chart) !== signs[place]) window.changes[place] = now;
        });
        window.watching = requestAnimationFrame(look);
    };
    window.watching = requestAnimationFrame(look);
}"""
STROKES = ((0.2, 0.3, 0.4, 0.35), (0.6, 0.7, 0.8, 0.75), (0.25, 0.8, 0.45, 0.7), (0.7, 0.2, 0.8, 0.4))
FIRST_PAINT = "document.querySelector('svg.marks .mark-rect path')"


def stroke(page, number: int, wanted: list[int]) -> dict[int, float]:
    """Draw one stroke; returns for each chart that changed the milliseconds after the pen was lifted."""
    page.evaluate(WATCH)
    box = page.locator("canvas.upper-canvas").bounding_box()
    x0, y0, x1, y1 = STROKES[number % len(STROKES)]
    shift = 0.03 * (number // len(STROKES))
    page.mouse.move(box["x"] + (x0 + shift) * box["width"], box["y"] + y0 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + (x1 + shift) * box["width"], box["y"] + y1 * box["height"], steps=6)
    page.mouse.up()
    page.wait_for_function("all => all.every(one => window.changes[one] !== undefined)", arg=wanted)
    settle(page)
    page.evaluate("cancelAnimationFrame(window.watching)")
    changes = page.evaluate("Object.entries(window.changes).map(([place, when]) => [+place, when - window.lifted])")
    return dict(changes)


def main(rounds: int = 8) -> None:
    """Measure, print, write results/latency.json."""
    before = load_average()
    address = next(entry.url_path for entry in PAGES if entry.file == "pixels.py")
    times: dict[str, list[float]] = {"floor": [], "answer": [], "answer and map": [], "everything": []}
    with running("app.py") as url, running("benchmarks/apps/floor_app.py") as floor, visitor() as page:
        other = page.context.browser.new_page(viewport={"width": 1440, "height": 900})
        other.set_default_timeout(60_000)
        page.goto(url)
        settle(page)
        for one, where in ((page, f"{url}/{address}"), (other, floor)):
            one.bring_to_front()
            one.goto(where)
            one.locator("canvas.upper-canvas").wait_for()
            one.wait_for_function(FIRST_PAINT)
            settle(one, 2)
        page.bring_to_front()
        answer, places = _places(page)
        for number in range(rounds + 1):
            other.bring_to_front()
            ground = stroke(other, number, [0])
            page.bring_to_front()
            changes = stroke(page, number, [answer, places])
            if number == 0:  # the first is nobody's
                continue
            times["floor"].append(ground[0])
            times["answer"].append(changes[answer])
            times["answer and map"].append(max(changes[answer], changes[places]))
            times["everything"].append(max(changes.values()))
    ratio = statistics.median(times["answer and map"]) / statistics.median(times["floor"])
    rows = [["pen lifted to", "milliseconds, median (lowest to highest)"]]
    rows += [[name, spread(some)] for name, some in times.items()]
    rows += [["answer and map over floor", f"{ratio:.2f} (goal: at most 2)"]]
    figures = {
        "milliseconds": {name: [round(one) for one in some] for name, some in times.items()},
        "ratio": round(ratio, 2),
        "load": [before, load_average()],
    }
    publish("latency", rows, figures, "python -m benchmarks.latency")


def _places(page) -> tuple[int, int]:
    """Return which charts are the answer and the first map of the chosen pixel, among all on the page."""
    places = page.evaluate("""() => {
        const charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
        const answer = charts.findIndex(chart => chart.querySelector("[aria-label*='probability: ']"));
        const map = charts.findIndex(chart => /This pixel looks at/.test(chart.outerHTML.slice(0, 4000))
            || /This pixel looks at/.test(chart.closest('[data-testid=stColumn]')?.textContent ?? '')
            && chart.querySelector('image') && !chart.closest('[class*=_pick]'));
        return [answer, map];
    }""")
    if min(places) < 0:
        raise RuntimeError(f"the page has no such charts: answer {places[0]}, map {places[1]}")
    return places[0], places[1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
