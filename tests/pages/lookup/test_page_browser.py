"""Look up softly in a real browser: what is typed, chosen in the scene and guessed, and what stays."""

from playwright.sync_api import expect

from tests.support.on_page import leave_and_return, moving_step, project, settle, submit
from ui.navigation import PAGES

ANOTHER_PAGE = next(entry.title for entry in PAGES if entry.name == "groups")
TITLE = next(entry.title for entry in PAGES if entry.name == "lookup")


def say(page):
    return page.locator(".scene .say")


def key(page, name: str):
    return page.locator(".words").get_by_role("button", name=f"{name}, score")


def test_an_edited_record_answers_a_misspelled_query_and_stays(visit, app_url):
    page = visit(f"{app_url}/lookup?table=phone-book&question=records")
    submit(page.locator(".st-key-lookup_records textarea"), "A brand new name = 555-0001\nAnother = 555-0002")
    submit(page.locator(".st-key-lookup_asked input"), "a brend new naem")
    expect(page.locator(".st-key-experiment_answer")).to_contain_text("a brend new naem finds A brand new name")
    page.locator(".st-key-lookup_back button").click()
    expect(say(page)).to_contain_text("comes 555-0001")
    leave_and_return(page, ANOTHER_PAGE, TITLE)
    expect(say(page)).to_contain_text("comes 555-0001")
    page.locator("canvas.moving").wait_for()


def test_a_way_a_query_and_weights_are_chosen_in_the_scene(visit, app_url):
    page = visit(f"{app_url}/lookup")
    switch, dictionary = (
        page.get_by_role("group", name="What is handed over"),
        page.get_by_role("button", name="dictionary"),
    )
    expect(say(page)).to_contain_text("comes a road vehicle with an engine (94%)")
    settle(page)
    dictionary.click()
    expect(say(page)).to_contain_text("A dictionary finds nothing: no key is exactly “automobile”.")
    page.locator(".st-key-lookup_query").get_by_role("radio", name="car").click()
    settle(page)
    dictionary.click()
    expect(say(page)).to_contain_text("finds the key that is exactly “car”: a road vehicle")
    switch.get_by_role("button", name="all equal").click()
    expect(say(page)).to_contain_text("every value alike")
    settle(page)
    switch.get_by_role("button", name="soft look-up").click()
    settle(page)
    key(page, "car").click()
    expect(key(page, "car")).to_have_attribute("aria-pressed", "true")
    expect(say(page)).to_contain_text("Without “car”, “garage” has")
    settle(page)
    expect(page.get_by_role("slider", name="weight of car")).to_have_attribute("aria-valuenow", "0")
    switch.get_by_role("button", name="as it was").click()
    expect(key(page, "car")).to_have_attribute("aria-pressed", "false")


def test_try_this_covers_the_scene_and_gets_money_by_spelling(visit, app_url):
    page = visit(f"{app_url}/lookup")
    expect(say(page)).to_contain_text("a road vehicle")
    settle(page)
    page.locator(".st-key-lookup_try button").click()
    page.locator(".scene.covered").wait_for()
    expect(say(page)).to_have_text("")
    page.locator(".st-key-lookup_try_guess").get_by_text("garage").click()
    expect(say(page)).to_contain_text("coins and notes")
    expect(page.get_by_text("By spelling it finds money; by meaning, car.")).to_be_visible()


def test_slanted_column_names_stay_inside_the_picture_of_a_step(visit, app_url):
    page = visit(f"{app_url}/lookup?question=numbers&step=scaled&lecture=1")
    page.wait_for_function("window.lecture?.on")
    project(page, 1024, 768)
    canvas = page.locator("canvas.moving")
    moving_step(canvas)
    colours = """(canvas) => {
      const { data } = canvas.getContext("2d").getImageData(canvas.width - 2, 0, 1, canvas.parentNode.view.area.y);
      return new Set(new Uint32Array(data.buffer)).size;
    }"""
    assert canvas.evaluate(colours) == 1, "that of the ground alone"


def test_rows_stand_by_their_scores_and_a_key_that_is_crossed_out_stays_where_it_is(visit, app_url):
    page = visit(f"{app_url}/lookup")
    rows = """(nodes) => nodes.map((node) => [parseFloat(node.style.top), node.innerText])"""
    names = page.locator(".words .name")
    expect(say(page)).to_contain_text("a road vehicle")
    settle(page)
    before = names.evaluate_all(rows)
    assert [name for _, name in sorted(before)][:2] == ["car", "garage"]
    key(page, "car").click()
    page.wait_for_url("**edits=*")
    settle(page)
    assert names.evaluate_all(rows) == before


def test_labels_in_the_plane_lie_on_no_other_one(visit, app_url):
    records = "%0A".join(f"a long name {number} of many={number}" for number in range(24))
    page = visit(f"{app_url}/lookup?table=phone-book&records={records}&q=a%20long%20name%207")
    expect(say(page)).to_contain_text("Out comes")
    settle(page)
    boxes = page.locator(".words .key").evaluate_all(
        """(nodes) => nodes.filter((node) => node.style.opacity === "1").map(({ style }) =>
          [style.left, style.top, style.width, style.height].map(parseFloat))"""
    )
    assert len(boxes) > 3
    for number, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[:number]:
            assert x >= a + c or a >= x + w or y >= b + d or b >= y + h
