"""The workbench in a real browser: typing into a table, a slip, leaving and coming back, a click on a cell."""

import re

EDITOR = "[data-testid=stDataFrame]"
HEADER, ROW = 36, 29


def type_into(page, row, share, letter):
    """Type one letter into a cell that is not the selected one, as soon as the table takes the focus."""
    for _ in range(20):
        box = page.locator(EDITOR).first.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + HEADER + ROW * (row + 0.5))
        page.wait_for_timeout(150)
        if page.evaluate("document.activeElement.closest('[data-testid=stDataFrame]') !== null"):
            break
        page.wait_for_timeout(250)
    page.keyboard.press(letter)
    page.locator("textarea.gdg-input").wait_for()
    page.keyboard.press("Enter")


def test_typing_recomputes_and_survives_leaving_the_page(page, app_url):
    page.goto(f"{app_url}/vectors?step=scores")
    chart = page.locator("[data-testid=stVegaLiteChart] svg").first
    chart.wait_for()
    page.get_by_text("Change a number").wait_for()
    page.get_by_text("nine ordered pairs").wait_for()

    type_into(page, 0, 0.55, "3")
    page.get_by_text(re.compile(r"[1-9] of 9 cells changed")).wait_for()

    type_into(page, 1, 0.8, "x")
    page.get_by_text("is not a number").wait_for()
    page.get_by_text("last input that could be computed").wait_for()

    page.get_by_role("link", name="Start").click()
    page.get_by_role("heading", name="Three vectors").wait_for(state="detached")
    page.get_by_role("link", name="Three vectors, nine pairs").first.click()
    page.get_by_text("“x” is not a number").wait_for()
    chart.wait_for()

    type_into(page, 1, 0.8, "2")
    page.get_by_text("is not a number").wait_for(state="detached")

    before = page.get_by_text(re.compile(r"^Query x\d meets key x\d$")).inner_text()
    wanted = page.get_by_text("Query x3 meets key x3")
    for _ in range(8):  # a chart that is being drawn anew takes no click
        boxes = (svg.bounding_box() for svg in page.locator("[data-testid=stVegaLiteChart] svg").all())
        box = next(one for one in boxes if one["x"] > 900)  # the product, right of the tables and the difference
        page.mouse.click(box["x"] + 0.86 * box["width"], box["y"] + 0.73 * box["height"])  # the result's last cell
        page.wait_for_timeout(1500)
        if wanted.count():
            break
    assert before != wanted.inner_text()
