"""No memory, a GPU that is lost: told in the page, which goes on; nothing that was typed is lost."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import device
from attention_core.atlas import Atlas
from attention_core.atlas.synthetic import synthetic_trace
from attention_core.files import MISSING
from attention_core.hub.catalogue import find_local, look_up_model
from attention_core.hub.model import ModelError
from pages.atlas.shared_atlas import SharedAtlas
from tests.support.waiting import wait_until
from ui import model_runs
from ui.component import component
from ui.hosting.bounds import DOWNLOADS


def visited() -> None:
    """A page: a box, and work that a test hands over."""
    import streamlit as st

    from attention_core.device import choose_device
    from ui.faults import show_faults, show_what_was_lost

    with show_faults():
        st.text_input("A sentence", key="sentence")
        st.text(st.session_state["work"](choose_device()))
    st.text("the foot")
    show_what_was_lost()


@pytest.fixture
def page():
    return AppTest.from_function(visited, default_timeout=60)


def words(page: AppTest) -> list[str]:
    return [one.value for one in page.text]


@pytest.mark.parametrize(
    "fault", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("can't allocate memory: 8 GB")]
)
def test_without_memory_a_page_says_so_and_goes_on_when_there_is_some(page, fault):
    def work(_device):
        if faults:
            raise faults.pop()
        return "computed"

    faults, page.session_state["work"] = [fault, fault], work
    page.run()
    page.text_input[0].set_value("typed").run()
    assert not page.exception
    assert "not enough memory" in page.error[0].value
    assert words(page) == ["the foot"]
    page.button[0].click().run()
    assert not page.error
    assert words(page) == ["computed", "the foot"]
    assert page.text_input[0].value == "typed"


def test_a_script_that_is_missing_is_named_and_health_tells(page):
    page.session_state["work"] = lambda _device: component("nothing")
    page.run()
    assert not page.exception
    assert [error.value for error in page.error] == [
        "**The page needs a file that cannot be read.** nothing.js is missing."
    ]
    assert "nothing.js" in MISSING
    MISSING.discard("nothing.js")


def test_a_fault_of_our_own_stays_one(page):
    page.session_state["work"] = lambda _device: 1 / 0
    assert page.run().exception


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine whose GPU does not answer")
def test_a_lost_gpu_is_given_up_for_the_cpu_and_nothing_is_lost(page, monkeypatch):
    monkeypatch.setattr(device, "_LOST", set())
    page.session_state["work"] = lambda name: f"{torch.ones(2, device=name).sum():.0f} on {name}"
    page.run()
    page.text_input[0].set_value("typed").run()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    page.run()
    assert not page.exception
    assert words(page) == ["2 on cpu", "the foot"]
    assert page.text_input[0].value == "typed"
    assert ["GPU has stopped answering" in toast.value for toast in page.toast] == [True]
    assert device.choose_device() == "cpu"
    assert not page.run().toast


def test_a_survey_of_131_072_that_its_visitor_leaves_keeps_what_it_has():
    shared = SharedAtlas("left", Atlas(synthetic_trace(131_072), 0))
    share = shared.survey(0.2)
    assert 0 < share < 1
    assert shared.survey(0.2) > share


def outcome_of(name: str) -> tuple[str, str]:
    """What became of a download, once it is over."""
    wait_until(lambda: model_runs.download_of(name).outcome is not None)
    return model_runs.download_of(name).outcome


def test_two_visitors_who_fetch_other_models_at_the_same_moment_both_get_theirs(hub, model_folders):
    hub.repositories["someone/other"] = model_folders / "both"
    found = [look_up_model(name) for name in ("someone/tiny", "someone/other")]
    start = threading.Barrier(2)

    def visit(candidate):
        start.wait()
        model_runs.start_download(candidate)

    with ThreadPoolExecutor(2) as visitors:
        list(visitors.map(visit, found))
    for candidate in found:
        assert outcome_of(candidate.name) == ("", "")
        assert find_local(candidate.name)


def test_slow_downloads_keep_no_other_waiting_until_too_many_are_on_their_way(hub, model_folders, monkeypatch):
    monkeypatch.setattr(model_runs, "_DOWNLOADS", {})
    slow = [f"someone/slow{number}" for number in range(DOWNLOADS.maximum)]
    hub.repositories |= {name: model_folders / "both" for name in slow}
    hub.waiting = dict.fromkeys(slow, threading.Event())
    for name in slow[:-1]:
        model_runs.start_download(look_up_model(name))
    model_runs.start_download(look_up_model("someone/tiny"))
    assert outcome_of("someone/tiny") == ("", "")
    assert [model_runs.download_of(name).outcome for name in slow[:-1]] == [None] * (DOWNLOADS.maximum - 1)
    model_runs.start_download(look_up_model(slow[-1]))
    hub.repositories["someone/other"] = model_folders / "vision"
    with pytest.raises(ModelError, match="4 models are on their way for other visitors") as told:
        model_runs.start_download(look_up_model("someone/other"))
    assert "slow" not in str(told.value)
    hub.waiting[slow[0]].set()
    assert [outcome_of(name) for name in slow] == [("", "")] * DOWNLOADS.maximum
