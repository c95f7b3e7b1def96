"""The evaluation command: anyone's digits in, one JSON object out; bad files in one clear line."""

import gzip
import json

import numpy as np
import pytest
import torch

from attention_core import UNIFORM, load
from attention_core.data.drawing import canvases_to_images
from attention_core.data.mnist import DataError, Digits
from attention_core.data.presets import preset_paths
from attention_core.data.strokes import draw_paths
from attention_core.evaluate.__main__ import main
from attention_core.evaluate.digits import accuracy, read_file
from attention_core.weights import read_card
from tests import tiny_data
from tests.own_models import one_line

MODEL = "ffn-classifier"
COLOURS = [((0, 0, 0), (255, 255, 255)), ((240, 240, 250), (10, 10, 30)), ((200, 30, 30), (30, 60, 170))]


@pytest.fixture(scope="module")
def canvases():
    """The ten presets in turning colours, on canvases of 160 x 160."""
    drawn = [draw_paths(preset_paths(digit, 160), 160, 12, *COLOURS[digit % 3]) for digit in range(10)]
    return np.stack(drawn)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def run(capsys, *arguments) -> dict:
    assert main([MODEL, *map(str, arguments), "--json", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 1
    return json.loads(lines[0])


def test_canvases_go_through_the_pages_own_code(tmp_path, capsys, canvases):
    labels = np.arange(10)
    drawn = run(capsys, save(tmp_path / "canvases.npz", canvases=canvases, labels=labels))
    prepared = canvases_to_images(canvases)
    images = run(capsys, save(tmp_path / "images.npz", images=prepared, labels=labels))
    rounded = np.rint(prepared * 255).astype(np.uint8)
    bytewise = run(capsys, save(tmp_path / "bytes.npz", images=rounded, labels=labels))
    assert drawn["accuracy"] == images["accuracy"] == bytewise["accuracy"]
    assert {"model", "n", "accuracy", "seconds", "device"} <= drawn.keys()
    assert (drawn["model"], drawn["n"], drawn["device"]) == (MODEL, 10, "cpu")


@pytest.mark.parametrize("zipped", [True, False])
def test_idx_folder_is_evaluated_on_its_t10k_part(tmp_path, capsys, canvases, zipped):
    images = np.rint(canvases_to_images(canvases) * 255).astype(np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", np.arange(10, dtype=np.uint8))):
        content = tiny_data.idx_bytes(array)
        path = tmp_path / f"t10k-{name}-ubyte{'.gz' if zipped else ''}"
        path.write_bytes(gzip.compress(content) if zipped else content)
    assert run(capsys, tmp_path)["n"] == 10


def test_without_json_each_figure_has_its_line(tmp_path, capsys, canvases):
    path = save(tmp_path / "canvases.npz", canvases=canvases, labels=np.arange(10))
    assert main([MODEL, str(path)]) == 0
    assert "accuracy: " in capsys.readouterr().out


def test_integer_images_up_to_255_are_read_as_bytes(tmp_path):
    images = np.zeros((2, 28, 28), np.int64)
    images[:, 4:20, 14] = 255
    digits = read_file(save(tmp_path / "whole.npz", images=images, labels=np.array([1, 1])))
    assert digits.images.max() == 255
    assert digits.images.dtype == np.uint8


GOOD = np.zeros((2, 28, 28), np.uint8)
BAD = {
    "no labels": ({"images": GOOD}, "needs `labels`"),
    "no images": ({"labels": np.zeros(2, int)}, "either `images` or `canvases`"),
    "another size": ({"images": np.zeros((2, 14, 14), np.uint8), "labels": np.zeros(2, int)}, "28, 28"),
    "flat": ({"images": np.zeros((2, 784), np.uint8), "labels": np.zeros(2, int)}, "28, 28"),
    "too few labels": ({"images": GOOD, "labels": np.zeros(3, int)}, r"\(n,\)"),
    "labels of two columns": ({"images": GOOD, "labels": np.zeros((2, 1), int)}, r"\(n,\)"),
    "label ten": ({"images": GOOD, "labels": np.array([10, 0])}, "0 to 9"),
    "label minus one": ({"images": GOOD, "labels": np.array([-1, 0])}, "0 to 9"),
    "label of letters": ({"images": GOOD, "labels": np.array(["a", "b"])}, "0 to 9"),
    "label of fractions": ({"images": GOOD, "labels": np.array([0.5, 1])}, "0 to 9"),
    "label nan": ({"images": GOOD, "labels": np.array([np.nan, 1])}, "0 to 9"),
    "floats to 255": ({"images": GOOD + 255.0, "labels": np.zeros(2, int)}, r"\[0, 1\]"),
    "nan": ({"images": GOOD + np.nan, "labels": np.zeros(2, int)}, r"\[0, 1\]"),
    "integers above 255": ({"images": GOOD.astype(int) + 256, "labels": np.zeros(2, int)}, "255"),
    "images of letters": ({"images": GOOD.astype(str), "labels": np.zeros(2, int)}, "images"),
    "canvases of floats": ({"canvases": np.zeros((2, 9, 9, 4)), "labels": np.zeros(2, int)}, "uint8"),
    "canvases without colours": ({"canvases": np.zeros((2, 9, 9), np.uint8), "labels": np.zeros(2, int)}, "uint8"),
    "canvases of no size": ({"canvases": np.zeros((2, 0, 9, 4), np.uint8), "labels": np.zeros(2, int)}, "canvas"),
}


@pytest.mark.parametrize("case", BAD)
def test_arrays_that_do_not_fit_are_named_in_one_line(tmp_path, capsys, case):
    arrays, words = BAD[case]
    path = save(tmp_path / "bad.npz", **arrays)
    assert main([MODEL, str(path), "--device", "cpu"]) == 1
    one_line(capsys)
    with pytest.raises((DataError, ValueError), match=words):
        read_file(path)


def bad_files(folder):
    np.savez_compressed(folder / "whole.npz", images=GOOD, labels=np.zeros(2, int))
    whole = (folder / "whole.npz").read_bytes()
    np.save(folder / "single.npy", GOOD)
    np.savez(folder / "pickled.npz", images=np.array([{"a": 1}], dtype=object), labels=np.zeros(1, int))
    broken = bytearray(whole)
    broken[60:70] = b"\xff" * 10
    contents = {"short.npz": whole[:-30], "half.npz": whole[: len(whole) // 2], "broken.npz": bytes(broken)}
    contents |= {"empty.npz": b"", "text.npz": b"hello", "zip.npz": b"PK\x03\x04" + bytes(40)}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "an empty folder").mkdir()
    return [*contents, "single.npy", "pickled.npz", "missing.npz", "an empty folder"]


def test_damaged_and_missing_files_are_named_in_one_line(tmp_path, capsys):
    names = bad_files(tmp_path)
    assert len(names) == 10
    for name in names:
        assert main([MODEL, str(tmp_path / name), "--device", "cpu"]) == 1, name
        assert name in one_line(capsys)


def test_unknown_model_and_absent_device_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense", str(tmp_path)])
    assert stopped.value.code == 2
    assert main([MODEL, str(tmp_path), "--device", "cuda"]) == 1
    assert "No cuda device" in capsys.readouterr().err


def test_missing_weights_are_refused(tmp_path, capsys, monkeypatch, canvases):
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path / "nowhere"))
    path = save(tmp_path / "canvases.npz", canvases=canvases, labels=np.arange(10))
    assert main([MODEL, str(path)]) == 1
    assert "error: No model card" in capsys.readouterr().err


def test_accuracy_counts_right_answers():
    class Constant:
        def eval(self):
            return self

        def __call__(self, images, edits):
            class Answer:
                logits = torch.nn.functional.one_hot(torch.full((len(images),), 3), 10)

            return Answer

    digits = Digits(np.zeros((300, 28, 28), np.uint8), (np.arange(300) % 10).astype(np.uint8))
    assert accuracy(Constant(), digits, "cpu") == 0.1
    assert accuracy(Constant(), Digits(digits.images[:0], digits.labels[:0]), "cpu") == 0


def test_the_shipped_models_read_the_presets_in_any_colour_and_size(canvases):
    """The page's ten drawings and models must agree, or it greets people with a mistake."""
    wide = np.stack([draw_paths([path * 1.5 for path in preset_paths(d, 160)], 256, 20) for d in range(10)])
    for name in ("pixel-classifier", "ffn-classifier"):
        model = load(name, "cpu")
        for drawn in (canvases, wide):
            images = np.rint(canvases_to_images(drawn) * 255).astype(np.uint8)
            right = accuracy(model, Digits(images, np.arange(10, dtype=np.uint8)), "cpu")
            assert right == 1, f"{name} reads {right:.0%} of the presets"


def within_three_errors(name, data_folder, every, figure, edits=()):
    """Compare the accuracy on a part of the test digits, spread over the set, with the card's; return it."""
    digits, stated = read_file(data_folder / "mnist"), read_card(name)[figure]
    sample = Digits(digits.images[::every], digits.labels[::every])
    reached = accuracy(load(name, "cpu"), sample, "cpu", edits)
    assert reached == pytest.approx(stated, abs=3 * (stated * (1 - stated) / len(sample)) ** 0.5 + 1e-3)
    return reached


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["pixel-classifier", "ffn-classifier", "pixel-notes", "pixel-notes-ink", "pixel-notes-product", "digit-vit"]
)
def test_cards_figures_hold_on_a_sample_of_real_digits(data_folder, name):
    """A thousand of the test digits, spread over the set: within three standard errors of the card's figure."""
    within_three_errors(name, data_folder, 10, "test_accuracy")


@pytest.mark.data
def test_attention_carries_the_answer(data_folder):
    """With uniform weights the accuracy falls by at least 20 points, and to what the card says."""
    figure = "test_accuracy_with_uniform_attention"
    blind = within_three_errors("pixel-classifier", data_folder, 40, figure, UNIFORM)
    assert blind < read_card("pixel-classifier")["test_accuracy"] - 0.2


@pytest.mark.data
def test_goal_of_the_pixel_classifier_is_reached():
    card = read_card("pixel-classifier")
    assert card["test_accuracy"] >= 0.99
