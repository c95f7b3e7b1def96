"""Look up softly in a real browser: a query of one's own, a cell is edited, both survive leaving the page."""

from playwright.sync_api import expect

from tests.support.on_page import leave_and_return, moving_step, project, settle, submit
from ui.navigation import PAGES

ANOTHER_PAGE = next(entry.title for entry in PAGES if entry.name == "groups")
TITLE = next(entry.title for entry in PAGES if entry.name == "lookup")


def test_an_edited_record_answers_a_misspelled_query_and_stays(visit, app_url):
    page = visit(f"{app_url}/lookup?table=phone-book&question=records")
    submit(page.locator(".st-key-lookup_records textarea"), "A brand new name = 555-0001\nAnother = 555-0002")
    submit(page.locator(".st-key-lookup_asked input"), "a brend new naem")
    expect(page.locator(".st-key-experiment_answer")).to_contain_text("a brend new naem finds A brand new name")
    page.locator(".st-key-lookup_back button").click()
    soft = page.locator(".looked-up").nth(1)
    expect(soft).to_contain_text("A brand new name")
    expect(page.locator(".looked-up").first).to_contain_text("not found")
    leave_and_return(page, ANOTHER_PAGE, TITLE)
    expect(soft).to_contain_text("A brand new name")
    page.locator("canvas.moving").wait_for()


def test_try_this_gets_money_by_spelling(visit, app_url):
    page = visit(f"{app_url}/lookup")
    soft = page.locator(".looked-up").nth(1)
    expect(soft).to_contain_text("car")
    settle(page)
    page.locator(".st-key-lookup_try button").click()
    page.locator(".st-key-lookup_try_guess").get_by_text("garage").click()
    expect(soft).to_contain_text("money")
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
