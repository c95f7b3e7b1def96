"""What tests of pages start with. A test module names its page: PAGE = "pages/pixels.py"."""

import shutil

import pytest
from streamlit.testing.v1.element_tree import ElementTree


@pytest.fixture(autouse=True)
def every_run_goes_well(request, monkeypatch):
    """No run of a page ends in an exception, whatever its own tests do there."""
    run = ElementTree.run

    def checked(tree, **how):
        page = run(tree, **how)
        assert not page.exception
        return page

    if request.path.name.startswith("test_page_"):
        monkeypatch.setattr(ElementTree, "run", checked)


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
