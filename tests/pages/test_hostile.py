"""A walk through all pages as the public has them: hostile values in every field, bombs in every upload.

The fields are found by looking at what each page draws. Every call in ui/ and pages/ that draws one must be met on the
way, so that a new field needs a way to it in WAYS.
"""

import ast

from tests.support.hostile import INPUTS
from ui.navigation import PAGES, path_of

WAYS = {
    "start": [{}, {"start_demonstration": "drawing"}, {"lectures": True}],
    "vectors": [{}, {"vectors_question": "rules"}, {"vectors_question": "pairs"}],
    # last a way whose callbacks rerun no fragment: else AppTest goes to Start in place of the next page
    "lookup": [{"lookup_question": "records"}, {"lookup_question": ""}],
    "translate": [{"translate_question": slug} for slug in ("", "elsewhere", "force", "length", "fed", "learned")],
    "groups": [{"groups_shows": True}, *({"groups_question": slug} for slug in ("elsewhere", "why"))],
    "memory": [{"memory_question": slug} for slug in ("", "own", "follows")],
    "transformer": [{"transformer_question": slug} for slug in ("", "off", "positions")],
    "model": [
        {},
        {"model_second_encoder": "A second text."},
        {"model_key": "decoder", "model_question": "words"},
        {"model_key": "decoder", "model_question": "patch"},
        {"model_key": "decoder", "model_question": "logit"},
        {"model_key": "vision", "model_way": "Upload"},
        {"model_what": "A recording"},
    ],
    "photograph": [{"photograph_question": "two"}, {"photograph_question": "", "photograph_has_camera": True}],
    "train": [
        {"take_along": True},
        {"train_question": "changed"},
        *({"train_set_lesson": name} for name in ("grammar", "lookup", "triples", "digits")),
    ],
    "atlas": [{}, {"atlas_source": "tensors"}, {"atlas_question": "own"}],
}
"""What is set in the session to reach fields that are not there on arrival, by page."""


def sites(root):
    """Return every call that draws a field: its file, first and last line."""
    found = set()
    for path in [*(root / "ui").rglob("*.py"), *(root / "pages").rglob("*.py"), root / "app.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                drawn = node.args[0] if node.func.attr == "widget" else node.func  # of a Field, which draws it
                if isinstance(drawn, ast.Attribute) and drawn.attr in INPUTS:
                    found.add((str(path.relative_to(root)), node.lineno, node.end_lineno))
    return found


def test_every_field_of_every_page(hostile_visitor, root):
    hostile_visitor.app.session_state["take_along"] = True
    hostile_visitor.run("the foot", max_seconds=60)
    for entry in PAGES:
        hostile_visitor.app.switch_page(path_of(entry)).run()
        for way in WAYS.get(entry.name, [{}]):
            for key, value in way.items():
                hostile_visitor.app.session_state[key] = value
            hostile_visitor.run(entry.name, way, max_seconds=60)  # models are loaded
            hostile_visitor.upload_everywhere(entry.name)
            hostile_visitor.type_everywhere(entry.name)
    met = {(file.removeprefix(f"{root}/"), line) for file, line in hostile_visitor.calls}
    fields = {
        site for site in sites(root) if not site[0].startswith("ui/lecture/hall/")
    }  # whole numbers, in an open room alone
    unmet = {site for site in fields if not any(site[0] == file and site[1] <= n <= site[2] for file, n in met)}
    assert not unmet, "fields to which WAYS knows no way"
    assert not hostile_visitor.faults
