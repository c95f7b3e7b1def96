"""Guided lectures without a browser: what their links open, the way through the items, files that are none."""

import re
from html import unescape

import pytest

from tests.support.app import rerun, text_of
from ui.lecture.guided.items import BUNDLED, lecture_text, parsed_lecture
from ui.lecture.guided.menu import handout
from ui.navigation import entry_of

ITEMS = [(name, n) for name in BUNDLED for n in range(1, len(parsed_lecture(lecture_text(name)).items) + 1)]


def item_of(name: str, n: int):
    return parsed_lecture(lecture_text(name)).items[n - 1]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_lecture_takes_the_minutes_of_its_name(name):
    assert parsed_lecture(lecture_text(name)).minutes == int(name)


@pytest.mark.parametrize(("name", "n"), ITEMS)
def test_every_item_opens_its_page_as_its_link_says_under_its_sentence(visit, name, n):
    item = item_of(name, n)
    page = visit(item.page, guided=name, item=str(n), lecture="1", **item.state)
    assert not page.toast, "every part of the link is understood"
    assert not page.error
    assert page.title[0].value == entry_of(item.page).heading
    assert item.sentence in text_of(page)
    shown = {part: value for part, value in page.query_params.items() if part not in ("guided", "item", "lecture")}
    assert {part: value if isinstance(value, str) else value[0] for part, value in shown.items()} == item.state


def test_a_link_begins_a_lecture_and_it_ends_with_what_to_keep(visit):
    page = visit("start", guided="15")
    assert page.session_state["lecture"] is True
    assert item_of("15", 1).sentence in text_of(page)
    page = visit("atlas", guided="15", item="7", lecture="1")
    page.button(key="item_after").click().run()
    assert "A large weight is not yet an explanation." in text_of(page)
    page.button(key="lecture_item_back").click().run()
    assert item_of("15", 7).sentence in text_of(page)


def test_the_menu_begins_a_lecture_and_next_opens_its_next_item(app):
    page = rerun(app, lectures=True)
    page.button(key="lecture_15").click().run()
    assert page.button(key="item_before").disabled
    page.button(key="item_after").click().run()
    assert (page.session_state["page_shown"], page.session_state["item"]) == ("translate", 2)


def test_an_item_asks_its_question_and_then_tells(visit):
    item = item_of("15", 4)
    page = visit("vectors", guided="15", item="4", lecture="1", question="numbers")
    assert item.question not in text_of(page)
    page.button(key="lecture_item_ask").click().run()
    asked = page.segmented_control(key="lecture_try_guess")
    assert (asked.label, tuple(asked.options)) == (item.question, item.answers)
    page.button(key="lecture_item_reveal").click().run()
    assert f"**{item.answers[item.right]}.**" in text_of(page)


def upload(page, content: bytes, name: str = "mine.txt"):
    page.file_uploader(key="lecture_upload").set_value((name, content, "text/plain")).run()
    return page


OWN = "# Mine [x](http://elsewhere.example)\n\n## *Not* decides.\npage: matter\nminutes: 3\n"


def test_a_file_of_ones_own_is_given_and_a_faulty_one_changes_nothing(app):
    upload(rerun(app, lectures=True), OWN.encode())
    assert not app.error
    faulty = (OWN.replace("minutes: 3", "minutes: soon"), "Line 5: minutes are"), (OWN.replace("# M", "M"), "Line 1: ")
    for text, words in (*faulty, ("\ud800", "UTF-8")):
        upload(app, text.encode(errors="surrogatepass"))
        assert words in app.error[0].value
    app.button(key="lecture_own").click().run()
    assert app.session_state["page_shown"] == "matter"
    assert "*Not* decides." in text_of(app)
    assert app.query_params["guided"] in ("own", ["own"])
    assert app.button(key="matter_try")
    app.button(key="item_after").click().run()
    assert "The end" in text_of(app)
    assert "matter_try" not in [button.key for button in app.button], "it would lie over the end"


def test_the_handout_has_pictures_questions_and_links_of_the_app():
    lecture = parsed_lecture(lecture_text("15"))
    page = handout(lecture, "https://attention.example/app/")
    links = [unescape(link) for link in re.findall('href="([^"]+)"', page)]
    assert links[0] == "https://attention.example/app/"
    assert links[3] == "https://attention.example/app/vectors?question=numbers&step=weights"
    assert page.count("<img ") == len(lecture.items)
    assert "<b>values ✓</b>" in page
    assert lecture.items[0].notes[:40] not in page
    hostile = handout(parsed_lecture(OWN.replace("*Not*", "<script>")), "")
    assert "<script>" not in hostile


def test_the_example_of_the_docs_is_a_lecture(root):
    example = re.search(r"```\n(.*?)```", (root / "docs/lectures.md").read_text(), re.DOTALL)
    assert [item.page for item in parsed_lecture(example[1]).items] == ["translate", "matter"]
