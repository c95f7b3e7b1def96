"""Every reader of the core refuses its bombs in a sentence, at once and without filling the memory."""

import base64
import json
import os
import zlib

import numpy as np
import pytest

from attention_core.arrays import FileError, read_npz
from attention_core.atlas import read_tensors, trace_of_tensors
from attention_core.attention.recording import FORMAT, load_recording
from attention_core.hub.catalogue import look_up_model
from attention_core.hub.load import load_pretrained, read_settings
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import text_inputs
from attention_core.links import DAMAGED, MARK, VERSION, pack, read_session, unpack, unpack_strokes
from tests.support import tiny_hub
from tests.support.bombs import DEEP, ZIPS, costs_little, inflating, lying_sizes, npz, refused
from tests.support.tiny_hub import altered


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ZIPS)
def test_archives(name, tmp_path):
    content, words = ZIPS[name]
    (tmp_path / "run.npz").write_bytes(content)
    with refused(words, FileError):
        read_tensors(content)
    with refused(f"{words}|damaged or no recording"):
        load_recording(tmp_path / "run.npz", max_bytes=10**9)
    with refused(f"{words}|is not a readable .npz|missing: nothing"):
        read_npz(content, ("nothing",))


def test_arrays_that_are_larger_than_a_program_reads():
    content = inflating("large", 2**29, header((2**26 + 1,)))
    assert not read_npz(content, (), ())
    with refused("takes 537 MB of memory, more than 536 MB"):
        read_npz(content)


def test_a_part_of_four_gigabytes(tmp_path):
    content = lying_sizes(inflating("query", 2**24, header((2**29,))))
    (tmp_path / "run.npz").write_bytes(content)
    with refused("damaged|shorter"):
        read_tensors(content)
    with refused("damaged|shorter"):
        load_recording(tmp_path / "run.npz", max_bytes=10**9)


def test_zeros_that_inflate_to_more_than_is_allowed():
    content = npz(query=np.zeros((2**19, 16), np.float64), key=np.zeros((4, 16)))
    with refused("more than the 64 MiB allowed", FileError):
        read_tensors(content, max_bytes=2**26)


def header(shape):
    described = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(described).to_bytes(2, "little") + described


def described(grid=None):
    """Return the description of a trace of q, as it stands in a recording."""
    axis = {"name": "x", "labels": 2, "grid": grid}
    entry = {part: {"name": "q", "type": "torch.float32"} for part in ("query", "key", "value")}
    story = {"name": "", "mechanism": "", "note": "", "dropout": 0, "is_causal": False, "scale": 1, "softcap": None}
    return story | {"arrays": entry, "query_axis": axis, "key_axis": axis}


def test_recordings_are_checked_before_their_numbers_are_read():
    about = np.array(json.dumps({"format": FORMAT, "traces": [described(), []]}))
    content = npz(about=about, q=np.zeros((1, 200_000, 200), np.float32))
    with refused("damaged or no recording", FileError):
        load_recording(content, max_bytes=10**9)
    with refused("query and key need vectors of the same length", FileError):
        read_tensors(npz(query=np.zeros((200_000, 200), np.float32), key=np.zeros((2, 3), np.float32)))


def test_positions_cost_nothing_and_are_bounded(monkeypatch):
    """A kilobyte may say that it holds millions; nobody writes a text for each."""
    about = np.array(json.dumps({"format": FORMAT, "traces": [described()]}))
    n, row = 4_000_000, np.zeros((2, 1), np.float32)
    with costs_little():
        assert load_recording(npz(about=about, q=np.zeros((1, n, 0), np.float32)), max_bytes=10**9)[0].n_queries == n
        labels = trace_of_tensors(
            **vars(read_tensors(npz(query=np.zeros((n, 1), np.float16), key=row)))
        ).story.query_axis.labels
    assert (labels[0], labels[-1], labels[2:4], len(labels)) == ("1", f"{n}", ["3", "4"], n)
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    with refused("has 4,000,000 positions, at most 262,144", FileError):
        load_recording(npz(about=about, q=np.zeros((1, n, 0), np.float32)), max_bytes=10**9)
    with refused("has 4,000,000 positions, at most 262,144", FileError):
        read_tensors(npz(query=np.zeros((n, 1), np.float16), key=row))


