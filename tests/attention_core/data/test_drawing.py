"""Digits as pictures: MNIST's files, strokes, and drawings prepared as MNIST's were made."""

import gzip

import numpy as np
import pytest

from attention_core.data import drawing as strokes
from attention_core.data.drawing import BOX, SIDE, CanvasRemark, canvases_to_images, draw_paths, ink_of, prepare
from attention_core.data.mnist import DataError, data_folder, load_mnist, read_digits, read_idx
from attention_core.data.presets import preset_paths
from tests.support.drawings import (
    COLOURS,
    centre_of_mass,
    difference,
    extent,
    preset_canvas,
)
from tests.support.tiny_data import idx_bytes

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)
LABELS = np.array([4, 0, 9], np.uint8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(IMAGES)))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(LABELS))
    return tmp_path


def test_files_are_read_plain_gzipped_and_in_a_subfolder_called_mnist(folder):
    digits = read_digits(folder, "t10k")
    assert np.array_equal(digits.images, IMAGES)
    assert np.array_equal(digits.labels, LABELS)
    assert len(digits) == 3
    folder.rename(folder.parent / "mnist_before")
    (folder.parent / "data").mkdir()
    (folder.parent / "mnist_before").rename(folder.parent / "data" / "mnist")
    assert len(load_mnist("t10k", folder.parent / "data")) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (idx_bytes(IMAGES)[:-1], "cut short: 2352 bytes announced, 2351 found"),
        (idx_bytes(IMAGES) + b"\0", "2352 bytes announced, 2353 found"),
        (idx_bytes(IMAGES)[:9], "cut short inside its header"),
        (b"\0\0\x0d\x03" + idx_bytes(IMAGES)[4:], "not an IDX file of unsigned bytes"),
        (b"PK\x03\x04" + bytes(50), "not an IDX file of unsigned bytes"),
        (b"", "not an IDX file of unsigned bytes"),
    ],
    ids=["one byte short", "one byte long", "short header", "floats", "a zip", "empty"],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_damaged_file_is_named_with_its_damage(tmp_path, content, words, ending):
    path = tmp_path / f"images{ending}"
    path.write_bytes(gzip.compress(content) if ending else content)
    with pytest.raises(DataError, match=words) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)


ZIPPED, PLAINER = (gzip.compress(idx_bytes(images), mtime=0) for images in (IMAGES, IMAGES // 200))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *[(ZIPPED[:n_bytes], "cut short or not gzipped") for n_bytes in (5, 200, -3)],
        *[(PLAINER[:place] + b"\xff" * 8 + PLAINER[place + 8 :], r"images\.gz") for place in (12, 30, 60, 90)],
        (idx_bytes(IMAGES), "not gzipped"),
    ],
)
def test_damaged_gzip_is_refused(tmp_path, content, words):
    (tmp_path / "images.gz").write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_idx(tmp_path / "images.gz")


def test_missing_files_and_those_that_do_not_belong_together_are_told(tmp_path, folder):
    with pytest.raises(DataError, match="--data"):
        read_idx(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"No train-images-idx3-ubyte\(\.gz\) in .*--data"):
        read_digits(tmp_path, "train")
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(LABELS[:2]))
    with pytest.raises(DataError, match="do not belong together"):
        read_digits(folder, "t10k")


def test_a_named_folder_is_never_filled_and_comes_before_the_variable_and_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("attention_core.data.mnist._download", lambda *_: pytest.fail("it tried to download"))
    with pytest.raises(DataError):
        load_mnist("train", tmp_path)
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    with pytest.raises(DataError):
        load_mnist("train")
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    assert data_folder("/elsewhere").as_posix() == "/elsewhere"
    assert data_folder() == tmp_path
    monkeypatch.delenv("ATTENTION_DATA")
    assert data_folder().name == "attention-explorer"


@pytest.mark.data
def test_real_test_digits_are_the_ones_that_everybody_knows(data_folder):
    digits = load_mnist("t10k", data_folder)
    assert digits.images.shape == (10_000, 28, 28)
    assert digits.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]


ALL = [
    preset_canvas(digit, side, size, shift, width, colours)
    for digit in range(10)
    for side, size, shift, width, colours in (
        (256, 1.0, (0, 0), 0.075, "black on white"),
        (400, 0.5, (0, 1), 0.05, "light on dark"),
        (128, 0.7, (1, 0), 0.1, "red on blue"),
        (300, 0.3, (1, 1), 0.12, "yellow on grey"),
    )
]


