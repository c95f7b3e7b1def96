"""The hub's cache of a public server is bounded: the least recently used model leaves, one in use never."""

import os
import subprocess
import sys

import pytest

from attention_core.bounds import limits as bounds
from attention_core.hub import load as disk
from attention_core.hub.catalogue import fetch, find_local, look_up_model
from attention_core.hub.load import hold_folder, load_pretrained, lock_folder, make_room
from attention_core.hub.model import ModelError

pytestmark = pytest.mark.skipif(disk.fcntl is None, reason="without locks no model leaves")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Three models of 40 bytes, the first of which was used last, in a cache of 100."""
    monkeypatch.setattr(disk, "HUB_CACHE_BYTES", bounds.Bound("", bounds.NONE, "", 100))
    monkeypatch.setenv(bounds.HOSTED, "1")
    for age, name in enumerate("abc"):
        blobs = tmp_path / f"models--{name}" / "blobs"
        blobs.mkdir(parents=True)
        (blobs / "weights").write_bytes(bytes(40))
        os.utime(blobs.parent, (1000 - age, 1000 - age))
    return tmp_path


def there(cache):
    return {path.name.removeprefix("models--") for path in cache.iterdir()}


def test_the_least_recently_used_leave_until_there_is_room(cache):
    make_room(cache, "models--d", 20)
    assert there(cache) == {"a", "b"}
    make_room(cache, "models--d", 20)
    assert there(cache) == {"a", "b"}
    make_room(cache, "models--d", 100)
    assert there(cache) == set()


def test_use_counts_and_not_age(cache):
    class User:
        pass

    user = User()
    hold_folder(cache / "models--c", user)
    del user
    make_room(cache, "models--d", 20)
    assert there(cache) == {"a", "c"}


def test_one_in_use_never_leaves_and_what_is_missing_is_told(cache):
    with lock_folder(cache / "models--c"):
        make_room(cache, "models--d", 20)
        assert there(cache) == {"a", "c"}
        with pytest.raises(ModelError, match=r"at most 0\.0 MB of models, and those that others look at now"):
            make_room(cache, "models--d", 90)
        assert there(cache) == {"c"}
    make_room(cache, "models--d", 90)
    assert there(cache) == set()


def test_one_in_use_by_another_process_stays_until_that_ends(cache):
    code = (
        "import sys, pathlib; from attention_core.hub.load import hold_folder\n"
        f"hold_folder(pathlib.Path({str(cache / 'models--c')!r}), user := type('User', (), {{}})())\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    make_room(cache, "models--d", 60)
    assert there(cache) == {"c"}
    process.kill()
    process.communicate()
    make_room(cache, "models--d", 90)
    assert there(cache) == set()


@pytest.mark.parametrize(("hosted", "name", "n_bytes", "kept"), [("1", "a", 40, "ab"), ("", "d", 10**15, "abc")])
def test_what_a_model_has_already_counts_once_and_the_owner_s_cache_is_left_alone(
    cache, monkeypatch, hosted, name, n_bytes, kept
):
    monkeypatch.setenv(bounds.HOSTED, hosted)
    make_room(cache, f"models--{name}", n_bytes)
    assert there(cache) == set(kept)


def test_a_loaded_model_stays_and_one_that_is_forgotten_makes_room(hub, model_folders, tmp_path, monkeypatch):
    hub.repositories["someone/other"] = model_folders / "both"
    first = fetch(look_up_model("someone/tiny"))
    model = load_pretrained(first, name="someone/tiny")
    monkeypatch.setattr(disk, "HUB_CACHE_BYTES", bounds.Bound("", 1, ""))
    second = look_up_model("someone/other")
    with pytest.raises(ModelError, match="those that others look at now leave no room"):
        fetch(second)
    monkeypatch.setattr(disk, "HUB_CACHE_BYTES", bounds.Bound("", sum(file.size for file in second.files), ""))
    with pytest.raises(ModelError, match="leave no room"):
        fetch(second)
    assert find_local("someone/tiny") is not None
    del model
    fetch(second)
    assert find_local("someone/tiny") is None
    assert find_local("someone/other") is not None
