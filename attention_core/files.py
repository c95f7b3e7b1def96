"""Finds the files that the app reads, in the repository or an installed package; reads anybody's JSON; writes."""

import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attention_core.bounds.limits import JSON_BYTES
from attention_core.log import log

PACKAGE = Path(__file__).parent
ROOTS = (PACKAGE / "bundled", PACKAGE.parent)
"""Where they may lie: inside the package, as a wheel brings them, or beside it, as in the repository."""
IS_INSTALLED = not (PACKAGE.parent / "pyproject.toml").exists()
"""Whether this is an installed package and no repository."""
MISSING: set[str] = set()
"""What this process needs and could not read or import when it tried last."""


@contextmanager
def note_missing(name: str) -> Iterator[None]:
    """Note in MISSING if this block fails to read or import something, and forget it once it succeeds."""
    try:
        yield
    except Exception:
        MISSING.add(name)
        raise
    MISSING.discard(name)


def find_file(path: str) -> Path:
    """Return where a file or folder such as "weights" of the repository lies; in the repository if it is nowhere."""
    return next((root / path for root in ROOTS if (root / path).exists()), ROOTS[-1] / path)


def read_toml_beside(module: str) -> dict[str, Any]:
    """Return the TOML file that lies beside a module, whose `__file__` is given, under its name."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def read_figures(path: Path) -> dict[str, Any]:
    """Return the figures that a benchmark wrote beforehand; {} if its file is missing or damaged."""
    try:
        return read_json(path)
    except (OSError, ValueError):
        log.warning("%s cannot be read", path, exc_info=True)
        return {}


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a place to write to; its file takes the path's place if nothing fails, and else is gone."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_json(source: str | bytes | Path, max_bytes: int = JSON_BYTES.maximum, **hooks: Any) -> Any:
    """Return the value of a JSON text, or of a file, that anybody may have written; `hooks` are those of json.loads.

    ValueError where it is none, too long or too deep; OSError where the file cannot be read.
    """
    if isinstance(source, Path):
        with source.open("rb") as file:
            source = file.read(max_bytes + 1)
    if len(source) > max_bytes:
        raise ValueError(f"it is longer than the {max_bytes:,} bytes that are read")
    try:
        return json.loads(source, **hooks)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
