"""Heads of a model in a real browser: click one, hover its tokens, use the keys, two columns."""

import re

import pytest
from playwright.sync_api import expect

from attention_core import trace_model
from attention_core.hub.run import text_inputs
from attention_core.inference.pretrained import load_bundled
from tests.support.on_page import assert_fits, moving_cell, settle, submit

HEADS = ".st-key-desk_model_heads .marks"
TOKENS = ".st-key-model_tokens .token"
LONG_TEXT = "The animal did not cross the wide street because it was too tired, so it lay down and it slept all day."
"""Of more tokens than a scene has."""
TIP = ".st-key-model_tokens .tip"


@pytest.fixture
def visitor(visit, app_url):
    """The page on one head of the model that comes as a package, painted."""
    page = visit(f"{app_url}/model?heads=all&head=encoder.1.self:8&token=3&text_encoder={LONG_TEXT}")
    page.locator(HEADS).wait_for(timeout=90_000)
    page.locator(TOKENS).first.wait_for()
    settle(page)
    return page


def begins_with(text: str) -> re.Pattern:
    return re.compile(rf"^{re.escape(text)}")


def boxes(page) -> list:
    return page.evaluate(
        """selector => {
            const found = [];
            const visit = (root) => {
                root.querySelectorAll('.token, .frame').forEach((node) => {
                    const box = node.getBoundingClientRect();
                    found.push([box.x, box.y, box.width, box.height]);
                });
                root.querySelectorAll('*').forEach((node) => node.shadowRoot && visit(node.shadowRoot));
            };
            visit(document.querySelector(selector));
            return found;
        }""",
        ".st-key-model_tokens",
    )


def test_a_clicked_head_and_a_clicked_token_are_followed_and_come_into_the_address(visitor):
    place = visitor.locator(HEADS).bounding_box()
    visitor.locator(HEADS).click(position={"x": place["width"] * 0.6, "y": place["height"] * 0.5})
    visitor.wait_for_url(re.compile(r"head=encoder\.\d\.self%3A[5-8]&"))
    layer, head = re.search(r"encoder\.(\d)\.self%3A(\d)", visitor.url).groups()
    visitor.get_by_text(f"{layer}.{head}").first.wait_for()
    settle(visitor)
    visitor.locator(TOKENS).nth(6).click()
    visitor.locator(TOKENS).nth(8).hover()
    visitor.wait_for_url(re.compile("token=6"))
    settle(visitor)
    expect(visitor.locator(TOKENS).nth(6)).to_have_attribute("aria-pressed", "true")
    hovered = begins_with(visitor.locator(TOKENS).nth(8).inner_text())  # by the answer to the click, too
    expect(visitor.locator(TIP).first).to_have_text(hovered, use_inner_text=True)
    expect(visitor.get_by_text("position 7").first).to_be_attached()


def test_hovering_and_the_keys_show_both_directions_without_moving_anything(visitor):
    visitor.locator(TOKENS).nth(5).scroll_into_view_if_needed()
    before, first = boxes(visitor), visitor.locator(TIP).first.inner_text()
    assert len(before) > 10
    visitor.locator(TOKENS).nth(8).hover()
    looks, looked_at = visitor.locator(TIP).nth(0), visitor.locator(TIP).nth(1)
    expect(looks).to_have_text(begins_with(visitor.locator(TOKENS).nth(8).inner_text()), use_inner_text=True)
    assert looks.inner_text() != first
    expect(looks).to_contain_text("looks at")
    expect(looked_at).to_contain_text(re.compile("looked at by.*%", re.DOTALL))
    assert boxes(visitor) == before
    visitor.locator(TOKENS).nth(3).focus()
    visitor.keyboard.press("ArrowRight")
    expect(looks).to_have_text(begins_with(visitor.locator(TOKENS).nth(4).inner_text()), use_inner_text=True)
    visitor.keyboard.press("Enter")
    visitor.wait_for_url(re.compile("token=4"))


def test_two_columns_have_arcs(visitor):
    visitor.get_by_role("button", name="Two columns").click()
    drawn = "c => c.width && c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((part) => part)"
    arcs = visitor.locator(".st-key-model_tokens canvas.arcs")
    visitor.wait_for_function(drawn, arg=arcs.element_handle())
    visitor.locator(".st-key-model_tokens .tokens.key .token").nth(2).hover()
    expect(visitor.locator(TIP).first).to_contain_text("is looked at by")
    assert_fits(visitor)
    visitor.get_by_role("button", name="Text", exact=True).click()


