"""Every old address opens what it promised, wherever that stands today."""

from urllib.parse import parse_qsl

import pytest

from ui.navigation import NUMBERS, PAGES, entry_of
from ui.old_addresses import ANY, MOVED, OPENS, current_address, moved_address

NEEDED = {"model": {"model": "tatoeba-llama"}}
"""What a page has to be shown with to have all its questions."""


@pytest.mark.parametrize("name", sorted(OPENS.keys() - {"every", *MOVED}))
def test_old_addresses_lead_to_what_they_promised_and_the_page_opens_it(name, visit):
    texts = {"": entry_of(name).heading, NUMBERS: "All the numbers"} | {
        slug: text for slug, text, *_ in entry_of(name).questions
    }
    for old, today in OPENS[name].items():
        query, current = (dict(parse_qsl(one.replace(ANY, "shuffled-2"))) for one in (old, today))
        assert current_address(name, query) == current
        assert current.get("question", "") in texts
    page = visit(name, **NEEDED.get(name, {}), **query)
    assert not page.exception
    assert not page.error
    assert not page.toast
    headings = [*(title.value for title in page.title), *(heading.value for heading in page.header)]
    assert texts[current.get("question", "")] in headings
    assert not query.items() & dict(page.query_params).items(), "the address is today's"


@pytest.mark.parametrize("name", ["start", "train"])
def test_the_menu_at_the_foot_opens_by_its_old_address(name, visit):
    page = visit(name, tab="take")
    assert page.session_state["take_along"] is True
    assert "tab" not in page.query_params
    assert "menu" not in page.query_params


def test_the_later_of_two_old_values_decides_and_others_stay():
    assert current_address("pixels", {"tab": "try", "erases": "1", "pixel": "3"}) == {"question": "erase", "pixel": "3"}
    assert current_address("pixels", {"question": "patches"}) == {"question": "patches"}
    words = {"words": "2.1.0"}
    assert current_address("transformer", {"order": "2.1.0"}) == current_address("transformer", words) == words
    assert current_address("pixels", {"tab": "no such tab"}) == {"tab": "no such tab"}


def test_old_addresses_are_of_pages_that_are_there():
    assert OPENS.keys() - {"every", *MOVED} <= {entry.name for entry in PAGES}


def test_find_the_digit_is_a_question_of_the_photograph_today(visit):
    before = {"tab": "steps", "step": "query", "region": "3", "digit": "5", "edits": "900"}
    name, today = moved_address("find", before)
    assert (name, today) == ("photograph", {"step": "query", "mask_region": "3", "digit": "5", "question": "learned"})
    page = visit(name, **today)
    assert not page.toast
    assert "What if the mask is learned?" in [title.value for title in page.title]
    assert page.session_state["photograph_step"] == "query"
    assert page.session_state["photograph_region"] is None
    assert moved_address("pixels", before) == ("pixels", before)
