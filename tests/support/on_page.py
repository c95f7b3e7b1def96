"""What tests in a browser do again and again."""

from tests.support.browser import IDLE

CHIP = "[class*=_stepper] [role=radio][aria-checked=true]"
"""The chosen chip of a stepper."""
FITTED = "(({ on, fits, calm, name, screen } = {}) => on && fits >= 12 && !calm && name === screen)(window.lecture)"
"""The zoom of a lecture's screen, at the window's size, is found, and nothing in it moves."""
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"
SETTLED = f"""() => {{
  const now = performance.now(), {{ sent = 0, heard = 0 }} = window;
  window.settling ??= now;
  const isQuiet = now - Math.max(settling, sent, heard) > 250 && heard >= sent;
  const isSettled = (isQuiet || now - settling > 4000) && {IDLE};
  if (isSettled) delete window.settling;
  return isSettled;
}}"""
"""Nothing goes to the server or comes from it for a quarter of a second, so that what components send late has gone,
too; a page that asks again and again is waited for four seconds."""
SIZES = """() => {
  const size = (node) => {
    const svg = node.ownerSVGElement, drawn = svg.getBoundingClientRect().width / parseFloat(svg.getAttribute("width"));
    return drawn * parseFloat(node.getAttribute("font-size"));
  };
  const texts = [...document.querySelectorAll("svg.marks text")];
  return texts.filter((node) => node.textContent.trim() && node.getClientRects().length).map(size);
}"""
"""Sizes of all letters of charts, in pixels of the screen."""


NEXT_FRAME = "() => new Promise((draw) => requestAnimationFrame(() => requestAnimationFrame(draw)))"
"""Ends when what was done is drawn."""


def settle(page) -> None:
    """Wait until the server has answered all that it was sent, and nothing more comes."""
    page.wait_for_function(SETTLED)


def project(page, width: int = 1920, height: int = 1080) -> None:
    """Show a page, which is in lecture mode, on such a projector, and wait until it fits it."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
    page.wait_for_function(FITTED)


def submit(box, text: str) -> None:
    """Type a text into a box, and Ctrl and Enter, which takes a text of one line, too."""
    box.fill(text)
    box.press("Control+Enter")


def assert_fits(page, width: int = 390, height: int = 844) -> None:
    """Make sure that on a phone nothing of the page lies beside the screen."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def leave_and_return(page, other: str, title: str) -> None:
    """Go to another page and back, by the links at the side."""
    page.get_by_role("link", name=other).click()
    page.get_by_role("heading", name=other).wait_for()
    page.get_by_role("link", name=title).first.click()


def wait_for_change(page, expression: str, before) -> None:
    """Wait until an expression, a function of JavaScript, has another value, and the script has run."""
    page.wait_for_function(f"before => {{ const now = ({expression})(); return now && now !== before; }}", arg=before)
    settle(page)


def draw(page, *strokes) -> None:
    """Draw strokes on the page's pad, each through points given as shares of it."""
    canvas = page.locator("canvas.upper-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for stroke in strokes:
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=8)
        page.mouse.up()


def moving_step(canvas) -> dict:
    """Return of the view of a step how far it has moved, whether it goes on, and where its matrix lies on the canvas.

    It waits until the numbers have come to rest once.
    """
    view = """async (canvas) => {
      const { view } = canvas.parentNode;
      while (!view.matrix || view.playing) await new Promise(requestAnimationFrame);
      return { time: view.time, at: view.area, n: view.matrix.n, m: view.matrix.m };
    }"""
    return canvas.evaluate(view)


def moving_cell(canvas, row: int, column: int) -> dict:
    """Return where on the canvas of a step, at rest, a number of its matrix lies."""
    step = moving_step(canvas)
    at = step["at"]
    return {"x": at["x"] + (column + 0.5) * at["w"] / step["m"], "y": at["y"] + (row + 0.5) * at["h"] / step["n"]}
