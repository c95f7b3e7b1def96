"""The atlas in a real browser: wheel, drag, keys, touch, numbers, tiles that are fetched once, links, the survey."""

import re

import pytest

from tests.support.atlas_map import (
    LAST_CAME,
    MAP,
    ROOT,
    SAME_MOMENT,
    colour_at,
    exact,
    middle,
    open_at,
    painted,
    view,
    written_weight,
    zoom_in,
)
from tests.support.on_page import FITTED


@pytest.fixture
def atlas(page, app_url):
    open_at(page, f"{app_url}/atlas?show=made-echo-2048")
    return page


def test_wheel_goes_from_the_whole_with_its_grey_mask_down_to_cells_with_their_numbers(atlas):
    assert view(atlas)[0] == 3
    red, green, blue = colour_at(atlas, 0.8, 0.2)
    assert max(red, green, blue) - min(red, green, blue) < 25
    red, green, blue = colour_at(atlas, 0.2, 0.8)
    assert max(red, green, blue) - min(red, green, blue) > 40
    zoom_in(atlas, 14)
    level, row, column, cell = view(atlas)
    assert level == 0
    assert cell >= 44
    assert abs(row - 1024) < 25
    assert abs(column - 1024) < 25
    atlas.mouse.move(middle(atlas)[0] - 3 * cell, middle(atlas)[1] + cell)
    tip = atlas.locator(".tip")
    tip.wait_for()
    text = tip.inner_text()
    query, key = (int(re.search(rf"{one} ([\d,]+)", text)[1].replace(",", "")) - 1 for one in ("query", "key"))
    assert exact(query, key) == pytest.approx(written_weight(text), rel=6e-3)


def test_a_tile_whose_message_never_came_is_asked_for_again(atlas):
    key = atlas.evaluate(
        f"""(() => {{
          const map = {MAP}, key = [...map.cache.tiles.keys()][0];
          map.cache.tiles.delete(key);
          map.desk.open = {{ sequence: map.desk.sequence, tiles: [key] }};
          map.desk.answered([map.desk.who, map.desk.sequence]);
          map.desk.leaveOut(new Set(), []);
          map.settle(true);
          return key;
        }})()"""
    )
    atlas.wait_for_function(f"{MAP}.cache.tiles.has('{key}')", timeout=4000)


def test_drag_and_keys_move_and_what_was_seen_is_not_fetched_again(atlas):
    x, y = middle(atlas)
    for _ in range(3):
        atlas.mouse.dblclick(x, y)
        painted(atlas)
    before = view(atlas)
    atlas.mouse.move(x, y)
    atlas.mouse.down()
    atlas.mouse.move(x - 120, y - 80, steps=4)
    atlas.mouse.up()
    painted(atlas)
    after = view(atlas)
    assert after[2] - before[2] == pytest.approx(120 / before[3], rel=0.02)
    assert after[1] - before[1] == pytest.approx(80 / before[3], rel=0.02)
    atlas.keyboard.press("ArrowRight")
    painted(atlas)
    assert view(atlas)[2] > after[2]
    came = atlas.evaluate(LAST_CAME)
    atlas.keyboard.press("ArrowLeft")
    painted(atlas)
    assert view(atlas)[2] == pytest.approx(after[2], abs=0.1)
    assert atlas.evaluate(LAST_CAME) == came
    atlas.keyboard.press("0")
    painted(atlas)
    assert view(atlas)[0] == 3


def test_link_opens_the_same_view(atlas, app_url):
    zoom_in(atlas, 5)
    atlas.wait_for_url(re.compile("map="))
    painted(atlas)
    view_before = view(atlas)
    open_at(atlas, atlas.url)
    assert view(atlas) == pytest.approx(view_before, rel=0.01)


