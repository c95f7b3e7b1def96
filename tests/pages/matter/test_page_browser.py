"""Which words matter in a real browser: type a sentence, hover, cut and drag a word, step through."""

from playwright.sync_api import expect

from tests.support.on_page import IDLE, submit


def test_a_new_sentence_is_weighed_and_a_cut_word_changes_the_answer(app_url, page):
    page.goto(f"{app_url}/matter?step=weights")
    page.locator(".judgement").wait_for()
    page.wait_for_function(IDLE)
    submit(page.get_by_role("textbox").first, "The plot is dull.")
    word = page.get_by_role("button", name="dull, weight")
    word.wait_for()
    page.locator(".judgement", has_text="negative").wait_for()
    word.hover()
    page.get_by_text("times its even share").wait_for()
    expect(page.locator(".cell.lit .word")).to_have_text("dull")
    word.click()
    page.get_by_text("as learned, ").wait_for()
    page.wait_for_function(IDLE)
    expect(page.get_by_role("button", name="dull, weight 0%")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="All as learned").click()
    page.get_by_text("as learned, ").wait_for(state="detached")
    page.wait_for_function(IDLE)
    bar = page.locator(".cell", has_text="plot").locator(".above i").bounding_box()
    page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + 1)
    page.mouse.down()
    page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] - 60, steps=5)
    page.mouse.up()
    page.get_by_text("as learned, ").wait_for()
    page.get_by_role("button", name="plot, weight").press("ArrowDown")
    page.wait_for_function(IDLE)
    page.get_by_role("button", name="All as learned").click()
    page.wait_for_function(IDLE)
    page.get_by_role("button", name="Next", exact=False).first.click()
    page.get_by_text("every query receives the values", exact=False).wait_for()
    page.locator("canvas.moving").wait_for()
