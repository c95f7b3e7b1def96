"""The image's files, environment, entry point and health check, tried without Docker on what the Dockerfile copies."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.server import free_port
from tests.support.session import Session
from ui.navigation import PAGES

STARTS_WITHIN = 60


@pytest.fixture(scope="module")
def orders(root) -> list[tuple[str, str]]:
    """The Dockerfile's lines: instruction and the rest."""
    text = (root / "Dockerfile").read_text().replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in text.splitlines() if re.match("[A-Z]+ ", line)]


def told(orders, instruction: str) -> list[str]:
    return [rest for name, rest in orders if name == instruction]


class Image:
    """What a container of it would be: a folder, an environment, a cache, commands with a free port."""

    def __init__(self, root: Path, orders, folder: Path) -> None:
        self.app, self.cache, self.port = folder / "app", folder / "cache", free_port()
        self.cache.mkdir()
        for line in told(orders, "COPY"):
            *sources, target = line.split()
            for source in sources:
                place = self.app / (source if target == "./" else target)
                place.parent.mkdir(parents=True, exist_ok=True)
                if (root / source).is_dir():
                    shutil.copytree(root / source, place)  # with what is compiled already
                else:
                    shutil.copy(root / source, place)
        own = dict(line.split("=", 1) for line in told(orders, "ENV"))
        assert own["HOME"] in told(orders, "VOLUME")
        others = ("ATTENTION", "PYTHON", "HF_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.environment = {**kept, **own, "HOME": str(self.cache)}

    def command(self, words: str) -> list[str]:
        """A command as the Dockerfile has it, by this Python and on this port."""
        return [sys.executable, *(word.replace("8501", str(self.port)) for word in json.loads(words)[1:])]

    def files(self) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in self.app.rglob("*")}


@pytest.fixture(scope="module")
def image(root, orders, tmp_path_factory) -> Image:
    return Image(root, orders, tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def health(image, orders) -> list[str]:
    return image.command(told(orders, "HEALTHCHECK")[0].split("CMD ", 1)[1])


@pytest.fixture(scope="module")
def before(image) -> dict[Path, int]:
    return image.files()


@pytest.fixture(scope="module")
def running(image, orders, health, before) -> Iterator[None]:
    environment = {**image.environment, "ATTENTION_WARM": "0"}
    quiet = subprocess.DEVNULL
    assert subprocess.run(health, stderr=quiet).returncode != 0
    command = image.command(told(orders, "ENTRYPOINT")[0])
    with subprocess.Popen(command, cwd=image.app, env=environment, stdout=quiet, stderr=quiet) as process:
        until = time.monotonic() + STARTS_WITHIN
        try:
            while subprocess.run(health, stderr=quiet).returncode:
                assert process.poll() is None, "it ended"
                assert time.monotonic() < until, "it is not healthy"
                time.sleep(0.5)
            yield
        finally:
            process.terminate()


def test_it_runs_as_nobody_special(orders):
    assert told(orders, "USER") == ["visitor"]
    assert [name for name, _ in orders].index("USER") > max(
        place for place, (name, _) in enumerate(orders) if name in ("COPY", "RUN")
    )


def test_what_is_copied_is_let_through(root, orders):
    let_in = (root / ".dockerignore").read_text().split()
    for line in told(orders, "COPY"):
        for source in line.split()[:-1]:
            assert f"!{re.sub('requirements.*', 'requirements*.txt', source)}" in let_in


async def test_every_page_opens_and_nothing_is_written_but_in_the_cache(image, running, before):
    session = Session(f"http://127.0.0.1:{image.port}")
    faults = (await session.open("", 60)).faults
    for entry in PAGES[1:]:
        faults += (await session.switch_page(entry.url_path, 60)).faults
    await session.close()
    assert faults == []
    assert image.files() == before
