"""Makes what Start shows at once: python -m benchmarks.start_page [URL of the running app, to photograph its pages]."""

import io
import json
import sys
from typing import Any

from PIL import Image

from attention_core.data.colours import PEN
from attention_core.data.presets import SCENES, scene_strokes
from attention_core.files import find_file
from benchmarks.browser import visitor
from ui.navigation import PAGES
from ui.start.first_screen import QUESTION, SENTENCE, listed
from ui.start.live_answers import SIDE, roles_line, scene_answer, sentence_answer

PENS = ("red", "orange", "green", "blue", "purple")
FOLDER = find_file("ui/assets/start")
SCREEN, SIZE = {"width": 1240, "height": 1400}, {"width": 336, "height": 189}
"""Of a card: what is photographed has its own size on it, so that letters stay as large as on the page."""
PARTS: dict[str, tuple[str, str]] = {}
"""What is opened instead of the page as it is on arrival, and the part whose upper left corner is photographed."""
LARGEST = """(selector) => {
  const nodes = [...document.querySelectorAll(selector || ".stVegaLiteChart, .stBidiComponent")];
  const boxes = nodes.map((node) => node.getBoundingClientRect()).filter(({ bottom, y }) => bottom < 1400 && y > 100);
  const { x, y } = boxes.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  return { x, y };
}"""
"""Where the largest picture on the screen is."""


def answers() -> dict[str, Any]:
    """Return what Start shows before any model is there."""
    strokes = scene_strokes(SCENES["Five colours"], SIDE)
    scene = {"pens": [[name, PEN[name]] for name in PENS], "strokes": listed(strokes)}
    told = {
        "words": sentence_answer(SENTENCE),
        "scene": scene | scene_answer(strokes, QUESTION),
        "roles": roles_line(),
    }
    return json.loads(json.dumps(told))


def make_answers() -> None:
    (FOLDER / "answers.json").write_text(json.dumps(answers(), ensure_ascii=False), encoding="utf-8")


def photograph(url: str) -> None:
    """Write what every page shows, on a light ground and on a dark one."""
    with visitor() as first:
        for scheme in ("light", "dark"):
            page = first.context.browser.new_page(viewport=SCREEN, color_scheme=scheme, device_scale_factor=2)
            page.set_default_timeout(180_000)
            for entry in PAGES[1:]:
                query, part = PARTS.get(entry.name, ("", ""))
                page.goto(f"{url}/{entry.url_path}{query}")
                page.add_style_tag(content='[data-testid="stSidebar"], [data-testid="stHeader"] { display: none; }')
                page.wait_for_selector('[data-test-script-state="notRunning"] .st-key-page_before')
                page.wait_for_timeout(6000)
                clip = page.evaluate(LARGEST, part) | SIZE
                picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
                picture.save(FOLDER / f"{entry.name}-{scheme}.webp", quality=70)


if __name__ == "__main__":
    make_answers()
    for address in sys.argv[1:]:
        photograph(address)
