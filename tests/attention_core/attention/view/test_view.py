"""Recordings as pages: what is packed is what the library says, small, and nothing in it runs or is fetched."""

import re

import pytest
import torch

from attention_core import capture
from attention_core.attention.recording import Recording
from attention_core.attention.scores import ScaledDot
from attention_core.attention.steps import steps_of
from attention_core.attention.types import Axis
from attention_core.attention.view.pack import TOLERANCE, _Matrix, pack_head
from tests.support.traces import trace_of
from tests.support.view_samples import NASTY, every_kind, made

LONG = Axis.numbered("tokens", 512)


@pytest.fixture(scope="module")
def page():
    return every_kind().show().page()


def test_every_kind_of_trace_is_packed_within_the_tolerance_and_leaves_random_numbers_alone():
    shown = every_kind().show()
    assert shown.data["error"] <= TOLERANCE
    assert [len(trace["heads"]) for trace in shown.data["traces"]] == [trace.n_heads for trace in every_kind()]
    before = torch.get_rng_state()
    every_kind().show()
    assert torch.equal(before, torch.get_rng_state())


def test_vectors_of_no_dimensions_give_equal_weights():
    assert Recording([trace_of(torch.zeros(2, 5, 0), torch.zeros(2, 5, 0), score=ScaledDot(1.0))]).show().page()


def test_a_label_never_ends_the_script_and_nothing_is_fetched(page):
    assert NASTY not in page
    assert page.count("</script") == 1
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|import\(|fetch\((?!file\))|<link|@import", page)
    assert "default-src 'none'" in page


def test_sizes_of_a_small_model_and_of_a_head_of_a_large_one(tmp_path):
    axis = Axis.numbered("tokens", 128)
    traces = [made(f"encoder.{layer}.self", axis, axis, n_heads=12) for layer in range(6)]
    Recording(traces).to_html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size <= 1_000_000
    long = made("encoder.0.self", LONG, LONG)
    assert 144 * len(pack_head(long, 0).entry["data"]) <= 3_900_000


def test_a_file_has_no_more_than_the_bytes_that_are_asked_for():
    recording = Recording([made(f"encoder.{layer}.self", LONG, LONG, n_heads=4) for layer in range(3)])
    shown = recording.show(0, 2, steps=steps_of(recording[0]), max_bytes=500_000)
    assert len(shown.page()) <= 500_000
    assert shown.data["error"] > 0


def test_it_opens_where_it_is_told_to_with_tokens_on_the_axes_of_what_is_shown_alone():
    recording = every_kind()
    assert recording.show(1, 1, query=3).data["open"] == [[1, 1]]
    assert recording.show(head=["L0H1", "L2H3"]).data["open"] == [[0, 1], [2, 3]]
    for wrong in ({"layer": 10}, {"head": 2}, {"head": "first"}, {"query": 7}):
        with pytest.raises(ValueError, match=r"head|query"):
            recording.show(**wrong)
    assert Recording(note="<b>why</b>")._repr_html_().startswith("<p>&lt;Recording of no attention")
    assert repr(recording.show()).startswith("<View of Recording of 10")
    recording = Recording([made("encoder.0.self", Axis.numbered("positions", 3), Axis.numbered("positions", 3))])
    shown = recording.show(tokens=["a", "##b", "[SEP]"])
    assert shown.data["axes"][0]["pieces"] == [["a", False, False], ["b", True, False], ["[SEP]", False, True]]
    shown = recording.show(tokens=["cat", "Ġ", "ĠĠĊ"])
    assert [text for text, *_ in shown.data["axes"][0]["pieces"]] == ["cat", "·", "↵"]
    assert list(recording[0].story.query_axis.labels) == ["1", "2", "3"]


@pytest.mark.parametrize("sharpness", [0.3, 1, 3, 10])
def test_a_head_is_packed_twice_at_most_however_sharp_it_is(sharpness, monkeypatch):
    query, key, value = torch.randn(3, 1, 6, 200, 32, generator=torch.Generator().manual_seed(0))
    with capture() as recording:
        torch.nn.functional.scaled_dot_product_attention(query * sharpness, key, value)
    levels = []
    packed = _Matrix.packed
    monkeypatch.setattr(_Matrix, "packed", lambda self, level: levels.append(level) or packed(self, level))
    heads = [pack_head(recording[0], head) for head in range(6)]
    assert max(head.error for head in heads) < 0.002
    assert len(levels) <= 2 * len(heads)
