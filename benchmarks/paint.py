"""From an event in Chromium to the page's last change: python -m benchmarks.paint [PAGE ...] [--rounds N].

Every page is opened cold, and what `visits.py` lists is clicked, typed and drawn. The floor is a page of as many charts
and components that draw (and a pad, where the page has one) whose data alone change when a button is pressed; the empty
page has the button.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from random import Random
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Locator, Page, TimeoutError, sync_playwright

from benchmarks.report import publish
from tests.support.browser import ARGUMENTS, CHROMIUM, IDLE
from tests.support.server import command, free_port, processor_seconds, started
from tests.support.visits import CANVAS, VISITS, Action, stroke

WATCH = """
const seen = window.paint = { last: 0, event: 0, long: [], roots: [] };
const change = () => { seen.last = performance.now(); };
const quiet = "[data-testid=stApp], [data-testid=stStatusWidget], [data-testid=stStatusWidget] *";
const observe = (root) => new MutationObserver((records) => {
  if (records.some(({ target }) => !(target.matches?.(quiet)))) change();
}).observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
observe(document);
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...given) {
  const root = attach.apply(this, given);
  observe(root);
  seen.roots.push(root);
  return root;
};
for (const name of ["fillRect", "clearRect", "drawImage", "putImageData", "fill", "stroke", "fillText"]) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...given) { change(); return draw.apply(this, given); };
}
for (const kind of ["pointerup", "keydown"]) {
  addEventListener(kind, () => { seen.event = performance.now(); }, { capture: true });
}
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) seen.long.push([startTime, duration]);
}).observe({ type: "longtask", buffered: true });
"""
AT_REST = (
    f"{IDLE} && performance.now() - Math.max(window.paint.last, window.paint.event) > 700"
    " && !document.querySelector('[data-testid=stMain] [data-testid=stSkeleton]')"
)
SEEN = """({ last: paint.last, long: paint.long,
  charts: document.querySelectorAll("[data-testid=stVegaLiteChart]").length,
  drawn: paint.roots.filter((root) => root.isConnected && root.querySelector("canvas, svg")).length })"""
KEYS = "[...document.querySelectorAll('[class*=st-key-]')].flatMap((node) => [...node.classList])"
LOADED = "performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"
TEST_IDS = {
    "button": "stButton",
    "button_group": "stButtonGroup",
    "tab_container": "stTabs",
    "text_area": "stTextArea",
    "text_input": "stTextInput",
    "slider": "stSlider",
    "selectbox": "stSelectbox",
    "dataframe": "stDataFrame",
    "vega_lite_chart": "stVegaLiteChart",
    "bidi_component": "stBidiComponent",
}
"""How Streamlit marks a kind of widget."""
PARTS = {
    "button": "button",
    "button_group": "[role=radio]:not([aria-checked=true]), button:not([aria-pressed=true]):not([role=radio])",
    "tab_container": "[role=tab][aria-selected=false]",
}
"""What is clicked of a kind of widget."""
MODEL_MS = 100.0
"""Processor time of the server that an answer may take; what a model needs beyond does not count as painting."""


class Sight(NamedTuple):
    """What came of an event: milliseconds to the last change, the longest task, the server's; what is on the page."""

    took: float
    longest: float
    server: float
    n_charts: int
    n_drawn: int  # components that draw, pads included

    @property
    def painting(self) -> float:
        """Milliseconds without what a model needs beyond MODEL_MS."""
        return self.took - max(0.0, self.server - MODEL_MS)


def wait_until_idle(process: int) -> None:
    """Wait until a process has had less than a tenth of a core for fifteen seconds: a server warms up by itself."""
    before, now = -15.0, processor_seconds(process)
    while now - before > 1.5:
        time.sleep(15)
        before, now = now, processor_seconds(process)


