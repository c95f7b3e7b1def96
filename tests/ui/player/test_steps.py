"""The steps of a trace are built once in a run of a page, however many of its parts ask for them."""

import pytest

from attention_core.attention import steps
from tests.support.app import open_page


@pytest.mark.parametrize("page", ["vectors", "lookup"])
def test_a_run_builds_the_steps_of_its_trace_once(app, monkeypatch, page):
    shown, built, real = open_page(app, f"pages/{page}/page.py"), [], steps.attention_steps
    monkeypatch.setattr(steps, "attention_steps", lambda trace: built.append(trace) or real(trace))
    shown.run()
    assert len(built) == 1
