"""How the app is started: as README says, everywhere; and what happens when its files change while it runs."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from tests.support.server import command, free_port, started
from tests.support.session import Session
from ui.faults import RESTART_NOTICE

ADDED = {"--server.port", "--server.address", "--server.headless"}


def test_benchmarks_and_tests_start_servers_by_the_command_of_readme(root: Path) -> None:
    readme, settings = ((root / page).read_text() for page in ("README.md", "docs/using.md"))
    line = re.search(r"^pip install .* && (streamlit run \S+)$", readme, re.MULTILINE)[1]
    program, *given = command("app.py", 8501)
    assert " ".join([Path(program).name, *given[:2]]) == line
    assert {option for option in given[2:] if option.startswith("--")} == ADDED
    files = [file for folder in ("benchmarks", "tests") for file in sorted((root / folder).rglob("*.py"))]
    assert files
    for file in files:
        text = file.read_text()
        starts = re.search(r'streamlit.*"run", ', text)
        assert not starts or file.name in ("server.py", "test_command.py", "test_start.py"), file
        for call in (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)):
            if getattr(call.func, "id", "") in ("started", "serving"):
                variables = [one.arg for one in call.keywords if one.arg and one.arg.isupper()]
                assert all(f"| `{name}" in settings for name in variables), (file, variables)


def test_nobody_watches_files_by_an_option_of_its_own(root: Path) -> None:
    assert 'fileWatcherType = "none"' in (root / ".streamlit/config.toml").read_text()
    places = [*(root / "deploy").glob("*.*"), *(root / "benchmarks").rglob("*.py"), root / "Dockerfile"]
    assert not [place for place in places if "fileWatcherType" in place.read_text()]


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    """A copy of the app whose files a test may change."""
    for name in ("pages", "ui", "attention_core", ".streamlit", "benchmarks"):
        shutil.copytree(root / name, tmp_path / name)  # with what is compiled already
    (tmp_path / "weights").symlink_to(root / "weights")
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


async def test_an_app_whose_files_change_goes_on_and_says_that_it_has_to_be_restarted(copied: Path) -> None:
    async def visit(page: str) -> list[str]:
        session = Session(address)
        answer = await session.open(page)
        await session.close()
        return [*answer.faults, *session.texts("alert")]

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with started(command("app.py", port), address, folder=copied, ATTENTION_WARM="0"):
        assert await visit("scoring") == []
        for name in ("app.py", "pages/scoring/page.py", "pages/vectors/page.py"):
            text = (copied / name).read_text()
            new = re.sub("^(?=from|import)", "from ui.skeleton import new_thing\n", text, count=1, flags=re.MULTILINE)
            (copied / name).write_text(new)
        assert await visit("scoring") == [RESTART_NOTICE]
        assert await visit("vectors") == [RESTART_NOTICE]  # read from its changed file
