"""Every bound is in one place, listed for readers, used, and never larger on a public server."""

import re

import pytest

from attention_core.arrays import FileError
from attention_core.atlas import read_tensors
from attention_core.attention.recording import load_recording
from attention_core.bounds import limits
from attention_core.bounds.limits import HOSTED, TENSOR_BYTES, Bound, table
from tests.support.bombs import member, refused, together
from ui.hosting import bounds as of_the_app
from ui.hosting.bounds import RECORDING_BYTES

NAMES = vars(limits) | vars(of_the_app)
BOUNDS = {name: bound for name, bound in NAMES.items() if isinstance(bound, Bound)}
SMALLER = {name for name, bound in BOUNDS.items() if bound.hosted is not None}


def sources(root):
    files = [path for folder in ("attention_core", "ui", "pages") for path in (root / folder).rglob("*.py")]
    return {path: path.read_text() for path in files if path.stem not in ("limits", "bounds")}


def test_security_md_lists_the_bounds_as_they_are(root):
    text = (root / "SECURITY.md").read_text()
    assert table(*BOUNDS.values()) in text, "put into SECURITY.md what table() of attention_core.bounds.limits returns"


@pytest.mark.parametrize("name", BOUNDS)
def test_each_has_a_reason_and_somebody_names_it(root, name):
    bound = BOUNDS[name]
    assert bound.subject
    assert bound.why
    assert bound.unhosted > 0
    assert any(re.search(rf"\b{name}\b", text) for text in sources(root).values()), f"nobody names {name}"


def test_those_that_are_smaller_in_public_are_asked_for_when_they_are_needed(root, monkeypatch):
    assert {"TENSOR_BYTES", "RECORDING_BYTES", "MODEL_BYTES", "HUB_CACHE_BYTES"} <= SMALLER
    for name in SMALLER:
        own = BOUNDS[name].maximum
        with monkeypatch.context() as public:
            public.setenv(HOSTED, "1")
            assert BOUNDS[name].maximum < own, name
    frozen = re.compile(rf"^(?:\w+.* = |def .*).*\b({'|'.join(SMALLER)})\.maximum", re.MULTILINE)
    found = {path: match[0] for path, text in sources(root).items() if (match := frozen.search(text))}
    assert not found, "read once, when the module is imported"


def test_a_public_server_takes_smaller_files(tmp_path, monkeypatch):
    shape = (1, 2**20, 60)  # 480 MiB of zeros that nobody has sent
    lying = together(*[member(name, shape=shape) for name in ("query", "key")])
    monkeypatch.setenv(HOSTED, "1")
    with refused(f"{TENSOR_BYTES.maximum // 2**20} MiB allowed|shorter than its description", FileError):
        read_tensors(lying)
    (tmp_path / "run.npz").write_bytes(member("x", bytes(8), shape=(1, 10**8, 0)))
    with refused("more than the 200 MB allowed", FileError):
        load_recording(tmp_path / "run.npz", max_bytes=RECORDING_BYTES.maximum)
