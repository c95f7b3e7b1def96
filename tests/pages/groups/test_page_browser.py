"""Beyond pairs in a real browser: numbers are typed, a query is chosen, its pair lights up, keys step."""

import re

from playwright.sync_api import expect

from tests.support.on_page import moving_cell, moving_step, settle
from ui.navigation import PAGES

ANOTHER_PAGE = next(entry.title for entry in PAGES if entry.name == "start")
CHARTS = "document.querySelectorAll('[data-testid=stVegaLiteChart] .marks').length"
TITLE = next(entry.title for entry in PAGES if entry.name == "groups")


def test_new_numbers_are_answered_and_their_pair_is_framed(visit, app_url):
    page = visit(f"{app_url}/groups?step=weights&shows=1")
    numbers = page.get_by_role("textbox", name="Your numbers")
    numbers.fill("3 9 19 1 14 22 6 30")
    numbers.press("Enter")
    page.get_by_text("Framed: 9 + 19 and 22 + 6. Together with 3 each gives a multiple of 31.").wait_for()
    expect(page.locator(".opened b").last).to_have_text("5 of 5")
    framed = page.locator(".st-key-groups_pairs_moving_step canvas")
    framed.wait_for()
    moving_step(framed)
    assert framed.evaluate("canvas => canvas.parentNode.view.data.framed.length") == 4
    page.get_by_role("button", name="What are all n × n × n weights?").click()
    page.get_by_text("8 × 8 × 8 = 512").wait_for()
    page.wait_for_function(f"() => {CHARTS} >= 1")
    page.get_by_role("button", name=TITLE).click()
    framed.wait_for()
    page.get_by_role("heading", name=TITLE).click()
    page.keyboard.press("ArrowRight")
    page.get_by_text("receives the values of all keys").wait_for()
    page.get_by_role("link", name=ANOTHER_PAGE, exact=True).click()
    page.get_by_role("link", name=TITLE).first.click()
    page.get_by_text("receives the values of all keys").wait_for()
    expect(page.get_by_role("textbox", name="Your numbers")).to_have_value("3 9 19 1 14 22 6 30")


def test_a_click_on_a_guest_or_a_drag_to_the_middle_chooses_the_lock(visit, app_url):
    page = visit(f"{app_url}/groups")
    page.get_by_text("Two keys: 7 + 16 + 8 = 31, open.").wait_for()
    page.get_by_role("button", name="16 Cleo: choose this lock").click()
    page.get_by_text("Two keys: 16 + 7 + 8 = 31, open.").wait_for()
    middle = page.locator(".lock").bounding_box()
    page.get_by_role("button", name="1 Ada: choose this lock").hover()
    page.mouse.down()
    page.mouse.move(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_url("**query=0**")
    page.get_by_text("Two keys: shut, as no two open it.").wait_for()
    settle(page)
    guests = page.locator(".guest[tabindex='0']")
    assert guests.count() == 1  # one stop of the Tab key, arrows go on
    guests.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="16 Cleo: choose this lock")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_text("Two keys: 16 + 7 + 8 = 31, open.").wait_for()
    expect(guests).to_be_focused()


def test_a_click_in_the_map_chooses_the_pair_to_weigh(visit, app_url):
    page = visit(f"{app_url}/groups?question=elsewhere")
    chosen = page.locator(".st-key-groups_weight_of input")
    expect(chosen).to_have_value(re.compile("Cleo \\+ Finn"))
    canvas = page.locator(".st-key-groups_weights_moving_step canvas")
    canvas.click(position=moving_cell(canvas, 3, 4))  # Dan down, Eva across
    expect(chosen).to_have_value(re.compile("Dan \\+ Eva"))
    settle(page)
    weight = page.locator(".st-key-groups_weight input")
    weight.fill("80")
    weight.press("Enter")
    label = page.get_by_text("Ben takes 80% from Dan + Eva; the others share the rest")
    label.wait_for()
    settle(page)
    undo = page.locator(".st-key-groups_edit_tools").get_by_role("button", name="Undo")
    undo.press("Enter")
    label.wait_for(state="detached")
