"""Links: every page with random settings opens again as it was; bad links, long ones, session files, lecture mode."""

import base64
import json
import random
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import numpy as np
import pytest
import torch

from attention_core.attention.edits import DropHead
from attention_core.attention.recording import load_recording
from attention_core.data.stroke import Stroke
from attention_core.links import pack, pack_strokes, read_session, write_session
from tests.support.app import rerun
from tests.support.random_settings import (
    PRESSED,
    address_of,
    are_alike,
    run_app,
    set_at_random,
    values_in_link,
    widgets_of,
)
from ui import navigation, state, take_along
from ui.old_addresses import moved_address

HALF = "~1" + base64.urlsafe_b64encode(zlib.compress(b'"\\ud800 apple"')).decode().rstrip("=")
"""A packed text with half a character, of which no address can be written."""
NAMES = [entry.name for entry in navigation.PAGES]


def slugs_of(root, name: str) -> list[str]:
    return re.findall(r'[Tt]ab\(\s*"(\w+)"', (root / f"pages/{name}/page.py").read_text()) or [""]


@pytest.mark.parametrize("name", NAMES)
def test_link_opens_what_one_sees(name, visit, root):
    chance = random.Random(name)
    page = visit(name)
    questions = [question.slug for question in navigation.entry_of(name).questions]
    slug = chance.choice(["", *questions] if questions else slugs_of(root, name))
    if slug:
        page.session_state[f"{name}_question" if questions else f"{name}_tab"] = slug
        run_app(page)
    for _ in range(2):
        shown = widgets_of(page)
        for key in chance.sample(sorted(shown), min(4, len(shown))):
            set_at_random(shown[key], key[0], chance)
        run_app(page)
        buttons = [button for button in page.button if PRESSED.search(button.key or "") and not button.disabled]
        if buttons:
            chance.choice(buttons).click()
            run_app(page)
    address = address_of(page)
    assert len(urlencode(address)) <= state.MAX_ADDRESS_LETTERS
    again = visit(name, **address)
    assert not again.toast, "the page's own link is no fault"
    assert address_of(again) == address
    before, after = widgets_of(page), widgets_of(again)
    assert before.keys() == after.keys()
    for key, widget in before.items():
        assert are_alike(widget.value, after[key].value), key
    values, values_again = values_in_link(page, name), values_in_link(again, name)
    assert values.keys() == values_again.keys()
    for key, value in values.items():
        assert are_alike(value, values_again[key]), key


@pytest.mark.parametrize("name", NAMES)
def test_damaged_foreign_and_unknown_values_lose_nothing_else(name, visit):
    plain = visit(name)
    fields = {field.address for field in state._FIELDS[name].values() if field.address}
    chance = random.Random(name)
    nonsense = [
        "~1AAAA",
        "~9zz",
        "nonsense",
        "-1",
        "1e999",
        "9" * 40,
        pack({"X": [[1]]}),
        pack([[[[]]]]),
        "<b>",
        "🙂",
        HALF,
    ]
    bad = {address: chance.choice(nonsense) for address in sorted(fields)}
    page = visit(name, **bad, lecture="1", utm_source="friend")
    assert page.toast or not fields
    assert page.session_state["lecture"] is True
    assert address_of(page)["utm_source"] == "friend"
    assert plain.title[0].value == page.title[0].value


def test_value_that_is_none_is_named_and_the_others_are_followed(visit):
    page = visit("pixels", edits="900", pixel="3", strokes="~1broken")
    words = "\n".join(toast.value for toast in page.toast)
    assert "edits=900" in words
    assert "strokes=~1broken" in words
    assert page.session_state["pixels_edits"] == ()
    assert page.session_state["pixels_query"] == 3
    assert "edits" not in address_of(page)
    page.run()
    assert not page.toast


def test_drawing_comes_back_with_its_answer(visit):
    strokes = pack_strokes([Stroke(np.array([[60.0, 60], [190, 60], [110, 220]]), 22)])
    first = visit("pixels", digit="drawn", strokes=strokes)
    again = visit("pixels", **address_of(first))
    assert address_of(first)["strokes"] == strokes
    said = [[part.value for part in page.markdown] for page in (first, again)]
    assert said[0] == said[1]
    assert first.session_state["pixels_drawing"] == again.session_state["pixels_drawing"]
    assert not first.toast


def long_drawing() -> str:
    rng = np.random.default_rng(0)
    return pack_strokes([Stroke(rng.integers(0, 255, (300, 2)).astype(float), 9) for _ in range(20)])


