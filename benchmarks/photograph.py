"""A telephone's photograph to its answer, and a word to its new look, beside an empty page's button, in Chromium.

    python -m benchmarks.photograph [--rounds N]

All in turns, from the event to the page's last change, with nothing that moves; each photograph and word is new.
"""

import argparse
import statistics
import tempfile
from collections import defaultdict
from functools import partial
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from attention_core.data.photographs import load_photographs
from benchmarks.paint import Painting, wait_until_idle, watched
from benchmarks.report import publish
from tests.support.browser import ARGUMENTS, CHROMIUM
from tests.support.server import Server, command, free_port, started

SIZE, ON_ITS_SIDE, QUALITY = (3024, 4032), 6, 88
"""Of a photograph as a telephone stores it: pixels, the EXIF orientation, and the JPEG's quality."""
BUTTON, PHOTOGRAPH, WORD = "an empty page's button", "a photograph of 12 million pixels", "a word"
WORDS = ("violin", "drum", "dog", "wine bottle", "chair", "lamp", "cup", "piano", "clock", "guitar", "sofa", "hat")
CLOCK = "addEventListener('change', () => { paint.event = performance.now(); }, { capture: true })"


def telephone_photograph(number: int) -> bytes:
    """Return a JPEG that lies on its side; each number gives another one."""
    photographs, file, exif = [*load_photographs().values()], BytesIO(), Image.Exif()
    exif[0x0112] = ON_ITS_SIDE
    upright = Image.open(BytesIO(photographs[number % len(photographs)].content)).convert("RGB")
    noise = Image.effect_noise(SIZE, 24).convert("RGB")  # else the file would be smaller than a camera's
    picture = Image.blend(upright.transpose(Image.Transpose.ROTATE_90).resize(SIZE), noise, 0.1)
    picture.save(file, "JPEG", quality=QUALITY, exif=exif)
    return file.getvalue()


def main(rounds: int) -> None:
    ports, times = (free_port(), free_port()), defaultdict[str, list[Painting]](list)
    floor_url, url = (f"http://127.0.0.1:{port}" for port in ports)
    with (
        started(command("benchmarks/apps/load_floor_app.py", ports[0]), floor_url) as floor_server,
        started(command("app.py", ports[1]), url) as server,
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as folder,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        memory = Server(url, (url,), (server.pid,))
        with watched(browser, floor_server.pid) as floor, watched(browser, server.pid) as window:
            floor.open(floor_url)
            window.open(url)
            wait_until_idle(server.pid)
            megabytes = memory.megabytes("VmRSS")
            window.open(f"{url}/photograph")
            page = window.page
            page.evaluate(CLOCK)
            type_word = page.locator(".st-key-photograph_text input").fill
            for number in range(-1, rounds):  # what comes first loads what it needs, and is left out
                file = Path(folder, f"{number}.jpg")
                file.write_bytes(telephone_photograph(number))
                page.locator(".st-key-photograph_own button").first.click()
                files = page.locator(".st-key-photograph_upload input[type=file]")
                files.wait_for(state="attached")
                paintings = {PHOTOGRAPH: window.do(partial(files.set_input_files, file))}
                page.keyboard.press("Escape")
                type_word(WORDS[number % len(WORDS)])
                paintings[WORD] = window.do(partial(page.keyboard.press, "Enter"))
                paintings[BUTTON] = floor.do(floor.page.get_by_role("button", name="Press").click)
                for event, painting in paintings.items():
                    times[event] += [painting] * (number >= 0)
            megabytes += memory.megabytes("VmRSS") + memory.megabytes("VmHWM")
    figures = {}
    for event, paintings in times.items():
        to_last_change = [painting.to_last_change for painting in paintings]
        figures[event] = {
            "median_ms": round(statistics.median(to_last_change)),
            "largest_ms": round(max(to_last_change)),
            "server_ms": round(statistics.median(painting.server for painting in paintings)),
        }
    rows = [[event, *map(str, numbers.values())] for event, numbers in figures.items()]
    times_button = round(figures[WORD]["median_ms"] / figures[BUTTON]["median_ms"], 2)
    facts = {"word_in_buttons": times_button, "megabytes_before_after_most": megabytes}
    publish("photograph", [["event", "ms, median", "ms, largest", "server, ms"], *rows], {**figures, **facts})
    print(facts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    main(**vars(parser.parse_args()))
