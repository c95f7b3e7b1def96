"""A component's script: what it gets of the prelude, and that it is JavaScript."""

import re
import shutil
import subprocess

import pytest

from attention_core.attention.view.assets import HERE
from attention_core.files import find_file
from ui.component import script_of

ASSETS = find_file("ui/assets")
NAMES = re.findall(r"^const (\w+)", (HERE / "prelude.js").read_text(encoding="utf-8"), re.MULTILINE)
ATLAS = ("atlas_tiles", "atlas_paint", "atlas_view", "atlas_drawing", "atlas_map")
VIEW = ("token_view", "packed_heads", "matrix_view", "steps_view", "recording_view")
COMPONENTS = [(sheet.stem,) for sheet in ASSETS.glob("*.css") if sheet.stem != "atlas_map"]


def test_a_script_gets_the_parts_that_it_uses_and_what_these_use_and_no_other():
    script = script_of("next_words")
    parts = [name for name in NAMES if re.search(rf"^const {name} =", script, re.MULTILINE)]
    assert parts == ["set", "make", "asPercent", "keepFocus"]
    assert not re.search(r"^ *//", script, re.MULTILINE)


@pytest.mark.parametrize(
    "names", [*COMPONENTS, ATLAS, ("atlas_start",), ("token_view", "token_start"), VIEW], ids=lambda names: names[-1]
)
def test_every_name_of_the_prelude_that_a_script_calls_is_there_once(names, tmp_path):
    script = script_of(*names)
    for name in NAMES:
        if re.search(rf"(?<!\w\.)(?<!\w){name}\(", script):
            assert len(re.findall(rf"^const {name} =", script, re.MULTILINE)) == 1, name
    if node := shutil.which("node"):
        path = tmp_path / "script.mjs"
        path.write_text(script, encoding="utf-8")
        subprocess.run([node, "--check", str(path)], check=True)
