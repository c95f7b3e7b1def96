"""What a container of the Docker image would be, without Docker."""

import json
import os
import shutil
import sys
from pathlib import Path

from tests.support.server import free_port


def lines_of(orders, instruction: str) -> list[str]:
    return [rest for name, rest in orders if name == instruction]


class Image:
    """What a container of it would be: a folder, an environment, a cache, commands with a free port."""

    def __init__(self, root: Path, orders, folder: Path) -> None:
        self.app, self.cache, self.port = folder / "app", folder / "cache", free_port()
        self.cache.mkdir()
        for line in lines_of(orders, "COPY"):
            *sources, target = line.split()
            for source in sources:
                place = self.app / (source if target == "./" else target)
                place.parent.mkdir(parents=True, exist_ok=True)
                if (root / source).is_dir():
                    shutil.copytree(root / source, place)  # with what is compiled already
                else:
                    shutil.copy(root / source, place)
        own = dict(line.split("=", 1) for line in lines_of(orders, "ENV"))
        assert own["HOME"] in lines_of(orders, "VOLUME")
        others = ("ATTENTION", "PYTHON", "HF_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.environment = {**kept, **own, "HOME": str(self.cache)}

    def command(self, words: str) -> list[str]:
        """A command as the Dockerfile has it, by this Python and on this port."""
        return [sys.executable, *(word.replace("8501", str(self.port)) for word in json.loads(words)[1:])]

    def files(self) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in self.app.rglob("*")}
