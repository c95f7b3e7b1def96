"""Train it yourself in a real browser: something is seen within seconds, the film goes back, Pause stops it."""

import re

from playwright.sync_api import expect

from tests.support.on_page import settle


def test_a_training_is_watched_stopped_and_gone_through_again(app_url, page):
    page.goto(f"{app_url}/train?lesson=digits")
    start = page.get_by_role("button", name="Train it here")
    start.wait_for()
    settle(page)
    start.click()
    film = page.get_by_role("slider", name="How far the training had come")
    picture = page.locator(".st-key-train_film canvas")
    expect(picture).to_have_attribute("aria-label", re.compile("^After (?!1200 )[1-9]"), timeout=15_000)
    expect(page.get_by_text(re.compile(r"^After [1-9]\d* batches: ")), "the verdict follows").to_be_visible()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").wait_for()
    settle(page)
    last = picture.get_attribute("aria-label")
    film.fill("0")
    expect(picture).to_have_attribute("aria-label", re.compile("^After 0 batches: Reads"))
    expect(page.locator(".verdict"), "of the picture that is shown").to_contain_text("After 0 batches: It is too early")
    assert not last.startswith("After 0 batches")
