"""Public names are found at their old places for one version, with a warning that says where they are now."""

import subprocess
import sys

import pytest

MOVED = [("attention_core.topics.translate.translation", "attention_core.inference.translation", "translate")]


@pytest.mark.parametrize(("old", "new", "name"), MOVED)
def test_an_old_place_warns_and_gives_the_same(root, old, new, name):
    code = f"from {old} import {name} as before; from {new} import {name} as now; assert before is now"
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"DeprecationWarning: {old} is {new} now" in done.stderr
