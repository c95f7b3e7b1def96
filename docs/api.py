"""Make a site of the docs and of the library's API, without a network: python -m docs.api FOLDER."""

import re
import shutil
import sys
import warnings
from os.path import relpath
from pathlib import Path
from types import ModuleType

import pdoc

import attention_core

ROOT = Path(__file__).parents[1]
MODULES = tuple(f"attention_core{name}" for name in ("", ".charts", ".atlas", ".explain.heads", ".study"))
PAGES = ("*.md", "docs/*.md", "deploy/*.md", "benchmarks/*.md", "weights/*.md")
STYLE = "<style>img { max-width: 100%; }</style>"
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def write_api(folder: Path) -> None:
    """Write a page for each of MODULES with all public names."""
    vars(attention_core).update({name: getattr(attention_core, name) for name in attention_core.__all__})
    others = [f"!{module}\\..*" for module in MODULES]
    warnings.filterwarnings("ignore", "Error parsing type annotation")  # these stay as they are written
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*[part for pair in zip(MODULES, others, strict=True) for part in pair], output_directory=folder)


def write_pages(folder: Path) -> None:
    """Write every page of Markdown where it lies in the repository, and copy the files that it links to."""
    pdoc.render.configure(docformat="markdown", show_source=False, search=False)
    for page in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        place = folder / page.relative_to(ROOT).with_suffix(".html")
        text = page.read_text()
        for link in LINK.findall(text):
            linked = (page.parent / link).resolve()
            if linked.is_file() and linked.suffix != ".md":
                copy = folder / linked.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, copy)
        home, api = (relpath(folder / name, place.parent) for name in ("index.html", "attention_core.html"))
        title, _, text = text.removeprefix("# ").partition("\n")
        text = f"{STYLE}\n\n[Start]({home}) | [API]({api})\n\n{LINK.sub(_as_html, text)}"
        place.parent.mkdir(parents=True, exist_ok=True)
        written = pdoc.render.html_module(pdoc.doc.Module(ModuleType(title, text)), {})
        place.write_text(re.sub(r'(class="pdoc-button module-list-button" href=")[^"]*', rf"\g<1>{home}", written))
    shutil.copyfile(folder / "README.html", folder / "index.html")


def _as_html(link: re.Match[str]) -> str:
    return re.sub(r"\.md$", ".html", link[0])


if __name__ == "__main__":
    write_api(Path(sys.argv[1]))
    write_pages(Path(sys.argv[1]))