def test_pictures_have_the_centre_size_ink_and_range_of_mnist_s():
    centres = np.array([centre_of_mass(prepare(canvas).image) for canvas in ALL])
    assert np.abs(centres - 14).max() <= 0.51  # every test digit of MNIST lies between 13.5 and 14.5
    assert np.abs(centres.mean(0) - 14).max() <= 0.2
    assert {extent(prepare(canvas).image) for canvas in ALL} == {BOX}
    shares = np.array([prepare(canvas).image.mean() for canvas in ALL])
    assert shares.min() > 0.028  # the smallest and the largest of MNIST's 10,000 test digits
    assert shares.max() < 0.33
    assert 0.09 < shares.mean() < 0.17  # theirs is 0.133 on average
    for canvas in ALL:
        image = prepare(canvas).image
        assert image.shape == (SIDE, SIDE)
        assert image.dtype == np.float32
        assert image.min() == 0
        assert image.max() == pytest.approx(1)


@pytest.mark.data
def test_drawings_are_like_mnist_s_digits_which_hardly_change_when_prepared_again(data_folder):
    digits = load_mnist("t10k", data_folder).images[:2000].astype(np.float32) / 255
    drawn = np.stack([prepare(canvas).image for canvas in ALL])
    theirs, ours = ([centre_of_mass(image) for image in images] for images in (digits, drawn))
    assert np.abs(np.mean(theirs, 0) - np.mean(ours, 0)).max() < 0.2
    assert np.std(ours) < np.std(theirs) + 0.1
    assert np.mean([extent(image) for image in digits]) == pytest.approx(BOX, abs=0.01)
    assert drawn.mean() == pytest.approx(digits.mean(), rel=0.3)
    assert digits.mean((1, 2)).min() < drawn.mean((1, 2)).min()
    for image in load_mnist("t10k", data_folder).images[:50]:
        large = np.kron(image, np.ones((8, 8), np.uint8))  # as if somebody had drawn it on a canvas
        assert np.abs(prepare(large).image - image / 255).mean() < 0.03


@pytest.mark.parametrize("digit", [0, 4, 7])
def test_place_on_the_canvas_does_not_matter(digit):
    here = prepare(preset_canvas(digit, size=0.5, shift=(0, 0))).image
    there = prepare(preset_canvas(digit, size=0.5, shift=(1, 0.5))).image
    assert difference(here, there) < 0.01


@pytest.mark.parametrize("digit", [2, 5, 8])
def test_size_hardly_matters(digit):
    small, large = (prepare(preset_canvas(digit, size=size)).image for size in (0.4, 1.0))
    assert difference(small, large) < 0.03


@pytest.mark.parametrize("colours", COLOURS)
def test_colours_do_not_matter_nor_which_is_lighter(colours):
    plain, coloured = (prepare(preset_canvas(3, colours=one)).image for one in ("black on white", colours))
    assert np.abs(plain - coloured).max() < 0.05


def test_canvases_of_any_channels_give_the_same_picture_on_their_most_frequent_colour():
    canvas = preset_canvas(6)
    see_through = canvas.copy()
    see_through[..., 3] = 255 - canvas[..., 0]
    see_through[..., :3] = 0
    assert np.abs(prepare(canvas).image - prepare(see_through).image).max() < 0.02
    canvas = preset_canvas(9)
    for other in (canvas[..., :3], canvas[..., 0]):
        assert np.allclose(prepare(canvas).image, prepare(other).image, atol=1e-4)
    ink = ink_of(preset_canvas(1, colours="light on dark"))
    assert ink[0, 0] == 0
    assert ink.max() == 1
    assert (ink > 0.5).mean() < 0.2


@pytest.mark.parametrize("canvas", [np.zeros((90, 120, 4), np.uint8), np.full((64, 64, 4), 255, np.uint8)])
def test_canvas_of_one_colour_is_empty(canvas):
    drawing = prepare(canvas)
    assert drawing.remark is CanvasRemark.EMPTY
    assert not drawing.image.any()


SEVERAL = [path * 0.45 + [left, 60] for digit, left in ((3, 0), (5, 140)) for path in preset_paths(digit, 256)]


@pytest.mark.parametrize(
    ("paths", "width", "remark"),
    [([np.array([[100.0, 80.0]])], 3, CanvasRemark.DOT), (SEVERAL, 9, CanvasRemark.SEVERAL)],
    ids=["dot", "several digits side by side"],
)
def test_what_is_unusual_is_remarked(paths, width, remark):
    assert prepare(draw_paths(paths, 256, width)).remark is remark


