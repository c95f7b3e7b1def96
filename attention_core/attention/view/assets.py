"""Scripts and style sheets of views, as they are sent to a browser."""

import re
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def script_of(*names: str, folders: Sequence[Path] = ()) -> str:
    """Return scripts, by the names of their files without ending, as one with those parts of prelude.js that they use.

    They lie in one of the folders, or among those of the view.
    """
    script = "\n".join(read_asset(f"{name}.js", folders) for name in names)
    for part in reversed(read_asset("prelude.js").strip().split("\n\n")):  # a part uses only parts above it
        if re.search(rf"(?<![^.]\.)\b{part.split()[1]}\b", script):
            script = f"{part}\n{script}"
    return script


def rules_of(*names: str, folders: Sequence[Path] = ()) -> str:
    return "".join(read_asset(f"{name}.css", folders) for name in ("prelude", *names))


def read_asset(name: str, folders: Sequence[Path] = ()) -> str:
    """Return a file without what browsers do not need: indentation, and comments on lines of their own."""
    path = next((folder / name for folder in folders if (folder / name).exists()), HERE / name)
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^ *(//.*\n)?", "", text, flags=re.MULTILINE)