def test_flight_ends_on_words_that_can_be_read(page, app_url):
    open_at(page, f"{app_url}/atlas?stop=0")
    assert view(page)[0] == 6
    sentences = f"{MAP}.phraseRows({MAP}.viewRange()).map((row) => {MAP}.sentenceFrom(row)?.text)"
    page.wait_for_function(f"(texts => texts.length > 5 && texts.every((text) => / .*[.!?]$/.test(text)))({sentences})")
    for stop in range(1, 4):
        page.get_by_role("button", name="Fly in").click()
        page.wait_for_url(re.compile(f"stop={stop}" if stop < 3 else "map="))
        painted(page)
    level, row, _, cell = view(page)
    assert level == 0
    assert cell >= 20
    seen, cells = page.evaluate(f"[{MAP}.viewRange(), {MAP}.data.echo.cells]")
    assert all(seen["left"] <= at < seen["right"] for cell in cells for at in cell), "both sentences, along the columns"
    assert page.evaluate(f"{MAP}.labelOf('rows', {MAP}.mark[0])")
    strengths = page.evaluate(f"[0.05, 0.93].map((weight) => 255 - {MAP}.scale.colourOf(Math.log2(weight))[1])")
    assert strengths[0] < 0.1 * strengths[1], "a small weight is pale beside the claimed one"
    first, last = map(int, re.findall(r"[\d,]+", page.evaluate(f"{MAP}.status.textContent").replace(",", ""))[:2])
    assert first <= row + 1 <= last < first + 25, "what is said to be in view is"


def test_it_flies_in_on_arrival_and_opens_near_where_less_motion_is_wanted(page, app_url):
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{app_url}/atlas")
    page.locator("canvas.map").wait_for()
    painted(page)
    near = view(page)
    assert near[0] == 0
    assert near[3] >= 20
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"{app_url}/atlas")
    page.locator("canvas.map").wait_for()
    page.wait_for_function(f"{ROOT}?.dataset.view")
    cells = [view(page)[3]]
    page.wait_for_function(f"Math.abs({MAP}.cell - {near[3]}) < 0.01 && {ROOT}.dataset.complete === 'true'")
    painted(page)
    assert cells[0] < 0.1 * near[3], "from the whole"
    assert view(page) == pytest.approx(near, rel=0.01)
    assert page.url.endswith("/atlas"), "the address stays"


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_the_framed_cell_stays_in_view_when_the_lecture_is_switched_on(page, app_url, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{app_url}/atlas")
    page.locator("canvas.map").wait_for()
    painted(page)
    page.get_by_test_id("stCheckbox").get_by_text("Lecture mode").click()
    page.wait_for_function(f"window.lecture?.on && {MAP}?.large > 1 && {FITTED}")
    painted(page)
    part, (row, column) = page.evaluate(f"[{MAP}.viewRange(), {MAP}.mark]")
    assert part["top"] <= row <= part["bottom"] - 1
    assert part["left"] <= column <= part["right"] - 1


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_lectures_answer_marks_full_stops_and_its_next_step_leads_on(page, app_url, motion):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.emulate_media(reduced_motion=motion)
    page.goto(f"{app_url}/atlas?lecture=1")
    page.locator("canvas.map").wait_for()
    page.wait_for_function(f"window.lecture?.on && {MAP}?.mark && {FITTED}")
    for tried in ("ask", "revealed"):
        painted(page)
        page.keyboard.press("PageDown")
        page.wait_for_url(f"**tried={tried}**")
    painted(page)
    part, has_dots = page.evaluate(f"[{MAP}.viewRange(), {MAP}.data.dots]")
    assert has_dots
    assert part["bottom"] - part["top"] == pytest.approx(100, abs=2)
    page.keyboard.press("PageDown")
    page.wait_for_url("**question=**")


def test_overview_moves_the_map(atlas):
    atlas.get_by_role("button", name="Zoom in").click()
    atlas.get_by_role("button", name="Zoom in").click()
    painted(atlas)
    box = atlas.locator("canvas.small").bounding_box()
    atlas.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.7 * box["height"])
    painted(atlas)
    _, row, column, _ = view(atlas)
    assert row == pytest.approx(0.7 * 2048, abs=20)
    assert column == pytest.approx(0.3 * 2048, abs=20)


