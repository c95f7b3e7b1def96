"""Every page opens from the app, and every file of pages/ is in its list."""

from __future__ import annotations

import pytest

from ui.navigation import PAGES, path_of


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.url_path)
def test_page_opens_without_an_error(app, entry):
    app.switch_page(path_of(entry)).run()
    assert not app.exception
    assert not app.error
    assert app.title
