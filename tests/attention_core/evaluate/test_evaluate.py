"""The evaluation command: anyone's digits in, one JSON object out; bad files in one clear line."""

import gzip

import numpy as np
import pytest
import torch

from attention_core import UNIFORM, load
from attention_core.attention.trace import Prediction
from attention_core.data.drawing import canvases_to_images, draw_paths
from attention_core.data.presets import preset_paths
from attention_core.evaluate.__main__ import main
from attention_core.evaluate.classification import accuracy, as_tensors, read_file
from attention_core.weights import read_card
from tests.support import tiny_data
from tests.support.own_models import evaluated, refusal

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


def test_canvases_go_through_the_pages_own_code(tmp_path, capsys, canvases):
    labels = np.arange(10)
    drawn = evaluated(capsys, MODEL, save(tmp_path / "canvases.npz", canvases=canvases, labels=labels))
    prepared = canvases_to_images(canvases)
    images = evaluated(capsys, MODEL, save(tmp_path / "images.npz", images=prepared, labels=labels))
    rounded = np.rint(prepared * 255).astype(np.uint8)
    bytewise = evaluated(capsys, MODEL, save(tmp_path / "bytes.npz", images=rounded, labels=labels))
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
    assert evaluated(capsys, MODEL, tmp_path)["n"] == 10


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


GOOD, ZEROS = np.zeros((2, 28, 28), np.uint8), np.zeros(2, int)
CANVAS = np.zeros((1, 9, 9, 4), np.uint8)
MATCH3, NEAREST = "match3-simplicial", "scoring-functions"
BAD = [
    (MODEL, {"images": GOOD}, "needs `labels`"),
    (MODEL, {"labels": ZEROS}, "either `images` or `canvases`"),
    (MODEL, {"images": np.zeros((2, 14, 14), np.uint8), "labels": ZEROS}, "28, 28"),
    (MODEL, {"images": np.zeros((2, 784), np.uint8), "labels": ZEROS}, "28, 28"),
    (MODEL, {"images": GOOD, "labels": np.zeros(3, int)}, "(n,)"),
    (MODEL, {"images": GOOD, "labels": np.zeros((2, 1), int)}, "(n,)"),
    (MODEL, {"images": GOOD, "labels": np.array([10, 0])}, "0 to 9"),
    (MODEL, {"images": GOOD, "labels": np.array([-1, 0])}, "0 to 9"),
    (MODEL, {"images": GOOD, "labels": np.array(["a", "b"])}, "0 to 9"),
    (MODEL, {"images": GOOD, "labels": np.array([0.5, 1])}, "0 to 9"),
    (MODEL, {"images": GOOD, "labels": np.array([np.nan, 1])}, "0 to 9"),
    (MODEL, {"images": GOOD + 255.0, "labels": ZEROS}, "from 0 to 1"),
    (MODEL, {"images": GOOD + np.nan, "labels": ZEROS}, "from 0 to 1"),
    (MODEL, {"images": GOOD.astype(int) + 256, "labels": ZEROS}, "255"),
    (MODEL, {"images": GOOD.astype(str), "labels": ZEROS}, "images"),
    (MODEL, {"canvases": np.zeros((2, 9, 9, 4)), "labels": ZEROS}, "uint8"),
    (MODEL, {"canvases": np.zeros((2, 9, 9), np.uint8), "labels": ZEROS}, "uint8"),
    (MODEL, {"canvases": np.zeros((2, 0, 9, 4), np.uint8), "labels": ZEROS}, "canvas"),
    (MATCH3, {"images": np.zeros((2, 8))}, "needs `numbers`"),
    (MATCH3, {"numbers": np.zeros((2, 8))}, "whole"),
    (MATCH3, {"numbers": np.full((2, 8), 31)}, "from 0 to 30"),
    (MATCH3, {"numbers": np.zeros(8, int)}, "(N, n)"),
    (MATCH3, {"numbers": np.zeros((2, 99), int)}, "n from 3 to 16"),
    (MATCH3, {"numbers": np.zeros((2, 8), int), "labels": np.full((2, 8), 7)}, "0 or 1"),
    (MATCH3, {"numbers": np.zeros((2, 8), int), "labels": np.zeros((2, 7))}, "labels"),
    (NEAREST, {"query": np.zeros((3, 2)), "key": np.zeros((3, 6, 2))}, "missing"),
    (NEAREST, {"query": np.zeros((3, 2)), "key": np.zeros((3, 6, 3)), "labels": np.zeros(3)}, "(3, 6, 3)"),
    (NEAREST, {"query": np.full((3, 2), np.nan), "key": np.zeros((3, 6, 2)), "labels": np.zeros(3)}, "finite"),
    (NEAREST, {"query": np.zeros((3, 5)), "key": np.zeros((3, 6, 5)), "labels": np.zeros(3)}, "d must be one of"),
    (NEAREST, {"query": np.zeros((3, 2)), "key": np.zeros((3, 9, 2)), "labels": np.zeros(3)}, "know 6 positions"),
    ("feature-mask", {"labels": np.array(["1"])}, "needs canvases, labels"),
    ("feature-mask", {"canvases": CANVAS, "labels": np.array(["12"])}, "0 to 9"),
    ("feature-mask", {"canvases": CANVAS, "labels": np.array(["1"]), "boxes": np.zeros(4)}, "boxes must be numbers"),
    ("digit-reader", {"canvases": CANVAS, "labels": np.array(["12"])}, "4 times as wide"),
    ("digit-reader", {"canvases": np.zeros((1, 9, 36, 4), np.uint8), "labels": np.array(["x"])}, "whole numbers"),
    ("scene-question", {"canvases": CANVAS[..., :3]}, "questions"),
]


