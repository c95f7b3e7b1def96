"""Pictures and drawings that are bombs are refused in a sentence, at once and without filling the memory."""

import io
import subprocess
import sys
import zlib

import pytest
from PIL import Image

from attention_core.bounds import HOSTED, JPEG_PIXELS, PICTURE_PIXELS
from attention_core.data.drawing import strokes_of
from attention_core.hub.pictures import read_picture
from tests.bombs import png, refused


def jpeg_of_scans(n):
    """Return a JPEG that says so many times that its pixels come again."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64)).save(buffer, "JPEG", progressive=True)
    content = buffer.getvalue()
    place = content.rindex(b"\xff\xda")
    return content[:place] + content[place:-2] * n + content[-2:]


PICTURES = {
    "60,000 x 60,000": (png(60_000, 60_000), "more than 40 million pixels"),
    "9,000 x 9,000": (png(9_000, 9_000), "81 million pixels; at most 40"),
    "no pixels": (png(3, 3, (b"IDAT", b"none")), "no PNG, JPEG or WebP"),
    "a text that inflates": (png(3, 3, (b"zTXt", b"a\0\0" + zlib.compress(bytes(2**28), 1))), "no PNG, JPEG or WebP"),
    "a thousand scans": (jpeg_of_scans(1_000), "at most 100"),
    "more than is read": (bytes(11_000_000), "at most 10 MB"),
    "a program": (b"GIF89a" + bytes(100), "no PNG, JPEG or WebP"),
    "nothing": (b"", "no PNG, JPEG or WebP"),
}


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
    content = packed(kind, (6_300, 6_300), progressive=kind == "JPEG")
    with refused("40 million pixels; at most 12 million"):
        read_picture(content)


AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor

from ui.warm_up import share_memory

share_memory()  # as the server does before it has threads
from attention_core.hub.pictures import read_picture
from tests.bombs import RESET, peak

for place in sys.argv[1:]:
    content = open(place, "rb").read()
    RESET.write_text("5")
    before = peak()
    with ThreadPoolExecutor(8) as visitors:
        assert len(set(visitors.map(read_picture, [content] * 8))) == 1
    print(peak() - before)
"""
LARGEST = [("JPEG", (6_300, 6_300), 150), ("WEBP", (4_000, 3_000), 300)]
"""Files of the largest pictures, and the megabytes that reading eight of them may take; the smaller first."""


def test_eight_of_the_largest_pictures_at_once_are_read_in_turn(monkeypatch, root, tmp_path):
    """In a process of its own: what earlier tests have freed would count here or not, by chance."""
    monkeypatch.setenv(HOSTED, "1")
    for kind, (width, height), _ in LARGEST:
        bound = JPEG_PIXELS if kind == "JPEG" else PICTURE_PIXELS
        assert 0.99 * bound.most < width * height <= bound.most
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


def shape(*points):
    return {"path": [["M", *points[0]], *(["L", *point] for point in points[1:])], "strokeWidth": 20}


DRAWINGS = {
    "points at the end of the world": {"objects": [shape((0, 0), (1e300, 1e300))]},
    "a way of ten million pixels": {"objects": [shape(*[(0, 0), (9_000, 9_000)] * 300)]},
    "numbers without end": {"objects": [shape((0, 0), (10**400, 0))]},
    "numbers that are none": {"objects": [shape((0, float("nan")), (1, 1))]},
    "no objects": {"objects": 3},
    "objects that are none": {"objects": [3]},
    "paths that are none": {"objects": [{"path": [3]}]},
    "no drawing": [1],
    "nothing": None,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_that_browsers_do_not_make(name):
    assert strokes_of(DRAWINGS[name]) is None


def test_drawings_that_browsers_make():
    assert strokes_of({"objects": []}) == []
    assert len(strokes_of({"objects": [shape((0, 0), (200, 200), (0, 50))]})) == 1
