"""What a recurrent network forgets in a real browser: a typed sentence, walking, playing, the scene."""

from playwright.sync_api import expect

from tests.support.on_page import assert_fits, leave_and_return, settle, submit
from ui.navigation import PAGES

ENTRY = next(entry for entry in PAGES if entry.name == "memory")
OTHER = next(entry.title for entry in PAGES if entry.name == "groups")
SENTENCE = "The green bird sings."


def test_a_typed_sentence_is_walked_through_and_stays(visit, app_url):
    page = visit(f"{app_url}/{ENTRY.url_path}")
    box = page.get_by_role("textbox", name="A long English sentence")
    states = page.locator("svg.marks").filter(has_text="husband")
    states.nth(1).wait_for()
    states.evaluate_all("all => all.forEach(one => one.dataset.kept = true)")
    submit(box, SENTENCE)
    expect(page.locator("svg.marks[data-kept]").filter(has_text="bird")).to_have_count(2)  # not built anew
    expect(states).to_have_count(0)
    page.get_by_text("Word 1 of 6").wait_for()
    expect(page.locator(".source span")).to_have_count(5)
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Word 2 of 6").wait_for()
    page.get_by_role("heading", name=ENTRY.title).click()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Word 3 of 6").wait_for()

    leave_and_return(page, OTHER, ENTRY.title)
    page.get_by_text("Word 3 of 6").wait_for()
    expect(box).to_have_value(SENTENCE)


def test_playing_walks_to_the_end_and_stops(visit, app_url):
    page = visit(f"{app_url}/{ENTRY.url_path}?text=Birds+sing.&at=0")
    page.get_by_text("Word 1 of 4").wait_for()
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_text("Word 4 of 4").wait_for()
    page.get_by_role("button", name="Play", exact=True).wait_for()


def test_one_vector_attention_and_a_guess_are_seen_in_the_scene(visit, app_url):
    page = visit(f"{app_url}/{ENTRY.url_path}")
    say, lost = page.locator(".scene .say"), page.locator(".side .lost")
    expect(say).to_contain_text("13 of 21 are wrong, lost or misplaced. Attention goes back")
    expect(page.locator(".said.vector .english")).to_contain_text("My car bought a red newspaper")
    expect(page.locator(".source .lit")).to_have_text("husband")
    slider = page.get_by_role("slider", name="Words of the sentence")
    slider.focus()
    for n in (18, 17, 14):
        page.keyboard.press("ArrowLeft")
        expect(slider).to_have_value(str(n))
    expect(lost).to_contain_text("7 of 14 struck: wrong")
    settle(page)
    page.get_by_role("button", name="Try this").click()
    page.locator(".scene.covered").wait_for()
    page.get_by_role("radio", name="more").click()
    page.locator(".scene.covered").wait_for(state="detached")
    expect(lost).to_contain_text("none of 6 wrong with one vector")
    assert_fits(page)
