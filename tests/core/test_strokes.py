"""Pen strokes: read from their file, drawn, replayed at random but the same way for the same seed."""

import gzip

import numpy as np
import pytest

from attention_core.data import strokes
from attention_core.data.drawing import prepare
from attention_core.data.mnist import DataError

HEADER = ",".join(f"{letter}{number}" for number in range(8) for letter in "xy") + ",digit\n"


def write(folder, text):
    (folder / "pendigits").mkdir()
    (folder / "pendigits" / "train.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def some_trajectories(n=6):
    generator = np.random.default_rng(3)
    steps = generator.normal(0, 0.15, (n, 8, 2)).cumsum(1)
    points = (steps - steps.min(1, keepdims=True)) / np.ptp(steps, axis=1).max(1)[:, None, None]
    return strokes.Trajectories(points.astype(np.float32), np.arange(n, dtype=np.uint8) % 10)


def test_file_is_read_with_its_y_axis_turned_downwards(tmp_path):
    write(tmp_path, HEADER + "0,100," * 8 + "7\n" + "50,0," * 8 + "3\n")
    trajectories = strokes.load_trajectories(tmp_path)
    assert trajectories.points.shape == (2, 8, 2)
    assert trajectories.points[0, 0].tolist() == [0, 0]  # top left
    assert trajectories.points[1, 0].tolist() == [0.5, 1]
    assert trajectories.labels.tolist() == [7, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [(HEADER + "1,2,3\n", "17 columns"), (HEADER + "a," * 16 + "1\n", "cannot be read")],
    ids=["too few columns", "letters"],
)
def test_file_of_another_form_is_refused(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        strokes.load_trajectories(write(tmp_path, text))


def test_missing_and_damaged_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"No .*train\.csv\.gz.*CC-BY"):
        strokes.load_trajectories(tmp_path)
    write(tmp_path, HEADER + ("1,2," * 8 + "1\n") * 50)
    path = tmp_path / "pendigits" / "train.csv.gz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="cannot be read"):
        strokes.load_trajectories(tmp_path)


def test_smooth_path_goes_through_its_points():
    points = np.array([[0.0, 0], [1, 2], [3, 1], [4, 4]])
    curve = strokes.smooth_path(points, 5)
    assert curve.shape == (16, 2)
    assert np.allclose(curve[::5], points)


def test_pen_draws_lines_of_the_asked_width():
    canvas = strokes.draw_paths([np.array([[10.0, 50.0], [90.0, 50.0]])], 100, 12)
    assert canvas.shape == (100, 100, 4)
    assert (canvas[:, 50, 0] < 128).sum() == pytest.approx(12, abs=1)
    assert (canvas[..., 3] == 255).all()


def test_single_point_makes_a_round_dot():
    canvas = strokes.draw_paths([np.array([[50.0, 50.0]])], 100, 20)
    assert (canvas[..., 0] < 128).sum() == pytest.approx(np.pi * 100, rel=0.1)


def test_replays_vary_but_the_seed_decides_them(monkeypatch):
    monkeypatch.setattr(strokes, "cached_arrays", lambda name, made_from, make: make())
    trajectories = some_trajectories()
    first, again, other = (strokes.stroke_digits(trajectories, 2, seed).images for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (12, 28, 28)
    assert not np.array_equal(first[:6], first[6:])


def test_labels_follow_their_replays(monkeypatch):
    monkeypatch.setattr(strokes, "cached_arrays", lambda name, made_from, make: make())
    digits = strokes.stroke_digits(some_trajectories(4), 3, 0)
    assert digits.labels.tolist() == [0, 1, 2, 3] * 3


def test_random_canvases_come_in_many_sizes_places_and_colours_and_none_is_empty():
    generator = np.random.default_rng(0)
    canvases = [strokes.random_canvas(some_trajectories(1).points[0], generator) for _ in range(40)]
    drawings = [prepare(canvas) for canvas in canvases]
    assert all(drawing.image.max() > 0.9 for drawing in drawings)
    sizes = [max(box[1] - box[0], box[3] - box[2]) for box in (drawing.box for drawing in drawings)]
    assert max(sizes) > 2 * min(sizes)
    assert len({tuple(canvas[0, 0]) for canvas in canvases}) > 30
    darker = [canvas[0, 0, 0] < 128 for canvas in canvases]
    assert 5 < sum(darker) < 35