def test_labels_are_read_last():
    row, labels = np.zeros((2**17, 1), np.float16), np.array(["\u202e" * 16] * 2**17)
    with refused("NaN or infinite", FileError):
        read_tensors(npz(query=row + np.float16("nan"), key=row, labels=labels))
    with refused("finite numbers", FileError):
        load_recording(npz(weights=np.full((1, 2, 2), np.nan), tokens=labels), max_bytes=10**9)
    with refused("at most 524,288 labels", FileError):
        load_recording(npz(weights=np.ones((1, 2, 2)), tokens=np.array(["a" * 100] * 2**17)), max_bytes=10**9)


def test_recordings_that_describe_without_end(tmp_path):
    def recording(about, **arrays):
        (tmp_path / "run.npz").write_bytes(npz(about=np.array(about), **arrays))
        return tmp_path / "run.npz"

    with refused("its description is too long", FileError):
        load_recording(recording("[" * 5_000_000), max_bytes=10**9)
    with refused("nested too deep", FileError):
        load_recording(recording(DEEP), max_bytes=10**9)
    about = json.dumps({"format": FORMAT, "traces": [described(grid=[float("inf"), 1])]})
    with refused("damaged or no recording", FileError):
        load_recording(recording(about, q=np.zeros((1, 2, 2), np.float32)), max_bytes=10**9)
    with refused("more than the 1,000 MB allowed", FileError):  # no numbers, but positions that somebody counts
        load_recording(recording(about, q=np.zeros((1, 10**10, 0), np.float32)), max_bytes=10**9)


def test_labels_that_are_no_letters(tmp_path):
    row, letters = np.zeros((1, 2, 2), np.float32), np.frombuffer(b"\xff" * 8, "<U1")
    with refused("damaged", FileError):
        read_tensors(npz(query=row, key=row, labels=letters))
    for arrays in ({"weights": row + 0.5, "tokens": letters}, {"about": letters[:1].reshape(())}):
        with refused("damaged or no recording", FileError):
            load_recording(npz(**arrays))


def test_labels_without_positions():
    row = np.zeros((1, 2, 2), np.float32)
    with refused("one is needed for each query", FileError):
        read_tensors(npz(query=row, key=row, labels=np.zeros(2**19, "<U16")))


def test_a_description_of_nothing_but_lists(tmp_path):
    about = json.dumps({"format": FORMAT, "traces": [[]] * 490_000})
    with refused("damaged or no recording", FileError):
        load_recording(npz(about=np.array(about)), max_bytes=10**9)


def test_a_pickle_is_no_file_of_tensors():
    with refused("is a pickle, which is not opened because that can run code", FileError):
        read_tensors(b"\x80\x04cos\nsystem\n")


def packed(content):
    return MARK + VERSION + base64.urlsafe_b64encode(zlib.compress(content, 9)).decode()


def test_links():
    inflating, deep, long = packed(b" " * 2**27), packed(DEEP.encode()), MARK + VERSION + "A" * 10**7
    with refused("becomes more than 1000000 bytes"):
        unpack(inflating)
    with refused("too deep"):
        unpack(deep)
    with refused("deeper than 6"):
        unpack(pack([[[[[[[[]]]]]]]]))
    with refused("at most 400000 letters"):
        unpack(long)
    far = [[1, 20, "", 0, 0, *[9_000, 9_000, -9_000, -9_000] * 4_000]]
    with refused("the pen of a drawing goes at most"):
        unpack_strokes(pack(far))


@pytest.mark.parametrize("content", [DEEP.encode(), b"x" * 10**7, b'{"format": "attention-explorer session"}'])
def test_sessions(content):
    with refused(f"{DAMAGED}|larger than 1,000,000 bytes"):
        read_session(content)


