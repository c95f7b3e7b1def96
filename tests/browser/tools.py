"""What tests in a browser do again and again."""

IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"

CHIP = "[class*=_stepper] [role=radio][aria-checked=true]"
"""The chosen chip of a stepper."""


def settle(page, before: int = 300) -> None:
    """Wait until what was done has reached the server and the script has run."""
    page.wait_for_timeout(before)
    page.wait_for_function(IDLE)


def open_tab(page, label: str) -> None:
    """Open a tab of the page by its label."""
    page.get_by_role("tab", name=label, exact=True).click()
    settle(page)


def draw(page, *strokes) -> None:
    """Draw strokes on the page's pad, each through points given as shares of it."""
    box = page.locator("canvas.upper-canvas").bounding_box()
    for stroke in strokes:
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=8)
        page.mouse.up()
