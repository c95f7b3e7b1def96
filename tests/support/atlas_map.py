"""The map of the atlas in a browser: its view, its pixels, the number that it writes."""

from tests.support.on_page import NEXT_FRAME, settle

ROOT = "document.querySelector('.st-key-atlas_map [data-testid$=Isolated]')?.shadowRoot?.querySelector('.root')"
MAP = f"{ROOT}?.map"  # which is gone for a moment where a lecture is switched on
LAST_CAME = f"Math.max(...[...{MAP}.cache.tiles.values()].map(tile => tile.came))"
RESTS = f"""() => {{
  const isDone = {ROOT}?.dataset.complete === 'true' && !{MAP}.desk.open, view = isDone && {ROOT}.dataset.view;
  if (!view || view !== window.restingView) window.restsSince = performance.now();
  window.restingView = view;
  const rests = performance.now() - restsSince > 300;
  if (rests) delete window.restingView;
  return rests;
}}"""
"""Its view has stayed for a while, painted, and no tile is asked for."""
PIXEL = """([map, x, y]) => {
  const copy = new OffscreenCanvas(1, 1).getContext('2d');
  copy.drawImage(map.canvas, -x * map.ratio, -y * map.ratio);
  return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
}"""


def open_at(page, address):
    page.emulate_media(reduced_motion="no-preference")
    page.goto(address)
    page.locator("canvas.map").wait_for()
    painted(page)


def painted(page):
    """Wait until the map rests, all of it painted, and neither it nor the server has asked for anything."""
    page.wait_for_function(RESTS)
    settle(page)
    page.wait_for_function(RESTS)  # an answer of the server's has begun a flight


def zoom_in(page, n_notches: int) -> None:
    """Turn the wheel over the middle of the map."""
    page.mouse.move(*middle(page))
    for _ in range(n_notches):
        page.mouse.wheel(0, -200)
        page.evaluate(NEXT_FRAME)
    painted(page)


def view(page) -> tuple[int, float, float, float]:
    level, row, column, cell = page.evaluate(f"{ROOT}.dataset.view").split("/")
    return int(level), float(row), float(column), float(cell)


def middle(page) -> tuple[float, float]:
    page.locator("canvas.map").scroll_into_view_if_needed()
    box = page.locator("canvas.map").bounding_box()
    plot = page.evaluate(f"({{...{MAP}.plot, left: {MAP}.left, top: {MAP}.top}})")
    return box["x"] + plot["left"] + plot["width"] / 2, box["y"] + plot["top"] + plot["height"] / 2


def colour_at(page, x, y) -> list[int]:
    """The colour of the map so far to the right and down, as shares of the matrix."""
    place = f"{MAP}.px({x} * {MAP}.columns.n), {MAP}.py({y} * {MAP}.rows.n)"
    return [int(one) for one in page.evaluate(f"({PIXEL})([{MAP}, {place}])").split(",")]


def exact(query, key) -> float:
    from attention_core.atlas.synthetic import synthetic_trace

    return float(synthetic_trace(2048).weights(0, [query], [key]))


def written_weight(text: str) -> float:
    """Read a weight as it is written, in per cent."""
    return float(text.splitlines()[0].rstrip("%")) / 100


ENTER = """(() => {
  const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
  document.querySelector("input[aria-label='Jump to a word']").dispatchEvent(enter);
})()"""
SAME_MOMENT = {
    "the word after the question was asked": f"() => {{ ASK; {ENTER}; }}",
    "the word before the question is asked": f"() => {{ {ENTER}; ASK; }}",
}
