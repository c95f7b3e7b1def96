"""The workbench in a real browser: a drag, typing into a table, leaving and coming back, a click on a cell."""

import re

from playwright.sync_api import expect

from tests.support.on_page import NEXT_FRAME, moving_cell, settle

EDITOR = "[data-testid=stDataFrame]"
HEADER, ROW = 36, 29
NINE = re.compile(r"Only .* moved\..* 9 of 9 weights changed\.( Length counts, too: .*)?")
FEWER_DEGREES = "Of equally long keys, the smaller the angle, the more"
ANGLES = f"{FEWER_DEGREES} x1 takes: 59% from itself, 36% from x2 at 37°, 5% from x3 at 90°."


def type_into(page, row, share, letter):
    """Type one letter into a cell that is not the selected one, as soon as the table takes the focus."""
    for _ in range(20):
        page.locator(EDITOR).first.scroll_into_view_if_needed()
        box = page.locator(EDITOR).first.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + HEADER + ROW * (row + 0.5))
        page.evaluate(NEXT_FRAME)
        if page.evaluate("document.activeElement.closest('[data-testid=stDataFrame]') !== null"):
            break
        settle(page)
    page.keyboard.press(letter)
    page.locator("input.gdg-input").wait_for()
    page.keyboard.press("Enter")


def wait_for_formula(page, cell):
    """Wait until the numbers of a cell of the scores are written out."""
    page.locator("annotation", has_text=f"{cell} = ").wait_for(state="attached")


def shares(page):
    return page.locator(".cell").all_inner_texts()


def test_dragging_one_vector_changes_nine_weights_at_once_and_then_what_python_draws(visit, app_url):
    page = visit(f"{app_url}/vectors?step=weights")
    tip = page.locator('.tip[data-place="0"]')
    tip.wait_for()
    page.locator("canvas.moving").wait_for()
    settle(page)
    expect(page.locator(".say")).to_contain_text(ANGLES)
    expect(page.locator(".cell").first).to_have_attribute("data-score", "score 2.40")
    expect(page.locator("text.degrees")).to_have_text(["90°", "37°"])
    expect(page.locator(".cell").first).not_to_have_css("padding-left", "0px")  # there stand its query and key
    before, context = shares(page), page.locator("path.arrow.sum").get_attribute("d")
    tip.hover()
    box = tip.bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] - 280, box["y"] + 60, steps=6)
    expect(page.locator(".say")).to_have_text(NINE)
    during = shares(page)
    assert all(new != old for old, new in zip(before, during, strict=True))
    assert "L" in page.locator("path.ghost").get_attribute("d")
    assert page.locator("path.arrow.sum").get_attribute("d") != context
    page.mouse.up()
    page.wait_for_url("**cells=*")
    assert shares(page) == during, "Python says the same"


def test_edges_of_a_graph_follow_a_drag_and_the_weights_of_its_neighbours(visit, app_url):
    page = visit(f"{app_url}/vectors?preset=graph")
    tip = page.locator('.tip[data-place="4"]')
    tip.wait_for()
    settle(page)
    edges = page.locator("path.edge")
    before = edges.get_attribute("d")
    assert before.count("M") == 5
    tip.hover()
    box = tip.bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] - 60, box["y"] - 60, steps=4)
    expect(page.locator(".say")).to_contain_text("5 of 25 weights changed.")
    page.mouse.up()
    after = edges.get_attribute("d")
    assert after.count("M") == 5
    assert after != before


def test_a_row_that_sees_one_key_alone_mixes_nothing_and_many_cells_have_no_room_for_their_pairs(visit, app_url):
    page = visit(f"{app_url}/vectors?preset=causal")
    expect(page.locator(".say")).to_have_text("I's context is I's value, all of it.")
    expect(page.locator(".cell").first).to_have_css("padding-left", "0px")


def test_typing_recomputes_and_survives_leaving_the_page(visit, app_url):
    page = visit(f"{app_url}/vectors?step=scores&rules=1")
    page.locator(EDITOR).first.wait_for()
    settle(page)
    before = shares(page)
    type_into(page, 0, 0.55, "3")
    page.wait_for_url("**cells=*")
    expect(page.locator(".cell")).not_to_have_text(before)
    settle(page)
    expect(page.locator(".say")).to_have_text(NINE)
    after = shares(page)
    assert after != before

    page.get_by_role("link", name="Start").click()
    page.get_by_role("heading", name="What if softmax were off, or another rule changed?").wait_for(state="detached")
    page.get_by_role("link", name="Three vectors, nine pairs").first.click()
    page.locator(".st-key-vectors_back button").click()
    wait_for_formula(page, "S_{1,2}")
    expect(page.locator(".cell")).to_have_text(after)

    product = page.locator("canvas.moving")
    product.click(position=moving_cell(product, 2, 2))
    wait_for_formula(page, "S_{3,3}")
    product.press("ArrowLeft")
    product.press("Enter")
    wait_for_formula(page, "S_{3,2}")


