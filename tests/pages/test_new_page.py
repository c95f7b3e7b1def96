"""A new page is one folder: in a copy of the project it is wherever pages are, without another line."""

import os
import shutil
import subprocess
import sys

import pytest

WALK = """
from attention_core.data.lecture import read_lecture
from tests.support.app import text_of
from ui.navigation import PAGES, entry_of, path_of

LECTURE = "# Mine\\n\\n## Two words.\\npage: nearest\\nminutes: 3\\n"


def test_it_is_in_the_sidebar_on_start_and_in_lectures(app):
    assert [entry.name for entry in PAGES].index("nearest") == len(PAGES) - 2
    assert "nearest" in {link.proto.page for link in app.get("page_link")}
    assert read_lecture(LECTURE, [entry.name for entry in PAGES]).items[0].page == "nearest"


def test_it_bears_what_strangers_type(hostile_visitor, root):
    hostile_visitor.app.switch_page(path_of(entry_of("nearest"))).run()
    hostile_visitor.run("nearest", max_seconds=60)
    hostile_visitor.type_everywhere("nearest")
    fields = [file for file, _ in hostile_visitor.calls if file.endswith("pages/nearest/parts.py")]
    assert len(fields) == 2
    assert not hostile_visitor.faults


def test_its_question_opens_an_experiment_and_leads_back(visit):
    page = visit("nearest", query="dog")
    page.button(key="nearest_question_reordered").click().run()
    assert page.title[0].value == "Does the order of letters count?"
    assert page.query_params["question"] in ("reordered", ["reordered"])
    assert page.text_input(key="nearest_query").value == "dog"
    assert "Yes: the nearest word gives" in text_of(page)
    page.button(key="nearest_back").click().run()
    assert page.title[0].value == "Which word is nearest"
    assert "question" not in page.query_params


def test_in_a_lecture_its_screens_are_chosen_from_a_list(visit):
    page = visit("nearest", lecture="1")
    screens = page.segmented_control(key="nearest_question")
    assert screens.options == ["Which word is nearest", "Does the order of letters count?", "All the numbers"]
    assert "nearest_step" not in [control.key for control in page.segmented_control], "numbers are another screen"
    screens.set_value("numbers").run()
    assert page.segmented_control(key="nearest_step")
    page.segmented_control(key="nearest_question").set_value("reordered").run()
    assert "Does the order of letters count?" in [title.value for title in page.title]


def test_its_entry_imports_neither_torch_nor_charts(root):
    import subprocess, sys
    code = "import sys, ui.navigation as n; n.entry_of('nearest'); assert not {'torch', 'altair'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)
"""
COPIED = ("app.py", "attention_core", "lessons", "pages", "tests", "ui", ".streamlit", "pyproject.toml", "README.md")


@pytest.mark.browser
def test_a_folder_is_a_page(root, tmp_path):
    copy = tmp_path / "project"
    copy.mkdir()
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name)  # with what is compiled, which fits as the files keep their times
        else:
            shutil.copy(root / name, copy / name)
    for name in ("weights", "benchmarks", "docs"):
        (copy / name).symlink_to(root / name)
    shutil.copytree(root / "tests/support/new_page", copy / "pages/nearest")
    (copy / "tests/pages/nearest").mkdir()
    (copy / "tests/pages/nearest/test_nearest.py").write_text(WALK)
    of_all_pages = sorted(str(path.relative_to(copy)) for path in (copy / "tests/pages").glob("test_*.py"))
    selected = ["-k", "nearest", "tests/pages/nearest", *of_all_pages, "tests/test_layers.py"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *selected]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-6000:]
    n_passed = int(done.stdout.rpartition(" passed")[0].rpartition("\n")[2].split()[-1])
    assert n_passed >= 11, done.stdout[-3000:]
