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
SCREEN, SIZE = {"width": 1440, "height": 1400}, (672, 378)
"""Of the window, and of a photograph: twice as large as it is shown on a card."""
PARTS = {
    "lookup": (".st-key-tells_lookup", 420),
    "vectors": (".st-key-vectors_plane", 440),
    "scoring": (".st-key-scoring_plane", 420),
    "memory": (".stVegaLiteChart", 440),
    "matter": (".st-key-matter_weighed", 440),
    "translate": (".st-key-translate_lower_words", 450),
    "transformer": (".stBidiComponent", 460),
    "pixels": (".st-key-pixels_stage", 400),
    "find": (".st-key-find_hero", 480),
    "read": (".st-key-read_film", 400),
    "ask": (".st-key-ask_look_0", 400),
    "groups": (".st-key-groups_party .stBidiComponent, .st-key-groups_party", 460),
    "model": (".stBidiComponent", 460),
    "atlas": (".st-key-atlas_stage", 460),
}
"""Which part of a page is photographed, from its upper left corner on, and how many of its pixels are a card wide."""
PLACE = """(selector) => {
  const nodes = [...document.querySelectorAll(selector)].concat(...document.querySelectorAll(".stVegaLiteChart"));
  const box = nodes.map((node) => node.getBoundingClientRect()).find(({ y, height }) => y > 60 && height > 40);
  return { x: box.x, y: box.y };
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
            part, width = PARTS[name]
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.goto(f"{url}/{name}")
                page.add_style_tag(content='[data-testid="stSidebar"], [data-testid="stHeader"] { display: none; }')
                page.wait_for_selector('[data-test-script-state="notRunning"] .st-key-page_before')
                page.wait_for_timeout(4000)
                clip = page.evaluate(PLACE, part) | {"width": width, "height": width * SIZE[1] / SIZE[0]}
                picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
                picture.resize(SIZE, Image.Resampling.LANCZOS).save(FOLDER / f"{name}-{scheme}.webp", quality=70)


if __name__ == "__main__":
    (FOLDER / "answers.json").write_text(json.dumps(answers(), ensure_ascii=False), encoding="utf-8")
    if url := sys.argv[1:2]:
        photograph(*url, sys.argv[2:] or tuple(PARTS))