def test_token_is_jumped_to_and_labelled(atlas):
    from attention_core.atlas import search
    from attention_core.atlas.synthetic import labels

    word = labels(2048)[700]
    first = search(labels(2048), word)[0]
    atlas.get_by_label("Jump to a word").fill(word)
    atlas.keyboard.press("Enter")
    atlas.wait_for_function(f"{ROOT}.dataset.view.split('/')[0] === '0' && {ROOT}.dataset.complete === 'true'")
    painted(atlas)
    _, row, _, cell = view(atlas)
    assert abs(row - first) <= 15
    assert cell >= 12
    assert atlas.evaluate(f"{MAP}.labelOf('rows', {first})") == word


@pytest.mark.parametrize("moment", SAME_MOMENT)
def test_question_of_the_map_and_a_word_in_the_same_moment_go_off_one_after_the_other(atlas, moment):
    """The `page` fixture fails on Streamlit's warning about two fragments in one message.

    An answer that the word's message replaced leaves the tile out; then the map asks for it once more.
    """
    painted(atlas)
    atlas.wait_for_function(f"!{MAP}.desk.open")
    before = atlas.evaluate(f"{MAP}.desk.sequence")
    atlas.get_by_label("Jump to a word").fill("gode")
    ask = f"{MAP}.desk.ask({MAP}.data.atlas, ['0/2/2'], [], {MAP}.view())"
    atlas.evaluate(SAME_MOMENT[moment].replace("ASK", ask))
    atlas.get_by_text(re.compile("gode: 1 of")).wait_for()
    atlas.wait_for_function(f"{MAP}.desk.sequence > {before}")
    left_out = f"{MAP}.desk.refused.has('0/2/2')"
    atlas.wait_for_function(f"{MAP}.cache.tiles.has('0/2/2') || ({left_out} && {ask}, false)")


def test_coming_back_from_another_page_finds_the_map_where_it_was(atlas):
    for _ in range(5):
        atlas.get_by_role("button", name="Zoom in").click()
    atlas.wait_for_function(f"{ROOT}.dataset.view.split('/')[0] === '0'")
    atlas.locator("canvas.map").focus()
    atlas.keyboard.press("Shift+ArrowUp")
    painted(atlas)
    view_before = view(atlas)
    atlas.get_by_role("link", name="Look up softly").click()
    atlas.get_by_role("heading", name="Look up softly").wait_for()
    atlas.get_by_role("link", name="The atlas").click()
    atlas.locator("canvas.map").wait_for()
    painted(atlas)
    assert view(atlas) == pytest.approx(view_before, rel=0.01)


def test_survey_fills_the_map_while_it_goes_on(page, app_url):
    page.goto(f"{app_url}/atlas?show=made-echo-65536")
    page.locator("canvas.map").wait_for()
    tile = f"{MAP}.cache.tiles.get('8/0/0')"
    page.wait_for_function(f"{tile}?.n_surveyed > 0 && !{tile}.complete", timeout=20_000)
    n_surveyed = page.evaluate(f"{tile}.n_surveyed")
    page.wait_for_function(f"{tile}.n_surveyed > {n_surveyed} || {tile}.complete", timeout=60_000)


def test_phone_pans_with_one_finger_and_scrolls_while_all_is_shown(context, app_url):
    context = context.browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = context.new_page()
    open_at(phone, f"{app_url}/atlas?show=made-echo-2048")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    canvas = phone.locator("canvas.map")
    assert canvas.evaluate("node => node.style.touchAction") == "pan-y"
    assert canvas.bounding_box()["height"] < 700
    phone.get_by_role("button", name="Zoom in").click()
    painted(phone)
    assert canvas.evaluate("node => node.style.touchAction") == "none"
    before, (x, y) = view(phone), middle(phone)
    touch = context.new_cdp_session(phone)
    fingers = [{"x": x, "y": y, "id": 1}]
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers})
    fingers[0] |= {"x": x - 60}
    touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers})
    fingers.append({"x": x + 40, "y": y, "id": 2})
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers})
    panned = view(phone)
    fingers[1] = {"x": x + 140, "y": y, "id": 2}
    touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": fingers})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    painted(phone)
    assert panned[2] - before[2] == pytest.approx(60 / before[3], rel=0.05)
    assert view(phone)[3] == pytest.approx(2 * before[3], rel=0.05)
    context.close()
