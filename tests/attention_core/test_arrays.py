"""The one reader of .npz files: what it takes, and each fault in one sentence."""

import numpy as np
import pytest

from attention_core.arrays import FileError, open_npz, read_npz
from attention_core.data.mnist import DataError
from tests.support.bombs import member, npz

A, B = np.arange(6.0).reshape(2, 3), np.array(["x", "yy"])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_as_they_were_saved_and_only_those_asked_for(tmp_path, save):
    content = npz(save, a=A, b=B, c=np.array([object()]))
    (tmp_path / "file.npz").write_bytes(content)
    for source in (content, tmp_path / "file.npz", str(tmp_path / "file.npz")):
        read = read_npz(source, ("a",), ("b", "d"))
        assert read.keys() == {"a", "b"}
        np.testing.assert_array_equal(read["a"], A)
        np.testing.assert_array_equal(read["b"], B)
    assert read_npz(npz(a=A, b=B)).keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npz(b=B), "The file needs a; missing: a."),
        (npz(a=np.array([{}], dtype=object)), "Object arrays cannot be loaded"),
        (member("a", shape=(2**40,)), "a is shorter than its description says"),
        (npz(lambda file, a: np.save(file, a), a=A), "it is one array without a name"),
        (b"", "it is not an archive"),
        (npz(a=A)[:-30], "it is not an archive, or a part of one"),
    ],
)
def test_each_fault_is_one_sentence(tmp_path, content, words):
    with pytest.raises(FileError) as caught:
        read_npz(content, ("a",))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    (tmp_path / "file.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"file\.npz (is|needs) "):
        read_npz(tmp_path / "file.npz", ("a",), fault=DataError)


@pytest.mark.parametrize("content", [npz(a=np.zeros(10**6)), npz(np.savez, a=A, other=np.zeros(10**6))])
def test_a_file_that_takes_too_much_memory_is_refused(content):
    words = "The file takes 8 MB of memory, more than the 1 MB allowed"
    with open_npz(content) as file, pytest.raises(FileError, match=words):
        file.check_size(10**6, "The file")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataError, match=r"none\.npz does not exist"):
        read_npz(tmp_path / "none.npz", fault=DataError)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_wherever_a_byte_is_damaged_the_numbers_are_right_or_refused(save):
    content = npz(save, a=A)
    refused = 0
    for place in range(len(content)):
        for bits in (255, 1):
            damaged = content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]
            try:
                np.testing.assert_array_equal(read_npz(damaged).get("a", A), A)
            except FileError:
                refused += 1
    assert refused > len(content) / 2
