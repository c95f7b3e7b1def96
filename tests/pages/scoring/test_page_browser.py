"""What a score measures, in a real browser: mouse, keyboard and finger; what follows; what survives."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.support.on_page import settle
from tests.support.scored_plane import (
    FIELDS,
    SENTENCE,
    drag_to,
    middle_of,
    point_in_plane,
    shares_in_table,
    show_all,
    tip_of,
)


@pytest.fixture
def plane(visit, app_url):
    page = visit(f"{app_url}/scoring")
    page.locator(".tip").first.wait_for()
    settle(page)
    return page


def said(plane):
    return plane.locator(".say")


def choose_score(plane, name):
    plane.get_by_role("button", name=f"{name}: ask from here", exact=True).click()


def test_two_scores_disagree_until_a_key_is_dragged(plane):
    expect(said(plane)).to_have_text(
        "k₂ only grew longer. Its weight: dot 13% → 95%, cosine still 30%, squared distance 34% → 7%."
    )
    expect(plane.locator(".cell.best")).to_have_text(["95%", "36%", "49%"])
    names = ["q", "k₁ 5%", "k₂ 95%", "k₃ <1%", "k₄ <1%", "context", "q′", "before"]
    expect(plane.locator("text.name")).to_have_text(names)
    expect(plane.locator('.cell[data-before="13% →"]')).to_have_text("95%")
    choose_score(plane, "squared distance")
    expect(said(plane)).to_contain_text("By squared distance q takes most from k₁")
    expect(plane.locator("text.name").nth(1)).to_have_text("k₁ 49%")
    plane.wait_for_url("**score=L2*")
    settle(plane)
    choose_score(plane, "dot")
    drag_to(plane, 1, 3.9, 3.9)
    drag_to(plane, 1, 2.5, 2.0)
    plane.mouse.up()
    drag_to(plane, 2, -3.9, -3.9)
    plane.mouse.up()
    expect(said(plane)).to_contain_text("by cosine and squared distance, too.")


def test_dragging_a_key_changes_bars(plane):
    show_all(plane)
    before = tip_of(plane, 3).get_attribute("aria-valuetext")
    drag_to(plane, 3, 3.9, 3.9)
    expect(tip_of(plane, 3)).to_have_attribute("aria-valuetext", re.compile("weight >99%"))
    assert "weight <1%" in before
    expect(plane.locator(SENTENCE)).to_have_text(re.compile(r"k₃: dot \(>?\d+%\)"))  # while the button is still down
    plane.mouse.up()
    expect(plane.locator(".cell").nth(2)).to_have_text(">99%")
    expect(plane.locator(".cell").nth(3)).to_have_text("<1%")


def test_dragging_a_key_changes_the_fields(plane):
    plane.get_by_role("button", name="Where would a key score high?").click()
    plane.locator("[data-testid=stVegaLiteChart] image").first.wait_for()
    settle(plane)
    fields = plane.evaluate(FIELDS)
    drag_to(plane, 3, 3.9, 3.9)
    plane.mouse.up()
    plane.wait_for_function(f"before => {FIELDS} !== before", arg=fields)


def test_a_query_of_zero_fits_all_keys_equally_and_chooses_none(plane):
    query = tip_of(plane, 0)
    query.focus()
    for key, times in (("ArrowLeft", 8), ("ArrowDown", 6)):
        for _ in range(times):
            plane.keyboard.press(key)
    expect(query).to_have_attribute("aria-valuetext", re.compile("^x 0.00, y 0.00"))
    expect(said(plane)).to_have_text("By dot all keys fit equally well.")


def test_the_shares_of_a_dragged_key_follow_at_once(plane):
    before = shares_in_table(plane)
    drag_to(plane, 3, 3.9, 3.9)
    during = shares_in_table(plane)
    assert during[2] > 90 > before[2]
    assert sum(during) == pytest.approx(100, abs=1)
    plane.mouse.up()


def test_angle_lengths_and_dot_product_obey_the_cosine_formula(plane):
    drag_to(plane, 1, -1.0, 3.0)
    plane.mouse.up()
    plane.get_by_role("button", name="scores", exact=True).click()
    text = said(plane).inner_text().replace("−", "-")
    length_q, length_k, degrees, dot = map(float, re.findall(r"-?\d+\.\d+", text))
    assert length_k == pytest.approx(10**0.5, abs=0.05)
    assert length_q * length_k * math.cos(degrees * 3.14159265 / 180) == pytest.approx(dot, abs=0.05)


def test_arrow_keys_move_the_focused_arrow_and_its_name_is_spoken(plane):
    show_all(plane)
    arrow = tip_of(plane, 0)
    arrow.focus()
    words = plane.locator(SENTENCE).inner_text()
    before = float(arrow.get_attribute("aria-valuenow"))
    for _ in range(8):
        plane.keyboard.press("ArrowLeft")
    assert float(arrow.get_attribute("aria-valuenow")) == pytest.approx(before - 2)
    assert arrow.get_attribute("aria-label") == "q"
    expect(plane.locator(".plane + .heard")).to_contain_text("the query")
    expect(plane.locator(SENTENCE)).not_to_have_text(words)
    assert arrow.evaluate("(node) => node.getRootNode().activeElement === node"), "focus survives Python's answer"


def test_the_question_is_turned_by_mouse_and_by_keys_and_a_link_turns_it_again(plane, visit):
    handle, ghost = plane.get_by_role("slider", name="Turn the query"), plane.locator("path.projected.query").first
    unturned = ghost.get_attribute("d")
    plane.mouse.move(*middle_of(handle.locator("circle")))
    plane.mouse.down()
    plane.mouse.move(*point_in_plane(plane, -1.5, 2.0), steps=6)
    expect(said(plane)).to_have_text(
        "WQ turns q by 90° into q′. By dot q′ takes most from k₁, 95%; by cosine and squared distance, too."
    )
    plane.mouse.up()
    assert ghost.get_attribute("d") != unturned
    handle.press("ArrowLeft")
    expect(plane.locator(".plane + .heard")).to_have_text("turned by 95 degrees")
    plane.wait_for_url("**4095")
    expect(visit(plane.url).get_by_role("slider", name="Turn the query")).to_have_attribute("aria-valuenow", "95")


def test_a_finger_drags_too(plane):
    finger = plane.context.new_cdp_session(plane)
    start, goal = middle_of(tip_of(plane, 2)), point_in_plane(plane, -3.0, 2.0)
    for kind, points in (("touchStart", [start]), ("touchMove", [goal]), ("touchEnd", [])):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})
    expect(tip_of(plane, 2)).to_have_attribute("aria-valuetext", re.compile("^x −3.00, y 2.00"))


def test_the_arrangement_survives_leaving_the_page(plane):
    drag_to(plane, 0, -2.0, 3.0)
    plane.mouse.up()
    settle(plane)
    show_all(plane)
    weights = plane.locator(".cell").all_inner_texts()
    plane.get_by_role("link", name="Start").click()
    plane.get_by_text("Attention Explorer").first.wait_for()
    plane.get_by_role("link", name="What a score measures").first.click()
    tip_of(plane, 0).wait_for()
    expect(tip_of(plane, 0)).to_have_attribute("aria-valuetext", re.compile("^x −2.00, y 3.00"))
    expect(plane.locator(".cell")).to_have_text(weights, use_inner_text=True)


def test_back_brings_the_arrows_back(plane):
    assert "vectors=" not in plane.url
    drag_to(plane, 0, -2.0, 3.0)
    plane.mouse.up()
    plane.wait_for_url("**vectors=-2*")
    settle(plane)
    plane.go_back()
    expect(tip_of(plane, 0)).to_have_attribute("aria-valuetext", re.compile("^x 2.00, y 1.50"))
    assert "vectors=" not in plane.url
    plane.go_forward()
    expect(tip_of(plane, 0)).to_have_attribute("aria-valuetext", re.compile("^x −2.00, y 3.00"))


def test_the_eight_functions_and_their_favourite_keys_fit_a_screen(plane):
    show_all(plane)
    box = plane.locator(SENTENCE).bounding_box()
    assert box["y"] + box["height"] <= 900


def test_own_weights_are_said_to_be_own_until_another_example(plane):
    plane.get_by_role("button", name=re.compile("^k₂, score .*cross it out")).click()
    expect(said(plane)).to_contain_text("With the weights as you set them, q takes")
    plane.wait_for_url("**edits=*")
    settle(plane)
    choose_score(plane, "squared distance")
    expect(said(plane)).to_have_text(re.compile(r"By squared distance q takes most from k₁, \d+%; by cosine from k₄\."))
    expect(plane.get_by_role("button", name="as computed")).to_be_visible()
    plane.get_by_role("button", name="One long key").click()
    expect(said(plane)).to_contain_text("; by dot from k₂")
    assert not plane.locator("path.ghost").get_attribute("d")


def test_what_comes_of_a_guess_is_shown_at_once_beside_what_was_before(plane):
    plane.get_by_role("button", name="Try this").click()
    plane.locator(".st-key-scoring_try_guess").get_by_text("cosine").click()
    expect(said(plane)).to_have_text("By squared distance q takes most from k₂, 74%; by dot, too; by cosine from k₄.")
    expect(plane.get_by_test_id("stAlertContainer").get_by_text("Not so:")).to_be_visible()
    expect(plane.locator(".cell.now").nth(1)).to_have_attribute("data-before", "7% →")
    assert plane.locator("path.ghost").get_attribute("d")
