"""Pages whose models compute elsewhere: they show the same; a cluster that is away is told, and nothing hangs."""

import threading
import time

import pytest

from attention_core.serve.client import Cluster
from tests.support.app import charts, open_page, rerun, text_of
from tests.support.fake_cluster import TOKEN, fake_cluster
from ui import computed as shown
from ui import model_runs
from ui.computed import result_cache
from ui.navigation import PAGES, path_of


@pytest.fixture
def there(monkeypatch):
    """A cluster beside the app; what it computes it does not ask of itself."""
    with fake_cluster() as server:
        asked = Cluster(server.address, TOKEN)
        monkeypatch.setattr(
            shown, "cluster", lambda: None if "process_request" in threading.current_thread().name else asked
        )
        monkeypatch.setattr("ui.skeleton.is_warm", lambda: True)  # else the sidebar does not know yet
        forget()
        yield server
    forget()


def forget() -> None:
    result_cache().clear()
    model_runs._runs().clear()


def caption(page) -> str:
    return next(one.value for one in page.sidebar.caption if "Computing" in one.value or "Waiting" in one.value)


@pytest.mark.parametrize("entry", [entry for entry in PAGES if entry.name != "atlas"], ids=lambda entry: entry.name)
def test_every_page_says_the_same_by_a_cluster(app, there, entry):
    page = open_page(app, path_of(entry))
    far, called = text_of(page), [*there.names]
    forget()
    shown_there, shown.cluster = shown.cluster, lambda: None
    try:
        near = text_of(rerun(page))
    finally:
        shown.cluster = shown_there
    assert far.replace("a cluster: a fake device", "CPU, 1 thread") == near
    assert len(there.names) == len(called)
    if entry.name not in (
        "start",
        "lookup",
        "vectors",
        "scoring",
        "train",
    ):  # their models answer beforehand, or none does
        assert called


def test_the_sidebar_says_where(app, there):
    assert caption(rerun(app)) == "Computing on a cluster: a fake device"


def test_calls_that_are_lost_are_seen_by_nobody(app, there):
    there.lose = 2
    page = open_page(app, "pages/pixels/page.py")
    assert there.n_calls >= 3
    assert not page.toast


@pytest.mark.parametrize("fault", ["stuck", "gone"])
def test_one_that_is_away_is_told_within_two_seconds(app, there, fault):
    rerun(app)
    if fault == "stuck":
        there.stuck = True
    else:
        there.shutdown()
        there.server_close()
    shown.cluster()._answered_at, began = 0.0, time.monotonic()
    assert caption(rerun(app)).startswith("The cluster does not answer. Computing on CPU")
    assert time.monotonic() - began < 2


def test_a_cluster_that_refuses_the_token_is_told_as_such(app, there):
    shown.cluster()._token = "another"
    page = open_page(app, "pages/pixels/page.py")
    assert caption(page).startswith("The cluster refuses this app's token. Computing on CPU")


def test_a_cluster_lost_in_the_middle_is_told_once_and_the_page_computes_here(app, there):
    page = open_page(app, "pages/pixels/page.py")
    forget()
    there.stuck, n_calls, began = True, there.n_calls, time.monotonic()
    rerun(page)
    assert time.monotonic() - began < 6  # with what is computed here meanwhile, which may be slow
    assert there.n_calls == n_calls
    assert charts(page)
    assert [one.value for one in page.toast] == ["The cluster does not answer. This is computed here."]


def test_where_it_is_set_so_the_page_waits(app, there, monkeypatch):
    monkeypatch.setenv(shown.AWAY_VARIABLE, "wait")
    page = open_page(app, "pages/pixels/page.py")
    forget()
    there.stuck, n_calls = True, there.n_calls
    back = threading.Timer(3, setattr, (there, "stuck", False))
    back.start()
    began = time.monotonic()
    rerun(page)
    back.join()
    assert time.monotonic() - began > 3
    assert there.n_calls > n_calls
    assert not page.toast
