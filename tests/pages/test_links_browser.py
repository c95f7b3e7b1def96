"""Links in a real browser: a drawing survives a reload with its answer, Share copies a link that opens the same."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_pad import ANSWER, press_for_new_pad, settle
from tests.support.on_page import draw, wait_for_change
from tests.support.on_page import settle as run_to_the_end

SEVEN = [(0.3, 0.22), (0.72, 0.2), (0.45, 0.85)]
DASH = [(0.38, 0.5), (0.66, 0.5)]
SHADES = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(data).size;
}"""
GROW = """() => {
  const block = document.querySelector("[data-testid=stMainBlockContainer]").firstElementChild;
  block.insertAdjacentHTML("afterbegin", "<div style='flex: none; height: 2000px'></div>");
  return new Promise((resolve) => setTimeout(resolve, 300));
}"""
"""What stands above comes late."""
NAMED = {"translate?tab=steps": "h2#all-the-numbers", "pixels?step=scores": "h2#all-the-numbers"}
"""By links to all the numbers and to a step: what they name. An experiment stands at the top of its screen."""
STROKES = re.compile(r"[?&]strokes=~1")


@pytest.fixture
def drawn(visit, app_url):
    """The digit page with two strokes of somebody's own."""
    page = visit(f"{app_url}/pixels")
    page.locator("canvas.upper-canvas").wait_for()
    settle(page)
    press_for_new_pad(page, ".st-key-pixels_clear button")
    page.wait_for_url(STROKES)
    for stroke in (SEVEN, DASH):
        before = page.url
        draw(page, stroke)
        page.wait_for_url(lambda url, before=before: url != before)
        settle(page)
    return page


def test_a_shared_link_opens_the_same_drawing_and_answer_and_more_strokes_join_them(drawn, context, app_url):
    page, link, answer = drawn, drawn.url, drawn.evaluate(ANSWER)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app_url)
    page.get_by_role("button", name="Take it along").click()
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_text("it opens what you see").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == link
    assert len(link) < 1000
    page.reload()  # as another visitor, who has nothing but the link
    page.locator("canvas.upper-canvas").wait_for()
    settle(page)
    assert page.url == link
    assert page.evaluate(ANSWER) == answer
    assert page.locator("canvas.dc-canvas.lower-canvas").evaluate(SHADES) > 1, "the strokes are on the pad again"
    draw(page, [(0.2, 0.9), (0.8, 0.9)])
    page.wait_for_url(lambda url: url != link)
    wait_for_change(page, ANSWER, answer)
    page.locator(".st-key-pixels_undo button").click()
    page.wait_for_url(link)
    settle(page)
    assert page.evaluate(ANSWER) == answer
    before = len(page.url)
    page.go_back()
    page.wait_for_url(lambda url: len(url) > before)
    settle(page)
    assert page.evaluate(ANSWER) != answer


@pytest.mark.parametrize("link", NAMED)
def test_link_opens_scrolled_to_what_it_names_until_the_visitor_scrolls(page, app_url, link):
    page.goto(f"{app_url}/{link}")
    place = page.locator(NAMED[link])
    place.wait_for()
    run_to_the_end(page)
    expect(place).to_be_in_viewport()
    page.evaluate(GROW)
    expect(place).to_be_in_viewport()
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -9000)
    page.evaluate(GROW)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0


def test_session_file_brings_a_page_back_and_a_broken_one_is_refused(drawn, tmp_path):
    answer, link = drawn.evaluate(ANSWER), drawn.url
    drawn.get_by_role("button", name="Take it along").click()
    with drawn.expect_download() as download:
        drawn.get_by_role("button", name="Save session").click()
    file = tmp_path / "session.json"
    download.value.save_as(file)
    drawn.keyboard.press("Escape")
    drawn.get_by_test_id("stPageLink").filter(has_text="Ask a photograph").last.click()
    drawn.get_by_role("heading", name="Ask a photograph", exact=True).wait_for()
    run_to_the_end(drawn)
    drawn.get_by_role("button", name="Take it along").click()
    broken = tmp_path / "broken.json"
    broken.write_text(file.read_text()[:-9])
    upload = drawn.locator("[class*=session_upload] input[type=file]")
    upload.set_input_files(broken)
    drawn.get_by_text("This file is damaged").wait_for()
    upload.set_input_files(file)
    drawn.get_by_role("heading", name="Draw a digit", exact=True).wait_for()
    settle(drawn)
    drawn.wait_for_url(link)
    assert drawn.evaluate(ANSWER) == answer