class Window:
    """A browser's page that is watched, and the process of the server that it looks at."""

    def __init__(self, page: Page, server: int) -> None:
        self.page, self._server = page, server
        self.n_bytes = 0
        page.set_default_timeout(10_000)
        page.add_init_script(WATCH)
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, payload: str | bytes) -> None:
        self.n_bytes += len(payload)

    def open(self, url: str) -> Sight:
        before = processor_seconds(self._server)
        self.page.goto(url)
        sight = self._rest(before, 0.0)
        self.n_bytes += self.page.evaluate(LOADED)
        return sight

    def act(self, action: Action, random: Random) -> Sight | None:
        """Do what an action says; None where its widget is not on the page."""
        if action.kind not in TEST_IDS:
            return None
        marked = f"[data-testid^={TEST_IDS[action.kind]}]"
        found = sorted({name for name in self.page.evaluate(KEYS) if fnmatchcase(name, f"st-key-{action.key}")})
        widgets = [self.page.locator(f".{name}:is({marked}, :has({marked}))").first for name in found]
        shown = [widget for widget in widgets if widget.is_visible()]
        if not shown:
            return None
        before = processor_seconds(self._server)
        try:
            is_used = use(self.page, random.choice(shown), action, random)
        except TimeoutError:
            is_used = False
        if not is_used:
            return None
        return self._rest(before, self.page.evaluate("window.paint.event"))

    def _rest(self, processor: float, since: float) -> Sight:
        self.page.wait_for_timeout(50)
        self.page.wait_for_function(IDLE, timeout=60_000)
        self.page.wait_for_function(AT_REST, timeout=60_000)
        server = 1000 * (processor_seconds(self._server) - processor)
        seen = self.page.evaluate(SEEN)
        longest = max((duration for start, duration in seen["long"] if start + duration > since), default=0.0)
        return Sight(max(0.0, seen["last"] - since), longest, server, seen["charts"], seen["drawn"])


def use(page: Page, widget: Locator, action: Action, random: Random) -> bool:
    """Use a widget by mouse and keys; False where it offers nothing to use."""
    if action.kind in PARTS:
        offered = [part for part in widget.locator(PARTS[action.kind]).all() if part.is_visible() and part.is_enabled()]
        if offered:
            random.choice(offered).click()
        return bool(offered)
    if action.kind in ("text_area", "text_input"):
        box = widget.locator("textarea, input").first
        box.fill(random.choice(action.given))  # type: ignore[arg-type]
        box.press("Control+Enter" if action.kind == "text_area" else "Enter")
    elif action.kind == "slider":
        widget.locator("[role=slider], input[type=range]").first.press("ArrowRight")
    elif action.kind == "selectbox":
        widget.locator("input").first.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        gesture(page, widget, action)
    return True


def gesture(page: Page, widget: Locator, action: Action) -> None:
    """Draw or drag on a pad, a plane or a map, click the middle of a chart, or the first thing of a component."""
    widget.scroll_into_view_if_needed()
    part = widget.locator("canvas.upper-canvas").first if action.given is stroke else widget
    box = part.bounding_box()
    if not box:
        return
    left, top = box["x"], box["y"]
    choices = [one for one in widget.locator("button, [role=button], [role=option]").all() if one.is_visible()]
    if action.kind == "bidi_component" and action.given is not stroke and choices:
        choices[0].click()
    elif action.kind == "bidi_component":
        page.mouse.move(left + 0.35 * box["width"], top + 0.3 * box["height"])
        page.mouse.down()
        page.mouse.move(left + 0.6 * box["width"], top + 0.7 * box["height"], steps=6)
        page.mouse.up()
    else:
        page.mouse.click(left + 0.5 * box["width"], top + 0.5 * box["height"])
        if action.kind == "dataframe":
            page.keyboard.type("2")
            page.keyboard.press("Enter")


