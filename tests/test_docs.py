"""What the docs name is there: files and functions of the tour, and whatever a link leads to."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").glob("*.md")])
PLACE = re.compile(r"[\w.-]+/[\w./-]*|\w+\.(?:py|js)")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")
NO_NAMES = {"app.py", "pages", "ui", "attention_core"}
"""Folders of the layers; app.py as a file is found in any case."""


@cache
def defined(path: Path) -> set[str]:
    """Return the functions, classes, methods ("Class.method") and values that a file defines."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            names |= methods | {f"{node.name}.{method}" for method in methods}
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)} if target else set()
    return names


def test_every_file_and_function_of_the_tour_is_where_it_says() -> None:
    text = (ROOT / "docs/tour.md").read_text()
    places = names = 0
    wrong = []
    for part in re.split(r"\n(?=\d+\. |\* |\||\n)", text):
        quoted = re.findall(r"`([^`]+)`", part)
        files = [ROOT / one for one in quoted if PLACE.fullmatch(one) and "/" in one]
        wrong += [f"docs/tour.md names {file.relative_to(ROOT)}, which is gone." for file in files if not file.exists()]
        code = [file for file in files if file.suffix == ".py" and file.exists()]
        known = set().union(*map(defined, code))
        wanted = [one for one in quoted if NAME.fullmatch(one) and one not in NO_NAMES] if code else []
        where = " or ".join(str(file.relative_to(ROOT)) for file in code)
        wrong += [f"docs/tour.md says that {one} is in {where}; it is not there." for one in wanted if one not in known]
        places, names = places + len(files), names + len(wanted)
    assert places > 50
    assert names > 50
    assert not wrong, "\n".join(wrong)


def heads(page: Path) -> set[str]:
    """Return the names by which a link can lead to a heading of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]
    wrong = []
    for link in links:
        place, _, head = link.partition("#")
        target = page.parent / place if place else page
        if not target.exists() or (head and head not in heads(target)):
            wrong.append(f"{page.relative_to(ROOT)} links to {link}, which is not there.")
    assert not wrong, "\n".join(wrong)


NUMBERS = {"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16}


def test_the_readme_counts_pages_steps_and_notebooks_as_they_are() -> None:
    text = (ROOT / "README.md").read_text()
    pages = {page.parent.name: page.read_text() for page in (ROOT / "pages").glob("*/page.py")}
    del pages["start"]
    in_steps = [name for name, code in pages.items() if re.search(r"players=\([^)]*STEPS", code)]
    assert NUMBERS[re.search(r"one of (\w+) pages", text)[1]] == len(pages)
    assert NUMBERS[re.search(r"(\w+) pages step from query, key and value", text)[1].lower()] == len(in_steps)
    named = set(re.findall(r"examples/(\w+\.ipynb)", text))
    assert "eight notebooks" in text
    assert len(named) == 8
    assert named == {notebook.name for notebook in (ROOT / "examples").glob("*.ipynb")}


def test_the_settings_are_all_those_that_the_code_reads() -> None:
    told = set(re.findall(r"^\| `(\w+)[=`]", (ROOT / "docs/using.md").read_text(), re.MULTILINE))
    folders = ("attention_core", "ui", "tests")
    code = "".join(file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.py"))
    read = set(re.findall(r"\"(ATTENTION_[A-Z_]+)\"", code))
    assert told - {"CHROMIUM"} == read
