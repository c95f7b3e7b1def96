"""What tests of pages start with. A test module names its page: PAGE = "pages/pixels.py"."""

import shutil

import pytest


@pytest.fixture
def page(app, request):
    """The module's page on arrival."""
    from tests.app.tools import opened

    return opened(app, request.module.PAGE)


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
def visit(root, monkeypatch):
    """A function that opens app.py at a page with an address, as a browser does that has never been there."""
    import streamlit as st

    from tests.app.tools import App
    from ui import navigation

    def open_page(name: str, **address: str) -> App:
        def pages():
            entries = navigation.PAGES
            return st.navigation(
                [st.Page(navigation.path_of(entry), title=entry.title, default=entry.name == name) for entry in entries]
            )

        monkeypatch.chdir(root)
        monkeypatch.setattr(navigation, "navigation", pages)
        page = App(root / "app.py", default_timeout=120)
        page.query_params.update(address)
        return page.run()

    return open_page
