"""Pictures and drawings that are bombs are refused in a sentence, at once and without filling the memory."""

import io
import subprocess
import sys

import pytest
from PIL import Image

from attention_core.bounds.limits import HOSTED, JPEG_PIXELS, PICTURE_PIXELS
from attention_core.data.drawing import strokes_of
from attention_core.hub.pictures import MAX_SIDE, read_picture
from tests.support.bombs import DRAWINGS, PICTURES, refused, shape


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(name):
    content, words = PICTURES[name]
    with refused(words):
        read_picture(content)


def packed(kind, size, **more):
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, kind, **more)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["WEBP", "PNG", "JPEG"])
def test_large_pictures_of_little_bytes_for_the_public(kind, monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    content = packed(kind, (3_600, 3_600), progressive=kind == "JPEG")
    with refused("13 million pixels; at most 12 million"):
        read_picture(content)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_pictures_are_read_and_made_small(kind):
    for size, side in (((40, 30), 40), ((3000, 30), MAX_SIDE)):
        assert Image.open(io.BytesIO(read_picture(packed(kind, size)))).size[0] == side


AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor

from ui.hosting.warm_up import share_memory

share_memory()  # as the server does before it has threads
from attention_core.hub.pictures import read_picture
from tests.support.bombs import RESET, peak

for place in sys.argv[1:]:
    content = open(place, "rb").read()
    RESET.write_text("5")
    before = peak()
    with ThreadPoolExecutor(3) as visitors:
        assert len(set(visitors.map(read_picture, [content] * 3))) == 1
    print(peak() - before)
"""
LARGEST = [("JPEG", (6_300, 6_300), 150), ("WEBP", (4_000, 3_000), 300)]
"""Files of the largest pictures, and the megabytes that reading three of them may take; the smaller first."""


def test_three_of_the_largest_pictures_at_once_are_read_in_turn(monkeypatch, root, tmp_path):
    """In a process of its own: what earlier tests have freed would count here or not, by chance."""
    monkeypatch.setenv(HOSTED, "1")
    for kind, (width, height), _ in LARGEST:
        bound = JPEG_PIXELS if kind == "JPEG" else PICTURE_PIXELS
        assert 0.99 * bound.maximum < width * height <= bound.maximum
        (tmp_path / kind).write_bytes(packed(kind, (width, height)))
    command = [sys.executable, "-c", AT_ONCE, *(str(tmp_path / kind) for kind, *_ in LARGEST)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=120)
    taken = [float(line) for line in done.stdout.split()]
    assert all(one < most for one, (*_, most) in zip(taken, LARGEST, strict=True)), taken


def test_a_picture_that_lies_on_its_side_is_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    upright = Image.open(io.BytesIO(read_picture(packed("JPEG", (4_000, 3_000), exif=exif))))
    assert upright.size == (768, 1_024)


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_that_browsers_do_not_make(name):
    assert strokes_of(DRAWINGS[name]) is None


def test_drawings_that_browsers_make():
    assert strokes_of({"objects": []}) == []
    assert len(strokes_of({"objects": [shape((0, 0), (200, 200), (0, 50))]})) == 1
