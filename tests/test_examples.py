"""The notebooks in examples/ run from top to bottom, each with names of its own, and find what they say they find."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).parents[1]
FOUND = {
    "figure_of_a_head": (
        "copied(best) > 0.5 and best.name in title",
        {"head.svg", "head.pdf", "head.png", "all_heads.html"},
    ),
    "any_pytorch_code": (
        "recording.names == ['first', 'second'] and unchanged and largest_difference < 1e-6 and len(table) == 8"
        " and of_library.names == ['decoder.0.self', 'decoder.1.self']",
        {"second_layer.svg", "run.npz"},
    ),
    "atlas_of_a_long_matrix": (
        "row - column == 8_999 and weight > 0.9 and abs(float(exact) - weight) < 1e-3 and places == [3_100, 12_100]",
        {"overview.png", "tile.png"},
    ),
    "compare_two_runs": (
        "(layer, head) == (3, 5) and between.change[:2].max() == 0 and between.to_frame().layer[0] >= 2"
        " and maps.to_frame().change.abs().is_monotonic_decreasing",
        {"both.html", "maps.parquet"},
    ),
    "what_do_the_heads_do": (
        "heads.name(3, 5) == 'induction' and cut.values.argmin() == 12 and largest == '2.0'"
        " and weights[0] > 10 * weights[1] and words[0] > 10 * words[1]",
        {"heads.parquet", "circuit.html"},
    ),
    "from_a_translation": (
        "looks['rouge'] == 'red' and [*kinds] == ['encoder self', 'decoder self', 'decoder cross']",
        {"translation.html"},
    ),
    "picture_beside_text": (
        "over_picture.shape == (6, 6) and 0 < share < 1 and tiles_of(inputs.tokens) =="
        " {'first': first, 'rows': 6, 'columns': 6} and without.values.shape == (4, 4)",
        {"picture.html"},
    ),
    "train_your_own": (
        "accuracy > 0.99 and accuracy_uniform < 0.3 and mirrored == [*range(9, -1, -1)]",
        {"reverser.svg"},
    ),
}
"""Of each notebook what holds in the end, and the files that it writes."""


def cells_of(name: str) -> list[dict]:
    notebook = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return notebook["cells"]


def test_every_notebook_is_tried() -> None:
    assert {file.stem for file in (ROOT / "examples").glob("*.ipynb")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_a_notebook_explains_each_cell_of_code_and_is_kept_without_outputs(name: str) -> None:
    cells = cells_of(name)
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * (len(cells) // 2)
    assert all(len("".join(cell["source"])) > 60 for cell in cells[::2])
    assert not [cell for cell in cells[1::2] if cell["outputs"] or cell["execution_count"]]


@pytest.mark.parametrize("name", FOUND)
def test_a_notebook_runs_and_finds_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, files = FOUND[name]
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": name}
    with torch.random.fork_rng(devices=[]):
        for cell in cells_of(name)[1::2]:
            exec("".join(cell["source"]), namespace)
    assert eval(claim, namespace), claim
    written = {file.name: file.stat().st_size for file in (tmp_path / "made").iterdir()}
    assert set(written) == files
    assert min(written.values()) > 1_000
