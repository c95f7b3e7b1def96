"""What fails below the core: a full disk, a cache that takes nothing, a killed download, a clock that jumps."""

import ast
import errno
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_core import step_of
from attention_core.attention.recording import Recording, load_recording
from attention_core.charts import step_chart
from attention_core.hub.catalogue import fetch, look_up_model
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import run, text_inputs
from attention_core.models import load
from attention_core.weights import read_weights, write_weights
from tests.support import tiny_hub
from tests.support.faults import KILLED, MOST, full_disk


@pytest.fixture(scope="module")
def trace():
    return load("pixel-classifier", "cpu").trace(np.eye(28))


EXPORTS = {
    "recording": ("run.npz", lambda trace, path: Recording([trace]).save(path)),
    "page": ("run.html", lambda trace, path: Recording([trace]).to_html(path)),
    "figure": ("weights.svg", lambda trace, path: step_chart(step_of(trace, "weights"), size=480).save(path)),
    "weights": ("a.safetensors", lambda _, path: write_weights("a", {"w": torch.zeros(9_999)}, {}, path.parent)),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_a_disk_that_is_full_while_exporting_leaves_the_file_before(name, trace, tmp_path):
    file, export = EXPORTS[name]
    export(trace, tmp_path / file)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before[file]) > MOST
    with full_disk(), pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        export(trace, tmp_path / file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    export(trace, tmp_path / file)


def test_what_was_recorded_before_the_disk_was_full_is_read_again(trace, tmp_path):
    Recording([trace]).save(tmp_path / "run.npz")
    with full_disk(), pytest.raises(OSError):
        Recording([trace, trace]).save(tmp_path / "run.npz")
    assert len(load_recording(tmp_path / "run.npz").traces) == 1


@pytest.mark.parametrize(("number", "words"), [(errno.EROFS, "cannot be written to"), (errno.ENOSPC, "disk is full")])
def test_a_cache_that_takes_nothing_is_told_without_its_place(hub, tmp_path, monkeypatch, number, words):
    found, cache = look_up_model("someone/tiny"), tmp_path / "cache"

    def refuse(*_given, **_named):
        raise OSError(number, os.strerror(number), str(cache))

    for place in ("mkdir", "open"):
        with monkeypatch.context() as broken:
            broken.setattr(Path, place, refuse)
            with pytest.raises(ModelError, match=words) as told:
                fetch(found)
        assert str(tmp_path) not in str(told.value)
    assert look_up_model("someone/tiny").folder is None
    assert load_pretrained(fetch(found)).kind is ModelKind.DECODER


def test_a_disk_that_is_full_in_the_middle_of_a_download_keeps_what_has_arrived(hub, model_folders):
    found = look_up_model("someone/tiny")
    with full_disk(), pytest.raises(ModelError, match="have arrived and stay") as told:
        fetch(found)
    assert "/" not in str(told.value).replace("someone/tiny", "")
    folder = fetch(found)
    assert (folder / "model.safetensors").read_bytes() == (model_folders / "decoder" / "model.safetensors").read_bytes()


SHARES = (0.1, 0.5, 0.9)


def test_a_download_that_is_killed_goes_on_to_the_same_bytes(hub, model_folders, tmp_path, monkeypatch):
    caches = [tmp_path / f"killed at {share}" for share in SHARES]
    code = KILLED.replace("SHARES", str(SHARES))
    command = [sys.executable, "-c", code, hub.endpoint, *map(str, caches)]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert killed.stdout.split() == [str(int(signal.SIGKILL))] * len(SHARES), killed.stderr
    for cache in caches:
        tiny_hub.turn_to(hub.endpoint, cache, monkeypatch)
        assert look_up_model("someone/tiny").folder is None
        folder = fetch(look_up_model("someone/tiny"))
        for file in folder.iterdir():
            assert file.read_bytes() == (model_folders / "decoder" / file.name).read_bytes()


def test_two_visitors_who_load_other_models_at_the_same_moment_get_their_own(model_folders, tmp_path):
    def answer(name):
        model = load_pretrained(model_folders / name, name=name)
        return model, run(model, text_inputs(model, "The animal was tired.")).recording.traces[0].weights(0)

    names = ["decoder", "both"] * 3
    alone = {name: answer(name)[1] for name in set(names)}
    start = threading.Barrier(len(names))

    def visit(name):
        start.wait()
        return answer(name)

    with ThreadPoolExecutor(len(names)) as visitors:
        found = list(visitors.map(visit, names))
    for name, (model, weights) in zip(names, found, strict=True):
        assert model.name == name
        assert torch.equal(weights, alone[name])


def test_weights_are_read_while_the_clock_jumps(tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", iter(range(10**9, 0, -(10**5))).__next__)
    write_weights("a", {"w": torch.arange(9.0)}, {}, tmp_path)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    assert read_weights("a")["w"].tolist() == list(range(9))


def test_nothing_waits_or_measures_by_a_clock_that_may_jump(root):
    """Durations are told by time.monotonic, processor time by its own clock; dates decide nothing."""
    for folder in ("attention_core", "ui", "pages"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    assert (node.value.id, node.attr) not in {("time", "time"), ("datetime", "now")}, path
    assert "time.monotonic()" in Path(root / "pages" / "atlas" / "shared_atlas.py").read_text()
