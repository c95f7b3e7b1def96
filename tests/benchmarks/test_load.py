"""The visitors of benchmarks.load on tiny apps: what they measure, and what they count as an error."""

import asyncio
import time
from collections.abc import Iterator
from random import Random

import pandas as pd
import pytest
from streamlit.dataframe_util import convert_pandas_df_to_arrow_bytes
from streamlit.proto.Dataframe_pb2 import Dataframe

from benchmarks.load import FLOOR_PAGE, Tally, Visitor, options_of, summary
from tests.support.server import Server, served
from tests.support.uploading import Uploader
from tests.support.visits import VISITS, act, edit_table
from ui.navigation import PAGES


@pytest.fixture(scope="module")
def floor() -> Iterator[Server]:
    with served("benchmarks/apps/load_floor_app.py") as server:
        yield server


def visited(server: Server, *given: str) -> Tally:
    """What a visitor of the floor did in a second without a fault."""
    tally = Tally()
    options = options_of(["--visitors", "1", "--pause", "0", "0.02", *given])
    asyncio.run(Visitor(server, tally, options, seed=0).visit([FLOOR_PAGE], time.monotonic() + 1))
    assert not tally.faults
    return tally


def test_an_action_is_measured_to_the_end_of_its_run(floor: Server) -> None:
    before = floor.seconds()
    tally = visited(floor)
    assert not tally.missing
    assert [done.kind for done in tally.done[:2]] == ["open", "act"]
    found = summary(tally.done, 0, is_single=True)
    assert found["n"] == sum(done.kind == "act" for done in tally.done) > 1
    assert 0 < found["s"][0] <= found["s"][1] <= found["s"][2] < 2
    assert 0.2 < found["kb"][0] < 5
    assert 0 < sum(done.cpu for done in tally.done) <= floor.seconds() - before
    assert floor.megabytes("VmHWM")[0] > 30
    assert summary(tally.done[:1], 0, is_single=True)["n"] == 0  # who only arrived


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_edits_stay_within_the_rows_of_a_table(n_rows: int) -> None:
    table = Dataframe()
    table.arrow_data.data = convert_pandas_df_to_arrow_bytes(pd.DataFrame({"1": range(n_rows)}))
    random, value = Random(0), edit_table(("1",), ("0.5",))
    edited = {row for _ in range(40) for row in value(table, random)["edited_rows"]}
    assert edited == {str(row) for row in range(min(n_rows, 3))}


async def test_faults_kept_messages_fragments_and_files() -> None:
    with served("tests/support/load_app.py") as app:
        session, random = Uploader(app.address), Random(0)
        try:
            opened = await session.open()
            assert opened.faults == []
            assert opened.n_bytes > 15_000

            async def use(type: str, key: str, values=None):
                return await act(session, session.widgets(type, key)[0], values, random, 20)

            again = await use("button", "press")
            assert again.n_bytes < 5_000  # the long text came as its hash
            assert again.faults == []
            assert sum(len(text) > 10_000 for text in session.texts("markdown")) == 1
            (fault,) = (await use("button", "divide")).faults
            assert fault.startswith("ZeroDivisionError")
            assert (await use("button", "press")).faults == []
            n_drawn, which = len(session.elements), session.widgets("button_group", "which")[0]
            assert which.fragment
            assert (await use("button_group", "which")).n_bytes < again.n_bytes
            assert len(session.elements) == n_drawn
            chosen = session.widgets("button_group", "text")[0]
            for text in ("one", "two", "three", "four", "one"):  # a browser still has what it showed four runs ago
                again = await session.set_value(chosen, "string_array_value", [text])
            assert again.n_bytes < 5_000
            await session.give(session.widgets("file_uploader", "file")[0], "a.txt", b"12345")
            assert "5 bytes" in session.texts("markdown")
            wait = session.widgets("button", "wait")[0]
            with pytest.raises(TimeoutError):
                await session.set_value(wait, "trigger_value", True, seconds=0.3)
        finally:
            await session.close()


def test_every_page_has_visitors() -> None:
    assert set(VISITS) == {"" if page.name == "start" else page.url_path for page in PAGES}
    assert all(VISITS.values())


def test_every_picture_of_a_chart_or_component_is_found_in_its_data_once_or_coded():
    from streamlit.proto.BidiComponent_pb2 import BidiComponent
    from streamlit.proto.VegaLiteChart_pb2 import VegaLiteChart

    from tests.support.session import pictures_of
    from ui.chart import _arrow

    urls = [f"pictures/{place:032x}.png" for place in range(3)]
    chart = VegaLiteChart()
    chart.datasets.add().data.data = _arrow({"url": urls, "row": [0, 1, 2]})
    chart.datasets.add().data.data = _arrow({"url": ["pictures/" + "a" * 32 + ".png"] * 9})
    assert set(pictures_of(chart)) == {f"/{url}" for url in urls} | {f"/pictures/{'a' * 32}.png"}
    ours = BidiComponent(json=f'{{"parts": [{{"file": "pictures/{"b" * 32}.json"}}]}}')
    assert pictures_of(ours) == [f"/pictures/{'b' * 32}.json"]
