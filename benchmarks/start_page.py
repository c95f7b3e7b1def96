"""Makes what Start shows at once: python -m benchmarks.start_page [URL of the running app [PAGES to photograph]]."""

import io
import json
import sys
from collections.abc import Sequence

from PIL import Image

from attention_core.files import find_file
from pages.start.prepared import answers
from tests.support.browser import visitor
from ui.navigation import PAGES, entry_of

FOLDER = find_file("pages")
WIDTH, HEIGHT, SIZE = 440, 1400, (672, 378)
"""Of the window, as narrow as a telephone unless a card says otherwise, and of a photograph."""
MARGIN = 16
"""Pixels of the page left of what is photographed."""
HIDDEN = ("stBaseButton-primary", "stBaseButton-secondary", "stTextArea", "stCaptionContainer")
BELOW = ", ".join([".scene :is(.bar, .note, .hint), .again", *(f'[data-testid="{name}"]' for name in HIDDEN)])
"""What stands below a picture and would be cut."""
FIND_CORNER = """(nodes) => {
  const all = [...nodes, ...document.querySelectorAll(".stVegaLiteChart")];
  const boxes = all.map((node) => node.getBoundingClientRect());
  const box = boxes.find(({ x, y, height }) => x > 0 && y > 60 && height > 40);
  return [box.x, box.y];
}"""


def photograph(url: str, names: Sequence[str] = ()) -> None:
    """Write what pages show, on a light ground and on a dark one."""
    with visitor() as first:
        page = first.context.browser.new_page(device_scale_factor=2)
        page.set_default_timeout(180_000)
        for entry in map(entry_of, names) if names else PAGES:
            card = {
                "part": "main h1",
                "below": 60,
                "size": (WIDTH, WIDTH * SIZE[1] / SIZE[0]),
                "screen": WIDTH,
            } | entry.card
            page.set_viewport_size({"width": card["screen"], "height": HEIGHT})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.goto(f"{url}/{entry.url_path}")
                page.add_style_tag(content='[data-testid="stSidebar"], [data-testid="stHeader"] { display: none; }')
                page.wait_for_selector('[data-test-script-state="notRunning"] .st-key-page_foot')
                page.wait_for_timeout(4000)
                page.locator(BELOW).evaluate_all("(nodes) => nodes.forEach((one) => (one.style.visibility = 'hidden'))")
                x, y = page.locator(card["part"]).evaluate_all(FIND_CORNER)
                wide, high = card["size"]
                clip = {"x": x - MARGIN, "y": y + card["below"], "width": wide, "height": high}
                shot = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
                picture = Image.new("RGB", (round(shot.height * SIZE[0] / SIZE[1]), shot.height), shot.getpixel((1, 1)))
                picture.paste(shot, ((picture.width - shot.width) // 2, 0))
                picture.resize(SIZE, Image.Resampling.LANCZOS).save(
                    FOLDER / entry.name / f"card-{scheme}.webp", quality=70
                )


if __name__ == "__main__":
    (FOLDER / "start/answers.json").write_text(json.dumps(answers(), ensure_ascii=False), encoding="utf-8")
    if url := sys.argv[1:2]:
        photograph(*url, sys.argv[2:])
