"""A component's script: what it gets of the prelude, and that it is JavaScript."""

import asyncio
import re
import shutil
import subprocess
from threading import Event

import pytest
from starlette.requests import Request

from attention_core.attention.view.assets import HERE, script_of
from attention_core.files import find_file
from ui import component, served

FOLDERS = [
    find_file("ui/components"),
    *sorted(find_file("ui/lecture").rglob("*/")),
    *sorted(find_file("pages").glob("*/")),
]
NAMES = re.findall(r"^const (\w+)", (HERE / "prelude.js").read_text(encoding="utf-8"), re.MULTILINE)
ATLAS = ("atlas_tiles", "atlas_paint", "atlas_view", "atlas_drawing", "atlas_map")
VIEW = ("token_view", "packed_heads", "matrix_view", "steps_view", "recording_view")
SHEETS = [sheet for folder in FOLDERS for sheet in folder.glob("*.css")]
COMPONENTS = [(sheet.stem,) for sheet in SHEETS if sheet.with_suffix(".js").exists() and sheet.stem != "atlas_map"]


def test_a_script_gets_the_parts_that_it_uses_and_what_these_use_and_no_other():
    script = script_of("next_words", folders=FOLDERS)
    parts = [name for name in NAMES if re.search(rf"^const {name} =", script, re.MULTILINE)]
    assert parts == ["set", "make", "asPercent", "minus", "keepFocus"]
    assert not re.search(r"^ *//", script, re.MULTILINE)


@pytest.mark.parametrize(
    "names", [*COMPONENTS, ATLAS, ("token_view", "token_start"), VIEW], ids=lambda names: names[-1]
)
def test_every_name_of_the_prelude_that_a_script_calls_is_there_once(names, tmp_path):
    script = script_of(*names, folders=FOLDERS)
    for name in NAMES:
        if re.search(rf"(?<!\w\.)(?<!\w){name}\(", script):
            assert len(re.findall(rf"^const {name} =", script, re.MULTILINE)) == 1, name
    if node := shutil.which("node"):
        path = tmp_path / "script.mjs"
        path.write_text(script, encoding="utf-8")
        subprocess.run([node, "--check", str(path)], check=True)


def test_a_script_is_a_file_for_good_where_a_server_answers(monkeypatch):
    made = []
    monkeypatch.setattr(component.st.components.v2, "component", lambda name, **parts: made.append(parts["js"]) or dict)
    monkeypatch.setattr(served, "IS_SERVED", Event())
    draw = component.component.__wrapped__("next_words")
    draw(key="one")
    served.IS_SERVED.set()
    draw(key="one")
    draw(key="two")
    script, loads = made
    assert script == script_of("next_words", folders=FOLDERS)
    name = re.search(r"scripts/([^\"]+)", loads)[1]
    assert "\n" in loads, "Streamlit takes a single line for the name of a file"
    answer = asyncio.run(component.route().endpoint(Request({"type": "http", "path_params": {"name": name}})))
    assert (answer.body.decode(), answer.media_type) == (script, "text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    lost = asyncio.run(component.route().endpoint(Request({"type": "http", "path_params": {"name": "none.js"}})))
    assert lost.status_code == 404
