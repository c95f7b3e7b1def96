"""The page on asking a photograph in a real browser: a region asks by a click, and so does a telephone's photograph."""

import io

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.on_page import settle

SAY = ".scene .say"
PASTE = """async () => {
  const canvas = new OffscreenCanvas(64, 48);
  canvas.getContext("2d").fillRect(0, 0, 64, 48);
  const picture = await canvas.convertToBlob();
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([picture], "pasted.png", { type: "image/png" }));
  return !document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
"""Pastes a picture; returns whether somebody took it, as the page does when its script has come."""


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/photograph")
    page.locator(".scene .picture").wait_for()
    settle(page)
    return page


def test_a_click_on_a_region_asks_what_looks_like_it(visitor):
    box = visitor.locator(".scene .picture").bounding_box()
    visitor.mouse.click(box["x"] + 0.85 * box["width"], box["y"] + 0.8 * box["height"])
    visitor.wait_for_url("**region=**")
    expect(visitor.locator(SAY)).to_contain_text("What looks like this region?")
    visitor.get_by_role("button", name="Ask by word again").click()
    expect(visitor.locator(SAY)).to_contain_text("says bee")


def test_a_photograph_of_a_telephone_is_asked(visitor):
    visitor.get_by_role("button", name="Your own photograph").click()
    file = io.BytesIO()
    Image.effect_noise((4032, 3024), 20).convert("RGB").save(file, "JPEG", quality=60)
    picture = {"name": "mine.jpg", "mimeType": "image/jpeg", "buffer": file.getvalue()}
    visitor.locator(".st-key-photograph_upload input").set_input_files(picture)
    visitor.wait_for_url("**photo=own**")
    expect(visitor.locator("canvas").first).to_be_visible()
    assert "mine" not in visitor.url
    visitor.keyboard.press("Escape")  # who stays on the page has it open


def test_a_pasted_picture_is_asked(visitor):
    visitor.get_by_role("button", name="Your own photograph").click()
    visitor.wait_for_function(PASTE)
    visitor.wait_for_url("**photo=own**")
