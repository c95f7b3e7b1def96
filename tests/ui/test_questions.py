"""Questions of pages: each has one experiment, a file with three functions and a first line."""

from importlib import import_module

from ui.navigation import NUMBERS, PAGES


def test_each_question_has_an_experiment_and_each_experiment_a_question(root):
    for entry in PAGES:
        files = {file.stem for file in (root / f"pages/{entry.name}/experiments").glob("*.py")}
        slugs = [question.slug for question in entry.questions]
        assert files == {*slugs}
        assert len({*slugs, NUMBERS, ""}) == len(slugs) + 2
        for slug in slugs:
            experiment = import_module(f"pages.{entry.name}.experiments.{slug}")
            assert experiment.__doc__
            assert all(callable(getattr(experiment, name)) for name in ("draw_input", "answer", "draw"))


def test_a_question_ends_with_its_mark_and_a_lecture_leads_to_at_most_one():
    for entry in PAGES:
        assert all(question.text.endswith("?") for question in entry.questions)
        assert sum(question.in_lecture for question in entry.questions) <= 1
