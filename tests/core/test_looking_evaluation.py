"""Evaluation of the models that look: figures that can be counted by hand, files of anyone's."""

import json

import numpy as np
import pytest
import torch

from attention_core.data.questions import ANSWERS, Question, QuestionKind
from attention_core.data.scene_questions import QuestionExample
from attention_core.data.scenes import Drawings
from attention_core.data.sketches import coloured_strokes, digit_strokes, number_strokes
from attention_core.data.strokes import draw_paths
from attention_core.evaluate.__main__ import main
from attention_core.evaluate.vision import mass_inside, numbers_right, peak_inside
from attention_core.train.vision import looked_for, targets_of
from tests.own_models import one_line


def test_the_mass_inside_a_box_counts_regions_by_their_part():
    weights = torch.full((1, 2, 2), 0.25)
    boxes = torch.tensor([[0.0, 0.0, 10.0, 10.0]])
    assert float(mass_inside(weights, boxes, (20, 20))) == pytest.approx(0.25)
    assert float(mass_inside(weights, boxes / 2, (20, 20))) == pytest.approx(0.0625)
    assert float(mass_inside(weights, boxes + 5, (20, 20))) == pytest.approx(0.25)


def test_the_peak_is_the_middle_of_the_region_with_the_largest_weight():
    weights = torch.zeros(2, 4, 8)
    weights[:, 1, 6] = 1  # middle at row 6, column 26 of 16 x 32
    boxes = torch.tensor([[5.0, 25.0, 7.0, 27.0], [0.0, 0.0, 5.9, 32.0]])
    assert peak_inside(weights, boxes, (16, 32)).tolist() == [True, False]


def test_a_number_is_right_only_if_it_is_whole_and_ends():
    said = torch.tensor([[4, 2, 10, 7], [4, 2, 7, 10], [4, 10, 2, 10], [4, 2, 2, 2]])
    labels = torch.tensor([[4, 2, -1]] * 4)
    assert numbers_right(said, labels).tolist() == [True, False, False, False]


def test_a_reader_is_taught_to_end_after_the_last_digit():
    labels = torch.tensor([[4, 2, -1], [1, 2, 3]])
    assert targets_of(labels).tolist() == [[4, 2, 10, -1], [1, 2, 3, 10]]


def canvas_of(strokes, size):
    canvas = np.full((*size, 4), 255, np.uint8)
    for one in strokes:
        ink = tuple(int((one.colour or "#000000")[i : i + 2], 16) for i in (1, 3, 5))
        drawn = draw_paths([one.path], max(size), one.width, ink)[: size[0], : size[1]]
        canvas = np.where(drawn[..., :3].min(-1, keepdims=True) < 250, drawn, canvas)
    return canvas


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One file for each model, with the keys that the commands document."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    places = rng.uniform(60, 140, (8, 2))
    found = [canvas_of(digit_strokes(n, (x, y), 90), (200, 200)) for n, (x, y) in enumerate(places)]
    boxes = np.stack([places[:, 1] - 45, places[:, 0] - 30, places[:, 1] + 45, places[:, 0] + 30], 1)
    np.savez(folder / "find.npz", canvases=np.stack(found), labels=np.arange(8).astype(str), boxes=boxes)
    np.savez(folder / "turned.npz", canvases=np.stack(found), labels=np.arange(8), boxes=boxes[:, [1, 0, 3, 2]])
    numbers = ["7", "42", "305", "1809"]
    np.savez(
        folder / "read.npz",
        canvases=np.stack([canvas_of(number_strokes(one, (160, 640)), (160, 640)) for one in numbers]),
        labels=np.array(numbers),
    )
    drawn = [canvas_of(coloured_strokes(3, 240, np.random.default_rng(n)), (240, 240)) for n in range(4)]
    np.savez(
        folder / "ask.npz",
        canvases=np.stack(drawn),
        questions=np.array(["how many digits are there?", "How many digits?", "count the digits", "digits " * 80]),
        answers=np.array(["3", "three", "3", "3"]),
    )
    return folder


def evaluate(capsys, name, path):
    assert main([name, str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_digits_are_found_on_anyone_s_canvases(capsys, files):
    figures = evaluate(capsys, "feature-mask", files / "find.npz")
    assert (figures["n"], figures["model"]) == (8, "feature-mask")
    assert figures["accuracy"] >= 0.85
    assert figures["peak_inside"] >= 0.85
    assert 0.7 <= figures["mask_inside"] <= 1


def test_boxes_may_come_in_either_order(capsys, files):
    figures, turned = (evaluate(capsys, "feature-mask", files / name) for name in ("find.npz", "turned.npz"))
    assert figures["mask_inside"] == turned["mask_inside"]


def test_numbers_are_read_on_anyone_s_canvases(capsys, files):
    figures = evaluate(capsys, "digit-reader", files / "read.npz")
    assert figures["accuracy_by_length"].keys() == {"1", "2", "3", "4"}
    assert figures["accuracy"] >= 0.75


def test_questions_are_answered_about_anyone_s_canvases_and_too_long_ones_count_as_wrong(capsys, files):
    figures = evaluate(capsys, "scene-question", files / "ask.npz")
    assert (figures["n"], figures["refused"]) == (4, 1)
    assert figures["accuracy"] == figures["dot"]["accuracy"] == 0.75
    assert figures["additive"]["accuracy"] == 0.75


@pytest.mark.parametrize(
    ("name", "arrays", "message"),
    [
        ("feature-mask", {"labels": np.array(["1"])}, "needs canvases, labels"),
        ("feature-mask", {"canvases": np.zeros((1, 9, 9, 4), np.uint8), "labels": np.array(["12"])}, "0 to 9"),
        ("digit-reader", {"canvases": np.zeros((1, 9, 9, 4), np.uint8), "labels": np.array(["12"])}, "4 times as wide"),
        ("digit-reader", {"canvases": np.zeros((1, 9, 36, 4), np.uint8), "labels": np.array(["x"])}, "whole numbers"),
        ("scene-question", {"canvases": np.zeros((1, 9, 9, 3), np.uint8)}, "questions"),
        (
            "feature-mask",
            {"canvases": np.zeros((1, 9, 9, 4), np.uint8), "labels": np.array(["1"]), "boxes": np.zeros(4)},
            r"boxes must be numbers",
        ),
    ],
)
def test_files_of_another_form_are_told_in_one_line(capsys, tmp_path, name, arrays, message):
    np.savez(tmp_path / "file.npz", **arrays)
    assert main([name, str(tmp_path / "file.npz")]) == 1
    assert message in one_line(capsys)


def test_scenes_of_a_training_step_tell_where_looks_should_find_things():
    boxes = torch.tensor([[[0.0, 0.0, 16.0, 16.0], [32.0, 32.0, 48.0, 64.0]]])
    labels = torch.tensor([[3, 5]])
    drawings = Drawings(torch.zeros(1, 64, 64), torch.zeros(1, 3, 64, 64), labels, labels, boxes)
    asked = [
        QuestionExample(Question(QuestionKind.DIGIT_BESIDE), "", ANSWERS[3], (0,), (1,)),
        QuestionExample(Question(QuestionKind.COUNT), "", "0", ()),
    ]
    where = looked_for(drawings, asked, (4, 4))
    assert where.shape == (2, 2, 2, 16)
    assert where[0, 0, 1].nonzero().flatten().tolist() == [10, 11]
    assert where[0, 1, 0].nonzero().flatten().tolist() == [0]
    assert where[1].sum() == 0
