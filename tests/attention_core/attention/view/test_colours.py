"""Colours stand once: scripts paint numbers as Python does."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from attention_core.attention.view.assets import VIEW_FOLDER, bundle, modules_of
from attention_core.attention.view.colours import ABOVE_ZERO, BELOW_ZERO, BLUE_ORANGE, PINKS, STRONGEST
from attention_core.charts.ramps import Ramp


def test_the_strongest_pink_is_as_opaque_as_maps_over_pictures_are():
    assert int(PINKS[1][-2:], 16) == round(255 * STRONGEST)


def test_blue_and_orange_meet_in_a_clear_middle():
    assert BLUE_ORANGE[:3] == BELOW_ZERO[::-1]
    assert BLUE_ORANGE[3:] == ABOVE_ZERO[1:]
    assert BLUE_ORANGE[2].endswith("00")


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_the_browser_paints_ramps_as_python_does():
    script = bundle(modules_of(f"{VIEW_FOLDER}/matrix_view.js"))
    script += "\nconst { RAMPS } = modules.at(-1); console.log(JSON.stringify(RAMPS));"
    answer = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    ramps = json.loads(answer.stdout)
    for name, colours in {"weights": PINKS, "rising": ABOVE_ZERO}.items():
        pixels = np.array([*ramps[name].values()], np.uint32).view(np.uint8).reshape(-1, 4)
        assert np.abs(pixels.astype(int) - Ramp(colours, 0, 1).lookup()).max() <= 1
    signed = np.array([*ramps["signed"].values()], np.uint32).view(np.uint8).reshape(-1, 4)
    assert np.abs(signed[:, 3].astype(int) - Ramp(BLUE_ORANGE, 0, 1).lookup()[:, 3]).max() <= 1
