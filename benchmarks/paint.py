"""From an event in Chromium to the page's last change, beside an earlier commit, in turns.

    python -m benchmarks.paint --before COMMIT [PAGE ...] [--rounds N]

Every page is opened cold, and what `visits.py` lists is clicked, typed and drawn.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, TimeoutError, sync_playwright

from benchmarks.report import publish
from tests.support.browser import ARGUMENTS, CHROMIUM, IDLE
from tests.support.server import command, free_port, processor_seconds, started
from tests.support.visits import VISITS, Action, draw_stroke

WATCH = """
const paint = window.paint = { last: 0, event: 0, long: [] };
const change = () => { paint.last = performance.now(); };
const quiet = "[data-testid=stApp], [data-testid=stStatusWidget], [data-testid=stStatusWidget] *";
const observe = (root) => new MutationObserver((records) => {
  if (records.some(({ target }) => !(target.matches?.(quiet)))) change();
}).observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
observe(document);
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...options) {
  const root = attach.apply(this, options);
  observe(root);
  return root;
};
for (const name of ["fillRect", "clearRect", "drawImage", "putImageData", "fill", "stroke", "fillText"]) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...box) { change(); return draw.apply(this, box); };
}
for (const kind of ["pointerup", "keydown"]) {
  addEventListener(kind, () => { paint.event = performance.now(); }, { capture: true });
}
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) paint.long.push([startTime, duration]);
}).observe({ type: "longtask", buffered: true });
"""
IS_STILL = (
    f"{IDLE} && performance.now() - Math.max(window.paint.last, window.paint.event) > 700"
    " && !document.querySelector('[data-testid=stMain] [data-testid=stSkeleton]')"
)
KEYS = "[...document.querySelectorAll('[class*=st-key-]')].flatMap((node) => [...node.classList])"
LOADED = "performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"
TEST_IDS = {
    "button": "stButton",
    "button_group": "stButtonGroup",
    "text_area": "stTextArea",
    "text_input": "stTextInput",
    "slider": "stSlider",
    "selectbox": "stSelectbox",
    "dataframe": "stDataFrame",
    "vega_lite_chart": "stVegaLiteChart",
    "bidi_component": "stBidiComponent",
}
"""How Streamlit marks a kind of widget."""
SELECTORS = {
    "button": "button",
    "button_group": "[role=radio]:not([aria-checked=true]), button:not([aria-pressed=true]):not([role=radio])",
}
"""What is clicked of a kind of widget."""


class Painting(NamedTuple):
    """What came of an event, in milliseconds."""

    to_last_change: float
    longest_task: float
    server: float  # processor time


def wait_until_idle(process: int) -> None:
    """Wait until a process has had less than a tenth of a core for fifteen seconds: a server warms up by itself."""
    previous, seconds = -15.0, processor_seconds(process)
    while seconds - previous > 1.5:
        time.sleep(15)
        previous, seconds = seconds, processor_seconds(process)


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

    def open(self, url: str) -> Painting:
        before = processor_seconds(self._server)
        self.page.goto(url)
        painting = self._measure(before, 0.0)
        self.n_bytes += self.page.evaluate(LOADED)
        return painting

    def act(self, action: Action, random: Random) -> Painting | None:
        """Do what an action says; None where its widget is not on the page."""
        if action.type not in TEST_IDS:
            return None
        marked = f"[data-testid^={TEST_IDS[action.type]}]"
        names = sorted({name for name in self.page.evaluate(KEYS) if fnmatchcase(name, f"st-key-{action.key}")})
        widgets = [self.page.locator(f".{name}:is({marked}, :has({marked}))").first for name in names]
        visible = [widget for widget in widgets if widget.is_visible()]
        if not visible:
            return None
        before = processor_seconds(self._server)
        try:
            is_used = use(self.page, random.choice(visible), action, random)
        except TimeoutError:
            is_used = False
        if not is_used:
            return None
        return self._measure(before, self.page.evaluate("window.paint.event"))

    def do(self, act: Callable[[], object]) -> Painting:
        """Do what has an event of pointer or keys, or one that sets `paint.event` itself."""
        before = processor_seconds(self._server)
        act()
        return self._measure(before, self.page.evaluate("window.paint.event"))

    def _measure(self, processor: float, since: float) -> Painting:
        self.page.wait_for_timeout(50)
        self.page.wait_for_function(IDLE, timeout=60_000)
        self.page.wait_for_function(IS_STILL, timeout=60_000)
        server = 1000 * (processor_seconds(self._server) - processor)
        last, tasks = self.page.evaluate("[paint.last, paint.long]")
        longest = max((duration for start, duration in tasks if start + duration > since), default=0.0)
        return Painting(max(0.0, last - since), longest, server)


def use(page: Page, widget: Locator, action: Action, random: Random) -> bool:
    """Use a widget by mouse and keys; False where it offers nothing to use."""
    if action.type in SELECTORS:
        buttons = widget.locator(SELECTORS[action.type]).all()
        usable = [button for button in buttons if button.is_visible() and button.is_enabled()]
        if usable:
            random.choice(usable).click()
        return bool(usable)
    if action.type in ("text_area", "text_input"):
        box = widget.locator("textarea, input").first
        box.fill(random.choice(action.values))  # type: ignore[arg-type]
        box.press("Control+Enter" if action.type == "text_area" else "Enter")
    elif action.type == "slider":
        widget.locator("[role=slider], input[type=range]").first.press("ArrowRight")
    elif action.type == "selectbox":
        widget.locator("input").first.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        gesture(page, widget, action)
    return True


def gesture(page: Page, widget: Locator, action: Action) -> None:
    """Draw or drag on a pad, a plane or a map, click the middle of a chart, or the first thing of a component."""
    widget.scroll_into_view_if_needed()
    pad = widget.locator("canvas.upper-canvas").first if action.values is draw_stroke else widget
    box = pad.bounding_box()
    if not box:
        return
    left, top = box["x"], box["y"]
    buttons = [button for button in widget.locator("button, [role=button], [role=option]").all() if button.is_visible()]
    if action.type == "bidi_component" and action.values is not draw_stroke and buttons:
        buttons[0].click()
    elif action.type == "bidi_component":
        page.mouse.move(left + 0.35 * box["width"], top + 0.3 * box["height"])
        page.mouse.down()
        page.mouse.move(left + 0.6 * box["width"], top + 0.7 * box["height"], steps=6)
        page.mouse.up()
    else:
        page.mouse.click(left + 0.5 * box["width"], top + 0.5 * box["height"])
        if action.type == "dataframe":
            page.keyboard.type("2")
            page.keyboard.press("Enter")


@contextmanager
def watched(browser: Browser, server: int) -> Iterator[Window]:
    """Give a visitor's window whose browser has loaded nothing yet."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    yield Window(context.new_page(), server)
    context.close()


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Give a folder with the files of a commit."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "before")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], check=True)


