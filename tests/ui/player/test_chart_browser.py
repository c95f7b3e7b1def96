"""A step as a chart: numbers and tooltips, a click on a row, zoom that stays, and back to what moves."""

import re

from playwright.sync_api import expect

from tests.support.on_page import NEXT_FRAME, moving_step, settle

CHART = "[data-testid=stVegaLiteChart] svg.marks"


def test_a_chart_tells_its_numbers_and_gives_way_to_what_moves(visit, app_url):
    page = visit(f"{app_url}/lookup?tab=steps&step=scores")
    page.locator("canvas.moving").wait_for()
    page.get_by_text("Chart", exact=True).click()
    chart = page.locator(CHART)
    chart.wait_for()
    settle(page)
    assert "chart=1" in page.url
    expect(page.locator("canvas.moving")).to_have_count(0)
    cells = chart.locator(".mark-rect path[aria-label*='queries']")
    cells.first.hover()
    tooltip = page.locator("#vg-tooltip-element")
    expect(tooltip).to_contain_text("scores")
    value = re.search(r"−?\d+\.\d+", tooltip.inner_text())[0]
    assert value in cells.first.get_attribute("aria-label").replace("-", "−")
    tools = page.get_by_test_id("stElementToolbar")
    for tool in ("Show data", "Copy Vega-Lite spec"):
        expect(tools.get_by_role("button", name=tool)).to_have_count(1)
    page.get_by_text("Chart", exact=True).click()
    page.locator("canvas.moving").wait_for()
    moving_step(page.locator("canvas.moving"))
    assert "chart=" not in page.url
    expect(page.locator(".st-key-step_words")).to_have_css("opacity", "1")


def test_a_row_of_a_large_chart_that_is_clicked_asks_and_the_zoom_stays(visit, app_url):
    page = visit(f"{app_url}/pixels?step=scores&pixel=406")
    expect(page.get_by_text("Each cell is the largest of 2 × 2 numbers. Chart shows all.")).to_be_visible()
    page.get_by_text("Chart", exact=True).click()
    chart = page.locator(CHART)
    chart.wait_for()
    settle(page)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    x, y = box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"]
    page.mouse.move(x, y)
    page.locator("#vg-tooltip-element.visible").wait_for()
    for _ in range(5):
        page.mouse.wheel(0, -200)
        page.evaluate(NEXT_FRAME)
    ticks = chart.locator(".role-axis-label text")
    expect(ticks.filter(has_text="600")).to_have_count(0)
    settle(page)
    assert "pixel=406" in page.url
    page.mouse.click(x, y + 30)
    page.wait_for_url(re.compile(r"pixel=(?!406)\d+"))
    row = int(re.search(r"pixel=(\d+)", page.url)[1])
    expect(page.get_by_text(f"Pixel {row + 1} asks")).to_be_visible()
    settle(page)
    expect(ticks.filter(has_text="600")).to_have_count(0)
