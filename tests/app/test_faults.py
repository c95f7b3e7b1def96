"""No memory, a GPU that is lost: told in the page, which goes on; nothing that was typed is lost."""

from __future__ import annotations

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import device


def visited() -> None:
    """A page: a box, and work that a test hands over."""
    import streamlit as st

    from attention_core.device import choose_device
    from ui.faults import faults_told, tell_lost_gpu

    with faults_told():
        st.text_input("A sentence", key="sentence")
        st.text(st.session_state["work"](choose_device()))
    st.text("the foot")
    tell_lost_gpu()


@pytest.fixture
def page():
    return AppTest.from_function(visited)


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
