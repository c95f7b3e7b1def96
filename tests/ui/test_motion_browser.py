"""A step whose numbers move: it plays when another step is chosen, can be scrubbed, and answers mouse and keys."""

import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.on_page import CHIP, moving_cell, moving_step, settle

PICTURE = "canvas => canvas.toDataURL()"
COUNT_FRAMES = """canvas => {
  const view = canvas.parentNode.view, draw = view.draw;
  view.seen = [];
  view.draw = () => { view.seen.push(view.time); draw.call(view); };
}"""
SCALED = "canvas => canvas.parentNode.view.data.title.startsWith('Scaled')"
WATCH_FRAMES = """canvas => {
  const row = canvas.getRootNode().host.closest("[data-testid=stHorizontalBlock]"), seen = (window.frames_ = []);
  const isSeen = (node) => +getComputedStyle(node).opacity && (!node.parentElement || isSeen(node.parentElement));
  const look = () => {
    const heading = row.querySelector("h3[data-step]"), { view } = canvas.parentNode;
    const numbers = [...row.querySelectorAll(".st-key-step_words annotation")].map((one) => one.textContent).join();
    seen.push([heading && isSeen(heading) ? heading.textContent : "", isSeen(canvas) ? view.data.title : "", numbers]);
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes of each frame what heading and picture of a step tell, as far as they are seen, and the step's formulas."""
SCRUB = "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input', { bubbles: true })); }"


@pytest.fixture
def canvas(visit, app_url):
    page = visit(f"{app_url}/vectors?tab=steps&step=scores")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    return canvas


def test_the_next_step_plays_and_comes_to_rest(canvas):
    page = canvas.page
    page.emulate_media(reduced_motion="no-preference")
    canvas.evaluate(COUNT_FRAMES)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "canvas => canvas.parentNode.view.data.title.startsWith('Scaled')", arg=canvas.element_handle()
    )
    assert moving_step(canvas)["time"] == 1
    times = canvas.evaluate("canvas => canvas.parentNode.view.seen")
    assert sum(0 < time < 1 for time in times) >= 3
    assert times[-1] == 1


@pytest.mark.parametrize("name", ["vectors", "translate", "pixels", "ask"])
def test_heading_picture_and_numbers_of_a_step_change_in_one_frame(visit, app_url, name):
    page = visit(f"{app_url}/{name}?tab=steps&step=scores")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    canvas.evaluate(WATCH_FRAMES)
    for way in ("next", "next", "previous"):
        before = page.evaluate("window.frames_.at(-1)")
        page.locator(f".st-key-{name}_step_{way} button").click()
        page.wait_for_function("([heading]) => frames_.at(-1)[0] && frames_.at(-1)[0] !== heading", arg=before)
        settle(page)
        page.wait_for_function("frames_.at(-1)[1]")
        heading, picture, numbers = page.evaluate("window.frames_.at(-1)")
        assert heading == picture != before[0]
        assert numbers != before[2]
    frames = page.evaluate("window.frames_")
    assert not [frame for frame in frames if frame[0] and frame[1] and frame[0] != frame[1]]
    assert len({(heading, numbers) for heading, _, numbers in frames if heading}) == 3


def test_numbers_that_are_still_to_come_are_not_seen_as_the_old_ones(visit, app_url):
    page = visit(f"{app_url}/vectors?tab=steps&step=scores")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    canvas.evaluate("canvas => { canvas.parentNode.view.ready = {}; }")
    canvas.evaluate(WATCH_FRAMES)
    page.locator(".st-key-vectors_step_next button").click()
    page.wait_for_function(SCALED, arg=canvas.element_handle())
    settle(page)
    frames = page.evaluate("window.frames_")
    assert {picture for heading, picture, _ in frames if heading == "Scaled scores"} <= {"", "Scaled scores"}
    assert frames[-1][:2] == ["Scaled scores", "Scaled scores"]


