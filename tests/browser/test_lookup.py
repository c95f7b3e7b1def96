"""Look up softly in a real browser: a query of one's own, a cell is edited, both survive leaving the page."""

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
    page.goto(f"{app_url}/lookup?table=phone-book&tab=try")
    page.get_by_test_id("stDataFrame").wait_for()
    settle(page)
    write_first_cell(page, "A brand new name")
    submit(page.locator(".st-key-lookup_asked input"), "a brend new naem")
    soft = page.locator(".looked-up").nth(1)
    expect(soft).to_contain_text("A brand new name")
    expect(page.locator(".looked-up").first).to_contain_text("not found")
    leave_and_return(page, OTHER, TITLE)
    expect(soft).to_contain_text("A brand new name")
    page.get_by_text("Noisy time series", exact=True).first.click()
    page.get_by_text("This is kernel regression").wait_for()
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 1")
    open_tab(page, "Step by step")
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 2")


def test_try_this_finds_money_by_spelling_and_says_so(app_url, page):
    page.goto(f"{app_url}/lookup")
    soft = page.locator(".looked-up").nth(1)
    expect(soft).to_contain_text("car")
    settle(page)
    page.locator(".st-key-lookup_try button").click()
    page.locator(".st-key-lookup_try_guess").get_by_text("garage").click()
    expect(soft).to_contain_text("money")
    expect(page.get_by_text("By spelling it finds money; by meaning, car.")).to_be_visible()
