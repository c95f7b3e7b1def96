"""What tests of pages without a browser start with. A test module names its page: PAGE = "pages/pixels/page.py"."""

import gc
import shutil
import warnings
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
def hostile_visitor(start_app, root, model_folders, monkeypatch):
    """A visitor of the public app who tries everything."""
    from tests.support.hostile import HostileVisitor

    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setenv("ATTENTION_MODELS", str(model_folders))
    gc.collect()
    gc.freeze()  # what other tests have left in this process would be searched on the visitor's time
    yield HostileVisitor(start_app(), root, monkeypatch)
    gc.unfreeze()


@pytest.fixture
def start_app(root, monkeypatch: pytest.MonkeyPatch):
    """A function that runs app.py without a browser, for tests that need a setting of their own before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Streamlit's imports warn; warnings of the app's runs still fail tests
        from tests.support.app import App
    monkeypatch.chdir(root)
    return lambda: App(root / "app.py", default_timeout=60).run()


@pytest.fixture
def app(start_app):
    """app.py, run once without a browser: `app.switch_page("pages/pixels/page.py").run()` goes to a page."""
    return start_app()
