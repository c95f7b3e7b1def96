import io

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attention_core import capture, load_recording
from attention_core.atlas import FileError, FileKind, detect_file_kind, read_tensors, trace_of_tensors
from attention_core.attention.export import trace_to_npz
from tests.support.bombs import member, npz

QUERY, KEY, VALUE = (2, 5, 7), (2, 6, 7), (2, 6, 3)
OBJECTS = np.array([None, 1], dtype=object)


def three(dtype=torch.float32, query=QUERY, key=KEY, value=VALUE):
    generator = torch.Generator().manual_seed(3)
    shapes = {"query": query, "key": key, "value": value}
    return {name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()}


def arrays(given=None, **changes):
    """Return the three as numpy's, some of them exchanged."""
    return {name: tensor.numpy() for name, tensor in (given or three()).items()} | changes


def save(given):
    return npz(**arrays(given))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_arrays_come_back_as_they_are_from_bytes_and_from_a_path(dtype, tmp_path):
    given, path = three(dtype), tmp_path / "run"
    path.write_bytes(save(given))
    for source in (path, str(path), path.read_bytes()):
        assert torch.equal(read_tensors(source).key, given["key"])


def test_arrays_of_any_order_and_type_are_read_with_their_labels_and_mask():
    query = np.asfortranarray(arrays()["query"]).astype(">f4")
    assert torch.equal(read_tensors(npz(**arrays(query=query))).query, three()["query"])
    given = three()
    given["key"] = given["key"].half()
    assert read_tensors(save(given)).key.dtype == torch.float32
    words = ["the", "cat", "sat", "on", "it", "."]
    assert read_tensors(npz(**arrays(labels=np.array(words)))).labels == tuple(words)
    assert read_tensors(save(three())).labels is None
    mask = np.ones((5, 6), bool)
    mask[2, 3] = False
    assert not read_tensors(npz(**arrays(mask=mask))).mask[2, 3]


@pytest.mark.parametrize("leading", [(), (1, 2)])
def test_tensors_without_heads_and_with_a_batch_of_one_are_taken(leading):
    shapes = (5, 7), (6, 7), (6, 3)
    read = read_tensors(save(three(torch.float32, *(leading + shape for shape in shapes))))
    heads = leading[-1:] or (1,)
    assert [one.shape for one in (read.query, read.key, read.value)] == [heads + shape for shape in shapes]


def test_unusual_names_and_files_over_the_bound_are_told():
    file = npz(first=np.ones((4, 3), np.float32), second=np.ones((4, 3), np.float32))
    with pytest.raises(FileError, match=r"'first' \(float32, 4 x 3\), 'second'"):
        read_tensors(file)
    with pytest.raises(FileError, match=r"take 2 MiB, more than the 1 MiB allowed"):
        read_tensors(npz(query=np.ones((2**18, 1), np.float32), key=np.ones((2**18, 1), np.float32)), max_bytes=2**20)


