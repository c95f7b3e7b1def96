"""The offline page that every page offers: small, with its steps, and named after what it shows."""

import pytest
import streamlit as st

from tests.support.app import ExportAtOnce, open_page
from ui.player import OFFLINE_BYTES

PICTURES = {"pixels": (28, 28), "photograph": (14, 25), "read": (12, 48), "ask": (16, 16)}
"""Name -> rows and columns of what lies over the drawing."""
NAMES = [
    "lookup",
    "vectors",
    "matter",
    "translate",
    "transformer",
    "pixels",
    "photograph",
    "read",
    "ask",
    "groups",
    "model",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_can_be_taken_along_as_a_page_of_two_megabytes_at_most(app, name, monkeypatch):
    made = {}
    monkeypatch.setattr(st, "download_button", lambda label, *given, **_: made.update({label: given}))
    monkeypatch.setattr("ui.take_along.EXPORT", ExportAtOnce())
    open_page(app, f"pages/{name}/page.py")
    make, file = made["Offline page"]
    text = make()
    assert file.startswith(name)
    assert len(text.encode()) <= OFFLINE_BYTES
    assert '"steps": [{' in text
    assert ('"picture": null' in text) == (name not in PICTURES)
    if name in PICTURES:
        rows, columns = PICTURES[name]
        assert f'"grid": [{rows}, {columns}], "before": 0' in text
