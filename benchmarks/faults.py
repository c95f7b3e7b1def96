"""What is lost when something fails: python -m benchmarks.faults [NAMES].

Each fault happens for real: a training and a server are killed with SIGKILL, a websocket is cut in the middle of a
stroke. NAMES are those of the functions below; all if none are given. Goal of each: nothing lost.
"""

import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmarks.browser import settle, visitor
from benchmarks.report import publish
from benchmarks.server import ROOT, free_port, running, serving

TRAINED = "match3-pairwise"
STROKE = ((0.3, 0.2), (0.7, 0.2), (0.5, 0.85))
INK = """(pad) => {
  const { data } = pad.getContext("2d").getImageData(0, 0, pad.width, pad.height);
  let ink = 0;
  for (let place = 3; place < data.length; place += 4) ink += data[place] > 0 && data[place - 3] < 128;
  return ink;
}"""
"""How many pixels of the pad hold ink."""


def killed_training() -> str:
    """Kill a training after each of its checkpoints, resume it, and compare its weights with one left alone."""
    with tempfile.TemporaryDirectory() as folder:
        alone, killed = Path(folder, "alone"), Path(folder, "killed")
        undisturbed, draw, n_kills = _train(alone), random.Random(0), 0
        while not (killed / f"{TRAINED}.safetensors").exists():
            process, seen = _train(killed), _changed(killed)
            while process.poll() is None and _changed(killed) == seen:
                time.sleep(0.2)
            if process.poll() is None:
                time.sleep(draw.uniform(0, 5))
                process.send_signal(signal.SIGKILL)
                process.wait()
                n_kills += 1
        undisturbed.wait()
        first, second = ((one / f"{TRAINED}.safetensors").read_bytes() for one in (alone, killed))
    return f"killed {n_kills} times: {'nothing, the same bytes' if first == second else 'OTHER WEIGHTS'}"


def _changed(folder: Path) -> float:
    checkpoint = folder / "checkpoints" / f"{TRAINED}.pt"
    return checkpoint.stat().st_mtime if checkpoint.exists() else 0


def _train(folder: Path) -> subprocess.Popen[bytes]:
    checkpoints = folder / "checkpoints"
    resume = ["--resume"] if (checkpoints / f"{TRAINED}.pt").exists() else []
    options = ["--epochs", "12", "--device", "cpu", "--weights", str(folder), "--checkpoints", str(checkpoints)]
    command = [sys.executable, "-m", "attention_core.train", TRAINED, *options, *resume]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def websocket_cut_in_a_stroke() -> str:
    """Cut the connection while the mouse is down; the stroke goes on, and the page finds its server again."""
    sockets: list[Any] = []
    with running("app.py") as url, visitor() as page:
        page.route_web_socket("**/_stcore/stream", lambda socket: sockets.append((socket, socket.connect_to_server())))
        return _draw_through(page, url, lambda: sockets[-1][0].close(code=1011, reason="cut"))


def server_killed_in_a_stroke() -> str:
    """Kill the server while the mouse is down, and start another one in its place."""
    port = free_port()
    with visitor() as page, contextlib.ExitStack() as later:
        process = later.enter_context(serving("app.py", port))

        def kill() -> None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            later.enter_context(serving("app.py", port))

        return _draw_through(page, f"http://127.0.0.1:{port}", kill)


def _ink(page: Page) -> int:
    return page.locator("canvas.dc-canvas.lower-canvas").evaluate(INK)


def _draw_through(page: Page, url: str, fail: Callable[[], None]) -> str:
    """Draw a first stroke, then a second one in whose middle something fails; return what of the ink is lost."""
    page.goto(f"{url}/pixels")
    settle(page)
    page.get_by_role("button", name="Clear").click()
    settle(page)
    page.wait_for_timeout(2000)  # the empty pad is mounted anew
    box = page.locator("canvas.upper-canvas").bounding_box()
    assert box
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in STROKE]
    ink = []
    for is_second in (False, True):
        page.mouse.move(places[0][0] + 40 * is_second, places[0][1])
        page.mouse.down()
        for number, (x, y) in enumerate(places[1:]):
            page.mouse.move(x + 40 * is_second, y, steps=10)
            if is_second and number == 0:
                fail()
        page.mouse.up()
        page.wait_for_timeout(300)
        ink.append(_ink(page))
        settle(page, 3)
    page.wait_for_timeout(8000)
    settle(page, 2)
    kept = _ink(page)
    page.reload()
    settle(page, 2)
    after = _ink(page)
    lost = [f"{part} {share:.0%}" for part, share in (("now", kept / ink[1]), ("after a reload", after / ink[1]))]
    return f"of two strokes (first alone: {ink[0] / ink[1]:.0%}) there are {', '.join(lost)} of the ink"


FAULTS = (killed_training, websocket_cut_in_a_stroke, server_killed_in_a_stroke)


def main() -> None:
    """Let every fault happen and publish what was lost."""
    rows, figures = [["fault", "seconds", "what was lost"]], {}
    for fault in FAULTS:
        if len(sys.argv) < 2 or fault.__name__ in sys.argv[1:]:
            began = time.monotonic()
            figures[fault.__name__] = fault()
            rows.append([fault.__name__.replace("_", " "), f"{time.monotonic() - began:.0f}", figures[fault.__name__]])
    publish("faults", rows, figures)


if __name__ == "__main__":
    main()