@pytest.mark.parametrize(("name", "arrays", "words"), BAD)
def test_arrays_that_do_not_fit_are_named_in_one_line(tmp_path, capsys, name, arrays, words):
    assert words in refusal(capsys, name, save(tmp_path / "bad.npz", **arrays))


def bad_files(folder):
    np.savez_compressed(folder / "whole.npz", images=GOOD, labels=ZEROS)
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


@pytest.mark.parametrize("model", [MODEL, MATCH3, NEAREST])
def test_damaged_and_missing_files_are_named_in_one_line(tmp_path, capsys, model):
    names = bad_files(tmp_path)
    assert len(names) == 10
    for name in names:
        assert name in refusal(capsys, model, tmp_path / name)


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
    class Constant(torch.nn.Linear):
        def forward(self, images, edits):
            return Prediction(torch.nn.functional.one_hot(torch.full((len(images),), 3), 10))

    images, labels = torch.zeros(300, 28, 28, dtype=torch.uint8), torch.arange(300) % 10
    assert accuracy(Constant(1, 1), images, labels) == 0.1
    assert accuracy(Constant(1, 1), images[:0], labels[:0]) == 0


def test_the_shipped_models_read_the_presets_in_any_colour_and_size(canvases):
    """The page's ten drawings and models must agree, or it greets people with a mistake."""
    wide = np.stack([draw_paths([path * 1.5 for path in preset_paths(d, 160)], 256, 20) for d in range(10)])
    for name in ("pixel-classifier", "ffn-classifier"):
        model = load(name, "cpu")
        for drawn in (canvases, wide):
            images = np.rint(canvases_to_images(drawn) * 255).astype(np.uint8)
            right = accuracy(model, torch.from_numpy(images), torch.arange(10))
            assert right == 1, f"{name} reads {right:.0%} of the presets"


def within_three_errors(name, data_folder, every, figure, edits=()):
    """Compare the accuracy on a part of the test digits, spread over the set, with the card's; return it."""
    digits, stated = read_file(data_folder / "mnist"), read_card(name)[figure]
    images, labels = (part[::every] for part in as_tensors(digits))
    reached = accuracy(load(name, "cpu"), images, labels, edits)
    assert reached == pytest.approx(stated, abs=3 * (stated * (1 - stated) / len(labels)) ** 0.5 + 1e-3)
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
