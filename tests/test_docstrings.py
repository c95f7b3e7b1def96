"""What a package uses of another one says what it is for."""

import ast
from pathlib import Path

from tests.support.modules import FORBIDDEN, module_name, nodes_of, package_of


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
        for node in ast.parse(path.read_text()).body:
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
    silent = [path for path in paths if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))]
    assert not silent, "\n".join(map(str, silent))
