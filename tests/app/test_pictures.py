"""Pictures of charts as files: told apart by content, within a bound, the one used longest ago goes first."""

from __future__ import annotations

import base64
import io

import pyarrow as pa
import pytest
from PIL import Image

from ui import chart, pictures
from ui.pictures import Shelf


def png(shade: int) -> bytes:
    written = io.BytesIO()
    Image.effect_noise((40, 40), shade + 1).save(written, "PNG")
    return written.getvalue()


def test_one_content_is_one_file():
    shelf, content = Shelf(10_000), png(3)
    assert shelf.put(content) == shelf.put(bytes(content))
    assert shelf.get(shelf.put(content)) == content
    assert shelf.get("nothing.png") is None


def test_the_bound_holds_and_what_was_used_last_stays():
    contents = [png(shade) for shade in range(4)]
    shelf = Shelf(sum(map(len, contents[:3])) + 10)
    names = [shelf.put(content) for content in contents[:3]]
    shelf.put(contents[0])
    shelf.put(contents[3])
    assert shelf.get(names[1]) is None
    assert shelf.get(names[0]) == contents[0]
    assert sum(len(shelf.get(shelf.put(content)) or b"") for content in contents) == sum(map(len, contents))


@pytest.mark.parametrize("is_served", [True, False])
def test_large_pictures_are_files_where_a_server_answers_and_stay_in_the_data_elsewhere(monkeypatch, is_served):
    monkeypatch.setattr(pictures, "SHELF", Shelf(1_000_000))
    pictures.SHELF.is_served = is_served
    large = chart.PNG + base64.b64encode(png(60) + bytes(2000)).decode()
    small = chart.PNG + "iVBORw0KGgo="
    columns = {"url": [large, small], "row": [0, 1]}
    sent = pa.ipc.open_stream(chart._arrow(columns)).read_all().to_pydict()
    assert sent["row"] == [0, 1]
    assert sent["url"][1] == small
    if is_served:
        assert pictures.SHELF.get(sent["url"][0].removeprefix("pictures/")) == png_of(large)
    else:
        assert sent["url"][0] == large


def png_of(url: str) -> bytes:
    return base64.b64decode(url.removeprefix(chart.PNG))