SETTINGS = {
    "a thousand million layers": ({"num_hidden_layers": 10**9}, "asks for 1,000,000,000 layers"),
    "layers of a part": ({"text_config": {"n_layer": 10**9}}, "asks for 1,000,000,000 layers"),
    "layers of a list": ({"depths": [2, 10**9]}, "asks for 1,000,000,000 depths"),
    "a vocabulary of 10^12": ({"vocab_size": 10**12}, "cannot hold them"),
    "labels without end": ({"num_labels": 10**9}, "asks for 1,000,000,000 labels"),
    "a width of 10^12": ({"hidden_size": 4 * 10**12}, "cannot"),
    "a number beyond all types": ({"vocab_size": 10**30}, "cannot"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A sound folder, opened once: the library is imported before anything is measured."""
    folder = tmp_path_factory.mktemp("models") / "encoder"
    tiny_hub.write_encoder(folder)
    for model_type in ("qwen2", "bert"):
        look_up_model(str(altered(folder, tmp_path_factory.mktemp(model_type), model_type=model_type)))
    return folder


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("model_type", ["bert", "qwen2"])
def test_settings_of_models(folder, tmp_path, name, model_type):
    settings, words = SETTINGS[name]
    with refused(words, ModelError):
        load_pretrained(altered(folder, tmp_path, **settings, model_type=model_type))


def test_settings_that_are_no_settings(tmp_path):
    for content, words in ((DEEP, "nested too deep"), (" " * 5_000_000, "longer than"), ("[]", "holds no settings")):
        (tmp_path / "config.json").write_text(content)
        with refused(words, ModelError):
            read_settings(tmp_path)


def test_folders_whose_files_lie_elsewhere(folder, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        bad = altered(folder, tmp_path / f"with {name}")
        (bad / name).unlink()
        (bad / name).symlink_to(secret)
        with refused(f"{name} is a link to a file outside", ModelError):
            look_up_model(str(bad))
        with refused(f"{name} is a link to a file outside", ModelError):
            load_pretrained(bad)
        (bad / name).unlink()
        os.mkfifo(bad / name)
        with refused(f"{name} is no file", ModelError):
            look_up_model(str(bad))


def test_the_files_of_the_hubs_cache_are_links_beside_it(folder, tmp_path):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for file in folder.iterdir():
        (blobs / file.name).write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(blobs / file.name)
    assert load_pretrained(snapshot).kind is ModelKind.ENCODER


NAMES = {
    "../x": "can be opened only where",
    "a/../b": "no name of a model",
    "/etc/passwd": "can be opened only where",
    "~/.ssh": "can be opened only where",
    "C:\\windows": "can be opened only where",
    "https://elsewhere.example/org/model": "not the hub's",
    "https://huggingface.co@elsewhere.example/org/model": "not the hub's",
    "file:///etc/passwd": "not the hub's",
    "http://169.254.169.254/latest/meta-data": "not the hub's",
    "https://huggingface.co/": "no name of a model",
    "org/model\0": "printable",
    "org/mo\u202edel": "printable",
    "a" * 10**6: "at most 200",
    "org/model?x=1": "no name of a model",
    "%2e%2e/x": "no name of a model",
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:40]))
def test_names_of_models_that_point_elsewhere(name, monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    with refused(NAMES[name], ModelError):
        look_up_model(name)


RULES = {
    "one letter becomes a million": {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 10**6},
    "letters double thirty times": {
        "type": "Sequence",
        "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 30,
    },
}


def with_tokenizer(folder, tmp_path, **rules):
    """Return a copy of a model's folder whose tokenizer has other rules."""
    broken = altered(folder, tmp_path)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (broken / "tokenizer.json").write_text(json.dumps(tokenizer | rules))
    return broken


@pytest.mark.parametrize("name", RULES)
def test_tokenizers_that_explode(folder, tmp_path, name):
    broken = with_tokenizer(folder, tmp_path, normalizer=RULES[name])
    with refused("it makes too many letters of one", ModelError):
        load_pretrained(broken)


def test_a_tokenizer_that_looks_back_without_end(folder, tmp_path):
    rule = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    model = load_pretrained(with_tokenizer(folder, tmp_path, normalizer=None, pre_tokenizer=rule))
    with refused("tokenizer cannot read this text", ModelError):
        text_inputs(model, "a" * 100 + "!")
