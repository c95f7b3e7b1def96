"""A scene in a real browser: it plays once, rests, and then follows the visitor."""

import re

import pytest
import torch
from playwright.sync_api import expect

from attention_core import load
from attention_core.attention.edits import UNIFORM
from attention_core.attention.types import Axis
from attention_core.attention.view.page import View
from attention_core.attention.view.scene import SCRIPT, picture_scene_data
from attention_core.attention.wording import percent
from attention_core.inference import translation as core
from attention_core.inference.translation_scene import (
    TRIED_WEIGHTS,
    changed_answers,
    scene_answers,
    translation_scene,
    vector_data,
)
from tests.support.traces import trace_of

SENTENCE = "The red car is in front of the house."
ROUGE, RED = 2, 1
FASTEST_FRAME = 8  # milliseconds of its script, at most
VIEW = "document.querySelector('[data-attention]').view"
TOLD = f"() => {{ {VIEW}.tell = (message) => {{ window.told = [...(window.told ?? []), message]; }}; }}"


@pytest.fixture(scope="module")
def dot():
    """Return the sentence as the translator with dot attention has it, and the data of its scene."""
    source, models = core.read_source(SENTENCE), {name: load(f"translator-{name}") for name in ("dot", "none")}
    traced = {
        name: core.trace_translation(model, name, source, (), core.translate(model, source))
        for name, model in models.items()
    }
    rows, ids = traced["dot"].view.first_piece, traced["dot"].translation.ids
    heaviest = traced["dot"].trace.weights(0, rows).argmax(-1).tolist()
    data = translation_scene(traced["dot"], 0, scene_answers(models["dot"], source, ids, rows), SENTENCE)
    data |= changed_answers(models["dot"], source, ids, rows, heaviest)
    data["equal"] = scene_answers(models["dot"], source, ids, rows, UNIFORM)
    data |= {"vector": vector_data(traced["none"], SENTENCE), "query": ROUGE}
    return traced["dot"], data | {"plays": True, "canChange": True}


@pytest.fixture
def opened(context, tmp_path, dot):
    """Opens the scene in a window of some width, with motion or less of it; nothing is fetched or complained about."""
    contexts, faults = [], []

    def open_scene(width=1300, motion="reduce", clock=False, data=None, **changes):
        contexts.append(context.browser.new_context(viewport={"width": width, "height": 900}, reduced_motion=motion))
        page = contexts[-1].new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        if clock:
            page.clock.install(time=0)
        path = tmp_path / "scene.html"
        path.write_text(View("a scene", (data or dot[1]) | changes, SCRIPT).page(), encoding="utf-8")
        page.goto(path.as_uri())
        page.evaluate(TOLD)
        return page

    yield open_scene
    for one in contexts:
        one.close()
    assert not faults


def say(page):
    return page.locator(".say")


def query(page, name: str):
    return page.get_by_role("button", name=re.compile(f"^{name}: ask from here"))


def key(page, name: str):
    return page.get_by_role("button", name=re.compile(f"^{name}(,.*)?; press to"))


def test_it_plays_once_from_one_vector_to_the_answer_and_rests(opened):
    page = opened(motion="no-preference", clock=True)
    steps = page.get_by_role("group", name="Steps").get_by_role("button")
    expect(steps).to_have_text(["without attention", "asks", "scores", "softmax", "takes", "says"])
    expect(say(page)).to_contain_text("squeezed into one vector of 384 numbers")
    page.clock.fast_forward(700)
    captions, heard = set(), set()
    for _ in range(80):
        page.clock.fast_forward(320)
        captions.add(say(page).inner_text())
        heard.add(page.get_by_role("status").inner_text())
    for text in (
        "red, in front are lost",
        "A query asks every English word",
        "gets a score",
        "times its weight",
        "is from “red”",
    ):
        assert any(text in caption for caption in captions), text
    expect(say(page)).to_contain_text("comes rouge")
    assert heard == {"", say(page).inner_text()}, "who hears it is told what it comes to, once"
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    rested = page.evaluate(f"{VIEW}.time")
    page.clock.fast_forward(30_000)
    assert page.evaluate(f"{VIEW}.time") == rested
    assert page.evaluate("window.told") is None


def test_with_reduced_motion_it_shows_the_end_and_goes_from_rest_to_rest_by_keys(opened):
    page = opened()
    expect(say(page)).to_contain_text("comes rouge")
    page.get_by_role("button", name="softmax").press("ArrowLeft")
    expect(page.locator("[aria-current]")).to_have_text("takes")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[aria-current]")).to_have_text("scores")
    expect(page.locator("button:focus")).to_have_text("scores")
    page.get_by_role("slider", name="Time").fill("0")
    expect(page.get_by_role("slider", name="Time")).to_have_attribute("aria-valuetext", "without attention")
    page.get_by_role("button", name="without attention").click()
    expect(say(page)).to_contain_text("red, in front are lost")