def test_of_a_long_text_the_rest_of_the_matrix_is_fetched_when_a_token_is_hovered(visitor):
    fetched = []
    visitor.on("request", lambda request: fetched.append(request.url) if request.url.endswith(".bin") else None)
    submit(visitor.locator(".st-key-model_text_encoder textarea"), "the man sees the dog near the river " * 12)
    visitor.locator(TOKENS).nth(96).wait_for()
    settle(visitor)
    given = visitor.locator(TIP).all_inner_texts()
    assert re.search("looks at.*%", given[0], re.DOTALL)
    assert re.search("looked at by.*%", given[1], re.DOTALL)
    assert not fetched
    visitor.locator(TOKENS).nth(60).hover()
    expect(visitor.locator(TIP).first).to_contain_text(re.compile(r"61\s+looks at"))
    visitor.locator(TOKENS).nth(3).hover()
    expect(visitor.locator(TIP)).to_have_text(given, use_inner_text=True)
    assert len(fetched) == 1


def test_a_file_that_the_server_has_let_go_of_is_asked_for_again(visitor):
    gone = []

    def lose(route) -> None:
        gone.append(route.request.url)
        route.fulfill(status=300) if len(gone) == 1 else route.continue_()  # a 404 would be in the console

    visitor.route("**/pictures/*.bin", lose)
    submit(visitor.locator(".st-key-model_text_encoder textarea"), "the dog sees the man near the river " * 12)
    visitor.locator(TOKENS).nth(96).wait_for()
    settle(visitor)
    visitor.locator(TOKENS).nth(60).hover()
    visitor.wait_for_timeout(2500)  # that long a file that was lost is not asked for again
    visitor.locator(TOKENS).nth(61).hover()
    expect(visitor.locator(TIP).first).to_contain_text(re.compile(r"62\s+looks at"))
    assert len(gone) == 2
    visitor.unroute_all()


def open_question(page, text: str) -> None:
    page.get_by_role("button", name=text).click()
    page.get_by_role("heading", name=text).wait_for()
    settle(page)


def test_the_first_screen_follows_what_is_chosen_in_an_experiment(visitor):
    headline = visitor.locator(".st-key-model_headline h2")
    expect(headline).to_contain_text("looks at")
    before = headline.inner_text()
    open_question(visitor, "What does each head do?")
    similar = visitor.locator("[class*=st-key-model_like] button").first
    layer, head = re.findall(r"\d+", similar.inner_text())[:2]
    similar.click()
    visitor.wait_for_url(re.compile(rf"head=encoder\.{layer}\.self%3A{head}&"))
    expect(visitor.locator(".st-key-model_ranked input")).to_have_value(re.compile(rf"^{layer}\.{head}(: |$)"))
    open_question(visitor, "How large is every weight of one head?")
    canvas = visitor.locator("[class*=model_matrix] canvas").first
    canvas.scroll_into_view_if_needed()
    canvas.click(position=moving_cell(canvas, 5, 2))
    visitor.wait_for_url(re.compile("token=5"))
    visitor.get_by_role("button", name="Your own model").click()
    expect(headline).not_to_have_text(before)
    expect(headline).to_have_text(begins_with(f"{visitor.locator(TOKENS).nth(5).inner_text()} looks at"))


def test_the_model_that_made_a_recording_takes_its_place(visit, app_url, tmp_path):
    pretrained = load_bundled("tatoeba-llama", "cpu")
    inputs = text_inputs(pretrained, "Mary has a red car.").inputs
    trace_model(pretrained.model, tokens=pretrained.tokenizer, **inputs).save(tmp_path / "run.npz")
    page = visit(f"{app_url}/model?what=recording&question=why")
    page.locator(".st-key-model_recording input[type=file]").set_input_files(tmp_path / "run.npz")
    page.get_by_role("button", name="Load it, with the same words").click(timeout=60_000)
    expect(page.locator(".st-key-model_text_decoder textarea")).to_have_value("Mary has a red car.")
    expect(page.get_by_text("On the key’s side", exact=True)).to_be_visible(timeout=60_000)


def test_over_a_short_text_arcs_swing_to_a_token_and_the_sentence_is_edited_where_it_stands(visit, app_url):
    page = visit(f"{app_url}/model")
    sentence, tokens = (
        page.locator(".st-key-model_tokens_scene .root"),
        page.locator(".st-key-model_tokens_scene .token"),
    )
    expect(sentence).to_have_attribute("data-looks", "it animal 68%", timeout=90_000)
    settle(page)
    tokens.get_by_text("tired").hover()
    expect(sentence).to_have_attribute("data-looks", begins_with("tired "))
    page.mouse.move(1, 1)
    expect(sentence).to_have_attribute("data-looks", "it animal 68%")
    expect(page.locator(".st-key-model_text_encoder textarea")).to_be_hidden()
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="The sentence").fill("The animal didn't cross the street because it was too wide.")
    page.keyboard.press("Enter")
    heading = page.locator(".st-key-model_headline h2")
    expect(heading).to_contain_text("less with wide: 68% → 28%", timeout=30_000)
    page.get_by_role("button", name="or tired").click()
    expect(heading).to_have_text("Head 3.1, one of 72, finds animal for it", timeout=30_000)
    tokens.get_by_text("tired").click()
    expect(heading).to_contain_text("for tired")
    assert "token=" in page.url