def test_traces_of_tensors_have_their_scale_mask_shared_keys_and_labels_and_weights_without_values():
    given = three()
    del given["value"]
    read = read_tensors(save(given))
    trace = trace_of_tensors(read.query, read.key, read.value)
    expected = F.softmax(given["query"][1] @ given["key"][1].T / 7**0.5, -1)
    torch.testing.assert_close(trace.weights(1), expected)
    assert trace.context(0).shape == (5, 0)
    assert "Without values" in trace.story.note
    query, key = torch.randn(4, 5, 7), torch.randn(2, 5, 7)
    mask = torch.rand(5, 5) > 0.3
    trace = trace_of_tensors(query, key, key, is_causal=True, scale=0.7, mask=mask)
    scores = (query[3] @ key[1].T * 0.7).masked_fill(~(mask & torch.ones(5, 5).tril().bool()), -torch.inf)
    torch.testing.assert_close(trace.weights(3), scores.softmax(-1).nan_to_num())
    trace = trace_of_tensors(**given, labels=list("abcdef"))
    assert list(trace.story.key_axis.labels) == list("abcdef")
    assert list(trace.story.query_axis.labels) == ["1", "2", "3", "4", "5"]
    with pytest.raises(ValueError, match="3 labels for 5 queries and 6 keys"):
        trace_of_tensors(**given, labels=list("abc"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.ones(5)}, "query must be .n, d., .heads, n, d. or .1, heads, n, d., got 5"),
        ({"query": torch.ones(3, 2, 5, 7)}, "of a batch of 3, save one item"),
        ({"query": torch.ones(3, 5, 7)}, "query has 3 heads and key 2"),
        ({"query": torch.ones(2, 5, 8)}, "vectors of the same length, got 8 and 7"),
        ({"value": torch.ones(2, 5, 3)}, "key and value need as many heads and positions, got 2 x 6 and 2 x 5"),
        ({"value": torch.ones(1, 6, 3)}, "key and value need as many heads"),
        ({"key": torch.ones(2, 0, 7)}, "key is empty: 2 x 0 x 7"),
        ({"key": torch.ones(2, 6, 7, dtype=torch.int64)}, "'key' must hold float16, .* got int64"),
        ({"value": torch.ones(2, 6, 3, dtype=torch.bool)}, "'value' must hold float16, .* got bool"),
        ({"query": torch.ones(2000, 5, 7)}, r"2,000 heads of 5 positions.*exchange the first two dimensions"),
    ],
)
def test_tensors_that_do_not_fit_are_refused_in_words(change, message):
    file = save(three() | change)
    with pytest.raises(FileError, match=f"run: .*{message}"):
        read_tensors(file, "run")
    with pytest.raises(ValueError, match=message):
        trace_of_tensors(**(three() | change))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_are_refused(number):
    given = three()
    given["key"][1, 4, 2] = number
    with pytest.raises(FileError, match="key holds numbers that are NaN or infinite"):
        read_tensors(save(given))
    with pytest.raises(ValueError, match="key holds numbers"):
        trace_of_tensors(**given)


def pickled(tensors):
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def damaged(content):
    return content[:400] + bytes(byte ^ 255 for byte in content[400:440]) + content[440:]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "mine is empty"),
        (b"hello, this is a text", r"neither a recording nor a .npz file. Save query"),
        (npz(np.savez, **arrays())[:300], "mine is damaged"),
        (damaged(npz(np.savez, **arrays())), "mine is damaged"),
        (member("query", b"1234", shape=(2**40,)), "mine is damaged.*shorter than its description"),
        (b"\x93NUMPY\x01\x00", "neither a recording nor"),
        (npz(), "It holds nothing"),
        (npz(q=arrays()["query"], k=arrays()["key"]), "no arrays that are called query and key. It holds 'q'"),
        (pickled(three()), "is a pickle"),
        (npz(**arrays(labels=OBJECTS)), "'labels' must be a row of texts"),
        (npz(**arrays(key=OBJECTS)), r"'key' must hold .* got object"),
        (npz(**arrays(key=np.ones(KEY, np.complex64))), r"'key' must hold .* got complex64"),
        (npz(**arrays(key=np.ones(KEY, np.float16).view("V2"))), r"'key' must hold .* got void16"),
        (npz(**arrays(mask=np.ones((6, 5), bool))), "mask must fit 2 x 5 x 6"),
        (npz(**arrays(mask=np.ones((5, 6), np.float32))), "mask must be bool"),
    ],
)
def test_damaged_foreign_and_unfit_files_are_told_and_no_pickle_is_opened(content, message):
    with pytest.raises(FileError, match=message):
        read_tensors(content, "mine")


def test_a_recording_is_told_from_tensors(tmp_path):
    with capture() as recording:
        F.scaled_dot_product_attention(torch.ones(1, 2, 5, 3), torch.ones(1, 2, 5, 3), torch.ones(1, 2, 5, 3))
    recording.save(tmp_path / "run.npz")
    assert detect_file_kind(tmp_path / "run.npz") == FileKind.RECORDING
    assert len(load_recording(tmp_path / "run.npz")) == 1
    with pytest.raises(FileError, match="open it as a recording"):
        read_tensors((tmp_path / "run.npz").read_bytes())
    assert detect_file_kind(npz(**arrays())) == FileKind.TENSORS
    with pytest.raises(FileNotFoundError):
        detect_file_kind(tmp_path / "none.npz")


def test_what_a_trace_offers_for_download_can_be_opened_again():
    given = three()
    trace = trace_of_tensors(**given, mask=torch.rand(5, 6) > 0.2)
    read = read_tensors(trace_to_npz(trace))
    again = trace_of_tensors(read.query, read.key, read.value, mask=read.mask)
    torch.testing.assert_close(again.weights(1), trace.weights(1))
