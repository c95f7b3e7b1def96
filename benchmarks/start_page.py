"""Makes what Start shows at once: python -m benchmarks.start_page [URL of the running app, to photograph its pages]."""

import io
import json
import sys

from PIL import Image, ImageOps

from attention_core.files import find_file
from benchmarks.browser import visitor
from ui.navigation import PAGES
from ui.start.animations import FIRST_DIGIT, SENTENCE, TRANSLATOR
from ui.start.live_answers import drawing_answer, sentence_answer

FOLDER = find_file("ui/assets/start")
SCREEN, SIZE = {"width": 1240, "height": 1500}, (480, 270)
OPENED = dict.fromkeys(("vectors", "pixels", "translate", "find", "groups"), "?step=weights")
"""What is opened instead of the page as it is on arrival."""
NARROW = {"lookup": ".looked-up", "scoring": ".st-key-scoring_plane", "matter": ".st-key-matter_weighed"}
"""Pages of which one part is photographed, at its top, as a phone shows it: its letters can be read on a card."""
PHONE = {"width": 390, "height": 2400}
CLIP = """selector => {
  const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
  return { x, y, width, height: Math.min(height, width * 9 / 16) };
}"""
LARGEST = """() => {
  const nodes = [...document.querySelectorAll(".stVegaLiteChart, .stBidiComponent")];
  const area = ({ width, height }) => Math.min(width, 1240) * Math.min(height, 700);
  const boxes = nodes.map((node) => node.getBoundingClientRect()).filter(({ bottom, y }) => bottom < 1500 && y > 100);
  const { x, y, width, height } = boxes.sort((a, b) => area(b) - area(a))[0];
  return { x, y, width, height };
}"""
"""Where the largest picture on the screen is."""


def make_answers() -> None:
    """Write what the models say about the first drawing and the sentence."""
    drawing = drawing_answer(FIRST_DIGIT)
    (FOLDER / "looks.png").write_bytes(drawing.pop("looks"))
    told = {"drawing": drawing, "words": sentence_answer(SENTENCE, TRANSLATOR)}
    (FOLDER / "answers.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")


def photograph(url: str) -> None:
    with visitor() as page:
        for entry in PAGES[1:]:
            part = NARROW.get(entry.name)
            page.set_viewport_size(PHONE if part else SCREEN)
            page.goto(f"{url}/{entry.url_path}{OPENED.get(entry.name, '')}")
            page.add_style_tag(content='[data-testid="stSidebar"], [data-testid="stHeader"] { display: none; }')
            page.wait_for_selector('[data-test-script-state="notRunning"] .st-key-page_before')
            page.wait_for_timeout(6000)
            clip = page.evaluate(CLIP, part) if part else page.evaluate(LARGEST)
            picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
            shown = ImageOps.pad(picture, (SIZE[0] - 24, SIZE[1] - 24), Image.Resampling.LANCZOS, "white")
            ImageOps.expand(shown, 12, "white").save(FOLDER / f"{entry.name}.webp", quality=75)


if __name__ == "__main__":
    make_answers()
    for address in sys.argv[1:]:
        photograph(address)
