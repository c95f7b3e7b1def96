"""The first view of every page, seen by one visitor, with all models on the best device."""

import warnings

import pytest

from ui.navigation import PAGES, path_of


@pytest.fixture(scope="module")
def app(root):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Streamlit's own imports
        from streamlit.testing.v1 import AppTest
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield AppTest.from_file(str(root / "app.py"), default_timeout=60).run()


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.url_path)
def test_first_view(app, entry):
    app.switch_page(path_of(entry)).run()
    assert not [(one.message, one.stack_trace) for one in app.exception]
    assert not app.error
    assert app.title
