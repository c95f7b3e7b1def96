"""Make the pictures of docs/gallery.md by the lines above each: python -m docs.gallery [FOLDER]."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("gallery.md")
ENTRY = re.compile(r"```python\n(.*?)```\n\n!\[[^\]]+\]\(gallery/(\w+)\.svg\)", re.DOTALL)
MILLIMETRES = 120


def make_pictures(folder: Path) -> Iterator[Path]:
    """Run the lines above each picture, from top to bottom, and write their last `chart` into the folder as an SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, object] = {}
    for code, name in ENTRY.findall(PAGE.read_text()):
        exec(code, names)
        names["chart"].save(folder / f"{name}.svg", width=MILLIMETRES)  # type: ignore[attr-defined]
        yield folder / f"{name}.svg"


if __name__ == "__main__":
    for path in make_pictures(Path(sys.argv[1]) if sys.argv[1:] else PAGE.parent / "gallery"):
        print(path)
