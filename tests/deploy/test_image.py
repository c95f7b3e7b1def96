"""The image's files, environment, entry point and health check, tried without Docker on what the Dockerfile copies."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.image import Image, lines_of
from tests.support.session import Session
from tests.support.waiting import wait_until
from ui.navigation import PAGES

STARTS_WITHIN = 60


@pytest.fixture(scope="module")
def orders(root) -> list[tuple[str, str]]:
    """The Dockerfile's lines: instruction and the rest."""
    text = (root / "Dockerfile").read_text().replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in text.splitlines() if re.match("[A-Z]+ ", line)]


@pytest.fixture(scope="module")
def image(root, orders, tmp_path_factory) -> Image:
    return Image(root, orders, tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def health(image, orders) -> list[str]:
    return image.command(lines_of(orders, "HEALTHCHECK")[0].split("CMD ", 1)[1])


@pytest.fixture(scope="module")
def before(image) -> dict[Path, int]:
    return image.files()


@pytest.fixture(scope="module")
def running(image, orders, health, before) -> Iterator[None]:
    environment = {**image.environment, "ATTENTION_WARM": "0"}
    quiet = subprocess.DEVNULL
    assert subprocess.run(health, stderr=quiet).returncode != 0
    command = image.command(lines_of(orders, "ENTRYPOINT")[0])
    with subprocess.Popen(command, cwd=image.app, env=environment, stdout=quiet, stderr=quiet) as process:

        def is_healthy() -> bool:
            assert process.poll() is None, "it ended"
            return not subprocess.run(health, stderr=quiet).returncode

        try:
            wait_until(is_healthy, STARTS_WITHIN)
            yield
        finally:
            process.terminate()


def test_it_runs_as_nobody_special(orders):
    assert lines_of(orders, "USER") == ["visitor"]
    assert [name for name, _ in orders].index("USER") > max(
        place for place, (name, _) in enumerate(orders) if name in ("COPY", "RUN")
    )


def test_what_is_copied_is_let_through(root, orders):
    let_in = (root / ".dockerignore").read_text().split()
    for line in lines_of(orders, "COPY"):
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
