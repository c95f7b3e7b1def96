"""Files in memory share one budget: what is alive counts, whoever holds it, and pages hold nothing that has left."""

import sys
import weakref
from types import SimpleNamespace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core.arrays import FileError
from attention_core.attention.edits import DropHead
from attention_core.attention.recording import Recording, tensors_of
from attention_core.attention.types import Axis
from pages.atlas import sources
from tests.support.app import html_of, open_page, rerun, text_of
from tests.support.bombs import npz
from tests.support.traces import make_trace
from ui import model_runs, opened_files
from ui.opened_files import FULL, OpenedFiles, label_bytes, weak_trace


def opened(files, key, slot="page", n_labels=0):
    """Open a file of 100 bytes, and some of labels; returns a weak reference to its tensor."""
    tensor = torch.zeros(25)
    return files.open(key, slot, b"", 100, lambda: (weakref.ref(tensor), [tensor], n_labels))


@pytest.fixture
def files(monkeypatch):
    monkeypatch.setattr(opened_files, "OPENED_BYTES", SimpleNamespace(maximum=250, millions=0))
    monkeypatch.setattr(opened_files, "_unpacked_bytes", lambda source: 100)
    monkeypatch.setattr(opened_files, "SECONDS_TO_WAIT", 0.1)
    return OpenedFiles()


def test_the_least_recently_used_leaves(files):
    first = opened(files, "first")
    opened(files, "second")
    opened(files, "first")
    opened(files, "third")
    assert files.n_bytes == 200
    assert first() is not None, "the second has left"
    opened(files, "second")
    opened(files, "third")
    opened(files, "second")
    assert first() is None


def test_what_somebody_holds_counts_until_it_is_let_go(files):
    held = [opened(files, key)() for key in ("first", "second")]
    with pytest.raises(FileError, match=FULL):
        opened(files, "third")
    held.clear()
    opened(files, "third")
    assert files.n_bytes == 100


def test_labels_count_until_their_file_leaves(files):
    first = opened(files, "first", n_labels=100)
    assert files.n_bytes == 200
    opened(files, "second")
    assert (files.n_bytes, first()) == (100, None)
    axis = Axis("words", ["ab", "c" * 100])
    trace = make_trace(2, 2).with_story(query_axis=axis, key_axis=axis)
    assert label_bytes([trace, make_trace(2, 2).with_story(query_axis=axis, key_axis=Axis.numbered("keys", 2))]) == sum(
        map(sys.getsizeof, axis.labels)
    )


def test_a_run_keeps_its_files_and_may_not_open_more_than_there_is_room_for(files):
    first = opened(files, "first", "a slot")
    opened(files, "second", "another slot")
    with pytest.raises(FileError, match="All opened files together"):
        opened(files, "third", "a third slot")
    opened(files, "third", "another slot")
    assert first() is not None


def test_a_weak_trace_says_the_same_also_with_other_words_until_its_tensors_have_gone():
    strong = make_trace(mask=torch.rand(2, 11, 13) < 0.8)
    weak = weak_trace(strong).with_story(name="other words")
    for function in (lambda trace: trace.weights(1), lambda trace: trace.context(1), lambda trace: trace.mask):
        assert torch.equal(function(weak), function(strong))
    assert weak.replace((DropHead(1),)).context(1).eq(0).all()
    del strong, function
    with pytest.raises(ReferenceError):
        weak.weights(0)


@pytest.mark.parametrize(
    ("page_name", "choice"),
    [
        ("model", {"model_what": "A recording"}),
        ("atlas", {"atlas_source": "run"}),
        ("atlas", {"atlas_source": "tensors"}),
    ],
)
def test_no_page_holds_a_file_that_has_left(start_app, tmp_path, monkeypatch, page_name, choice):
    """Two visitors have a file each, of which one fits: all that is alive is the last one's, and both can go on."""
    contents = []
    for seed in range(2):
        if choice.get("atlas_source") == "tensors":
            tensors = [torch.full((2, 400, 8), float(seed)), torch.ones(2, 400, 8)]
            contents.append(npz(query=tensors[0].numpy(), key=tensors[1].numpy()))
        else:
            recording = Recording([make_trace(300, 300, seed + n, name=f"layers.{n}.attn") for n in range(2)])
            recording.save(tmp_path / "run.npz")
            tensors = tensors_of(recording)
            contents.append((tmp_path / "run.npz").read_bytes())
    n_bytes = sum(tensor.nbytes for tensor in {id(tensor): tensor for tensor in tensors}.values())
    files = OpenedFiles()
    for user in (model_runs, sources):
        monkeypatch.setattr(user, "OPENED_FILES", files)
    monkeypatch.setattr(opened_files, "OPENED_BYTES", SimpleNamespace(maximum=1.5 * n_bytes, millions=0))
    pages = []
    for content in contents:
        page = rerun(open_page(start_app(), f"pages/{page_name}/page.py"), **choice)
        page.file_uploader[0].upload("mine.npz", content, "application/octet-stream")
        pages.append(rerun(page))
        assert "mine.npz" in text_of(page) + html_of(page)
    assert files.n_bytes == n_bytes
    for page in pages:
        assert "mine.npz" in text_of(rerun(page)) + html_of(page)
        assert not page.exception
        assert not page.error
        assert files.n_bytes == n_bytes


def test_a_page_whose_file_has_left_runs_again_and_says_so_but_not_again_and_again():
    def page():
        import streamlit as st

        from ui.skeleton import guarded

        def draw():
            st.session_state.n_runs = st.session_state.get("n_runs", 0) + 1
            if st.session_state.n_runs in (1, 3, 4):
                raise ReferenceError
            st.text("drawn")

        guarded(draw)()

    drawn = AppTest.from_function(page, default_timeout=60).run()
    assert [toast.value for toast in drawn.toast] == ["Others needed the memory: what you look at was opened anew."]
    assert drawn.text[0].value == "drawn"
    drawn.run()
    assert not drawn.text
    assert drawn.info[0].value == "Others need the memory of your file just now."
    drawn.button[0].click().run()
    assert drawn.session_state.n_runs == 5, "it was opened anew at once"
    assert drawn.text[0].value == "drawn"
