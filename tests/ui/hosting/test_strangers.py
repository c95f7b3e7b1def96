"""What a public server tells strangers: no path of its own, and not which models others have asked for."""

from tests.support.server import served
from tests.support.session import Session
from tests.support.visits import each_experiment
from ui.navigation import PAGES


async def test_no_page_without_weights_names_a_place_of_the_server_or_shows_a_traceback(weights, root, monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setenv("ATTENTION_WARM", "0")
    for file in weights.glob("*.safetensors"):
        file.unlink()
    for file in weights.glob("*.json"):
        file.write_bytes(file.read_bytes()[:-9])
    lines_of, paths = {}, (str(weights.parent), str(root))

    def visit(page_name: str) -> None:
        text = "\n".join(str(element.message) for element in session.elements.values())
        lines_of[page_name] = [line.strip() for line in text.splitlines() if any(one in line for one in paths)]

    with served("app.py") as server:
        session = Session(server.address)
        faults = (await session.open("")).faults
        visit("start")
        for entry in PAGES[1:]:
            faults += (await session.switch_page(entry.url_path)).faults
            visit(entry.name)
            async for link, answer in each_experiment(session):
                faults += answer.faults
                visit(link)
        await session.close()
    assert faults == []
    assert {page_name: lines for page_name, lines in lines_of.items() if lines} == {}
    assert len(lines_of) > len(PAGES)
