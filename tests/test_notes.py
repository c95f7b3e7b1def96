"""docs/notes.md: every statement has a link, which opens the page, and the experiment, that the table names."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.conftest import ROOT
from ui import navigation, state

ROW = re.compile(r"\| (\d+) \| (.+?) \| (.+?) \| \[`(/.*?)`\]\(http://localhost:8501(/.*?)\) \| (\w+).* \|")
LINES = (ROOT / "docs/notes.md").read_text().splitlines()
ROWS = [ROW.fullmatch(line).groups() for line in LINES if re.match(r"\| \d", line)]


def test_every_statement_has_a_place_a_link_and_a_verdict():
    assert [int(number) for number, *_ in ROWS] == list(range(1, 56))
    for _, _, _, shown, link, verdict in ROWS:
        assert shown == link
        assert verdict in ("fully", "partly", "differs", "missing")


@pytest.mark.parametrize(("where", "link"), dict.fromkeys((where, link) for _, _, where, _, link, _ in ROWS))
def test_link_opens_what_the_table_names(where, link, visit):
    path, query = urlsplit(link).path[1:], dict(parse_qsl(urlsplit(link).query))
    entry = navigation.entry_of(path or "start")
    page = visit(entry.name, **query)
    assert not page.exception
    assert not page.error
    assert not page.toast, "every part of the link is understood"
    assert query.keys() <= {field.address for field in state.fields_of(entry.name)}
    title, _, part = where.partition(", ")
    assert entry.title.startswith(title)
    headings = {heading.value for heading in (*page.title, *page.header)}
    assert part in headings or part in repr(page)
    if slug := query.get("question"):
        assert part == page.title[0].value == next(text for one, text, *_ in entry.questions if one == slug)