def test_a_weight_is_clicked_and_typed_and_the_words_of_its_edit_wrap(visit, app_url):
    page = visit(f"{app_url}/vectors?question=elsewhere")
    canvas = page.locator("[class*=st-key-vectors_weights] canvas.moving")
    canvas.click(position=moving_cell(canvas, 2, 0))
    page.get_by_text("x3 takes from", exact=True).wait_for()
    number = page.get_by_label("in percent")
    number.fill("90")
    number.press("Enter")
    words = page.locator(".st-key-vectors_edit_0 label p")
    expect(words).to_have_text("Row x3 takes 90% from x1; the others share the rest")
    expect(page.locator(".cell").nth(6)).to_have_text("90%")
    assert words.evaluate("words => getComputedStyle(words).whiteSpace") == "normal"


def test_another_row_is_chosen_a_key_is_crossed_out_and_all_is_as_computed_again(visit, app_url):
    page = visit(f"{app_url}/vectors")
    page.get_by_role("button", name="x3: ask from here").click()
    expect(page.locator(".say")).to_have_text(
        f"{FEWER_DEGREES} x3 takes: 68% from itself, 26% from x2 at 53°, 6% from x1 at 90°."
    )
    expect(page.locator("text.name").first).to_have_text("x1 6%")
    tip = page.locator('.tip[data-place="0"]')
    tip.focus()
    tip.press("ArrowLeft")
    expect(page.locator(".say")).to_contain_text("Only x1 moved.")
    page.locator(".query").nth(1).click()
    expect(page.locator(".say")).to_contain_text("x2")
    tip.press("ArrowRight")
    page.locator(".query").nth(2).click()
    page.get_by_role("button", name=re.compile("x2, score 1.44.*cross it out")).click()
    expect(page.locator(".say")).to_have_text("You crossed out x2: x3 shares its weight among the rest.")
    expect(page.locator(".cell").nth(7)).to_have_text("0%")
    page.wait_for_url("**edits=*")
    settle(page)
    expect(page.locator(".say")).to_have_text("You crossed out x2: x3 shares its weight among the rest.")
    page.locator(".query").first.click()
    expect(page.locator(".say")).to_contain_text("x1's context is a mixture: 59% of x1")
    page.get_by_role("button", name="as computed").click()
    expect(page.locator(".cell").nth(7)).to_have_text("26%")


def test_try_this_leaves_the_weights_in_sight_until_all_nine_have_changed(visit, app_url):
    page = visit(f"{app_url}/vectors")
    page.locator(".tip").first.wait_for()
    settle(page)
    page.get_by_role("button", name="Try this").click()
    expect(page.locator(".covered .say")).to_have_text(ANGLES)
    expect(page.locator(".cell.now")).to_have_text(["59%", "36%", "5%"])
    page.locator(".st-key-vectors_try_guess").get_by_text("5", exact=True).click()
    expect(page.locator(".say")).to_have_text(NINE)
    expect(page.locator(".cell.rescored")).to_have_count(5)
    expect(page.locator(".cell").nth(7)).to_have_attribute("data-before", "26% →")
    expect(page.locator(".cell").nth(7)).to_have_attribute("data-score", "score 1.44")
    expect(page.locator(".cell.now")).to_have_text(["61%", "5%", "34%"])


def test_a_projection_turns_the_query_in_the_same_picture_and_back(visit, app_url):
    page = visit(f"{app_url}/vectors")
    expect(page.locator(".cell").first).to_have_text("59%")
    page.get_by_role("button", name="query: x, turned").click()
    expect(page.locator(".say")).to_contain_text("x1, turned by WQ, takes: 68% from x3 at 0°, 6% from x1 at 90°.")
    expect(page.locator("text.name", has_text="query")).to_have_css("opacity", "1")
    page.get_by_role("button", name="query: x", exact=True).click()
    expect(page.locator(".cell").first).to_have_text("59%")
    expect(page.locator("text.name", has_text="query")).to_have_css("opacity", "0")
