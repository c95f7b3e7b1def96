"""Edits by hand, without a browser: what they do to an answer, the list with undo and redo, links that hold them."""

import contextlib
import io
import re
from functools import partial

import numpy as np
import pytest
import streamlit as st
import torch

from attention_core.attention.edits import BlockKeys, DropHead, HeadRef, PatternFrom, SetWeights
from attention_core.data.drawing import prepare
from attention_core.models import load
from tests.support.app import ExportAtOnce, data_of, frames, html_of, open_question, set_fields, text_of, weight_changes
from ui.edits import ListedEdit, input_hash
from ui.edits.edit_list import _format, _parse
from ui.edits.outcome import describe_change

PAGE = "pages/pixels/page.py"
NAME = "pixels"
REGION = [*range(28 * 9, 28 * 12)]


@pytest.fixture
def changed(page):
    """The page with a region that no pixel may look at."""
    set_fields(open_question(page, "elsewhere"), brushed=REGION)
    return press(page, "region_look_away")


def press(page, name: str):
    return page.button(key=f"{NAME}_{name}").click().run()


def outcome(page) -> dict[str, np.ndarray]:
    """Read the bars: the answer's probabilities as learned and changed."""
    data = next(frame for frame in frames(page) if "when" in frame.columns)
    found = {when: rows["probability"].to_numpy() for when, rows in data.groupby("when", observed=True)}
    return found | {"label": data["label"].to_numpy()[: len(data) // 2]}


def test_answer_is_that_of_a_recomputation_from_what_hooks_see(changed):
    from pages.pixels.first_screen import PAD
    from ui.canvas import render_strokes  # not before there is an app

    drawn = prepare(render_strokes(PAD.presets["7"](), PAD.size, "light")).image
    model, seen = load("pixel-notes", "cpu"), {}
    for name in ("query", "key", "value"):
        keep = partial(lambda name, module, given, made: seen.update({name: made[0].double()}), name)
        getattr(model, name).register_forward_hook(keep)
    allowed = torch.ones(784, dtype=torch.bool)
    allowed[REGION] = False
    with torch.inference_mode():
        model(torch.from_numpy(drawn)[None])
        scores = seen["query"] @ seen["key"].T / seen["key"].shape[-1] ** 0.5
        context = scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ seen["value"]
        wanted = model.classify(context.float().flatten()).softmax(-1)
    runs, after = outcome(changed)["label"].tolist(), outcome(changed)["changed"]
    assert after == pytest.approx(wanted[[int(digit) for digit in runs]].numpy(), abs=1e-5)
    assert abs(after - outcome(changed)["as learned"]).max() > 0.01


def test_without_edits_nothing_is_changed_bit_by_bit(page):
    open_question(page, "elsewhere")
    plain = outcome(page)
    assert (plain["as learned"] == plain["changed"]).all()
    assert "The answer stays **7**" in text_of(page)
    set_fields(page, brushed=REGION)
    press(page, "region_look_everywhere_alike")
    assert (outcome(page)["as learned"] != outcome(page)["changed"]).any()
    press(page, "edits_restart_alt")
    assert (outcome(page)["changed"] == plain["changed"]).all()


def test_an_edit_is_switched_off_undone_and_done_again(changed):
    says = "It no longer looks at 84 pixels"
    after = outcome(changed)["changed"]
    assert changed.checkbox(key=f"{NAME}_edit_0").label == says
    assert "learned" in data_of(open_question(changed, ""), "pixels_scene")
    open_question(changed, "elsewhere")
    changed.checkbox(key=f"{NAME}_edit_0").uncheck().run()
    assert (outcome(changed)["changed"] == outcome(changed)["as learned"]).all()
    press(changed, "edits_undo")
    assert (outcome(changed)["changed"] == after).all()
    press(changed, "edits_undo")
    assert not [one for one in changed.checkbox if "_edit_" in (one.key or "")]
    assert changed.button(key=f"{NAME}_edits_undo").disabled
    press(changed, "edits_redo")
    assert changed.checkbox(key=f"{NAME}_edit_0").value


def test_a_link_brings_them_again(changed, visit):
    address = {name: text if isinstance(text, str) else text[0] for name, text in changed.query_params.items()}
    again = visit(NAME, **address)
    assert (outcome(again)["changed"] == outcome(changed)["changed"]).all()
    assert again.checkbox(key=f"{NAME}_edit_0").label == "It no longer looks at 84 pixels"


def test_what_does_not_fit_stays_listed_as_not_applied(visit):
    edits = _format(
        [ListedEdit(BlockKeys((900,)), "it no longer looks at *that*"), ListedEdit(BlockKeys((3,)), "fits")]
    )
    page = visit(NAME, tab="try", edits=edits)
    assert "Not applied: blocked keys must be from 0 to 783, got 900." in text_of(page)
    assert page.checkbox(key=f"{NAME}_edit_0").label == r"It no longer looks at \*that\*"
    assert "Not applied" not in text_of(page.checkbox(key=f"{NAME}_edit_0").uncheck().run())


@pytest.mark.parametrize(("drawing", "head"), [("no such drawing", 0), ("42", 7)])
def test_what_copies_an_attention_that_is_not_there_is_listed_as_not_applied(visit, drawing, head):
    copy = ListedEdit(PatternFrom(0, HeadRef("read", drawing, 0, head)), "it looks as elsewhere")
    page = visit("read", tab="try", edits=_format([copy]))
    assert "Not applied: the attention that it copies is not here." in text_of(page)


def test_an_edit_of_an_attention_that_is_not_there_is_listed_as_not_applied(visit):
    edits = _format([ListedEdit(SetWeights(0, ((0, 0.0),)), "looks away", "encoder-9")])
    page = visit("transformer", question="off", edits=edits)
    assert page.checkbox(key="transformer_edit_0").label == "Looks away"
    assert "Not applied: the attention that it changes is not here." in text_of(page)


def test_a_head_that_is_switched_off_in_another_model_is_listed_as_not_applied(visit):
    edits = _format([ListedEdit(DropHead(2), "a head: switched off", "decoder self-2", input_hash("another"))])
    page = visit("model", model="tatoeba-llama", question="without", edits=edits)
    assert "Not applied: it was made for another input or model." in text_of(page)


def test_a_row_with_nothing_left_is_told(page):
    set_fields(open_question(page, "elsewhere"), brushed=[*range(784)])
    press(page, "region_look_away")
    assert "Nothing is left to look at for 784 of 784 queries" in text_of(page)


@pytest.mark.parametrize(
    "row",
    [
        [{"edit": "block keys", "keys": [1]}, "words", "", "", 1],
        [{"edit": "block keys", "keys": [1]}, "x" * 401, "", "", True],
        [{"edit": "no such edit"}, "words", "", "", True],
        [{"edit": "block keys", "keys": [1]}, "words"],
        "words",
    ],
)
def test_a_link_with_anything_else_is_refused(row):
    from attention_core.links import pack

    assert _parse(_format([ListedEdit(SetWeights(0, ((1, 0.25),)), "words", "cross-1", "ab")]))[0].input_hash == "ab"
    with pytest.raises((ValueError, TypeError, AttributeError)):
        _parse(pack([row]))


def test_what_changed_most_is_said_in_a_sentence():
    labels, before = ["cat", "dog", "cow"], np.array([0.7, 0.2, 0.1])
    assert describe_change(labels, before, before) == "The answer stays **cat** (70%)."
    assert describe_change(labels, before, np.array([0.695, 0.203, 0.102])) == "The answer stays **cat** (70%)."
    assert "is now dog" in describe_change(labels, np.array([0.501, 0.499, 0]), np.array([0.499, 0.501, 0]))
    assert describe_change(labels, before, np.array([0.1, 0.7, 0.2])) == (
        "**cat** falls from 70% to 10%. The answer was cat and is now dog."
    )


def numbers_of(script: str) -> dict:
    """Run a script that was taken along; returns what it names."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        exec(script, found := {})
    assert "same as in the app: True" in told.getvalue()
    return found


def shown_after(page) -> list[float]:
    """Read what the query is handed with the edits: as bars, or as a row of a table."""
    if any("when" in frame.columns for frame in frames(page)):
        return outcome(page)["changed"].tolist()
    row = re.search(r"<td>changed</td>(.*?)</tr>", html_of(page))
    return [float(cell.replace("−", "-")) for cell in re.findall(r"<td>([^<]*)</td>", row[1])]


def test_a_weight_that_is_set_says_what_the_others_get_and_can_be_set_again(visit):
    page = visit("vectors", tab="try", step="weights")
    for percent, others in ((100, "nothing from the others"), (60, "the others share the rest")):
        page.number_input(key="vectors_weight").set_value(float(percent)).run()
        label = page.checkbox(key="vectors_edit_0").label
        assert label.endswith(f"; {others}"), label
        assert f"takes {percent}% from" in label
        assert "Not applied" not in text_of(page)
        assert page.number_input(key="vectors_weight").value == pytest.approx(percent)
    set_fields(page, softmax=False)
    assert "nothing is shared" in text_of(page)


@pytest.mark.parametrize("name", ["vectors", "lookup"])
def test_a_weight_that_is_typed_is_a_line_of_what_is_taken_along_and_gives_the_same_numbers(visit, monkeypatch, name):
    made = {}
    monkeypatch.setattr(st, "download_button", lambda label, make, *_, **__: made.update({label: make}))
    monkeypatch.setattr("ui.take_along.EXPORT", ExportAtOnce())
    page = visit(name, tab="try", step="context").run()  # the address is followed before its end
    plain, (key,) = made["Script"](), page.selectbox(key=f"{name}_weight_of").value
    page.number_input(key=f"{name}_weight").set_value(25.0).run()
    after = numbers_of(made["Script"]())
    assert f"trace = trace.replace([SetWeights(query=0, weights=(({key}, 0.25),)" in made["Script"]().replace(
        "\n# ", " "
    )
    assert f"SetWeights(query=0, weights=(({key}, 0.25),)" in made["Notebook"]()
    before = numbers_of(plain)
    wanted = before["weights"].clone()
    wanted[0] *= 0.75 / (1 - wanted[0, key])
    wanted[0, key] = 0.25
    torch.testing.assert_close(after["weights"], wanted, atol=1e-5, rtol=0)
    change = sorted((wanted - before["weights"]).flatten().tolist())
    assert weight_changes(page) == pytest.approx(change, abs=2e-5)
    runs, context = shown_after(page), sorted((wanted @ before["value"])[0].tolist())
    assert sorted(runs) == pytest.approx(context[-len(runs) :], abs=1e-5 if name == "lookup" else 6e-4)
    address = {part: text if isinstance(text, str) else text[0] for part, text in page.query_params.items()}
    again = visit(name, **address)
    assert again.checkbox(key=f"{name}_edit_0").label == page.checkbox(key=f"{name}_edit_0").label
    assert shown_after(again) == runs
    again.button(key=f"{name}_edits_restart_alt").click().run()
    assert made["Script"]() == plain, "nothing edited, nothing changed"


def test_a_weight_of_a_model_is_a_line_of_what_is_taken_along(visit, monkeypatch):
    made = {}
    monkeypatch.setattr(st, "download_button", lambda label, make, *_, **__: made.update({label: make}))
    monkeypatch.setattr("ui.take_along.EXPORT", ExportAtOnce())
    page = visit("model", model="tatoeba-llama", question="without", step="weights")
    (key,), query = page.selectbox(key="model_weight_of").value, page.session_state["model_query"]
    page.number_input(key="model_weight").set_value(70.0).run()
    script = made["Script"]()
    assert f"trace = trace.replace([SetWeights(query={query}, weights=(({key}, 0.7),)" in script.replace("\n# ", " ")
    assert float(numbers_of(script)["weights"][query, key]) == pytest.approx(0.7, abs=1e-5)
    assert made["Offline page"]()
    scene = data_of(set_fields(page, question=""), "model_tokens_scene")
    assert scene["weights"][query][int(key)] == pytest.approx(0.7, abs=1e-3)
    set_fields(page, question="without")
    page.selectbox(key="model_row_of").set_value(query - 1).run()
    (line,) = [box.label for box in page.checkbox if "_edit_" in (box.key or "")]
    assert "looks where" in line, "nothing is left of the weight that was set in this row"
