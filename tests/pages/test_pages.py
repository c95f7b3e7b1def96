"""Every file of pages/ is in the list of pages; a second visitor, a menu, weights that are missing."""

import re

import pytest
import torch

from attention_core.concurrency import BoundedCache
from tests.support.app import data_of, open_page, rerun, set_fields
from ui.navigation import PAGES, entry_of, path_of
from ui.state import Field

CELL = re.compile(r"_\{(\d+),(\d+)\} =")


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_second_visitor_of_a_first_example_computes_nothing(start_app, entry, monkeypatch):
    start_app().switch_page(path_of(entry)).run()
    computations, call, keep = [], torch.nn.Module.__call__, BoundedCache.put

    def counted_call(module, *given, **named):
        computations.append(type(module).__name__)
        return call(module, *given, **named)

    def counted_keep(cache, key, value):
        computations.append(key[0])
        keep(cache, key, value)

    declare = Field.__init__

    def counted_field(field, page, name, *given, **more):
        computations.append(name)  # a field is everybody's: no run may declare one
        declare(field, page, name, *given, **more)

    monkeypatch.setattr(Field, "__init__", counted_field)
    monkeypatch.setattr(torch.nn.Module, "__call__", counted_call)
    monkeypatch.setattr(BoundedCache, "put", counted_keep)
    second = start_app().switch_page(path_of(entry)).run()
    assert second.title
    assert not computations


@pytest.mark.parametrize(
    ("name", "model"),
    [("pixels", "pixel-notes"), ("read", "digit-reader"), ("ask", "scene-question")],
)
def test_missing_weights_are_told_on_the_page_and_the_drawing_stays(weights, start_app, name, model):
    (weights / f"{model}.safetensors").unlink()
    page = start_app().switch_page(f"pages/{name}/page.py").run()
    assert not page.exception
    assert f"attention_core.train {model}" in page.error[0].value
    assert page.session_state[f"{name}_drawing"]["objects"]


def test_list_equals_the_files_in_the_folder(root):
    folders = {path.parent.name for path in (root / "pages").glob("*/page.py")}
    assert folders
    assert {entry.name for entry in PAGES} == folders


def test_addresses_differ_from_each_other():
    addresses = [entry.url_path for entry in PAGES]
    assert len(set(addresses)) == len(addresses)


def test_each_page_says_which_question_it_answers():
    for entry in PAGES:
        assert entry.title
        assert entry.question.endswith("?"), entry.name


def test_menu_at_every_foot_leads_to_what_other_texts_call_things(app):
    rerun(app, take_along=True)
    link = next(link.proto for link in app.get("page_link") if link.proto.label == "Other notations")
    app.switch_page(path_of(entry_of(link.page)))
    rerun(app, **{f"{link.page}_question": link.query_string.removeprefix("question=")})
    tables = [text.value for text in app.markdown if "| here | elsewhere |" in text.value]
    assert len(tables) == 1
    for name in ("$QW$, $KW$, $VW$", "an annotation", r"$\alpha_{ij}$ before the softmax", "$d_e$"):
        assert name in tables[0]


def test_start_page_leads_to_every_other_page(app):
    targets = {link.proto.page for link in app.get("page_link")}
    assert {entry.url_path for entry in PAGES[1:]} <= targets


@pytest.mark.parametrize(
    ("name", "component", "state", "row", "column"),
    [
        ("pixels", "pixels", {"query": 300}, 300, 40),
        ("ask", "ask", {}, 0, 40),
        ("groups", "groups_pairs", {"head": "pairs", "query": 1}, 1, 3),
        ("read", "read", {"at": 2}, 2, 40),
        ("translate", "translate", {"at": 0}, 0, 1),
        ("model", "model_step_encoder.3.self", {"query": 3}, 3, 2),
    ],
)
def test_words_tell_of_the_number_that_was_clicked(app, name, component, state, row, column):
    page = set_fields(open_page(app, f"pages/{name}/page.py"), **state)
    key = f"{component}_moving_step"
    for step in ("scores", "weights"):
        for chosen in ({"step": step, "row": row, "column": column}, None):
            page.session_state[key] = {"chosen": chosen}
            set_fields(page, step=step, **state)
            drawn = data_of(page, key)["steps"][step]
            framed = drawn["query"] or 0, drawn["column"]
            assert framed == (row, column) or not chosen
            told = {(int(i) - 1, int(j) - 1) for one in page.latex for i, j in CELL.findall(one.value)}
            assert told == {framed} or (step == "scores" and not told), "additive scores of wide vectors are not told"
