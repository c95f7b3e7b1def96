"""Layers import downwards only, the core needs no Streamlit, and what others import says what it is for."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from attention_core.concurrency import LOCK_ORDER
from tests.support.modules import FORBIDDEN, module_name, nodes_of, package_of
from ui.navigation import PAGES

MADE_OF_MODELS = {"models", "inference", "train", "live_training", "evaluate", "hub", "study", "serve"}
STDLIB_AND_OURS = {*sys.stdlib_module_names, "attention_core", "ui", "pages"}


def imported(path: Path) -> set[str]:
    """Return the first names of everything that a file imports, at its top or inside functions."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_layer_imports_only_downwards(root, layer):
    files = sorted((root / layer).rglob("*.py"))
    assert files, f"no files in {layer}: the test would pass on nothing"
    for path in files:
        assert not FORBIDDEN[layer] & imported(path), path


LOWEST = {"arrays", "bounds", "concurrency", "deprecated", "device", "files", "links", "log", "weights"}
MAY_IMPORT = {
    "attention": LOWEST,
    "data": LOWEST | {"attention"},
    "explain": LOWEST | {"attention"},
    "hub": LOWEST | {"attention", "explain"},
    "models": LOWEST | {"attention", "data", "hub"},
    "study": LOWEST | {"attention", "data", "explain", "hub"},
    "inference": LOWEST | {"attention", "data", "explain", "hub", "models"},
}
"""What packages of the library stand on; in no other one do they know anything of what is above them."""


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_of_the_library_stands_on_those_below_it_alone(root, package):
    graph = module_graph(root)
    wanted = {one for module in graph if module.startswith(f"attention_core.{package}.") for one in graph[module]}
    assert wanted
    assert {one.split(".")[1] for one in wanted} - {package} <= MAY_IMPORT[package]


def test_the_app_knows_no_page_by_name(root):
    assert "pages" not in imported(root / "app.py")
    assert not [module for module in module_graph(root)["ui.navigation"] if module.startswith("pages")]