def test_it_is_scrubbed_rests_on_its_numbers_and_mouse_and_keys_tell_them(canvas):
    page = canvas.page
    rest, slider = canvas.evaluate(PICTURE), page.get_by_role("slider", name="How the numbers of this step come about")
    pictures = []
    for place in (10, 40, 70, 100):
        slider.evaluate(SCRUB, place)
        pictures.append(canvas.evaluate(PICTURE))
    assert len(set(pictures)) == 4
    assert pictures[-1] == rest
    said = page.locator(".said").last
    canvas.hover(position=moving_cell(canvas, 0, 1))
    expect(said).to_have_text("x1 → x2: 2.72")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    expect(said).to_have_text("x2 → x2: 3.4")


def test_nothing_moves_by_itself_where_motion_is_not_wanted(canvas):
    page = canvas.page
    canvas.evaluate(COUNT_FRAMES)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(SCALED, arg=canvas.element_handle())
    settle(page)
    assert set(canvas.evaluate("canvas => canvas.parentNode.view.seen")) == {1}


def test_what_is_pointed_at_is_lit_in_all_views_until_the_pointer_or_the_view_has_gone(canvas):
    page = canvas.page
    lit = page.locator(".words .cell.lit")
    canvas.hover(position=moving_cell(canvas, 2, 1))
    expect(lit).to_have_count(5)
    page.locator(".words .cell").nth(1).hover()
    expect(page.locator(".said").last).to_have_text("x1 → x2: 2.72")
    page.get_by_role("heading").first.hover()
    expect(lit).to_have_count(0)
    expect(page.locator(".said").last).to_have_text("")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".words .cell.lit")).to_have_count(5)
    page.get_by_role("button", name="What does attention have that a neuron lacks?").click()
    canvas.wait_for(state="detached")
    page.get_by_role("heading").first.hover()
    expect(page.locator(".words .cell.lit")).to_have_count(0)
    assert page.evaluate("[...attentionPointed.views].every(view => view.node.isConnected)")


def test_a_browser_that_makes_no_films_saves_a_strip_of_pictures(canvas):
    canvas.page.evaluate("[window.kept, window.MediaRecorder] = [MediaRecorder, null]")
    canvas.page.get_by_role("button", name="Take it along").click()
    with canvas.page.expect_download() as download:
        canvas.page.get_by_role("button", name="Film").click()
    canvas.page.evaluate("void (window.MediaRecorder = kept)")
    assert download.value.suggested_filename == "scores.png"
    strip = np.asarray(Image.open(download.value.path()).convert("RGB"))
    pictures = np.split(strip, 6, axis=1)
    assert pictures[0].shape[:2] == tuple(canvas.evaluate("canvas => [canvas.height, canvas.width]"))
    assert len({picture.tobytes() for picture in pictures}) == 6


def test_large_numbers_are_files_that_are_fetched_once_before_somebody_goes_to_them(page, app_url):
    received, fetched = [], []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(frame)))
    page.on("request", lambda request: fetched.append(request.url) if request.url.endswith(".json") else None)
    page.goto(f"{app_url}/pixels?step=embedding")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    assert fetched
    for way, step in (("next", "query"), ("previous", "embedding")):
        received.clear()
        page.locator(f".st-key-pixels_step_{way} button").click()
        page.wait_for_url(re.compile(f"step={step}"))
        settle(page)
        assert sum(map(len, received)) <= 60_000
    assert moving_step(canvas)["n"] == 784
    assert len(fetched) == len(set(fetched))


def test_numbers_whose_file_was_lost_are_fetched_again(page, app_url):
    lost = []

    def lose(route) -> None:
        lost.append(route.request.url)
        route.fulfill(status=300) if len(lost) == 1 else route.continue_()  # a 404 would be in the console

    page.goto(f"{app_url}/translate?tab=steps&step=embedding")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    page.route("**/pictures/*.json", lose)
    page.locator(".st-key-translate_step_next button").click()
    settle(page)
    page.locator(".st-key-translate_step_next button").click()
    page.wait_for_function("canvas => !canvas.parentNode.matches('.awaits')", arg=canvas.element_handle())
    settle(page)
    assert len(lost) > 1


