"""A stranger's text stays a text wherever it is shown: in pages, files of all kinds, code, tables and pictures."""

import ast
import json
import re
import unicodedata
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.attention.export import trace_to_code, trace_to_notebook
from attention_core.attention.recording import Recording, load_recording
from attention_core.attention.types import Axis, Role
from attention_core.bounds.harmless import IN_SENTENCES, MARKDOWN, MAX_MARKS, as_cell, as_markdown, escape_hidden
from attention_core.charts import figure, matrix_chart
from attention_core.charts.layers import label_expression
from tests.support.hostile import HIDDEN, NASTY, Tags
from tests.support.view_samples import made


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A trace of a recording's file in which a stranger has written all that there is to be written."""
    axis = Axis("tokens", NASTY)
    trace = made(NASTY[0], axis, axis).with_story(mechanism=NASTY[5], note=NASTY[1])
    place = tmp_path_factory.mktemp("run") / "run.npz"
    Recording([trace], note=NASTY[2], model=NASTY[3], text=NASTY[4]).save(place)
    return load_recording(place)


def test_nothing_is_hidden():
    for text in NASTY:
        shown = escape_hidden(text)
        assert not HIDDEN & set(shown)
        assert sum(unicodedata.category(sign) == "Mn" for sign in shown) <= MAX_MARKS
        assert escape_hidden(shown) == shown
    assert escape_hidden("abc\u202egpj.exe") == "abc⟨202E⟩gpj.exe"


@pytest.mark.parametrize(
    "text", ["Größe", "日本語", "नमस्ते", "می\u200cخواهم", "👩\u200d🔬", "e\u0301te\u0301", "ự", "שָׁלוֹם"]
)
def test_what_people_write_stays_as_it_is(text):
    assert escape_hidden(text) == text


@given(st.text())
def test_markdown_shows_every_text_as_it_is(text):
    shown = as_markdown(text)
    assert "\n" not in shown
    signs = iter(shown)
    back = "".join(next(signs) if sign == "\\" else sign for sign in signs)
    assert back.replace("\u2060", "") == escape_hidden(text)


LINKED = re.compile(r"(https?://|www\.)[-.\w]+|[-.\w+]+@[-\w]+(\.[-\w]+)+", re.IGNORECASE)
"""What GFM makes a link of, escaped or not (mdast-util-gfm-autolink-literal)."""


@pytest.mark.parametrize("text", ["https://a.example", "HTTP://a.example/x", "see www.a.example.", "b+c@d.example"])
@pytest.mark.parametrize("signs", [MARKDOWN, IN_SENTENCES])
def test_no_link_comes_of_a_bare_address(text, signs):
    assert LINKED.search(text)
    assert not LINKED.search(as_markdown(text, signs).replace("\\", ""))


def test_files_scripts_notebooks_and_pictures_hold_no_code_of_a_stranger(nasty):
    page = nasty.show().page()
    tags = Tags()
    tags.feed(page)
    assert tags.found.count("script") == 1
    assert not {"img", "onerror", "src"} & set(tags.found)
    assert not {"\u202e", "\u200b", "\ufeff", "\0", "\u2028"} & set(page)
    axis = Axis("tokens", ["a"] * len(NASTY))
    harmless = nasty[0].with_story(query_axis=axis, key_axis=axis, name="x", mechanism="x", note="x")
    for query in range(len(NASTY)):
        trees = [ast.walk(ast.parse(trace_to_code(one, query=query))) for one in (nasty[0], harmless)]
        assert len({tuple(type(node) for node in tree) for tree in trees}) == 1
    cells = json.loads(trace_to_notebook(nasty[0].with_story(mechanism=NASTY[2])))["cells"]
    assert "![" not in cells[0]["source"]
    assert "elsewhere" in cells[0]["source"]
    axis = nasty[0].story.key_axis
    n = len(axis)
    svg = figure(matrix_chart(np.eye(n), axis, axis, Role.WEIGHTS, title="weight"), "svg", title=NASTY[0]).decode()
    names = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert not {"script", "img", "foreignObject"} & names


def test_expressions_hold_labels_as_texts():
    expression = label_expression(NASTY)
    assert json.loads(expression.removesuffix("[datum.value]")) == NASTY
    assert expression.isascii()


@pytest.mark.parametrize("text", ["=1+1", "+1 x", "-a", "@SUM(A1)", "=cmd|' /C calc'!A0"])
def test_spreadsheets_take_no_label_for_a_formula(text):
    assert as_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-", "=", "-1", "+2.5", "'tis", "a=b", ""])
def test_cells_that_are_no_formula_stay(text):
    assert as_cell(text) == text