def test_arrow_keys_reach_a_scene_in_sight_where_nothing_has_the_focus(opened):
    page = opened()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[aria-current]")).to_have_text("takes")
    page.evaluate(f"{VIEW}.root.getRootNode().activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[aria-current]")).to_have_text("softmax")


@pytest.mark.parametrize("width", [1300, 390])
def test_pieces_of_a_word_touch_and_captions_name_the_word(opened, dot, width):
    pieces = ["The", "re", "d", *dot[1]["keys"][3:]]
    page = opened(width, data=dot[1] | {"keys": pieces, "joinedKeys": [2], "canChange": False})
    first, last, other = (page.locator(".key").nth(index).bounding_box() for index in (1, 2, 3))
    if width > 1000:
        assert abs(first["x"] + first["width"] - last["x"]) < 1
        assert other["x"] - last["x"] - last["width"] > 5
    else:
        assert last["y"] - first["y"] - first["height"] <= 10, "one ground reaches from piece to piece"
    page.get_by_role("button", name="softmax").click()
    expect(say(page)).to_contain_text("“re” in “red” leads")


def test_another_query_asks_at_once_and_python_hears_of_it(opened, dot):
    page, (traced, _) = opened(), dot
    query(page, "voiture").click()
    expect(say(page)).to_contain_text("comes voiture")
    weights = traced.trace.weights(0, [traced.view.first_piece[1]])[0]
    car = traced.view.source.index("car")
    expect(key(page, "car")).to_have_attribute("aria-label", re.compile(f"weight {percent(float(weights[car]))};"))
    assert page.evaluate("told.map(({ row }) => row)") == [1]


def test_a_key_is_crossed_out_and_given_back_with_the_answer_of_the_model(opened, dot):
    page, (_, data) = opened(), dot
    key(page, "red").click()
    word, probability, _ = data["tips"]["answers"][TRIED_WEIGHTS.index(0.0)][ROUGE][0]
    expect(say(page)).to_contain_text(f"and out comes {word} ({percent(probability)})")
    told = re.search(r"Without “red”, “is” has (\d+)%", say(page).inner_text())
    assert int(told[1]) == pytest.approx(100 * shared(data), abs=1)
    expect(key(page, "red")).to_have_attribute("aria-pressed", "true")
    key(page, "red").click()
    expect(say(page)).to_contain_text("comes rouge")
    assert page.evaluate("told.map(({ row, cut, weight }) => [row, cut, weight ?? null])") == [[ROUGE, RED, None]] * 2


def shared(data) -> float:
    """Return what *is* has of the weights of *rouge* without *red*."""
    weights = data["weights"][ROUGE]
    return weights[data["keys"].index("is")] / (1 - weights[RED])


@pytest.mark.parametrize("width", [1300, 390])
def test_a_column_is_dragged_by_mouse_and_moved_by_keys(opened, dot, width):
    page, (_, data) = opened(width), dot
    grip = page.get_by_role("slider", name="weight of red")
    box = grip.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    goal = (middle[0] - box["width"] / 2, middle[1]) if width < 560 else (middle[0], middle[1] + box["height"] / 2)
    page.mouse.move(*goal, steps=5)
    page.mouse.up()
    weight = float(grip.get_attribute("aria-valuenow"))
    assert weight == pytest.approx(100 * data["weights"][ROUGE][RED] - 50, abs=3)
    assert int(re.search(r"With (\d+)% of “red”", say(page).inner_text())[1]) == pytest.approx(weight, abs=1)
    told = page.evaluate("told.at(-1)")
    assert (told["row"], told["cut"]) == (ROUGE, RED)
    assert 100 * told["weight"] == pytest.approx(weight, abs=1)
    grip.press("ArrowUp")
    assert float(grip.get_attribute("aria-valuenow")) == pytest.approx(weight + 5, abs=1)