@contextmanager
def watched(browser: Browser, server: int) -> Iterator[Window]:
    """Give a visitor's window whose browser has loaded nothing yet."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    yield Window(context.new_page(), server)
    context.close()


ON_FLOOR = {"press": Action("button", "press"), "stroke": Action("bidi_component", "pad", stroke)}
"""What is done there; a pad sends a stroke a while after the pen is lifted."""


class Paint:
    """The app and its floor, each served in a process of its own."""

    def __init__(self, browser: Browser, app: tuple[str, int], floor: tuple[str, int], rounds: int) -> None:
        self._browser, self._app, self._floor, self._rounds = browser, app, floor, rounds
        self._floors: dict[tuple[int, int, bool], dict[str, float]] = {}

    def floor(self, n_charts: int = 0, n_drawn: int = 0, has_pad: bool = False) -> dict[str, float]:
        """Return the median milliseconds of opening the floor and of what is done on it; bare, it is the empty page."""
        what = n_charts, n_drawn, has_pad
        if what not in self._floors:
            seen = defaultdict[str, list[float]](list)
            for _ in range(self._rounds):
                with watched(self._browser, self._floor[1]) as window:
                    address = f"{self._floor[0]}/?charts={n_charts}&drawn={n_drawn}{'&pad=1' * has_pad}"
                    seen["opening"].append(window.open(address).took)
                    for name in 3 * [*ON_FLOOR]:
                        if sight := window.act(ON_FLOOR[name], Random(0)):
                            seen[name].append(sight.took)
            self._floors[what] = {name: statistics.median(times) for name, times in seen.items()}
        return self._floors[what]

    def page(self, name: str) -> dict[str, Any]:
        """Return of a page its bytes and, for opening and each action, milliseconds and their ratio to the floor."""
        sights, sizes = defaultdict[str, list[Sight]](list), []
        has_pad = any(action.given is stroke for action in VISITS[name])
        missing = set[str]()
        for number in range(self._rounds):
            with watched(self._browser, self._app[1]) as window:
                sights["opening"].append(window.open(f"{self._app[0]}/{name}"))
                sizes.append(window.n_bytes)
                random = Random(number)
                for place, action in enumerate(VISITS[name]):
                    if sight := window.act(action, random):
                        sights[f"{place + 1} {action.name}"].append(sight)
                    else:
                        missing.add(action.name)
        rows = {}
        for what, some in sights.items():
            n_charts, n_drawn = (
                round(statistics.median(counts)) for counts in zip(*(one[3:] for one in some), strict=True)
            )
            floor = self.floor(n_charts, max(0, n_drawn - has_pad), has_pad)
            kind = "opening" if what == "opening" else "stroke" if what.endswith(CANVAS.name) else "press"
            took = statistics.median(sight.painting for sight in some)
            rows[what] = {
                "ms": round(took),
                "floor": round(took / floor[kind], 2),
                "empty": round(took / self.floor()["opening" if kind == "opening" else "press"], 2),
                "server_ms": round(statistics.median(sight.server for sight in some)),
                "longest_task_ms": round(statistics.median(sight.longest for sight in some)),
                "charts": n_charts,
                "drawn": n_drawn,
            }
        return {"bytes": round(statistics.median(sizes)), "actions": rows, "missing": sorted(missing)}


def main(pages: Sequence[str], rounds: int) -> None:
    ports = free_port(), free_port()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with (
        started(command("app.py", ports[0]), urls[0]) as app,
        started(command("benchmarks/apps/paint_floor_app.py", ports[1]), urls[1]) as floor,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        paint = Paint(browser, (urls[0], app.pid), (urls[1], floor.pid), rounds)
        with watched(browser, app.pid) as window:
            window.open(urls[0])
        wait_until_idle(app.pid)
        results = {name or "start": paint.page(name) for name in pages}
        empty = paint.floor()
    rows = [["page", "opening, ms", "of floor", "MB", "actions, of floor: median, most", "of empty: median"]]
    opened, acted = [], []
    for name, result in results.items():
        opening, *actions = result["actions"].values()
        opened.append(opening["floor"])
        acted += actions
        size = f"{result['bytes'] / 1e6:.1f}"
        rows.append([name, str(opening["ms"]), f"{opening['floor']:.2f}", size, *ratios(actions).values()])
    rows.append(["all", "", f"{max(opened):.2f}", "", *ratios(acted).values()])
    figures = {
        **ratios(acted),
        "most_opening_of_floor": max(opened),
        "long_tasks": sum(action["longest_task_ms"] > 200 for action in acted),
        "empty_page_ms": {name: round(took) for name, took in empty.items()},
    }
    publish("paint", rows, {**figures, "pages": results})


def ratios(actions: Sequence[dict[str, Any]]) -> dict[str, str]:
    if not actions:  # nothing on the page can be used
        return {"of_floor": "", "of_empty": ""}
    of_floor, of_empty = ([action[name] for action in actions] for name in ("floor", "empty"))
    median = statistics.median
    return {"of_floor": f"{median(of_floor):.2f}, {max(of_floor):.2f}", "of_empty": f"{median(of_empty):.2f}"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=list(VISITS), help="paths of pages; all of them")
    parser.add_argument("--rounds", type=int, default=3)
    main(**vars(parser.parse_args()))
