"""Lecture mode in a browser: large letters, keys, presenters' remote controls, what is laid over the page."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import CHIP, FITTED, HEIGHT, project, settle
from ui.navigation import entry_of

AT_REST = """() => {
  const zoom = document.documentElement.style.getPropertyValue("--zoom");
  if (zoom !== window.rest?.zoom) window.rest = { zoom, since: performance.now() };
  return performance.now() - window.rest.since > 3000;
}"""
"""A screen has had one size for a while."""


def on_projector(page):
    """The page, once its lecture fits a projector."""
    page.wait_for_function("window.lecture?.on")
    settle(page)
    project(page)
    return page


@pytest.fixture
def lecture(visit, app_url):
    """A function that opens a page in lecture mode on a projector."""
    return lambda path: on_projector(visit(f"{app_url}/{path}"))


def overlay(page, part: str):
    return page.locator(f"#lecture .{part}")


def test_arrow_keys_step_after_a_click_on_a_chip(visit, app_url):
    page = visit(f"{app_url}/matter")
    page.locator(CHIP).wait_for()
    settle(page)
    page.locator("[class*=_stepper] [role=radio]").nth(1).click()
    settle(page)
    chosen = page.locator(CHIP).inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"document.querySelector('{CHIP}').innerText !== {chosen!r}")


def test_a_screen_comes_to_rest_though_its_charts_follow_its_width(lecture):
    page = lecture("scoring?question=scale&lecture=1")
    page.locator("svg.marks text >> visible=true").first.wait_for()
    page.wait_for_function(AT_REST)


def test_remote_control_steps_and_keys_do_what_the_card_says(lecture):
    page = lecture("pixels?question=numbers&step=scores&lecture=1")
    first = page.locator(CHIP).inner_text()
    assert not page.get_by_test_id("stSidebar").is_visible()
    page.keyboard.press("PageDown")
    page.wait_for_url("**step=scaled**")
    settle(page)
    assert page.locator(CHIP).inner_text() != first
    page.keyboard.press("PageDown")
    page.wait_for_url("**step=weights**")
    settle(page)
    page.keyboard.press("PageUp")
    page.wait_for_url("**step=scaled**")
    settle(page)
    for key, part in (("?", "card"), ("b", "blank"), ("s", "spot")):
        page.keyboard.press(key)
        assert overlay(page, part).is_visible()
        page.keyboard.press("Escape")
        assert not overlay(page, part).is_visible()
    page.keyboard.press("3")
    page.wait_for_url(lambda url: "question=" in url and "question=numbers" not in url)
    settle(page)
    assert not page.locator(CHIP).count(), "a screen stands alone"
    page.keyboard.press("1")
    page.wait_for_url(lambda url: "question=" not in url)
    settle(page)
    page.wait_for_function(FITTED)
    assert page.evaluate(HEIGHT) <= 1080
    page.keyboard.press("]")
    page.get_by_role("heading", name="Ask a photograph", exact=True).wait_for()
    settle(page)
    assert page.evaluate("window.lecture.on"), "the next page is in lecture mode too"
    page.reload()
    page.wait_for_function("window.lecture?.on")
    page.keyboard.press("l")
    page.get_by_test_id("stSidebar").wait_for()


def test_a_pads_tools_are_seen_while_the_pointer_moves_or_has_them_and_key_c_keeps_them(lecture):
    page = lecture("train?lesson=digits&lecture=1")
    tools = page.locator("[class*=_presets]").first

    def opacity(wanted: str) -> None:
        expect(tools).to_have_css("opacity", wanted, timeout=15_000)

    opacity("0")
    place = tools.bounding_box()
    page.mouse.move(900, 500)
    opacity("1")
    opacity("0")
    tools.get_by_role("button").first.focus()
    opacity("1")
    page.evaluate("document.activeElement.blur()")
    opacity("0")
    page.keyboard.press("c")
    opacity("1")
    assert tools.bounding_box() == pytest.approx(place, abs=8), "they keep their place"


def test_dark_or_light_is_for_all_pages_and_loses_nothing(page, app_url):
    page.goto(f"{app_url}/scoring?lecture=1&question=parameters")
    page.wait_for_function("window.lecture?.on")
    settle(page)
    colour = "getComputedStyle(document.querySelector('.stApp')).colorScheme"
    before, url = page.evaluate(colour), page.url
    with page.expect_navigation():
        page.keyboard.press("d")
    page.wait_for_function("window.lecture?.on")
    assert page.url == url
    assert page.evaluate(colour) != before
    page.goto(url.replace("scoring", "lookup"))
    page.wait_for_function("window.lecture?.on")
    assert page.evaluate(colour) != before


def test_columns_stand_above_their_words_in_lecture_mode(lecture):
    page = lecture("translate?lecture=1")
    page.locator(".scene .grip").first.wait_for()
    settle(page)
    boxes = "nodes.map((node) => node.getBoundingClientRect())"
    middles = f"nodes => {boxes}.map(({{ x, width, bottom }}) => [x + width / 2, bottom])"
    columns, words = (page.locator(f".scene {one}").evaluate_all(middles) for one in (".grip", ".key"))
    assert len(columns) == len(words)
    for (column, foot), (word, bottom) in zip(columns, words, strict=True):
        assert column == pytest.approx(word, abs=2)
        assert foot < bottom


def test_a_remote_control_leads_through_a_scene_that_plays_before_it_asks(lecture):
    page = lecture("translate?lecture=1")
    page.emulate_media(reduced_motion="no-preference")
    page.reload()
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("PageDown")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    expect(page.locator(".scene .say"), "the first stage has come to its rest").to_contain_text("are lost")
    for _ in range(5):  # each is begun, and then brought to its end
        page.keyboard.press("PageDown")
        page.get_by_role("button", name="Pause").wait_for()
        page.keyboard.press("PageDown")
        page.get_by_role("button", name="Pause").wait_for(state="hidden")
    expect(page.locator(".scene .say")).to_contain_text("comes rouge")
    assert "tried" not in page.url
    settle(page)
    page.keyboard.press("PageDown")
    page.wait_for_url("**tried=ask**")
    page.locator(".scene.covered").wait_for()


def test_full_screen_shows_the_whole_chart(lecture):
    page = lecture("memory?lecture=1&question=longer")
    chart = page.locator("svg.marks").first
    chart.wait_for()
    settle(page)
    chart.hover()
    page.keyboard.press("f")
    page.locator("[aria-label^='Close fullscreen']").wait_for()
    settle(page)
    box = chart.bounding_box()
    assert min(box["x"], box["y"]) >= 0
    assert box["x"] + box["width"] <= 1920
    assert box["y"] + box["height"] <= 1080
    assert box["height"] > 900
    page.keyboard.press("f")
    page.locator("[aria-label^='Close fullscreen']").wait_for(state="detached")


def test_remote_control_goes_on_to_the_next_page_after_the_last_step(page, app_url):
    page.goto(f"{app_url}/lookup?lecture=1&question=numbers&step=context")
    on_projector(page)
    page.locator(CHIP).wait_for()
    page.keyboard.press("PageDown")
    page.get_by_role("heading", name="Three vectors, nine pairs", exact=True).wait_for()
    page.goto(f"{app_url}/atlas?lecture=1&question=fits")
    page.get_by_role("heading", name="How does it fit into memory?").wait_for()
    settle(page)
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile(f"{app_url}/[?]"))  # the last page leads to Start


def test_remote_control_asks_and_reveals_the_surprise_of_a_first_screen(lecture):
    page = lecture("pixels?lecture=1")
    page.keyboard.press("PageDown")
    options = page.locator("[class*=_try_guess] button")
    options.first.wait_for()
    settle(page)
    size = page.locator("[class*=_try_guess] p").first.evaluate(
        "node => parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom"
    )
    assert size > 35.9
    page.keyboard.press("PageDown")
    answer = page.locator("[class*=_try_this] [data-testid=stAlert]")
    answer.wait_for()
    assert "You guessed" not in answer.inner_text()
    settle(page)
    assert page.evaluate(HEIGHT) <= 1080
    close = page.locator("[class*=_try_close] button")
    close.focus()
    box, above = close.bounding_box(), answer.bounding_box()
    assert box["y"] >= above["y"] + above["height"] - 1, "it lies beside the answer"
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile("(tab|question)="))
    page.keyboard.press("1")
    page.locator(".st-key-pixels_try button").wait_for()
    assert not answer.count(), "the steps began as before"


def test_what_takes_room_from_the_picture_comes_back_with_key_c(lecture):
    page = lecture("lookup?lecture=1")
    box = page.get_by_placeholder("Ask something of your own")
    expect(box).to_be_hidden()
    page.keyboard.press("c")
    expect(box).to_be_visible()
    settle(page)
    assert page.evaluate(HEIGHT) <= 1080


def test_remote_control_leads_to_one_experiment_and_digits_to_ten_screens(lecture):
    page = lecture("translate?lecture=1")
    for _ in range(20):
        page.keyboard.press("PageDown")
        settle(page)
        if "question=" in page.url:
            break
    (chosen,) = [question for question in entry_of("translate").questions if question.in_lecture]
    assert f"question={chosen.slug}" in page.url
    expect(page.get_by_role("heading", name=chosen.text)).to_be_visible()
    expect(page.get_by_role("heading", name="Translate and align")).to_be_hidden()
    page.keyboard.press("0")
    page.wait_for_url(f"**question={entry_of('translate').questions[8].slug}**")
    page.keyboard.press("4")
    page.wait_for_url("**question=length**")
    settle(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(f"**question={chosen.slug}**")
    settle(page)
    page.keyboard.press("PageDown")
    page.get_by_role("heading", name="Inside a transformer", exact=True).wait_for()