def test_one_vector_and_equal_weights_are_a_switch_in_the_same_picture(opened, dot):
    page, (_, data) = opened(), dot
    switch = page.get_by_role("group", name="What is handed over").get_by_role("button")
    expect(switch).to_have_text(["with attention", "all equal"])
    places = "document.querySelector('[data-attention]').view.keys.map((node) => node.offsetLeft)"
    before = page.evaluate(places)
    switch.nth(1).click()
    word, probability, _ = data["equal"][ROUGE][0]
    expect(say(page)).to_contain_text(f"With the same weight for all, out comes {word} ({percent(probability)})")
    assert page.evaluate("told.at(-1).even")
    page.get_by_role("button", name="without attention").click()
    expect(say(page)).to_contain_text("“The car is on the way of the house.” red, in front are lost.")
    assert RED in data["vector"]["lost"]
    expect(page.locator(".key.lost")).to_have_text([data["keys"][lost] for lost in data["vector"]["lost"]])
    expect(page.locator(".other:visible").filter(has_text="route")).to_be_visible()
    switch.nth(0).click()
    expect(say(page)).to_contain_text("comes rouge")
    assert page.evaluate(places) == before
    assert page.evaluate("told.at(-1).focus") == "attention"


@pytest.mark.parametrize("width", [360, 390, 560, 900, 1900])
def test_no_words_overlap_and_letters_can_be_read(opened, width):
    page = opened(width)
    boxes = page.evaluate(
        """() => [...document.querySelector("[data-attention]").shadowRoot
              .querySelectorAll(".words button, .words div, .words .gloss")]
          .filter((node) => node.offsetParent).map((node) => {
            const { x, y, width, height } = node.getBoundingClientRect();
            return { x, y, width, height, size: parseFloat(getComputedStyle(node).fontSize), text: node.textContent };
          })"""
    )
    for number, one in enumerate(boxes):
        assert one["size"] >= 14
        assert one["x"] >= 0
        assert one["x"] + one["width"] <= width
        for other in boxes[number + 1 :]:
            apart = [
                one[at] + one[size] <= other[at] + 0.5 or other[at] + other[size] <= one[at] + 0.5
                for at, size in (("x", "width"), ("y", "height"))
            ]
            assert any(apart), (one["text"], other["text"])


def test_what_french_words_mean_stands_below_them_unless_it_is_told_as_a_sentence(opened):
    page = opened()
    glosses = page.locator(".gloss:visible").filter(has_text=re.compile("."))
    expect(glosses).to_have_text(["The", "car", "red", "is", "in front of", "the", "house"])
    key(page, "red").click()
    expect(glosses.filter(has_text="red")).to_have_count(0)
    page.get_by_role("button", name="without attention").click()
    expect(say(page)).to_contain_text("in English: “The car is")
    expect(glosses).to_have_count(0)  # one English text is enough


def test_a_frame_takes_less_than_the_budget(opened):
    page = opened()
    mean = page.evaluate(
        f"""() => {{
          const view = {VIEW}, began = performance.now(), n = 200;
          for (let frame = 0; frame < n; frame++) view.show((view.timeline.end * frame) / n);
          return (performance.now() - began) / n;
        }}"""
    )
    assert mean < FASTEST_FRAME


def test_while_a_guess_is_asked_for_nothing_is_told_and_the_scene_then_goes_to_the_answer(opened, dot):
    page = opened(covered=True)
    expect(say(page)).to_contain_text("is squeezed into one vector of 384 numbers.")
    assert not page.locator(".words .query:visible").filter(has_text="rouge").count()
    expect(page.get_by_role("group", name="Steps")).to_be_hidden()
    page.evaluate(f"(data) => {VIEW}.adopt(data)", dot[1] | {"covered": False})
    expect(say(page)).to_contain_text("comes rouge")
    expect(page.get_by_role("group", name="Steps")).to_be_visible()


def test_in_a_mixture_every_region_of_a_picture_has_the_area_of_its_weight(opened):
    generator = torch.Generator().manual_seed(3)
    query, key = torch.randn(1, 1, 4, generator=generator), 2 * torch.randn(1, 12, 4, generator=generator)
    look = trace_of(query, key, keys=Axis.picture("regions", 3, 4))
    pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    data = picture_scene_data([look], pixel, [[("where", 1.0)]], [("there", 0.9, "")], [("nowhere", 0.5, "")])
    page = opened(data=data)
    expect(say(page)).to_contain_text("comes “there” (90%); with every weight equal it would say “nowhere”")
    tiles = page.evaluate(f"{VIEW}.tiles")
    weights = data["looks"][0]["weights"]
    assert sum(tile["w"] * tile["h"] for tile in tiles) == pytest.approx(1)
    for tile in tiles:
        assert tile["w"] * tile["h"] == pytest.approx(weights[tile["index"]], abs=0.005)
    page.get_by_role("button", name="all equal").click()
    expect(say(page)).to_contain_text("With every weight equal it says “nowhere” (50%); as learned, “there”")
    assert len(page.evaluate(f"{VIEW}.tiles")) == 12
