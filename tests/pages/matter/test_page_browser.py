"""Which words matter in a real browser: a sentence is typed, a word crossed out and dragged, weighed alike, guessed."""

from playwright.sync_api import expect

from tests.support.on_page import settle, submit


def say(page):
    return page.locator(".scene .say")


def word(page, name: str):
    return page.locator(".words").get_by_role("button", name=f"{name}, score")


def test_a_new_sentence_is_judged_and_its_words_are_crossed_out_and_pulled(visit, app_url):
    page = visit(f"{app_url}/matter?step=weights")
    expect(say(page)).to_contain_text("“bad” has the most weight, 72%, but “Not” turned its vector round")
    settle(page)
    submit(page.get_by_role("textbox").first, "The plot is dull.")
    word(page, "dull").wait_for()
    expect(page.locator(".query")).to_have_text("negative")
    settle(page)
    word(page, "dull").click()
    expect(say(page)).to_contain_text("as learned, ")
    settle(page)
    expect(word(page, "dull")).to_have_attribute("aria-pressed", "true")
    steps = page.get_by_role("group", name="Steps").get_by_role("button")
    expect(steps).to_have_count(5)
    grip = page.get_by_role("slider", name="weight of plot").bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] - 3)
    page.mouse.down()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + 20, steps=5)
    page.mouse.up()
    settle(page)
    switch = page.get_by_role("group", name="What is handed over")
    switch.get_by_role("button", name="as learned").click()
    expect(steps).to_have_count(6)
    switch.get_by_role("button", name="all equal").click()
    expect(say(page)).to_contain_text("With the same weight for all, out comes negative")
    settle(page)
    page.get_by_role("button", name="Next", exact=False).first.click()
    page.get_by_text("every query receives the values", exact=False).wait_for()
    page.locator("canvas.moving").wait_for()


def test_a_guess_covers_the_scene_and_its_answer_is_the_scene_going_on(visit, app_url):
    page = visit(f"{app_url}/matter")
    settle(page)
    page.locator(".st-key-matter_try button").click()
    page.locator(".scene.covered").wait_for()
    expect(say(page)).to_have_text("“warm” has the most weight, 39%; out comes positive (98%).")
    expect(page.locator(".query")).to_have_text("positive")
    page.locator(".st-key-matter_try_guess").get_by_text("the comma").click()
    expect(say(page)).to_contain_text("“warm” has 39% of the weight.")
    expect(say(page)).to_contain_text("without it, “warm and funny” is turned round, too")
