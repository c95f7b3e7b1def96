"""How many of our files an action enters, and how many calls it makes there: python -m benchmarks.ways.

Four actions of visitors on warm pages: a drawing that becomes a heatmap, a sentence that becomes an alignment, a step
that becomes its arithmetic, the name of a model that becomes its heads. Goal: at most 30 files each.
"""

import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.data.presets import preset_paths
from benchmarks.report import publish
from tests import tiny_hub
from tests.app.tools import inject, opened, path_object

ROOT = Path(__file__).resolve().parent.parent
OURS = tuple(str(ROOT / name) for name in ("app.py", "pages", "ui", "attention_core"))


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count the calls of our functions, by file, in threads that begin in the block: each run of a page is one."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_filename] += 1

    threading.setprofile(count)
    try:
        yield calls
    finally:
        threading.setprofile(None)


def draw(page: AppTest, digit: int) -> None:
    """Draw a digit onto the pad."""
    inject(page, [path_object(path) for path in preset_paths(digit, 256)])


def write(page: AppTest, sentence: str) -> None:
    """Type a sentence that has not been seen."""
    page.text_area(key="translate_text").set_value(sentence).run()


def step(page: AppTest, _: object) -> None:
    """Go on to the next step."""
    page.button(key="vectors_step_next").click().run()


def ask_for_model(page: AppTest, name: str) -> None:
    """Choose a model of the hub."""
    page.text_input(key="model_asked").set_value(name)
    page.button(key="FormSubmitter:model_form-Load").click().run()
    while page.session_state["model_waits"]:
        time.sleep(0.1)
        page.run()


WAYS: dict[str, tuple[str, Callable[..., None], tuple[object, object]]] = {
    "strokes to heatmap": ("pixels", draw, (3, 5)),
    "sentence to alignment": ("translate", write, ("The cat sees a red house.", "The dog sees a green garden.")),
    "click to arithmetic": ("vectors", step, (None, None)),
    "hub id to heads": ("model", ask_for_model, ("someone/tiny", "someone/other")),
}
"""Of each its page, what is done, and with what: first to warm the page, then to be counted."""


def main() -> None:
    """Count, print, write results/ways.json."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder, tiny_hub.serving() as hub, pytest.MonkeyPatch.context() as patch:
        for name in ("someone/tiny", "someone/other"):
            hub.repositories[name] = Path(folder) / name
            tiny_hub.write_decoder(hub.repositories[name])
        tiny_hub.turn_to(hub.endpoint, Path(folder) / "cache", patch)
        for name, (page_name, act, (first, second)) in WAYS.items():
            page = opened(AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run(), f"pages/{page_name}.py")
            act(page, first)
            with counting() as calls:
                act(page, second)
            if page.exception:
                sys.exit(f"{name}: {page.exception[0].message}")
            by_file = {str(Path(file).relative_to(ROOT)): n for file, n in sorted(calls.items())}
            figures[name] = {"files": len(calls), "calls": calls.total(), "by_file": by_file}
    rows = [["way", "files", "calls"]]
    rows += [[name, str(one["files"]), f"{one['calls']:,}"] for name, one in figures.items()]
    publish("ways", rows, {"ways": figures})


if __name__ == "__main__":
    main()
