"""What tests of pages without a browser start with. A test module names its page: PAGE = "pages/pixels/page.py"."""

import gc
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def app_page(app_visit, request):
    """The module's page on arrival, reached without drawing Start first."""
    return app_visit(Path(request.module.PAGE).parent.name)


@pytest.fixture
def weights(tmp_path, monkeypatch, root):
    """A copy of the committed weights that the app reads, with nothing loaded before or after."""
    import streamlit as st

    folder = tmp_path / "weights"
    shutil.copytree(root / "weights", folder)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(folder))
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


@pytest.fixture
def app_visit(root, monkeypatch):
    """A function that opens app.py at a page with an address, as a browser does that has never been there."""
    import streamlit as st

    from tests.support.app import App
    from ui import navigation

    def open_page(name: str, **address: str) -> App:
        def pages():
            entries = navigation.PAGES
            return st.navigation(
                [
                    st.Page(
                        navigation.path_of(entry),
                        title=entry.title,
                        url_path=entry.name * (entry.name != name),
                        default=entry.name == name,
                    )
                    for entry in entries
                ]
            )

        monkeypatch.chdir(root)
        monkeypatch.setattr(navigation, "navigation", pages)
        page = App(root / "app.py", default_timeout=120)
        page.query_params.update(address)
        return page.run()

    return open_page


@pytest.fixture
def walk(start_app, root, stored, monkeypatch):
    """A visitor of the public app who tries everything."""
    from tests.support.hostile import Walk

    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setenv("ATTENTION_MODELS", str(stored))
    gc.collect()
    gc.freeze()  # what other tests have left in this process would be searched on the visitor's time
    yield Walk(start_app(), root, monkeypatch)
    gc.unfreeze()
