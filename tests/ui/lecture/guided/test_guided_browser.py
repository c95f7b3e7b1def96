"""The notes of a guided lecture in a second window: under the app's own policy, and with what a reload would lose."""

import threading
from http.server import ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.support.axe import violations
from tests.support.notes_page import Answer
from tests.support.on_page import settle

ITEM = {"lecture": "own", "minutes": [1, 2], "number": 1, "text": "# Mine"}
FIRST, SECOND = (
    {"place": "", "sentence": sentence, "question": "", "notes": notes, "next": ""}
    for sentence, notes in (("One cat.", "Say this."), ("Two pixels.", "Say that."))
)


@pytest.fixture
def hall(page):
    """The hall's window, with a lecture's first item, in the place of the app."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.goto(f"http://127.0.0.1:{server.server_port}")
    page.wait_for_function("Boolean(window.tell)")
    page.evaluate("tell", ITEM | {"texts": FIRST})
    yield page
    page.goto("about:blank")
    server.shutdown()
    server.server_close()


def test_notes_follow_give_their_keys_to_the_hall_and_outlive_a_reload_of_its_window(hall):
    with hall.expect_popup() as opened:
        hall.evaluate("notes.open()")
    notes = opened.value
    expect(notes.locator("#notes")).to_have_text("Say this.")
    expect(notes.locator("#left")).to_contain_text("2:5")
    for key in ("PageDown", "B", "ArrowDown"):
        notes.keyboard.press(key)
    hall.wait_for_function("pressed.length > 1")
    assert hall.evaluate("pressed") == ["PageDown", "b"], "arrows up and down scroll the notes"
    hall.evaluate("tell", ITEM | {"number": 2, "texts": SECOND})
    expect(notes.locator("#sentence")).to_have_text("Two pixels.")
    hall.reload()
    hall.wait_for_function("Boolean(window.tell)")
    hall.evaluate("tell", {})
    assert hall.evaluate("sent") == [["restore", "# Mine"]]
    hall.evaluate("tell", ITEM | {"texts": FIRST})
    expect(notes.locator("#notes")).to_have_text("Say this.")
    notes.locator("#again").click()
    expect(notes.locator("#left")).to_contain_text("2:5")


def test_the_hall_answers_while_next_leads_through_the_steps_and_on_to_the_next_item(page, app_url):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{app_url}/vectors?guided=15&item=3&lecture=1")
    page.get_by_role("button", name="Ask the hall").click()
    code = page.wait_for_function("JSON.parse(localStorage['attention-hall'] ?? '{}').code").json_value()
    phone = page.context.new_page()
    phone.goto(f"{app_url}/hall/{code}")
    expect(phone.get_by_role("heading")).to_have_text("Wait for the next question.")
    settle(page)
    page.keyboard.press("PageDown")
    poster = page.locator("#hall .poster .code svg")
    assert poster.bounding_box()["width"] >= 600
    phone.locator("#options button").first.click()
    expect(page.get_by_text("1 of 1 answered")).to_be_visible()
    expect(poster, "it makes room for the first answer").to_be_hidden()
    settle(page)
    page.keyboard.press("PageDown")
    page.get_by_text("of 1 were right").wait_for()
    expect(phone.get_by_role("status")).to_contain_text("in the hall found it")
    assert violations(phone) == []
    expect(phone.get_by_role("status")).to_contain_text(phone.locator("#options .right").inner_text())
    settle(page)
    page.keyboard.press("PageDown")
    page.wait_for_url("**item=4**")
    settle(page)
    page.keyboard.press("PageDown")
    phone.get_by_role("button", name="values").click()
    expect(page.get_by_text("1 of 1 answered")).to_be_visible()
    settle(page)
    page.keyboard.press("PageDown")
    page.get_by_text("1 of 1 were right").wait_for()
    expect(page.get_by_text("values: 1")).to_be_visible()
    settle(page)
    page.keyboard.press("PageDown")
    expect(page.get_by_text("values: 1"), "it makes room for the steps").to_be_hidden()
    expect(page.get_by_text("1 of 1 were right"), "its answer gives way to its sentence").to_be_hidden()
    for _ in range(3):
        settle(page)
        page.keyboard.press("PageUp")
    expect(phone.get_by_role("heading")).to_have_text("Wait for the next question.")
    page.get_by_text("A query asks, a key answers").wait_for()
