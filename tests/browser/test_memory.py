"""What a recurrent network forgets in a real browser: a typed sentence, walking, a cell that tells and leads."""

import re

from playwright.sync_api import expect

from tests.browser.tools import leave_and_return, open_section, submit
from ui.navigation import PAGES

ENTRY = next(entry for entry in PAGES if entry.name == "memory")
OTHER = next(entry.title for entry in PAGES if entry.name == "groups")
SENTENCE = "The green bird sings."


def test_a_typed_sentence_is_walked_through_and_a_cell_leads_to_its_state(app_url, page):
    page.goto(f"{app_url}/{ENTRY.url_path}")
    box = page.get_by_role("textbox", name="A long English sentence")
    submit(box, SENTENCE)
    page.get_by_text("Word 6 of 6").wait_for()
    expect(page.locator(".shaded .word")).to_have_count(6)
    page.get_by_role("button", name="Previous").click()
    page.get_by_text("Word 5 of 6").wait_for()
    page.get_by_role("heading", name=ENTRY.title).click()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Word 4 of 6").wait_for()

    open_section(page, "What still matters")
    heatmap = page.get_by_test_id("stVegaLiteChart").filter(has_text="to the state after this one?").first
    heatmap.scroll_into_view_if_needed()
    cell = heatmap.locator(".mark-rect.role-mark path").nth(2 * 6 + 1)
    cell.hover()
    told = page.locator("#vg-tooltip-element")
    told.get_by_text(re.compile("after “bird”, “green” still matters")).wait_for()
    cell.click()
    page.get_by_text("Word 3 of 6").wait_for()

    leave_and_return(page, OTHER, ENTRY.title)
    page.get_by_text("Word 3 of 6").wait_for()
    expect(box).to_have_value(SENTENCE)


def test_playing_walks_to_the_end_and_stops(app_url, page):
    page.goto(f"{app_url}/{ENTRY.url_path}?text=Birds+sing.&at=0")
    page.get_by_text("Word 1 of 4").wait_for()
    page.get_by_role("button", name="Play").click()
    page.get_by_text("Word 4 of 4").wait_for()
    page.get_by_role("button", name="Play").wait_for()
