"""Make pages of the library's API, without a network: python -m docs.api FOLDER."""

import sys
import warnings
from pathlib import Path

import pdoc

import attention_core

MODULES = tuple(f"attention_core{name}" for name in ("", ".charts", ".atlas", ".explain.heads", ".study"))


def write_api(folder: Path) -> None:
    """Write a page for each of MODULES with all public names."""
    vars(attention_core).update({name: getattr(attention_core, name) for name in attention_core.__all__})
    others = [f"!{module}\\..*" for module in MODULES]
    warnings.filterwarnings("ignore", "Error parsing type annotation")  # these stay as they are written
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*[part for pair in zip(MODULES, others, strict=True) for part in pair], output_directory=folder)


if __name__ == "__main__":
    write_api(Path(sys.argv[1]))
