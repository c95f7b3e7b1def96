"""What pages have in common: the foot that leads on, Back step by step, answers and keys."""

from playwright.sync_api import expect

from tests.support.on_page import settle
from ui.navigation import PAGES

IS_ABOVE_ALL = """pen => [...pen.parentElement.children].filter((other) => !other.matches(".pen, .ring"))
  .every((other) => (Number(getComputedStyle(other).zIndex) || 0) < Number(getComputedStyle(pen).zIndex))"""


def test_foot_leads_from_page_to_page_and_back_comes_home(visit, app_url):
    page = visit(f"{app_url}/{PAGES[-2].url_path}")
    foot = page.get_by_test_id("stPageLink")
    foot.filter(has_text=PAGES[-1].title).last.click()
    page.get_by_role("heading", name=PAGES[-1].title, exact=True).wait_for()
    settle(page)
    assert foot.filter(has_text=PAGES[-2].title).count()
    page.go_back()
    page.get_by_role("heading", name=PAGES[-2].title, exact=True).wait_for()


def test_back_goes_back_step_by_step_and_forward_again(visit, app_url):
    page = visit(f"{app_url}/pixels?step=scaled")
    page.locator("canvas.upper-canvas").wait_for()
    settle(page)
    seen = [page.url]
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
        page.wait_for_url(lambda url, before=seen[-1]: url != before)
        settle(page)
        seen.append(page.url)
    chip = page.locator("[class*=_stepper] [role=radio][aria-checked=true]")
    last = chip.inner_text()
    for url in seen[-2::-1]:
        page.go_back()
        settle(page)
        assert page.url == url
    assert chip.inner_text().split("\n") == ["Scaled scores", "÷√dₖ"]
    for url in seen[1:]:
        page.go_forward()
        settle(page)
        assert page.url == url
    assert chip.inner_text() == last


def test_colour_bars_keep_their_colours_when_the_address_changes(visit, app_url):
    page = visit(f"{app_url}/transformer?question=heads")
    page.locator("svg.marks").first.wait_for()
    settle(page)
    for head in (2, 3):
        fills = page.evaluate("[...document.querySelectorAll('[fill^=url]')].map((node) => node.getAttribute('fill'))")
        assert fills
        assert all(fill.startswith("url(#") for fill in fills)
        before = page.url
        page.locator(".st-key-transformer_head [role=radio]").nth(head).click()
        page.wait_for_url(lambda url, before=before: url != before)
        settle(page)


def test_answers_say_that_a_page_loads_nothing_from_elsewhere(page, app_url):
    headers = page.goto(app_url).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"
    expect(page.locator("h1")).to_have_text("Attention Explorer")


def test_who_has_no_pointer_skips_to_the_page_and_draws_by_keys(page, app_url):
    page.goto(f"{app_url}/pixels")
    pad = page.locator("canvas.upper-canvas[tabindex='0']")
    pad.wait_for()
    settle(page)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to main content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain")).to_be_focused()
    pad.focus()
    expect(page.locator(".pen")).to_be_visible()
    expect(page.locator(".ring")).to_be_visible()
    assert page.locator(".pen").evaluate(IS_ABOVE_ALL)
    expect(page.locator(".st-key-pixels_canvas_frame")).to_have_css("opacity", "1")
    for key in (" ", *["ArrowRight"] * 4, *["ArrowDown"] * 4, " "):
        page.keyboard.press(key)
    page.wait_for_url("**strokes=**")


def test_what_takes_a_buttons_place_gets_its_focus_and_escape_closes(visit, app_url):
    page = visit(f"{app_url}/translate")
    offer = page.locator(".st-key-translate_try button")
    offer.press("Enter")
    expect(page.locator(".st-key-translate_try_guess [role=radio]").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(offer).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-translate_try_guess [role=radio]").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-translate_try_close button").last).to_be_focused()
    page.locator(".st-key-questions button").first.press("Enter")
    expect(page.locator(".st-key-translate_back button")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Translate and align")).to_be_focused()
    settle(page)
    assert "question=" not in page.url
    page.emulate_media(forced_colors="active")
    expect(page.locator(".steps i").first).to_have_css("forced-color-adjust", "none")
    page.emulate_media(media="print", forced_colors="none")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