def test_one_file_of_the_app_loads_models(root):
    users = set()
    for path in (*(root / "ui").rglob("*.py"), *(root / "pages").rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("attention_core.models"):
                users |= {path for alias in node.names if alias.name in ("load", "build")}
    assert users == {root / "ui/computed.py"}


def test_models_keep_nothing_on_their_modules(root):
    """All visitors share them: what a method but __init__ sets on itself would be another visitor's."""
    kept, n_methods = [], 0
    for path in (root / "attention_core/models").glob("*.py"):
        classes = [node for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
        methods = [node for kind in classes for node in kind.body if isinstance(node, ast.FunctionDef)]
        for method in (one for one in methods if one.name != "__init__"):
            n_methods += 1
            stored = [
                one for one in ast.walk(method) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
            ]
            kept += [
                f"{path}: {one.attr}" for one in stored if isinstance(one.value, ast.Name) and one.value.id == "self"
            ]
    assert n_methods > 50
    assert not kept


def test_a_page_imports_no_other_page(root):
    graph = {module: wanted for module, wanted in module_graph(root).items() if module.startswith("pages.")}
    assert {module.split(".")[1] for module in graph} == {entry.name for entry in PAGES}
    for module, wanted in graph.items():
        assert {one.split(".")[1] for one in wanted if one.startswith("pages.")} <= {module.split(".")[1]}, module


def test_a_page_read_from_top_to_bottom_has_no_maths(root):
    files = list((root / "pages").glob("*/page.py"))
    assert len(files) == len(PAGES)
    for path in files:
        assert not {"torch", "numpy"} & imported(path), path


def test_packages_hold_what_their_modules_have_and_nothing_of_their_own(root):
    files = {path for layer in FORBIDDEN for path in (root / layer).rglob("__init__.py")}
    assert files
    for path in files - {root / "attention_core/__init__.py"}:  # which imports a module when its name is first used
        own = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert not own, path


def test_a_test_imports_no_other_test_and_of_the_benchmarks_their_own_alone(root):
    files = sorted((root / "tests").rglob("*.py"))
    assert len(files) > 100
    for path in files:
        wanted = [str(node.module) for node in nodes_of(path) if isinstance(node, ast.ImportFrom)]
        others = [name for name in wanted if name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")]
        assert not others, path
        is_their_own = path.is_relative_to(root / "tests/benchmarks")
        assert is_their_own or not [name for name in wanted if name.startswith("benchmarks")], path


def test_the_tests_folders_are_those_of_the_code(root):
    folders = {path.parent.relative_to(root / "tests") for path in (root / "tests").rglob("test_*.py")}
    assert len(folders) > 30
    assert not [folder for folder in folders if not (root / folder).is_dir()]


def test_one_file_reads_and_writes_the_session(root):
    files = [root / "app.py", *(root / "pages").rglob("*.py"), *(root / "ui").rglob("*.py")]
    users = {path.relative_to(root).as_posix() for path in files if "st.session_state" in path.read_text()}
    assert users == {"ui/state.py"}


INSIDE_TORCH = {"_C", "_buffers", "_cdata", "_dynamo", "_schema", "_to_copy", "_version"}
INSIDE_TRANSFORMERS = {
    "_attn_implementation_internal",
    "_can_set_attn_implementation",
    "_model_mapping",
    "_supports_sdpa",
}


def test_one_file_each_reaches_into_torch_transformers_and_streamlit(root):
    files = [path for layer in FORBIDDEN for path in (root / layer).rglob("*.py")]
    names = {path.relative_to(root).as_posix(): [*_attributes(path)] for path in files}
    of_torch = {path for path, used in names.items() if {name for _, name in used} & INSIDE_TORCH}
    assert of_torch == {"attention_core/attention/inside_torch.py"}
    of_transformers = {path for path, used in names.items() if {name for _, name in used} & INSIDE_TRANSFORMERS}
    assert of_transformers == {"attention_core/hub/inside_transformers.py"}
    of_streamlit = {path for path, used in names.items() for owner, name in used if owner == "st" and name[0] == "_"}
    of_streamlit |= {
        path.relative_to(root).as_posix()
        for path in files
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom)
        and re.match(r"streamlit\.(proto|runtime|elements|web)\b", node.module or "")
    }
    assert of_streamlit == {"ui/inside_streamlit.py"}


def test_one_short_file_of_the_app_takes_names_with_an_underscore(root):
    inside = root / "ui/inside_streamlit.py"
    assert len(inside.read_text().splitlines()) <= 160
    files = [root / "app.py", *(root / "pages").rglob("*.py"), *(root / "ui").rglob("*.py")]
    own = {node.name for path in files for node in nodes_of(path) if isinstance(node, ast.FunctionDef)}
    own |= {"_asdict", "_replace"}  # of named tuples
    users = set()
    for path in files:
        names = {name for owner, name in _attributes(path) if owner not in ("self", "cls")} - own
        imports = [node for node in nodes_of(path) if isinstance(node, ast.ImportFrom)]
        names |= {alias.name for node in imports for alias in node.names}
        if any(re.match("_[^_]", name) for name in names):
            users.add(path)
    assert users == {inside}


def _attributes(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (owner, name) of every attribute in a file, "" where the owner is no plain name."""
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute):
            yield node.value.id if isinstance(node.value, ast.Name) else "", node.attr


def test_every_lock_has_a_place_in_the_order_and_a_line_in_its_page(root):
    lines = re.findall(r"^\| ([a-z ]+) \| `", (root / "docs/concurrency.md").read_text(), re.MULTILINE)
    assert tuple(lines) == LOCK_ORDER
    users = [path for layer in FORBIDDEN for path in (root / layer).rglob("*.py") if "Lock(" in path.read_text()]
    named = set(re.findall(r'(?:Lock|entering|in_order)\("([a-z ]+)"', "".join(path.read_text() for path in users)))
    assert named | {"compute", "heavy run"} == set(LOCK_ORDER)
    plain = {path for path in users if re.search(r"threading\.R?Lock\(", path.read_text())}
    assert plain == {root / "attention_core/concurrency/locks.py", root / "ui/computed.py"}


@cache
def module_graph(root: Path) -> dict[str, set[str]]:
    """Return what each module of the project imports of it: at its top, inside functions, and for types alone."""
    files = {module_name(path, root): path for layer in FORBIDDEN for path in (root / layer).rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        wanted = set()
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= {name if name in files else str(node.module) for name in names}
        graph[module] = (wanted & set(files)) - {module}
    return graph


def test_no_circle_between_files(root):
    graph = module_graph(root)
    assert len(graph) > 200
    graphlib.TopologicalSorter(graph).prepare()


def test_no_circle_between_packages(root):
    packages: dict[str, set[str]] = {}
    for module, wanted in module_graph(root).items():
        if module == "attention_core":
            continue  # the public names
        others = {package_of(one) for one in wanted} - {package_of(module)}
        packages.setdefault(package_of(module), set()).update(others)
    graphlib.TopologicalSorter(packages).prepare()


def test_charts_know_no_model_and_nothing_that_is_made_of_models(root):
    graph = module_graph(root)
    charts = [module for module in graph if package_of(module) == "attention_core.charts"]
    assert charts
    for module in charts:
        above = [one for one in graph[module] if package_of(one).removeprefix("attention_core.") in MADE_OF_MODELS]
        assert not above, module


def test_at_most_seven_loose_modules_in_the_core(root):
    loose = [path.name for path in (root / "attention_core").glob("*.py") if path.name != "__init__.py"]
    assert 0 < len(loose) <= 7, loose


def test_only_charts_import_altair(root):
    charts = root / "attention_core" / "charts"
    files = [path for folder in ("attention_core", "ui", "pages") for path in (root / folder).rglob("*.py")]
    users = {path for path in files if "altair" in imported(path)}
    assert users
    assert all(path.is_relative_to(charts) or path.match("pages/*/charts.py") for path in users), users


def test_ray_is_imported_by_those_that_serve_alone(root):
    users = {path for layer in FORBIDDEN for path in (root / layer).rglob("*.py") if "ray" in imported(path)}
    assert users == {root / "attention_core" / "serve" / f"{name}.py" for name in ("__main__", "deployment")}


def test_everything_imported_is_in_the_requirements(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    texts = [(root / f"requirements{kind}.txt").read_text() for kind in ("", "-cluster")]
    named = "".join((*texts, *project["optional-dependencies"]["study"])).lower().replace("-", "_")
    aliases = {"pil": "pillow"}
    for layer in FORBIDDEN:
        for path in (root / layer).rglob("*.py"):
            for name in imported(path) - STDLIB_AND_OURS:
                assert aliases.get(name.lower(), name.lower()) in named, f"{path} imports {name}"


def test_what_is_drawn_leaves_tensors_through_to_array_alone(root):
    """`.numpy()` and numpy's own conversions fail on a tensor of a GPU; to_array does not."""
    folders = (root / "ui", root / "pages", root / "attention_core" / "charts")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert any("to_array(" in path.read_text() for path in files), "the test would pass on nothing"
    for path in files:
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("numpy", "__array__"), f"{path}, line {node.lineno}: use to_array"


WITHOUT_STREAMLIT = """
import sys
sys.modules["streamlit"] = None
import contextlib, importlib, pkgutil, runpy
import numpy as np
import attention_core
from attention_core import load, step_of
repr(attention_core.Recording())
assert "altair" not in sys.modules and "pandas" not in sys.modules
trace = load("pixel-classifier", "cpu").trace(np.eye(28))
from attention_core.charts import step_chart
assert step_chart(step_of(trace, "weights"), size=480).to_dict()["layer"]
for module in pkgutil.walk_packages(attention_core.__path__, "attention_core."):
    if not module.name.endswith(("__main__", "topics.translate.translation")):
        importlib.import_module(module.name)
sys.argv = ["x", "--help"]
for command in ("train", "evaluate"):
    with contextlib.suppress(SystemExit):
        runpy.run_module(f"attention_core.{command}", run_name="__main__")
print("fine")
"""


def test_core_its_charts_and_commands_work_without_streamlit(root):
    command = [sys.executable, "-W", "error", "-c", WITHOUT_STREAMLIT]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().endswith("fine"), done.stderr
    assert len(re.findall("^usage: .*(?:train|evaluate)", done.stdout, re.MULTILINE)) == 2
    assert done.stdout.count("pixel-classifier") >= 2


def test_no_two_classes_bear_one_name(root):
    places = {}
    for path in [*(root / "attention_core").rglob("*.py"), *(root / "ui").rglob("*.py")]:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(root)))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert not shared, f"one name stands for several things: {shared}"


def test_every_name_that_another_package_imports_says_what_it_is_for(root: Path) -> None:
    paths = [path for layer in (*FORBIDDEN, "benchmarks") for path in sorted((root / layer).rglob("*.py"))]
    files = {module_name(path, root): path for path in paths}
    used = {
        (node.module, alias.name)
        for module, path in files.items()
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.module in files and package_of(node.module) != package_of(module)
        for alias in node.names
    }
    told, silent = 0, []
    for module, path in files.items():
        for node in nodes_of(path)[0].body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (module, node.name) in used:
                told += 1
                silent += [] if ast.get_docstring(node) else [f"{module}.{node.name}"]
    assert told > 500
    assert not silent, "\n".join(map(str, silent))


def test_every_file_says_what_it_is_for(root: Path) -> None:
    paths = [
        path for layer in (*FORBIDDEN, "benchmarks", "deploy", "tests/fuzz") for path in (root / layer).rglob("*.py")
    ]
    assert len(paths) > 250
    silent = [path for path in paths if nodes_of(path)[0].body and not ast.get_docstring(nodes_of(path)[0])]
    assert not silent, "\n".join(map(str, silent))
