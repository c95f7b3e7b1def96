"""Names say what a thing is, in the words of docs/vocabulary.md: few have a word that tells a newcomer nothing."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = [path for folder in ("attention_core", "ui", "pages", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
VAGUE_WORDS = """
told tell tells said say says asked asks given found kept made taken seen known shown drawn wanted met typed
looked counted own whole some other others rest most what how here there thing things way ways one ones both
end ends place places where whose about alone now then more least taking looking being whatever
"""
VAGUE = {*VAGUE_WORDS.split()}
"""Words that each stand for many things: an index or a path, a mask or a maximum, a caption or a request."""
LOOSE = {"part", "parts", "look", "looks", "words", "word", "kind", "take", "put", "go", "get"}
"""Good names in some places."""


def assigned_names(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a file gives: variables, parameters, functions, classes, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def parts_of(name: str) -> set[str]:
    return {part.lower() for part in re.split(r"_+|(?<=[a-z])(?=[A-Z])", name)}


def test_few_names_consist_of_words_that_tell_nothing() -> None:
    names = [name for path in (*FILES, ROOT / "app.py") for name in assigned_names(ast.parse(path.read_text()))]
    assert len(names) > 20_000
    vague = Counter(name for name in names if parts_of(name) & VAGUE)
    loose = Counter(name for name in names if parts_of(name) & (VAGUE | LOOSE))
    assert vague.total() <= 0.010 * len(names), vague.most_common(60)
    assert loose.total() <= 0.025 * len(names), loose.most_common(60)


def test_names_are_split_into_their_words() -> None:
    tree = ast.parse("class HeadRef:\n    def find_ends(self, the_one): self.wholeThing = other = the_one")
    assert {*assigned_names(tree)} == {"HeadRef", "find_ends", "self", "the_one", "other", "wholeThing"}
    assert parts_of("wholeThing") == {"whole", "thing"}
    assert parts_of("_max_bytes") == {"", "max", "bytes"}
