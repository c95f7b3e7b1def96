"""What a public server tells strangers: no path of its own, and not which models others have asked for."""

from __future__ import annotations

import pytest

from tests.app.tools import open_tab, opened
from ui import skeleton
from ui.navigation import PAGES, path_of


def everything(page) -> str:
    """All that a page shows and sends."""
    assert not page.exception
    return "\n".join(str(element.proto) for element in page if hasattr(element, "proto"))


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_a_page_without_weights_names_no_place_of_the_server(entry, weights, start_app, monkeypatch):
    def noting(name, tabs, *more):
        slugs[:] = [tab.slug for tab in tabs]
        draw(name, tabs, *more)

    slugs, draw = [], skeleton._tabs
    monkeypatch.setattr(skeleton, "_tabs", noting)
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    for file in weights.glob("*.safetensors"):
        file.unlink()
    for file in weights.glob("*.json"):
        file.write_bytes(file.read_bytes()[:-9])
    page = opened(start_app(), path_of(entry))
    shown = everything(page)
    for slug in list(slugs):
        shown += everything(open_tab(page, slug))
    assert str(weights.parent) not in shown
