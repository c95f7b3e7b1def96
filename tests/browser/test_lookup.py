"""Look up softly in a real browser: a cell is edited, a query almost matches it, both survive leaving the page."""

from playwright.sync_api import expect

from tests.browser.tools import leave_and_return, open_tab, settle, submit
from ui.navigation import PAGES

OTHER = next(entry.title for entry in PAGES if entry.name == "groups")
TITLE = next(entry.title for entry in PAGES if entry.name == "lookup")
CELLS = "() => document.querySelector('[data-testid=stDataFrame] canvas')?.textContent ?? ''"


def write_first_cell(page, text):
    """Type into the editor's first cell, at a person's pace; a grid that is still being built swallows it: again."""
    for _ in range(4):
        box = page.get_by_test_id("stDataFrame").first.bounding_box()
        page.mouse.click(box["x"] + 150, box["y"] + 52)
        page.wait_for_timeout(600)
        page.keyboard.press(text[0])
        page.locator("textarea.gdg-input").wait_for()
        page.wait_for_timeout(300)
        page.keyboard.type(text[1:], delay=30)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1000)
        if text in page.evaluate(CELLS):
            return
    raise AssertionError(f"the cell does not hold {text!r}")


def test_an_edited_record_is_found_by_a_misspelled_query_and_kept(app_url, page):
    page.goto(f"{app_url}/lookup")
    page.get_by_text("most weight on").wait_for()
    settle(page)
    write_first_cell(page, "A brand new title")
    queries = page.get_by_role("textbox", name="Queries, one per line")
    submit(queries, "a brend new titel")
    found = page.locator(".looked-up").get_by_text("A brand new title (")
    found.wait_for()
    expect(page.locator(".looked-up tr").nth(1)).to_contain_text("miss")
    leave_and_return(page, OTHER, TITLE)
    found.wait_for()
    expect(queries).to_have_value("a brend new titel")
    page.get_by_text("Noisy time series", exact=True).first.click()
    page.get_by_text("Attention as regression").wait_for()
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 3")
    open_tab(page, "Step by step")
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 1")
