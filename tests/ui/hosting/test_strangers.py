"""What a public server tells strangers: no path of its own, and not which models others have asked for."""

from random import Random

from tests.support.server import served
from tests.support.session import Session
from tests.support.visits import act
from ui.navigation import PAGES


async def test_no_page_without_weights_names_a_place_of_the_server_or_shows_a_traceback(weights, root, monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setenv("ATTENTION_WARM", "0")
    for file in weights.glob("*.safetensors"):
        file.unlink()
    for file in weights.glob("*.json"):
        file.write_bytes(file.read_bytes()[:-9])
    told, places = {}, (str(weights.parent), str(root))

    def look(place: str) -> None:
        shown = "\n".join(str(one.message) for one in session.drawn.values())
        told[place] = [line.strip() for line in shown.splitlines() if any(one in line for one in places)]

    with served("app.py") as server:
        session = Session(server.address)
        faults = (await session.open("")).faults
        look("start")
        for entry in PAGES[1:]:
            faults += (await session.go(entry.url_path)).faults
            look(entry.name)
            for tabs in session.widgets("tab_container", "*_tabs"):
                for label in session.tabs(tabs):
                    faults += (await act(session, tabs, (label,), Random(0), 60)).faults
                    look(f"{entry.name}, {label}")
        await session.close()
    assert faults == []
    assert {place: lines for place, lines in told.items() if lines} == {}
    assert len(told) > len(PAGES)