Times = dict[str, tuple[list[Painting], list[Painting]]]
"""What came of the opening and of each action of a page: before, and now."""


def visit_in_turns(browser: Browser, servers: Sequence[tuple[str, int]], name: str, rounds: int) -> Times:
    """Visit a page of both servers, (url, process), in turns; actions that one of them lacks are left out."""
    times = defaultdict[str, tuple[list[Painting], list[Painting]]](lambda: ([], []))
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            url, process = servers[side]
            with watched(browser, process) as window:
                times["opening"][side].append(window.open(f"{url}/{name}"))
                random = Random(number)
                for index, action in enumerate(VISITS[name]):
                    if painting := window.act(action, random):
                        times[f"{index + 1} {action.name}"][side].append(painting)
    return {event: sides for event, sides in times.items() if all(sides)}


def summarise(times: Times) -> dict[str, dict[str, float]]:
    """Return the medians of every event of a page, and the ratio of the time to the last change."""
    rows = {}
    for event, sides in times.items():
        before, after = ([statistics.median(column) for column in zip(*side, strict=True)] for side in sides)
        figures = {"before_ms": before[0], "ms": after[0], "longest_task_ms": after[1], "server_ms": after[2]}
        rows[event] = {name: round(figure) for name, figure in figures.items()}
        rows[event]["ratio"] = round(after[0] / max(before[0], 1.0), 2)
    return rows


def main(pages: Sequence[str], before: str, rounds: int) -> None:
    ports = free_port(), free_port()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with (
        checked_out(before) as folder,
        started(command("app.py", ports[0]), urls[0], folder=folder) as old_server,
        started(command("app.py", ports[1]), urls[1]) as new_server,
        sync_playwright() as playwright,
    ):
        servers = [(urls[0], old_server.pid), (urls[1], new_server.pid)]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for url, process in servers:
            with watched(browser, process) as window:
                window.open(url)
            wait_until_idle(process)
        results = {name or "start": summarise(visit_in_turns(browser, servers, name, rounds)) for name in pages}
    table = [["page", "opening, ms", "opening, times before", "actions, times before: median, most"]]
    openings, actions = [], []
    for name, rows in results.items():
        opening, *events = rows.values()
        ratios = [row["ratio"] for row in events] or [0.0]
        openings.append(opening["ratio"])
        actions += ratios
        table.append([name, str(opening["ms"]), f"{opening['ratio']:.2f}", median_and_largest(ratios)])
    table.append(["all", "", f"{max(openings):.2f}", median_and_largest(actions)])
    figures = {"before": before, "actions": median_and_largest(actions), "most_opening": max(openings)}
    publish("paint", table, {**figures, "pages": results})


def median_and_largest(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f}, {max(ratios):.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=list(VISITS), help="paths of pages; all of them")
    parser.add_argument("--before", required=True, help="the commit that is measured beside the files here")
    parser.add_argument("--rounds", type=int, default=3)
    main(**vars(parser.parse_args()))
