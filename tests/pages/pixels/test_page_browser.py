"""The digit page in a real browser: a stroke is answered, a click asks, keys step, nothing is lost on the way."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_pad import ANSWER, PAINTINGS, press_for_new_pad, settle
from tests.support.on_page import CHIP, IDLE, draw, wait_for_change
from tests.support.on_page import settle as run_to_the_end

STALE = re.compile("0.35")
"""The opacity of what was read before, while the pad is empty."""
READ, SAY = ".st-key-tells_pixels", ".scene .say"
INK = "() => document.querySelector('canvas.lower-canvas, .st-key-pixels_canvas_frame canvas')?.toDataURL()"


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/pixels")
    page.locator("canvas.upper-canvas").wait_for()
    settle(page)
    return page


def test_the_pad_asks_for_nothing_by_itself(page, app_url):
    asked = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda sent: asked.append(sent)))
    page.goto(f"{app_url}/pixels")
    for n, preset in enumerate(("7", "3"), 1):
        page.locator("canvas.upper-canvas[tabindex]").wait_for()
        settle(page)
        assert len(asked) == n, "the page, and each preset, is one run"
        page.locator(f".st-key-pixels_preset_{preset} button").click()


def step_of(page) -> str:
    found = re.search(r"[?&]step=(\w+)", page.url)
    return found[1] if found else ""


def paintings(page) -> list[str]:
    """What the charts of the page look like, and of an experiment with maps; the page is open afterwards."""
    found = page.evaluate(PAINTINGS)
    open_experiment(page)
    found += page.evaluate(PAINTINGS)
    page.get_by_role("button", name="Draw a digit").click()
    page.locator(".st-key-pixels_first canvas.upper-canvas[tabindex]").wait_for()
    settle(page)
    return found


def open_experiment(page) -> None:
    page.get_by_role("button", name="What if it looked elsewhere?").click()
    page.get_by_role("heading", name="What if it looked elsewhere?").wait_for()
    run_to_the_end(page)


def test_mouse_stroke_changes_the_answer_and_paints_other_maps(visitor):
    answer, maps = visitor.evaluate(ANSWER), paintings(visitor)
    assert answer
    draw(visitor, [(0.3, 0.55), (0.5, 0.5), (0.75, 0.5)])  # a bar through the seven
    wait_for_change(visitor, ANSWER, answer)
    settle(visitor)
    after = paintings(visitor)
    assert len(after) == len(maps)
    changed = sum(one != other for one, other in zip(maps, after, strict=True))
    assert changed == len(maps) >= 3, f"only {changed} of {len(maps)} charts changed"


def test_one_toolbar_below_the_pad_takes_strokes_away_and_draws_them_again(visitor):
    visitor.locator(".dc-toolbar").wait_for(state="hidden")
    visitor.locator("canvas.upper-canvas").hover()
    settle(visitor)
    assert not visitor.locator(".dc-toolbar").is_visible()
    pad = visitor.locator("canvas.upper-canvas").bounding_box()
    assert visitor.locator(".st-key-pixels_redo").bounding_box()["y"] > pad["y"] + pad["height"]
    redo = visitor.locator(".st-key-pixels_redo button")
    press_for_new_pad(visitor, ".st-key-pixels_clear button")
    expect(visitor.locator(READ)).to_have_css("opacity", STALE)
    for _ in range(2):
        press_for_new_pad(visitor, ".st-key-pixels_redo button")
    expect(visitor.locator(READ)).to_have_css("opacity", "1")
    settle(visitor)
    assert redo.is_disabled()
    visitor.locator(".dc-toolbar").wait_for(state="hidden")


def test_drawing_on_an_empty_pad_is_answered(visitor):
    press_for_new_pad(visitor, ".st-key-pixels_clear button")
    expect(visitor.locator(READ)).to_have_css("opacity", STALE)
    visitor.get_by_test_id("stAlert").first.wait_for()
    draw(visitor, [(0.5, 0.2), (0.5, 0.8)])
    expect(visitor.locator(READ)).to_have_css("opacity", "1")
    settle(visitor)


def test_a_click_lets_a_pixel_ask_and_dragging_draws(visitor):
    picture, drawn = visitor.locator(".scene .picture"), visitor.locator(".st-key-pixels_canvas_frame canvas").first
    picture.scroll_into_view_if_needed()
    one, ink = picture.bounding_box(), visitor.evaluate(INK)
    visitor.mouse.move(one["x"] + 0.55 * one["width"], one["y"] + 0.31 * one["height"])
    expect(picture).to_have_attribute("aria-label", re.compile(r"Pixel \d+: score -?\d+\.\d\d, weight"))
    visitor.mouse.down()
    visitor.mouse.up()
    visitor.wait_for_url("**pixel=239**")
    assert visitor.evaluate(INK) == ink, "a click leaves no dot"
    settle(visitor)
    expect(drawn).to_have_css("opacity", "0")
    visitor.mouse.down()
    visitor.mouse.move(one["x"] + 0.3 * one["width"], one["y"] + 0.6 * one["height"], steps=4)
    expect(drawn).to_have_css("opacity", "1")
    visitor.mouse.up()
    visitor.wait_for_url("**strokes=**")
    expect(drawn).to_have_css("opacity", "0")
    picture.focus()
    visitor.keyboard.press("ArrowRight")
    visitor.keyboard.press("Enter")
    visitor.wait_for_url(lambda url: "pixel=" in url and "pixel=239" not in url)


def test_every_weight_is_made_equal_and_a_digit_is_taken_to_the_pad_so(visitor):
    visitor.get_by_role("button", name="asks", exact=True).click()
    expect(visitor.locator(SAY)).to_contain_text("The framed pixel asks every pixel")
    visitor.get_by_role("button", name="takes", exact=True).click()
    expect(visitor.locator(SAY)).to_contain_text("Ink: 11% of the picture, 90% of what is taken.")
    visitor.get_by_role("button", name="all equal").click()
    expect(visitor.locator(SAY)).to_contain_text("With every weight equal all pixels take the same")
    expect(visitor.locator(SAY)).to_contain_text("Out of it comes “8” (33%).")
    visitor.wait_for_url("**even=1**")
    visitor.get_by_role("button", name="as learned", exact=True).click()
    visitor.get_by_role("button", name="8, read as 5: Mixed with every weight equal").click()
    expect(visitor.locator(SAY)).to_contain_text("Out of it comes “5”")
    visitor.wait_for_url("**digit=8**")


PAINTED = """() => [...document.querySelectorAll('.st-key-pixels_stage *')].some(({ shadowRoot }) => {
  const map = shadowRoot?.querySelector('.canvas-container > canvas[role=application]:not(.upper-canvas)');
  return map?.width > 0 && map.style.visibility !== 'hidden';
})"""
"""Whether a map lies over the pad; one that was painted before it lay anywhere has no size."""


def test_without_softmax_a_map_lies_over_the_pad_whose_drawing_comes_along(page, app_url):
    page.goto(f"{app_url}/pixels")
    page.locator("canvas.upper-canvas[tabindex]").wait_for()
    settle(page)
    draw(page, [(0.3, 0.55), (0.5, 0.5), (0.75, 0.5)])
    page.wait_for_url("**strokes=**")
    ink = page.evaluate(INK)
    page.get_by_role("button", name="Another map or layer").click()
    page.get_by_role("radio", name="without softmax").click()
    page.wait_for_function(PAINTED)
    page.keyboard.press("Escape")
    settle(page)
    assert page.evaluate(INK) == ink
    box = page.locator("canvas.upper-canvas").bounding_box()
    page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + 0.9 * box["height"])
    page.wait_for_url("**pixel=**")
    expect(page.locator(".says")).to_contain_text("Paper takes")
    page.locator(".st-key-pixels_preset_3 button").click()
    expect(page.locator(".reads b").first).to_have_text("3")
    page.wait_for_function(PAINTED)


def test_click_on_a_pixel_makes_it_the_query(visitor):
    before = paintings(visitor)
    picture = visitor.locator(".st-key-pixels_pick .picture")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    visitor.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3)
    visitor.wait_for_url(re.compile(r"[?&]pixel=\d+"))
    pixel = int(re.search(r"pixel=(\d+)", visitor.url)[1])
    assert (pixel // 28, pixel % 28) == pytest.approx((0.3 * 28, 0.4 * 28), abs=2)
    settle(visitor)
    changed = sum(one != other for one, other in zip(before, paintings(visitor), strict=False))
    assert changed >= 1  # the picture at least


def test_arrow_keys_step_forth_and_back(visitor):
    visitor.get_by_role("heading").first.click()  # not on the canvas, whose keys are its own
    visitor.keyboard.press("ArrowRight")
    visitor.wait_for_url(re.compile(r"[?&]step=\w+"))
    forward = step_of(visitor)
    settle(visitor)
    visitor.keyboard.press("ArrowLeft")
    visitor.wait_for_url(lambda url: f"step={forward}" not in url)
    assert step_of(visitor) != forward
    settle(visitor)


def test_play_advances_by_itself_and_pauses_and_only_then_tells_the_address(visitor):
    button, chip = visitor.locator(".st-key-pixels_step_play button"), visitor.locator(CHIP)
    entries = visitor.evaluate("history.length")
    first = chip.inner_text()
    button.click()
    for _ in range(2):
        visitor.wait_for_function(
            "([chip, before]) => document.querySelector(chip)?.innerText !== before", arg=[CHIP, first]
        )
        first = chip.inner_text()
    assert not step_of(visitor)
    button.click()
    visitor.wait_for_url(re.compile(r"[?&]step=\w+"))
    settle(visitor)
    paused = step_of(visitor)
    visitor.wait_for_timeout(2600)
    assert step_of(visitor) == paused
    assert visitor.evaluate("history.length") <= entries + 2  # two beats at least were played, and one pause


def test_drawing_survives_leaving_the_page_and_coming_back(visitor):
    answer = visitor.evaluate(ANSWER)
    draw(visitor, [(0.3, 0.55), (0.5, 0.5), (0.75, 0.5)])
    wait_for_change(visitor, ANSWER, answer)
    settle(visitor)
    drawn, ink = visitor.evaluate(ANSWER), visitor.evaluate(INK)
    links = visitor.get_by_test_id("stSidebarNavLink")
    links.first.click()
    visitor.locator("canvas.upper-canvas").wait_for(state="detached")
    visitor.wait_for_function(IDLE)
    visitor.get_by_test_id("stSidebarNav").locator("a[href$='/pixels']").click()
    visitor.locator("canvas.upper-canvas").wait_for()
    settle(visitor)
    assert visitor.evaluate(ANSWER) == drawn
    assert visitor.evaluate(INK) == ink


def test_a_large_picture_is_a_file_that_browsers_keep(visitor, app_url):
    visitor.goto(f"{app_url}/find?step=weights")
    picture = visitor.locator(".st-key-photograph_mask_0 .picture")
    picture.wait_for()
    hrefs = re.findall(r'url\("(.*?)"\)', picture.evaluate("one => getComputedStyle(one).backgroundImage"))
    found = [visitor.request.get(href) for href in hrefs if "/pictures/" in href]
    assert found
    for answer in found:
        assert answer.ok
        assert answer.body().startswith(b"\x89PNG")
        assert "immutable" in answer.headers["cache-control"]
    assert visitor.request.get(found[-1].url.rsplit("/", 1)[0] + "/nothing.png").status == 404


def test_a_region_is_brushed_by_mouse_by_touch_and_by_keys(visitor):
    open_experiment(visitor)
    brush, chosen = visitor.locator("canvas[title^=Brush]"), visitor.get_by_text(re.compile("of 784 pixels are chosen"))
    brush.scroll_into_view_if_needed()
    box = brush.bounding_box()
    spots = [{"x": box["x"] + share * box["width"], "y": box["y"] + 0.4 * box["height"]} for share in (0.3, 0.6)]
    visitor.mouse.move(*spots[0].values())
    visitor.mouse.down()
    visitor.mouse.move(*spots[1].values(), steps=10)
    visitor.mouse.up()
    expect(chosen).to_have_text("33 of 784 pixels are chosen.")
    touch = visitor.context.new_cdp_session(visitor)
    for kind, points in (("Start", spots[:1]), ("Move", spots[1:]), ("End", [])):  # what begins on it takes away
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    expect(chosen).not_to_have_text("33 of 784 pixels are chosen.")
    brush.press("Escape")
    expect(visitor.get_by_text("0 of 784 pixels are chosen.")).to_be_visible()
    for key in (" ", "Shift+ArrowDown", "Shift+ArrowUp"):
        brush.press(key)
    expect(chosen).to_be_visible()
    visitor.get_by_role("button", name="Look away").click()
    expect(visitor.get_by_text(re.compile("It no longer looks at"))).to_be_visible()
    visitor.get_by_role("button", name="Draw a digit").click()
    expect(visitor.locator(SAY)).to_contain_text("With the weights as you changed them it says")
    visitor.get_by_role("button", name="as learned", exact=True).click()
    expect(visitor.locator(SAY)).to_contain_text("Out of it comes “7”")
