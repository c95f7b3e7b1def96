"""Beyond pairs in a real browser: numbers are typed, a query is chosen, its pair lights up, keys step."""

from playwright.sync_api import expect

from tests.browser.tools import open_tab
from ui.navigation import PAGES

OTHER = next(entry.title for entry in PAGES if entry.name == "start")
TITLE = next(entry.title for entry in PAGES if entry.name == "groups")


def test_typed_numbers_are_answered_and_their_pair_is_framed(app_url, page):
    page.goto(f"{app_url}/groups?step=weights")
    numbers = page.get_by_role("textbox", name="Your numbers")
    numbers.fill("3 9 19 1 14 22 6 30")
    numbers.press("Enter")
    page.get_by_text("Framed: 9 + 19 and 22 + 6. Together with 3 each gives a multiple of 31.").wait_for()
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 1")
    open_tab(page, "All n × n × n weights")
    page.wait_for_function("() => document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length >= 2")
    expect(page.locator(".answers thead th").last).to_have_text("30")
    answers = page.locator(".answers tr").nth(2).locator("td").all_inner_texts()
    truth = page.locator(".answers tr").nth(1).locator("td").all_inner_texts()
    assert [int(share.rstrip("%")) > 50 for share in answers] == [word == "yes" for word in truth]
    open_tab(page, "Step by step")
    page.get_by_role("heading", name=TITLE).click()
    page.keyboard.press("ArrowRight")
    page.get_by_text("receives the values of all keys").wait_for()
    page.get_by_role("link", name=OTHER, exact=True).click()
    page.get_by_role("link", name=TITLE).first.click()
    page.get_by_text("receives the values of all keys").wait_for()
    expect(page.get_by_role("textbox", name="Your numbers")).to_have_value("3 9 19 1 14 22 6 30")
