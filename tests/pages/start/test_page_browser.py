"""Start in a browser: what is drawn by pointer or keys is answered, a sentence too, and a reload brings both back."""

from playwright.sync_api import expect

STALE = "[...document.querySelectorAll('*')].some((node) => node.shadowRoot?.querySelector('.root.stale'))"


def answered(page) -> str:
    """What the network answers with attention, once it has."""
    page.wait_for_function(f"!{STALE}")
    return page.locator(".answers b").last.inner_text()


def test_drawing_is_live_from_the_first_touch_and_comes_back(visit, app_url):
    page = visit(app_url)
    page.get_by_text("A drawing", exact=True).click()
    page.get_by_label("A question").fill("how many digits are there?")
    page.get_by_label("A question").press("Enter")
    expect(page.locator(".answers b").last).to_have_text("5")
    box = page.locator("svg[role=img]").bounding_box()
    page.get_by_role("button", name="purple").click()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.6 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.88 * box["height"], steps=6)
    page.mouse.up()
    assert answered(page) == "6"
    page.wait_for_url("**strokes=**")
    page.reload()
    expect(page.locator(".answers b").last).to_have_text("6")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".answers")).to_contain_text("Draw a digit")


def test_keys_draw_too(visit, app_url):
    page = visit(f"{app_url}/?show=drawing")
    page.locator("svg[role=img]").focus()
    before = page.locator(".ink polyline").count()
    for key in ("Space", *["ArrowDown"] * 8, "Space"):
        page.keyboard.press(key)
    page.wait_for_url("**strokes=**")
    assert page.locator(".ink polyline").count() == before + 1
    assert answered(page)


def test_a_typed_sentence_is_translated_both_ways_and_another_word_asks(visit, app_url):
    page = visit(app_url)
    scene = page.locator(".scene")
    expect(scene.locator(".say")).to_contain_text("chat", timeout=30_000)
    page.get_by_label("A sentence, put into French").fill("The white cat is sleeping under the table.")
    page.get_by_label("A sentence, put into French").press("Enter")
    expect(scene.locator(".say")).to_contain_text("blanc", timeout=60_000)
    scene.get_by_role("button", name="chat: ask from here").click()
    expect(scene.locator(".say")).to_contain_text("chat")
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
