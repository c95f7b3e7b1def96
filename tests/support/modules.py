"""The project's files as modules, and what they import."""

import ast
from functools import cache
from pathlib import Path

FORBIDDEN = {
    "attention_core": {"streamlit", "streamlit_drawable_canvas", "ui", "pages", "app"},
    "ui": {"pages", "app"},
    "pages": {"app"},
}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return everything in a file, which is read once for all tests."""
    return list(ast.walk(ast.parse(path.read_text())))


def module_name(path: Path, root: Path) -> str:
    """Return "attention_core.data.mnist" for its file; a package is named by its __init__.py."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def package_of(module: str) -> str:
    """Return a module's package: each folder is one, each of those below ui/lecture/ too; loose modules stand alone."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[:2] == ["ui", "lecture"] else 2])
