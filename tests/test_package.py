"""What a person installs and reads: requirements, the version, the pages' lines of Python, the pages of the API."""

import ast
import re
import subprocess
import sys
import tomllib
from itertools import chain

import pytest

import attention_core

NOTEBOOK = """
import sys
sys.path.insert(0, {root!r})
namespace = {{}}
for block in {blocks!r}:
    exec(block, namespace)
print("fine")
"""


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    return re.split(r"[=<>\[]", requirement)[0]


def test_the_extras_ask_for_what_requirements_txt_asks_for(root, project):
    listed = {name_of(line): line for line in (root / "requirements.txt").read_text().split()}
    extras = project["optional-dependencies"]
    asked = {name_of(one): one for one in chain(project["dependencies"], *extras.values())}
    asked.pop("attention-explorer")
    assert {asked.pop("anywidget"), asked.pop("traitlets")} < {*extras["study"]}  # for notebooks, not the app
    assert asked.pop("torch") == "torch>=2.13,<3"  # what is there already is kept
    assert listed.pop("torch") == "torch==2.13.0"
    assert asked == listed
    assert set(extras) == {"charts", "hub", "study", "app", "all"}


def test_the_newest_version_of_the_changelog_is_the_package_s(root):
    assert re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == attention_core.__version__


def test_the_lines_of_python_in_readme_and_library_page_run_from_top_to_bottom(root, tmp_path):
    texts = [(root / page).read_text() for page in ("README.md", "docs/library.md")]
    blocks = [block for text in texts for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
    assert len(blocks) >= 7
    code = NOTEBOOK.format(root=str(root), blocks=blocks)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.endswith("fine\n"), done.stderr
    files = {"attention.html", "run.npz", "run.html", "figure.svg", "heads.parquet", "heads.pdf", "weights.npz"}
    assert {path.name for path in tmp_path.iterdir()} == files


def test_the_library_page_has_an_example_of_every_public_name(root):
    blocks = re.findall(r"```python\n(.*?)```", (root / "docs/library.md").read_text(), re.DOTALL)
    nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
    used = {node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in nodes}
    assert set(attention_core.__all__) <= used, sorted(set(attention_core.__all__) - used)


def test_the_pages_of_the_api_have_every_public_name_and_fetch_nothing(root, tmp_path):
    command = [sys.executable, "-m", "docs.api", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.html")}
    modules = {f"attention_core{module}.html" for module in ("", "/charts", "/atlas", "/explain/heads", "/study")}
    assert pages.keys() == modules | {"index.html"}
    for name, page in pages.items():
        assert not re.search(r"""(?:<script|<img|<link)[^>]*(?:src|href)=["']?(?:https?:)?//""", page), name
    page = (tmp_path / "attention_core.html").read_text()
    for name in attention_core.__all__:
        assert f'id="{name}"' in page, name
        assert f"Found {name!r}" not in page
    assert "Run a transformers model once and return every attention in it" in page
