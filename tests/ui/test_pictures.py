"""Pictures of charts as files: told apart by content, within a bound, the one used longest ago goes first."""

import asyncio
import io
from threading import Event

import pyarrow as pa
import pytest
from PIL import Image
from starlette.requests import Request

import ui.served
from attention_core.charts.chart import data_url
from attention_core.concurrency import BoundedCache
from ui import chart


def png(shade: int) -> bytes:
    written = io.BytesIO()
    Image.effect_noise((40, 40), shade + 1).save(written, "PNG")
    return written.getvalue()


@pytest.fixture
def served(monkeypatch):
    """A function that begins a server's pictures anew, within a bound in bytes."""

    def begin(most_bytes: int) -> None:
        monkeypatch.setattr(chart, "FILES", BoundedCache(most_bytes, size=len))
        monkeypatch.setattr(ui.served, "IS_SERVED", Event())
        ui.served.IS_SERVED.set()

    return begin


def content_at(address: str | None) -> bytes | None:
    found = chart.FILES.get((address or "").removeprefix("pictures/"))
    return found.value if found else None


def test_one_content_is_one_file(served):
    served(10_000)
    content = png(3)
    assert chart.file_address(content) == chart.file_address(bytes(content))
    assert content_at(chart.file_address(content)) == content
    assert content_at("pictures/nothing.png") is None


@pytest.mark.parametrize(("ending", "kind"), [("png", "image/png"), ("bin", "application/octet-stream")])
def test_a_file_is_answered_as_what_it_is_and_for_good(served, ending, kind):
    served(10_000)
    name = (chart.file_address(b"content", ending) or "").removeprefix("pictures/")
    answer = asyncio.run(chart.route().endpoint(Request({"type": "http", "path_params": {"name": name}})))
    assert (answer.status_code, answer.body, answer.media_type) == (200, b"content", kind)
    assert "immutable" in answer.headers["cache-control"]


def test_the_bound_holds_and_what_was_used_last_stays(served):
    contents = [png(shade) for shade in range(4)]
    served(max(sum(map(len, contents[:3])), len(contents[0]) + len(contents[2]) + len(contents[3])))
    addresses = [chart.file_address(content) for content in contents[:3]]
    chart.file_address(contents[0])
    chart.file_address(contents[3])
    assert content_at(addresses[1]) is None
    assert content_at(addresses[0]) == contents[0]
    assert chart.FILES.n_bytes <= chart.FILES.max_bytes


@pytest.mark.parametrize("is_served", [True, False])
def test_large_pictures_are_files_where_a_server_answers_and_stay_in_the_data_elsewhere(served, is_served):
    served(1_000_000)
    if not is_served:
        ui.served.IS_SERVED.clear()
    content = png(60) + bytes(2000)
    columns = {"url": [content, b"small"], "row": [0, 1]}
    sent = pa.ipc.open_stream(chart._arrow(columns)).read_all().to_pydict()
    assert sent["row"] == [0, 1]
    assert sent["url"][1] == data_url(b"small")
    if is_served:
        assert content_at(sent["url"][0]) == content
    else:
        assert sent["url"][0] == data_url(content)
