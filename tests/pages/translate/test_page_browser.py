"""Translate and align in a real browser: typing, hovering, stepping by word, choosing another word, taking it back."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import IDLE, assert_fits, settle, submit
from ui.navigation import entry_of


def test_a_sentence_is_typed_and_stepped_through_and_its_translation_changed(visit, app_url):
    page = visit(f"{app_url}/translate")
    lower, source = page.locator(".root .target").nth(1), page.locator(".root .source").nth(1)
    words = lower.get_by_role("button")
    words.first.wait_for()
    page.wait_for_function(IDLE)

    submit(page.get_by_role("textbox", name="An English sentence"), "The black cat is old.")
    source.get_by_text("black", exact=True).wait_for()
    page.wait_for_function(IDLE)

    words.nth(0).hover()
    page.locator(".root .tip").nth(1).get_by_text("looks most at").wait_for()
    words.nth(2).click()
    page.get_by_text("Dot attention, word 3 of").wait_for()
    page.wait_for_function(IDLE)
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_text("Dot attention, word 4 of").wait_for()
    page.wait_for_function(IDLE)

    for question in ("What if it looked elsewhere?", "What if the French began otherwise?"):
        page.get_by_role("button", name=question).click()
        page.get_by_role("heading", name=question).wait_for()
        page.wait_for_function(IDLE)
    alternative = page.locator(".root ol button[aria-pressed=false]").first
    word = words.nth(3).inner_text()
    expect(alternative.locator(".word")).not_to_have_text(word, use_inner_text=True)
    alternative.click()
    lower.locator(".forced").first.wait_for()
    page.wait_for_function(IDLE)
    prefix = page.get_by_role("textbox", name="The French must begin with")
    expect(prefix).not_to_have_value("")
    upper = page.locator(".root .target").nth(0)  # the other model goes on from it too
    expect(upper.locator(".forced").first).to_be_attached()

    page.get_by_role("button", name="The model's own choice").click()
    lower.locator(".forced").first.wait_for(state="detached")
    expect(prefix).to_have_value("")
    expect(words.nth(3)).to_have_text(word, use_inner_text=True)


def test_an_arc_is_cut_and_restored_by_a_click_or_by_keys(visit, app_url):
    page = visit(f"{app_url}/translate?models=none,additive&tab=try")
    lower, source = page.locator(".root .target").nth(1), page.locator(".root .source").nth(1)
    red, rouge = source.get_by_role("button", name="red"), lower.get_by_role("button", name="rouge")
    rouge.wait_for()
    page.wait_for_function(IDLE)
    red.click()
    rouge.wait_for(state="detached")
    page.wait_for_function(IDLE)
    red.press("Enter")
    rouge.wait_for()
    page.wait_for_function(IDLE)


def test_an_arc_is_dragged_to_another_weight_by_mouse_by_touch_and_by_keys(visit, app_url):
    page = visit(f"{app_url}/translate?models=none,additive&tab=try")
    edit_label, arcs = page.locator(".st-key-translate_edit_0"), page.locator(".root path.grip.now")
    red = page.locator(".root .source").nth(1).get_by_role("button", name="red")
    touch = page.context.new_cdp_session(page)
    red.scroll_into_view_if_needed()
    settle(page)

    def grip_and_goal() -> list[dict[str, float]]:
        """Return where the arc from *red* can be held, and a place 60 pixels below."""
        box = red.bounding_box()
        held = """(paths, x) => {
          const at = (path, share) => {
            const { x, y } = path.getPointAtLength(path.getTotalLength() * share), { e, f } = path.getScreenCTM();
            return { x: x + e, y: y + f };
          };
          return at(paths.find((path) => Math.abs(at(path, 0).x - x) < 3), 0.3);
        }"""
        spot = arcs.evaluate_all(held, box["x"] + box["width"] / 2)
        return [spot, spot | {"y": spot["y"] + 60}]

    def weight() -> int:
        settle(page)
        return int(re.search(r"takes (\d+)% from red", edit_label.inner_text())[1])

    start, goal = grip_and_goal()
    page.mouse.move(*start.values())
    page.mouse.down()
    page.mouse.move(*goal.values(), steps=6)
    page.mouse.up()
    expect(edit_label).to_contain_text("from red")
    by_mouse = weight()
    assert by_mouse == pytest.approx(95 - 40, abs=2)  # 150 pixels are the whole
    red.press("ArrowUp")
    expect(edit_label).not_to_contain_text(f"{by_mouse}%")
    assert weight() == pytest.approx(by_mouse + 5, abs=1)
    page.keyboard.press("ArrowUp")  # the word is still in focus
    expect(edit_label).not_to_contain_text(f"{by_mouse + 5}%")
    by_keys = weight()
    assert by_keys == pytest.approx(by_mouse + 10, abs=1)
    start, goal = grip_and_goal()
    for kind, points in (("Start", [start]), ("Move", [goal]), ("End", [])):
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    expect(edit_label).not_to_contain_text(f"{by_keys}%")
    assert weight() == pytest.approx(by_keys - 40, abs=2)
    start, _ = grip_and_goal()
    page.mouse.click(*start.values())
    expect(edit_label).to_contain_text("no longer looks at red")


def test_forty_words_fit_a_phone(visit, app_url):
    page = visit(f"{app_url}/translate?text=" + "+".join(["the+red+car+and"] * 12))
    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_text("The first 40 of 48 words are read").wait_for()
    page.locator(".root .target button").first.wait_for()
    page.wait_for_function(IDLE)
    assert_fits(page, 360, 740)
    link = page.url
    for question in entry_of("translate").questions:
        page.goto(f"{link}&question={question.slug}")
        page.get_by_role("heading", name=question.text).wait_for()
        page.wait_for_function(IDLE)
        assert_fits(page, 360, 740)


def test_the_words_play_by_themselves_and_take_the_steps_along(visit, app_url):
    page = visit(f"{app_url}/translate")
    page.emulate_media(reduced_motion="no-preference")
    words = page.get_by_test_id("stMarkdown").filter(has_text="Dot attention, word")
    expect(words).to_contain_text("word 3 of")
    settle(page)
    button = page.locator(".st-key-translate_at_play button")
    button.click()
    expect(words).to_contain_text("word 4 of")
    button.click()
    expect(button).to_contain_text("Play the words")
    settle(page)
    paused = words.inner_text()
    page.wait_for_timeout(2500)
    assert words.inner_text() == paused
    present = page.locator(".root .target").nth(1).get_by_role("button", pressed=True)
    assert f"about to say {present.inner_text()}." in paused


def test_on_a_phone_every_arc_begins_at_its_word(visit, app_url):
    page = visit(f"{app_url}/translate")
    page.set_viewport_size({"width": 390, "height": 844})
    words = page.locator(".root .target").nth(1).get_by_role("button")
    words.first.wait_for()
    settle(page)
    words.last.click()  # scrolls the words to it
    settle(page)
    lines = (
        page.locator(".root .stage")
        .nth(1)
        .evaluate(
            """stage => {
          const boxes = (name) => [...stage.querySelectorAll(name)].map((node) => node.getBoundingClientRect());
          const own = stage.getBoundingClientRect(), path = stage.querySelector("path");
          const [x, y] = path.getAttribute("d").match(/[\\d.]+/g).map(Number);
          const near = ({left, width, bottom}) => Math.hypot(left + width / 2 - own.left - x, bottom - own.top - y) < 1;
          return [new Set(boxes(".source .word").map(({bottom}) => Math.round(bottom))).size,
                  new Set(boxes(".target .word").map(({top}) => Math.round(top))).size,
                  boxes(".source .word").filter(near).length];
        }"""
        )
    )
    assert lines == [1, 1, 1]  # one line of words above, one below, and the first arc begins at one word of the upper
    assert_fits(page)
