"""A language model in a real browser: click what it says, watch its cache grow."""

import re

import pytest
from playwright.sync_api import expect

from tests.support import tiny_hub
from tests.support.browser_fixtures import serving
from tests.support.on_page import assert_fits, settle


@pytest.fixture(scope="session")
def url(tmp_path_factory):
    """The app, with a tiny model of the owner's; begun before the browser of these tests, as app_url is."""
    models = tmp_path_factory.mktemp("models")
    tiny_hub.write_decoder(models / "decoder")
    with serving(tmp_path_factory.mktemp("streamlit"), ATTENTION_MODELS=str(models)) as address:
        yield address


@pytest.fixture
def opened(page, url):
    """A function that opens an experiment of the page for a model."""

    def open_(question, model="decoder"):
        page.goto(f"{url}/model?question={question}&model={model}")
        page.get_by_text(re.compile("The other|The KV cache")).first.wait_for(timeout=90_000)
        settle(page)
        box = page.get_by_role("textbox", name="Text", exact=True)
        box.fill("The animal was tired")
        page.get_by_text("Ctrl+Enter to apply").first.wait_for()  # the box has taken notice
        box.press("Control+Enter")
        settle(page)
        return page

    return open_


def has_grown_to(page, n) -> None:
    expect(tokens(page)).to_have_count(n)
    settle(page)


def tokens(page):
    return page.locator("[class*='st-key-model_says_text_chips'] .tokens button")


def test_a_clicked_word_is_said_and_an_earlier_one_goes_another_way(opened):
    page = opened("words")
    n = 4
    has_grown_to(page, n)
    page.locator("code", has_text="The animal was tired").wait_for()  # a click on the bars before is outdated
    settle(page)
    bars = page.locator("[class*='st-key-model_says_expected'] li button")
    second = bars.nth(1).locator(".word").inner_text()
    bars.nth(1).click()
    has_grown_to(page, n + 1)
    expect(tokens(page).last).to_have_text(second.replace("␣", ""), use_inner_text=True)
    expect(tokens(page).last).to_have_class("written newest")
    tokens(page).nth(2).click()
    page.get_by_text("Click another to go on").wait_for()
    settle(page)
    expect(tokens(page).nth(2)).to_have_attribute("aria-pressed", "true")
    bars.nth(0).click()
    has_grown_to(page, 4)
    page.get_by_role("button", name="Start again").click()
    has_grown_to(page, n)


def test_several_tokens_are_written_and_the_view_fits_a_phone(opened):
    page = opened("keeps")
    n = 4
    has_grown_to(page, n)
    page.get_by_role("button", name="10 more").click()
    has_grown_to(page, n + 10)
    page.get_by_text(f"for {n + 10} tokens, in").wait_for()
    assert_fits(page)
