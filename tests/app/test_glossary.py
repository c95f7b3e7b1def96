"""The glossary: whatever term of it a page shows, the page explains on hover."""

import html
import re

import pytest

from tests.app.tools import open_tab, opened
from ui.glossary import TERMS, explain, terms_in
from ui.navigation import PAGES

TEXTS = ("markdown", "caption", "info", "html")


def shown(page) -> tuple[str, str]:
    """Return the words of a page, and the words of what it shows on hover."""
    written, hovered = [], []
    for element in (one for kind in TEXTS for one in page.get(kind)):
        body = re.sub(r"<style>.*?</style>", "", element.proto.body, flags=re.DOTALL)
        written.append(re.sub(r"<[^>]+>|`[^`]*`|\$[^$]*\$", " ", body))
        hovered += [getattr(element.proto, "help", ""), *re.findall(r'<abbr title="([^"]+)"', body)]
    hovered += [metric.proto.help for metric in page.metric]
    return " ".join(written), html.unescape(" ".join(hovered))


@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_every_term_that_a_page_shows_is_explained_there(app, root, name):
    page, source = opened(app, f"pages/{name}.py"), (root / "pages" / f"{name}.py").read_text()
    for slug in re.findall(r'tab\("(\w+)"', source, re.IGNORECASE) or [""]:
        open_tab(page, slug)
        words, helps = shown(page)
        assert len(words) > 100
        assert not [term for term in terms_in(words) if TERMS[term] not in helps], slug


def test_terms_are_found_as_words_and_nothing_else():
    assert terms_in("Softmax and the gradients; a gated recurrent unit") == ["softmax", "gradient", "GRU"]
    assert terms_in("a blogroll out of logistics, grunt") == []
    assert explain("nothing here") is None
    assert TERMS["BLEU"] in (explain("BLEU against length") or "")
