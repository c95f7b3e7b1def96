"""Makes what Start shows at once: python -m ui.start.make [URL of the running app, to photograph its pages as well]."""

from __future__ import annotations

import io
import json
import sys

from PIL import Image

from attention_core.files import find_file
from ui.navigation import PAGES
from ui.start.answers import drawing_answer, sentence_answer
from ui.start.moving import FIRST_DIGIT, SENTENCE, TRANSLATOR

FOLDER = find_file("ui/assets/start")
SCREEN, SIZE = {"width": 1240, "height": 900}, (480, 270)
SHOWN = {
    "lookup": ".stVegaLiteChart",
}
"""What of a page its card shows; all below its head where nothing is said."""


def make_answers() -> None:
    """Write what the models say about the first drawing and the sentence."""
    drawing = drawing_answer(FIRST_DIGIT)
    (FOLDER / "looks.png").write_bytes(drawing.pop("looks"))
    told = {"drawing": drawing, "words": sentence_answer(SENTENCE, TRANSLATOR)}
    (FOLDER / "answers.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")


def photograph(url: str) -> None:
    """Photograph every page of the running app, as it opens."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = playwright.chromium.launch().new_page(viewport=SCREEN)
        for entry in PAGES[1:]:
            page.goto(f"{url}/{entry.url_path}")
            page.wait_for_selector(
                '[data-testid="stApp"][data-test-script-state="notRunning"] [data-testid="stPageLink"]'
            )
            page.wait_for_timeout(3000)
            content = page.screenshot()
            picture = Image.open(io.BytesIO(content)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            picture.save(FOLDER / f"{entry.name}.webp", quality=70)


if __name__ == "__main__":
    make_answers()
    for address in sys.argv[1:]:
        photograph(address)
