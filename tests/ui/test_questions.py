"""Questions of pages: each has one experiment, a file with three functions and a first line."""

import ast

from ui.navigation import NUMBERS, PAGES


def names_in(module: ast.Module) -> set[str]:
    """Return the names that a module defines or imports."""
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    assigned = (node.targets for node in module.body if isinstance(node, ast.Assign))
    imported = (node.names for node in module.body if isinstance(node, ast.ImportFrom))
    names |= {target.id for targets in assigned for target in targets if isinstance(target, ast.Name)}
    return names | {alias.asname or alias.name for aliases in imported for alias in aliases}


def test_each_question_has_an_experiment_and_each_experiment_a_question(root):
    for entry in PAGES:
        files = {file.stem: file for file in (root / f"pages/{entry.name}/experiments").glob("*.py")}
        slugs = [question.slug for question in entry.questions]
        assert files.keys() == {*slugs}
        assert len({*slugs, NUMBERS, ""}) == len(slugs) + 2
        for slug in slugs:
            experiment = ast.parse(files[slug].read_text())
            assert ast.get_docstring(experiment)
            assert {"draw_input", "answer", "draw"} <= names_in(experiment)


def test_a_question_ends_with_its_mark_and_a_lecture_leads_to_at_most_one():
    for entry in PAGES:
        assert all(question.text.endswith("?") for question in entry.questions)
        assert sum(question.in_lecture for question in entry.questions) <= 1
        assert not any(question.in_lecture and question.in_laboratory for question in entry.questions)
        is_apart = [question.in_laboratory for question in entry.questions]
        assert is_apart == sorted(is_apart), "the numbers of a lecture's screens count without those"
