"""IDX files: read plain and gzipped, and every way in which they can be wrong said in one clear sentence."""

import gzip

import numpy as np
import pytest

from attention_core.data.mnist import DataError, data_folder, load_mnist, read_digits, read_idx
from tests.tiny_data import idx_bytes

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)
LABELS = np.array([4, 0, 9], np.uint8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(IMAGES)))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(LABELS))
    return tmp_path


def test_plain_and_gzipped_files_are_read_alike(folder):
    digits = read_digits(folder, "t10k")
    assert np.array_equal(digits.images, IMAGES)
    assert np.array_equal(digits.labels, LABELS)
    assert len(digits) == 3


def test_files_are_found_in_a_subfolder_called_mnist(folder):
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


def test_missing_files_tell_where_they_were_sought_and_what_to_pass(tmp_path):
    with pytest.raises(DataError, match="--data"):
        read_idx(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"No train-images-idx3-ubyte\(\.gz\) in .*--data"):
        read_digits(tmp_path, "train")


def test_images_and_labels_of_different_length_do_not_belong_together(folder):
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(LABELS[:2]))
    with pytest.raises(DataError, match="do not belong together"):
        read_digits(folder, "t10k")


def test_named_folder_is_never_filled_by_a_download(tmp_path, monkeypatch):
    monkeypatch.setattr("attention_core.data.mnist._download", lambda *_: pytest.fail("it tried to download"))
    with pytest.raises(DataError):
        load_mnist("train", tmp_path)
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    with pytest.raises(DataError):
        load_mnist("train")


def test_data_folder_is_the_option_then_the_variable_then_the_cache(monkeypatch, tmp_path):
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
