"""Inside a transformer in a real browser: type, click a head, click a word, step, measure."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import assert_fits, settle, submit
from ui.navigation import entry_of

HEADS = "[class*='st-key-transformer_heads'] .marks"
CELL = 0.374, 0.279  # of the chart of *Tom helped Mary.*: where the cell of start and Tom lies


@pytest.fixture
def visitor(visit, app_url):
    """The page, opened and painted."""
    page = visit(f"{app_url}/transformer?text=Tom+helped+Mary.&head=encoder-3-1&question=heads")
    page.locator(HEADS).wait_for(timeout=90_000)
    settle(page)
    return page


def test_a_new_sentence_a_clicked_head_and_a_clicked_word_are_followed(visitor):
    submit(visitor.get_by_role("textbox", name="An English sentence"), "The dog bit the man")
    settle(visitor)
    heads = visitor.locator(HEADS)
    heads.scroll_into_view_if_needed()
    box = heads.bounding_box()
    visitor.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.42)
    visitor.wait_for_url(re.compile(r"head=encoder-2-4"))
    visitor.locator("strong", has_text="Layer 2, head 4").wait_for()
    visitor.get_by_role("button", name="Inside a transformer").click()
    visitor.get_by_role("radio", name="Weights").click()
    visitor.wait_for_url(re.compile(r"step=weights"))
    settle(visitor)
    visitor.locator(".st-key-transformer_step_next button").click()
    visitor.wait_for_url(re.compile(r"step=context"))
    visitor.get_by_role("button", name="Where does each head look?").click()  # an experiment links all others
    visitor.get_by_role("button", name="What if a head looked elsewhere?").click()
    visitor.get_by_role("button", name="Switch off").click()
    visitor.get_by_text("Encoder, layer 2, head 4: switched off").wait_for()
    visitor.locator(".as-trained").wait_for()
    settle(visitor)
    visitor.locator(".st-key-transformer_words .target button").nth(4).click()
    settle(visitor)
    visitor.locator(".st-key-transformer_words .source button").nth(1).click()
    visitor.get_by_text("Encoder, layer 2, head 4: man no longer looks at dog; the others share the rest").wait_for()
    settle(visitor)
    visitor.get_by_role("button", name="Everything as trained").click()
    visitor.locator(".as-trained").wait_for(state="detached")


def test_every_experiment_fits_a_phone(visitor, app_url):
    for question in entry_of("transformer").questions:
        visitor.goto(f"{app_url}/transformer?question={question.slug}")
        visitor.get_by_role("heading", name=question.text).wait_for()
        assert_fits(visitor)


def test_a_clicked_cell_is_hidden_and_shown_again(visit, app_url):
    page = visit(f"{app_url}/transformer?question=mask&mask=none")
    chart = page.locator("[class*=st-key-transformer_mask_cells] svg.marks")
    chart.wait_for()
    page.get_by_text("nothing is hidden from the other one").first.wait_for()
    settle(page)
    for says in ("leaves 3 of them in sight", "nothing is hidden"):
        box = chart.bounding_box()
        page.mouse.click(box["x"] + box["width"] * CELL[0], box["y"] + box["height"] * CELL[1])
        page.get_by_text(says).first.wait_for()
        settle(page)


def test_words_are_swapped_numbered_and_dragged_and_only_then_the_french_follows(visit, app_url):
    page = visit(f"{app_url}/transformer")
    say, said, numbers = page.locator(".say"), page.locator(".french"), page.locator(".tile small")
    expect(page.locator(".tiles")).to_have_text("Mary 1helped 2Tom 3.4")
    expect(said).to_have_text("Mary a aidé Tom.")
    expect(page.locator(".typed")).to_have_text("typed: Tom helped Mary. → Tom a aidé Mary.")
    expect(page.locator(".links path")).to_have_count(5)
    settle(page)
    page.get_by_role("switch", name="Give each word").click()
    expect(say).to_contain_text("the French stands still")
    expect(numbers).to_have_text([""] * 4)
    expect(said).to_have_text("Tom a aidé Mary.")
    page.get_by_role("switch", name="Give each word").click()
    page.get_by_role("button", name="Change the order").click()
    expect(page.locator(".tiles")).to_have_text("Tom 1helped 2Mary 3.4")
    settle(page)
    page.locator(".tile").nth(0).drag_to(page.locator(".tile").nth(1))
    page.wait_for_url(re.compile(r"words=1\.0\.2"))
    expect(page.locator(".tiles")).to_have_text("helped 1Tom 2Mary 3.4")
    expect(said).not_to_have_text("…")
    assert_fits(page)
