"""Start in a browser: what is drawn by pointer or keys is answered, a sentence too, and a reload brings both back."""

from playwright.sync_api import expect


def say(page):
    return page.locator(".st-key-start_drawing .scene .say")


def test_a_stroke_is_answered_and_comes_back(visit, app_url):
    page = visit(app_url)
    page.get_by_label("A question").fill("how many digits are there?")
    page.get_by_label("A question").press("Enter")
    expect(say(page)).to_contain_text("comes “5”", timeout=30_000)
    page.get_by_text("purple", exact=True).click()
    box = page.locator(".picture").bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.6 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.88 * box["height"], steps=6)
    page.mouse.up()
    expect(say(page)).to_contain_text("comes “6”")
    page.wait_for_url("**strokes=**")
    page.reload()
    expect(say(page)).to_contain_text("comes “6”", timeout=30_000)
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("Draw a digit or two")).to_be_visible()


def test_a_typed_sentence_is_translated_both_ways_and_another_word_asks(visit, app_url):
    page = visit(app_url)
    scene = page.locator(".st-key-start_sentence_scene .scene")
    expect(scene.locator(".say")).to_contain_text("chat", timeout=30_000)
    page.get_by_label("A sentence, put into French").fill("The white cat is sleeping under the table.")
    page.get_by_label("A sentence, put into French").press("Enter")
    expect(scene.locator(".say")).to_contain_text("blanc", timeout=60_000)
    scene.get_by_role("button", name="chat: ask from here").click()
    expect(scene.locator(".say")).to_contain_text("chat")
    others = scene.locator(".query.other")
    expect(others.first).to_be_visible()
    assert others.first.bounding_box()["y"] > scene.locator(".query.now").bounding_box()["y"], "one vector stands below"
    scene.get_by_role("button", name="without attention").click()
    expect(scene.locator(".say")).to_contain_text("Out of this one vector comes")


def test_questions_are_found_while_one_types_and_open_their_experiment(visit, app_url):
    page = visit(app_url)
    box = page.get_by_label("What would you like to know")
    box.press_sequentially("can one vector hold a long sentence")
    link = page.get_by_role("link", name="Can one vector hold a sentence of any length?")
    expect(link).to_be_visible()
    expect(page.get_by_text("by meaning, at temperature 0.05")).to_be_visible(timeout=60_000)
    expect(box).to_have_value("can one vector hold a long sentence")
    link.click()
    page.get_by_role("heading", name="Can one vector hold a sentence of any length?").wait_for()