@pytest.mark.parametrize("digit", range(10))
def test_presets_are_not_remarked(digit):
    assert prepare(preset_canvas(digit)).remark is None


def test_nearly_full_canvas_gives_a_picture_and_no_error():
    canvas = np.zeros((100, 100, 4), np.uint8)
    canvas[..., 3] = 255
    canvas[:30, :40, :3] = 255
    image = prepare(canvas).image
    assert np.isfinite(image).all()
    assert image.max() == pytest.approx(1)


@pytest.mark.parametrize("shape", [(40, 1), (1, 40), (300, 7), (2, 2)])
def test_drawing_of_any_proportions_fits(shape):
    canvas = np.full((320, 200, 4), 255, np.uint8)
    canvas[5 : 5 + shape[0], 9 : 9 + shape[1], :3] = 0
    drawn = prepare(canvas).image > 0
    sides = [np.ptp(drawn.any(axis).nonzero()[0]) + 1 for axis in (1, 0)]
    assert max(sides) == BOX
    assert min(sides) == max(1, round(BOX * min(shape) / max(shape)))


NO_PICTURE = "canvas must be a non-empty uint8 picture"


@pytest.mark.parametrize(
    ("canvas", "words"),
    [
        (np.zeros((4, 4, 4), np.float32), NO_PICTURE),
        (np.zeros((0, 4, 4), np.uint8), NO_PICTURE),
        (np.zeros(16, np.uint8), NO_PICTURE),
        (np.zeros((4, 4, 2), np.uint8), "1, 3 or 4 channels, got 2"),
    ],
    ids=["floats", "no rows", "flat", "two channels"],
)
def test_what_is_no_picture_is_refused(canvas, words):
    with pytest.raises(ValueError, match=words):
        prepare(canvas)


def test_many_canvases_are_prepared_as_single_ones_are():
    canvases = np.stack([preset_canvas(digit) for digit in (1, 8)])
    images = canvases_to_images(canvases)
    assert images.shape == (2, SIDE, SIDE)
    assert np.array_equal(images[1], prepare(canvases[1]).image)
    assert canvases_to_images(canvases[:0]).shape == (0, SIDE, SIDE)


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


def test_smooth_paths_go_through_their_points_and_pens_draw_the_asked_width():
    points = np.array([[0.0, 0], [1, 2], [3, 1], [4, 4]])
    curve = strokes.smooth_path(points, 5)
    assert curve.shape == (16, 2)
    assert np.allclose(curve[::5], points)
    canvas = strokes.draw_paths([np.array([[10.0, 50.0], [90.0, 50.0]])], 100, 12)
    assert canvas.shape == (100, 100, 4)
    assert (canvas[:, 50, 0] < 128).sum() == pytest.approx(12, abs=1)
    assert (canvas[..., 3] == 255).all()
    canvas = strokes.draw_paths([np.array([[50.0, 50.0]])], 100, 20)
    assert (canvas[..., 0] < 128).sum() == pytest.approx(np.pi * 100, rel=0.1)


def test_replays_vary_by_their_seed_and_labels_follow_them(monkeypatch, tmp_path):
    monkeypatch.setattr(strokes, "FOLDER", tmp_path)
    trajectories = some_trajectories()
    first, again, other = (strokes.stroke_digits(trajectories, 2, seed).images for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (12, 28, 28)
    assert not np.array_equal(first[:6], first[6:])
    monkeypatch.setattr(strokes, "FOLDER", tmp_path)
    digits = strokes.stroke_digits(some_trajectories(4), 3, 0)
    assert digits.labels.tolist() == [0, 1, 2, 3] * 3


def test_random_canvases_come_in_many_sizes_places_and_colours_and_none_is_empty():
    generator = np.random.default_rng(0)
    canvases = [strokes.random_canvas(some_trajectories(1).points[0], generator) for _ in range(40)]
    drawings = [prepare(canvas) for canvas in canvases]
    assert all(drawing.image.max() > 0.9 for drawing in drawings)
    places = [np.argwhere(ink_of(canvas) > 0.5) for canvas in canvases]
    sizes = [np.ptp(drawn, axis=0).max() for drawn in places]
    assert max(sizes) > 2 * min(sizes)
    assert len({tuple(canvas[0, 0]) for canvas in canvases}) > 30
    darker = [canvas[0, 0, 0] < 128 for canvas in canvases]
    assert 5 < sum(darker) < 35