def test_a_finger_steps_scrubs_and_leaves_a_number_lit(context, app_url):
    hand = context.browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    phone = hand.new_page()
    phone.goto(f"{app_url}/vectors?tab=steps&step=scores")
    canvas, said = phone.locator("canvas.moving"), phone.locator(".said").last
    canvas.wait_for()
    moving_step(canvas)
    settle(phone)
    canvas.scroll_into_view_if_needed()
    canvas.tap(position=moving_cell(canvas, 0, 1))
    expect(said).to_have_text("x1 → x2: 2.72")
    settle(phone)
    expect(said).to_have_text("x1 → x2: 2.72")
    phone.locator(".st-key-vectors_step_next button").tap()
    phone.wait_for_function(SCALED, arg=canvas.element_handle())
    slider = phone.get_by_role("slider", name="How the numbers of this step come about")
    box = slider.bounding_box()
    slider.tap(position={"x": 0.3 * box["width"], "y": box["height"] / 2})
    assert moving_step(canvas)["time"] == pytest.approx(0.3, abs=0.1)
    hand.close()


def test_two_tabs_of_a_person_step_and_light_apart(page, context, app_url):
    tabs = [page, context.new_page()]
    for tab in tabs:
        tab.goto(f"{app_url}/vectors?tab=steps&step=scores")
    canvas, other = (tab.locator("canvas.moving") for tab in tabs)
    for one in (canvas, other):
        one.wait_for()
        moving_step(one)
        settle(one.page)
    canvas.hover(position=moving_cell(canvas, 2, 1))
    expect(page.locator(".words .cell.lit")).to_have_count(5)
    page.locator(".st-key-vectors_step_next button").click()
    page.wait_for_function(SCALED, arg=canvas.element_handle())
    settle(page)
    assert not other.evaluate(SCALED)
    assert "Scaled" not in tabs[1].locator(CHIP).inner_text()
    expect(tabs[1].locator(".words .cell.lit")).to_have_count(0)
    other.page.keyboard.press("ArrowLeft")
    expect(tabs[1].locator(CHIP)).to_contain_text("Value")
    assert canvas.evaluate(SCALED)
    tabs[1].close()


def test_a_click_opens_a_matrix_into_its_product_and_lets_its_row_ask(visit, app_url):
    page = visit(f"{app_url}/pixels?step=scores&pixel=406")
    page.emulate_media(reduced_motion="no-preference")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    moving_step(canvas)
    settle(page)
    canvas.evaluate(COUNT_FRAMES)
    canvas.click(position=moving_cell(canvas, 150, 40))
    page.wait_for_url(re.compile(r"pixel=(29|30)\d"))
    row = int(re.search(r"pixel=(\d+)", page.url)[1])
    assert abs(row - 300) <= 2 * 392 / moving_step(canvas)["at"]["h"] + 2
    expect(page.get_by_text(f"Pixel {row + 1} asks")).to_be_visible()
    times = canvas.evaluate("canvas => canvas.parentNode.view.seen")
    assert sum(0 < time < 1 for time in times) >= 3, "it goes on although the query has changed"


@pytest.mark.parametrize(
    ("address", "row", "asks"),
    [
        ("translate?tab=steps&step=scores", 4, "at=4"),
        ("lookup?tab=steps&step=scores", 1, "query=1"),
        ("groups?step=query", 4, "query=4"),
        ("read?step=query", 1, "at=1"),
    ],
)
def test_a_row_that_is_clicked_asks_on_every_page(visit, app_url, address, row, asks):
    page = visit(f"{app_url}/{address}")
    canvas = page.locator("canvas.moving")
    canvas.wait_for()
    settle(page)
    canvas.click(position=moving_cell(canvas, row, 1))
    page.wait_for_url(re.compile(rf"[?&]{asks}(&|$)"))
