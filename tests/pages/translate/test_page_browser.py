"""Translate and align in a real browser: typing, hovering, stepping by word, choosing another word, taking it back."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.support.on_page import IDLE, assert_fits, settle, submit
from ui.navigation import entry_of


def query(page, name: str):
    """Return the French word of the scene."""
    return page.get_by_role("button", name=re.compile(f"^{name}: ask from here"))


def key(page, name: str):
    """Return the English word of the scene."""
    return page.get_by_role("button", name=re.compile(f"^{name}, score .*; press to"))


def test_a_sentence_is_typed_and_stepped_through_and_its_translation_changed(visit, app_url):
    page = visit(f"{app_url}/translate")
    words, say = page.locator(".words .query:not(.other)"), page.locator(".scene .say")
    words.first.wait_for()
    page.wait_for_function(IDLE)

    submit(page.get_by_role("textbox", name="An English sentence"), "The black cat is old.")
    key(page, "black").wait_for()
    page.wait_for_function(IDLE)

    words.nth(2).click()
    expect(say).to_contain_text(", no other French word has more than")
    page.get_by_text("Dot attention, word 3 of").wait_for()
    page.wait_for_function(IDLE)
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_text("Dot attention, word 4 of").wait_for()
    page.wait_for_function(IDLE)
    expect(words.nth(3)).to_have_attribute("aria-pressed", "true")

    for question in ("What if it looked elsewhere?", "What if the French began otherwise?"):
        page.get_by_role("button", name=question).click()
        page.get_by_role("heading", name=question).wait_for()
        page.wait_for_function(IDLE)
    alternative = page.locator(".root ol button[aria-pressed=false]").first
    word = words.nth(3).inner_text()
    expect(alternative.locator(".word")).not_to_have_text(word, use_inner_text=True)
    alternative.click()
    page.locator(".words .forced").first.wait_for()
    page.wait_for_function(IDLE)
    prefix = page.get_by_role("textbox", name="The French must begin with")
    expect(prefix).not_to_have_value("")

    page.get_by_role("button", name="The model's own choice").click()
    page.locator(".words .forced").first.wait_for(state="detached")
    expect(prefix).to_have_value("")
    expect(page.get_by_role("button", name=re.compile(f"^{word}: ask"))).to_be_visible()


def test_a_word_is_crossed_out_and_given_back_by_a_click_or_by_keys(visit, app_url):
    page = visit(f"{app_url}/translate?models=none,additive&tab=try")
    red, rouge = key(page, "red"), query(page, "rouge")
    rouge.wait_for()
    page.wait_for_function(IDLE)
    red.click()
    rouge.wait_for(state="detached")
    page.wait_for_function(IDLE)
    expect(page.locator(".st-key-translate_edit_0")).to_contain_text("no longer looks at red")
    red.press("Enter")
    rouge.wait_for()
    page.wait_for_function(IDLE)


def test_a_column_is_dragged_to_another_weight_by_mouse_by_touch_and_by_keys(visit, app_url):
    page = visit(f"{app_url}/translate?models=none,additive&tab=try")
    edit_label, touch = page.locator(".st-key-translate_edit_0"), page.context.new_cdp_session(page)
    grip = page.get_by_role("slider", name="weight of red")
    grip.scroll_into_view_if_needed()
    settle(page)

    def grip_and_goal(share: float) -> list[dict[str, float]]:
        """Return the middle of the column, and a place below it by a share of its length."""
        box = grip.bounding_box()
        spot = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        return [spot, spot | {"y": spot["y"] + share * box["height"]}]

    def weight() -> int:
        settle(page)
        return int(re.search(r"takes (\d+)% from red", edit_label.inner_text())[1])

    start, goal = grip_and_goal(0.4)
    page.mouse.move(*start.values())
    page.mouse.down()
    page.mouse.move(*goal.values(), steps=6)
    page.mouse.up()
    expect(edit_label).to_contain_text("from red")
    by_mouse = weight()
    assert by_mouse == pytest.approx(95 - 40, abs=2)
    grip.press("ArrowUp")
    expect(edit_label).not_to_contain_text(f"{by_mouse}%")
    assert weight() == pytest.approx(by_mouse + 5, abs=1)
    page.keyboard.press("ArrowUp")  # the column is still in focus
    expect(edit_label).not_to_contain_text(f"{by_mouse + 5}%")
    by_keys = weight()
    assert by_keys == pytest.approx(by_mouse + 10, abs=1)
    start, goal = grip_and_goal(0.4)
    for kind, points in (("Start", [start]), ("Move", [goal]), ("End", [])):
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    expect(edit_label).not_to_contain_text(f"{by_keys}%")
    assert weight() == pytest.approx(by_keys - 40, abs=2)


def test_one_vector_and_equal_weights_are_chosen_in_the_scene_and_what_stands_below_follows(visit, app_url):
    page = visit(f"{app_url}/translate")
    switch, say = page.get_by_role("group", name="What is handed over"), page.locator(".scene .say")
    page.get_by_text("Dot attention, word 3 of").wait_for()
    settle(page)
    switch.get_by_role("button", name="all equal").click()
    expect(say).to_contain_text("With the same weight for all")
    settle(page)
    page.get_by_text("looks at all words alike").first.wait_for()
    page.get_by_role("button", name="without attention").click()
    expect(say).to_contain_text("red, in front are lost")
    page.get_by_text("Without attention, word 3 of").wait_for()
    switch.get_by_role("button", name="with attention").click()
    page.get_by_text("Dot attention, word 3 of").wait_for()
    settle(page)
    expect(say).to_contain_text("comes rouge")


def test_forty_words_fit_a_phone(visit, app_url):
    page = visit(f"{app_url}/translate?text=" + "+".join(["the+red+car+and"] * 12))
    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_text("The first 40 of 48 words are read").wait_for()
    page.locator(".words .query").first.wait_for()
    page.wait_for_function(IDLE)
    assert_fits(page, 360, 740)
    link = page.url
    for question in entry_of("translate").questions:
        visit(f"{link}&question={question.slug}")
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
    present = page.locator(".words .query.now")
    assert f"about to say {present.inner_text()}." in paused


def test_on_a_phone_words_are_rows_and_nothing_overlaps(visit, app_url):
    page = visit(f"{app_url}/translate")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".scene.narrow .key").first.wait_for()
    settle(page)
    tops = page.locator(".words .key").evaluate_all("nodes => nodes.map((node) => node.getBoundingClientRect().top)")
    assert all(lower - upper > 20 for upper, lower in pairwise(tops))
    sizes = page.locator(".words *").evaluate_all(
        "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
    )
    assert min(sizes) >= 14
    assert_fits(page)
