"""Makes what Start shows at once: python -m benchmarks.start_page [URL of the running app [PAGES to photograph]]."""

import io
import json
import sys
from collections.abc import Sequence
from typing import Any

from PIL import Image

from attention_core.data.colours import PEN
from attention_core.data.presets import SCENES, scene_strokes
from attention_core.files import find_file
from benchmarks.browser import visitor
from ui.start.first_screen import QUESTION, SENTENCE, listed
from ui.start.live_answers import SIDE, roles_line, scene_answer, sentence_answer

PENS = ("red", "orange", "green", "blue", "purple")
FOLDER = find_file("ui/assets/start")
SCREEN, SIZE = {"width": 440, "height": 1400}, (672, 378)
"""Of the window, as narrow as a telephone, and of a photograph: twice as large as it is shown on a card."""
MARGIN = 16
"""Pixels of the page left of what is photographed."""
PARTS = {
    "start": (".st-key-start_dot_words", -16),
    "lookup": (".st-key-tells_lookup", 0),
    "vectors": (".st-key-vectors_plane", 253),
    "scoring": (".st-key-scoring_plane", 209),
    "memory": (".st-key-memory_long", -8),
    "matter": (".st-key-matter_weighed", -16),
    "translate": (".st-key-translate_lower_words", -16),
    "transformer": (".stBidiComponent", -10),
    "pixels": (".st-key-pixels_canvas_frame", -2, 352, 326),
    "find": (".st-key-find_hero", 0, 352, 330),
    "read": (".st-key-read_pad", 0),
    "ask": (".st-key-ask_canvas_frame", -6, 352, 334),
    "groups": (".st-key-groups_party .stBidiComponent, .st-key-groups_party", 118, 440, 310),
    "train": (".st-key-train_film", -4),
    "model": (".stBidiComponent", 0),
    "atlas": (".st-key-atlas_stage", 100),
}
"""Which part of a page is photographed, how many pixels below its upper left corner the photograph begins, and
its width and height where it is not as wide as the window."""
HIDDEN = ("stBaseButton-primary", "stBaseButton-secondary", "stTextArea", "stCaptionContainer")
BELOW = ", ".join([".st-key-matter_weighed :has(> .narrow)", *(f'[data-testid="{name}"]' for name in HIDDEN)])
"""What stands below a picture and would be cut."""
PLACE = """(selector) => {
  const nodes = [...document.querySelectorAll(selector)].concat(...document.querySelectorAll(".stVegaLiteChart"));
  const boxes = nodes.map((node) => node.getBoundingClientRect());
  const box = boxes.find(({ x, y, height }) => x > 0 && y > 60 && height > 40);
  return [box.x, box.y];
}"""


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


def photograph(url: str, names: Sequence[str] = tuple(PARTS)) -> None:
    """Write what pages show, on a light ground and on a dark one."""
    with visitor() as first:
        page = first.context.browser.new_page(viewport=SCREEN, device_scale_factor=2)
        page.set_default_timeout(180_000)
        for name in names:
            part, below, *size = PARTS[name]
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.goto(f"{url}/{name}".removesuffix("/start"))
                page.add_style_tag(content='[data-testid="stSidebar"], [data-testid="stHeader"] { display: none; }')
                page.wait_for_selector('[data-test-script-state="notRunning"] .st-key-page_foot')
                page.wait_for_timeout(4000)
                page.locator(BELOW).evaluate_all("(nodes) => nodes.forEach((one) => (one.style.visibility = 'hidden'))")
                x, y = page.evaluate(PLACE, part)
                wide, high = size or (SCREEN["width"], SCREEN["width"] * SIZE[1] / SIZE[0])
                clip = {"x": x - MARGIN, "y": y + below, "width": wide, "height": high}
                shot = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
                picture = Image.new("RGB", (round(shot.height * SIZE[0] / SIZE[1]), shot.height), shot.getpixel((1, 1)))
                picture.paste(shot, ((picture.width - shot.width) // 2, 0))
                picture.resize(SIZE, Image.Resampling.LANCZOS).save(FOLDER / f"{name}-{scheme}.webp", quality=70)


if __name__ == "__main__":
    (FOLDER / "answers.json").write_text(json.dumps(answers(), ensure_ascii=False), encoding="utf-8")
    if url := sys.argv[1:2]:
        photograph(*url, sys.argv[2:] or tuple(PARTS))