def test_what_is_too_long_is_left_out_and_named_and_a_session_file_holds_it(visit):
    page = visit("pixels")
    rerun(page, pixels_preset="drawn", pixels_strokes=long_drawing())
    address = address_of(page)
    assert address["without"] == "strokes"
    assert address["digit"] == "drawn"
    assert len(urlencode(address)) <= state.MAX_ADDRESS_LETTERS
    assert "strokes" in visit("pixels", **address).toast[0].value


def take_session(monkeypatch, content: bytes) -> dict:
    """Hand a session's file to the page as the uploader does; returns what the session then holds."""
    kept = {"place": SimpleNamespace(getvalue=lambda: content)}
    monkeypatch.setattr(take_along.st, "session_state", kept)
    take_along._open("place")
    return kept


def test_session_file_opens_on_its_page_and_replaces_what_is_there(visit, monkeypatch):
    values = {"digit": "drawn", "strokes": long_drawing(), "question": "learned", "lecture": "1"}
    with monkeypatch.context() as patched:
        kept = take_session(patched, write_session("pixels", values))
    assert kept["session_page"] == "pixels"
    page = visit("pixels", tab="erase", pixel="3")
    rerun(page, session_opened=kept["session_opened"], page_shown="another")
    assert page.session_state["pixels_strokes"] == values["strokes"]
    assert page.session_state["pixels_question"] == "learned"
    assert page.session_state["pixels_query"] is None
    assert page.session_state["lecture"] is True


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"{}", b"[" * 10_000, write_session("no such page", {})])
def test_session_file_that_is_none_is_refused_in_words(content, monkeypatch):
    kept = take_session(monkeypatch, content)
    assert kept["session_refused"]
    assert not kept.get("session_opened")


def test_session_holds_what_the_link_would(visit):
    page = visit("lookup", temperature="0.5", q="Paris\nRome")
    assert page.session_state["lookup_queries"] == "Paris\nRome"
    values = {name: text for name, text in address_of(page).items() if name != "without"}
    assert read_session(write_session("lookup", values)) == ("lookup", values)


def test_lecture_mode_is_in_the_address_of_every_page(visit):
    page = visit("start", lecture="1")
    assert page.toggle(key="lecture").value is True
    page.switch_page("pages/groups/page.py").run()
    assert address_of(page)["lecture"] == "1"
    off = visit("groups")
    assert "lecture" not in address_of(off)


BEFORE = json.loads((Path(__file__).parent.parent / "data/links_of_0_1.json").read_text())
"""What people kept of each page before classes and files had their present names."""
OFF_BEFORE = {
    "transformer": [("encoder-3", 0), ("encoder-3", 2), ("encoder-1", 2)],
    "model": [("encoder self-5", 5), ("encoder self-5", 0)],
}


@pytest.mark.parametrize("name", sorted(BEFORE))
def test_links_of_the_first_version_still_open(name, visit):
    name, before = moved_address(name, BEFORE[name])
    page = visit(name, **before)
    assert not page.toast, "every part of the link is understood"
    went = {"show": "made-echo-65536"} if name == "atlas" else {}  # of three made-up texts one is left
    tab = {"tab": "", "question": "", "menu": ""}  # under another name today, or open at once
    address = address_of(page)
    if name in OFF_BEFORE:  # heads that are off are edits today
        edits = [(change.attention, change.edit) for change in page.session_state[f"{name}_edits"]]
        assert edits == [(where, DropHead(head)) for where, head in OFF_BEFORE[name]]
        address["off"] = before["off"] if address.pop("edits") else ""
    assert address | tab == before | went | tab


def test_a_session_file_of_the_first_version_is_read(root):
    name, values = read_session((root / "tests/data/session_of_0_1.json").read_bytes())
    assert (name, values) == ("vectors", BEFORE["vectors"])


def test_a_recording_of_the_first_version_is_read(root):
    recording = load_recording(root / "tests/data/recording_of_0_1.npz")
    torch.manual_seed(0)
    layer, x = torch.nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 5, 8)
    (trace,), (_, weights) = recording.traces, layer(x, x, x, average_attn_weights=False)
    for head in range(2):
        assert torch.allclose(trace.weights(head), weights[0, head], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_half_a_character_in_a_link_or_from_a_component_breaks_no_page(name, visit):
    fields = {field.address for field in state._FIELDS[name].values() if field.address}
    page = visit(name, **dict.fromkeys(fields, HALF))
    assert not page.exception
    assert page.toast or not fields
    with pytest.raises(ValueError, match="damaged"):
        read_session(b'{"format": "attention-explorer session", "version": 1, "page": "", "values": {"a": "\\ud800"}}')
    assert pack("\ud800") == pack("?")
