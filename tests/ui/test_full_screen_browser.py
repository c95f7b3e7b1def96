"""A chart that fills the screen keeps its shape, all of it, and the middle of a name stays where it was."""

import pytest

from tests.support.on_page import settle

CHART = "stVegaLiteChart"
SHAPE = "chart => chart.querySelector('svg.marks').getAttribute('viewBox').split(' ').map(Number).slice(2)"
BOX = """chart => {
    const {x, y, right, bottom} = chart.querySelector("svg.marks").getBoundingClientRect();
    return [x, y, right, bottom];
}"""
SAID = "chart => [...chart.querySelectorAll('text')].map(text => text.textContent)"


def fill_screen(page, chart) -> None:
    frame = chart.locator("xpath=ancestor::*[@data-testid='stFullScreenFrame']")
    frame.locator("button[aria-label^=Fullscreen]").evaluate("button => button.click()")
    page.locator("button[aria-label^='Close fullscreen']").wait_for()
    settle(page)


@pytest.mark.parametrize("address", ["scoring?question=field", "translate?question=alignment"])
def test_a_picture_that_fills_the_screen_is_whole_and_keeps_its_shape(visit, app_url, address):
    page = visit(f"{app_url}/{address}")
    chart = page.get_by_test_id(CHART).first
    chart.locator("svg.marks").wait_for()
    settle(page)
    shape, said = chart.evaluate(SHAPE), chart.evaluate(SAID)
    fill_screen(page, chart)
    for width, height in ((1440, 900), (1200, 800)):  # a projector is plugged in
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert chart.evaluate(SHAPE) == shape
        assert chart.evaluate(SAID) == said
        x, y, right, bottom = chart.evaluate(BOX)
        assert (x, y) >= (0, 0)
        assert width - 40 <= right <= width
        assert height - 40 <= bottom <= height
    page.set_viewport_size({"width": 1440, "height": 900})


def test_bars_that_fill_the_screen_keep_their_height_and_grow_as_a_whole(visit, app_url):
    page = visit(f"{app_url}/memory?question=own")
    page.get_by_text("How probable was each piece?").wait_for()
    chart = page.get_by_test_id(CHART).last
    chart.locator("svg.marks").wait_for()
    settle(page)
    height = chart.evaluate(SHAPE)[1]
    fill_screen(page, chart)
    assert chart.evaluate(SHAPE) == [560, height]
