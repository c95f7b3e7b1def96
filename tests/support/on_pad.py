"""What tests look for beside a pad."""

from tests.support.on_page import settle as run_to_the_end

PAINTINGS = """() => [
  ...[...document.querySelectorAll('.stBidiComponent, [data-testid^=stBidi]')].map(one => one.shadowRoot),
  ...document.querySelectorAll('[data-testid=stHtml]'),
].map(one => one?.querySelector('.picture, .bars')?.outerHTML).filter(Boolean)"""


ANSWER = """() => [...document.querySelectorAll('*')]
  .map(one => one.shadowRoot?.querySelector('.scene .say')?.innerText).join('')"""
"""The sentence of the scene."""


def press_for_new_pad(page, button: str) -> None:
    """Press a button that changes the drawing, and wait until the pad that holds the new one can be drawn on."""
    page.locator("canvas.upper-canvas").evaluate("(pad) => { pad.dataset.isOld = ''; }")
    page.locator(button).click()
    page.locator("canvas.upper-canvas[tabindex]:not([data-is-old])").wait_for()
    run_to_the_end(page)


def settle(page) -> None:
    """Wait until the script has run and every chart is painted."""
    run_to_the_end(page)
    page.wait_for_function(f"() => {{ const all = ({PAINTINGS})(); return all.length > 1 && all.every(one => one); }}")
