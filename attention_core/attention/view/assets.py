"""Scripts and style sheets of views, as they are sent to a browser."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def script_of(*names: str, folder: Path = HERE) -> str:
    """Return scripts, by the names of their files without ending, as one with those parts of prelude.js that they use.

    What is not in the folder is a script of the view.
    """
    script = "\n".join(read_asset(f"{name}.js", folder) for name in names)
    for part in reversed(read_asset("prelude.js").strip().split("\n\n")):  # a part uses only parts above it
        if re.search(rf"(?<![^.]\.)\b{part.split()[1]}\b", script):
            script = f"{part}\n{script}"
    return script


def rules_of(*names: str, folder: Path = HERE) -> str:
    return "".join(read_asset(f"{name}.css", folder) for name in ("prelude", *names))


def read_asset(name: str, folder: Path = HERE) -> str:
    """Return a file without what browsers do not need: indentation, and comments on lines of their own."""
    place = folder / name
    text = (place if place.exists() else HERE / name).read_text(encoding="utf-8")
    return re.sub(r"^ *(//.*\n)?", "", text, flags=re.MULTILINE)
