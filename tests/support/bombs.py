"""What strangers send to break a reader: small files that say they are large, and what a refusal may cost."""

import gc
import io
import struct
import time
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

MAX_SECONDS, MAX_MEGABYTES = 1.0, 100
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak():
    """Return the most memory that the process has had since it was reset, MB."""
    if not STATUS.exists():
        pytest.skip("the peak of memory is read from /proc")
    return next(int(line.split()[1]) / 1024 for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))


@contextmanager
def costs_little():
    """Make sure that the block takes little time and memory."""
    gc.collect()
    gc.freeze()  # what other tests have left is not searched meanwhile
    RESET.write_text("5")
    before, began = peak(), time.process_time()
    yield
    seconds, megabytes = time.process_time() - began, peak() - before
    gc.unfreeze()
    print(f"{seconds:6.2f} s {megabytes:6.1f} MB")  # pytest -rP shows what each costs
    assert seconds < MAX_SECONDS
    assert megabytes < MAX_MEGABYTES


@contextmanager
def refused(words, error=ValueError):
    """Make sure that the block raises this error, whose sentence has these words, soon and with little memory."""
    with costs_little(), pytest.raises(error, match=words) as caught:
        yield
    said = str(caught.value)
    print(said[:110])
    assert "Traceback" not in said
    assert len(said) < 500


def npz(save=np.savez_compressed, **arrays):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def member(name, content=b"", **description):
    """Return an archive with one array whose description is given, and what stands behind it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(f"{name}.npy", "w") as part:
        text = repr({"descr": "<f8", "fortran_order": False, "shape": (2, 2)} | description).encode() + b"\n"
        part.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content)
    return buffer.getvalue()


def together(*archives):
    """Return one archive with what is in several."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as whole:
        for archive in map(zipfile.ZipFile, map(io.BytesIO, archives)):
            for name in archive.namelist():
                whole.writestr(name, archive.read(name))
    return buffer.getvalue()


def inflating(name, n_bytes, start=b""):
    """Return an archive with one part of so many zeros behind a start."""
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with archive, archive.open(f"{name}.npy", "w", force_zip64=True) as part:
        part.write(start)
        for _ in range(n_bytes // 2**20):
            part.write(bytes(2**20))
    return buffer.getvalue()


def compressed_by(method):
    """Return an archive of a few hundred bytes or some thousands, whose array takes 170 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive, archive.open("query.npy", "w", force_zip64=True) as part:
        np.lib.format.write_array_header_1_0(part, {"descr": "|u1", "fortran_order": False, "shape": (170_000_000,)})
        for _ in range(17):
            part.write(bytes(10_000_000))
    return buffer.getvalue()


def many_members(n):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(n):
            archive.writestr(zipfile.ZipInfo(f"{number}.npy"), b"")
    return buffer.getvalue()


def lying_sizes(content):
    """Return an archive that says of each part that it is 4 GiB."""
    place = content.index(b"PK\x01\x02")
    return content[: place + 24] + struct.pack("<I", 2**32 - 2) + content[place + 28 :]


def long_description():
    """Return an archive whose array has a description of 256 MB."""
    return inflating("query", 256 * 2**20, b"\x93NUMPY\x02\x00" + struct.pack("<I", 256 * 2**20))


def png(width, height, *chunks):
    """Return a PNG of that size without the pixels."""

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    parts = [chunk(name, body) for name, body in chunks] or [chunk(b"IDAT", zlib.compress(bytes(2**20)))]
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(parts) + chunk(b"IEND", b"")


DEEP = "[" * 100_000 + "]" * 100_000


OBJECTS = np.array([{}, []], dtype=object)


PAIR = npz(query=np.zeros((4, 2)), key=np.zeros((4, 2)))


ZIPS = {
    "forty thousand members": (many_members(40_000), "more arrays than are read"),
    "bzip2": (compressed_by(zipfile.ZIP_BZIP2), "compressed as NumPy compresses nothing"),
    "LZMA": (compressed_by(zipfile.ZIP_LZMA), "compressed as NumPy compresses nothing"),
    "a pickle": (npz(query=OBJECTS, key=OBJECTS), "Object arrays|objects|must hold float16|got object"),
    "a description of 256 MB": (long_description(), "damaged|not a readable"),
    "a negative size that pays for a large one": (
        together(member("query", shape=(-(2**40), 2)), npz(key=np.zeros((4, 2)))),
        "a size that no array has",
    ),
    "a size without bytes": (
        together(PAIR, member("labels", descr="|S0", shape=(10**12,))),
        "too long|MB of memory|as many|labels|nothing known|expected arrays",
    ),
    "a size beyond all numbers": (member("query", shape=(2**62, 2**62)), "a size that no array has"),
    "a thousand dimensions": (member("query", shape=(1,) * 3000), "a size that no array has"),
    "a name without end": (together(*[member(f"{'a' * 60_000}{n}") for n in range(9)]), "holds|damaged|not a readable"),
    "a description nested deep": (member("query", descr=[[[]]] * 900), "damaged|not a readable"),
    "a description that is no Python": (member("query", shape="((((("), "damaged|not a readable"),
}


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
    "cut short": (png(300, 300)[:60], "the file is damaged"),
    "no pixels": (png(3, 3, (b"IDAT", b"none")), "no PNG, JPEG or WebP"),
    "a text that inflates": (png(3, 3, (b"zTXt", b"a\0\0" + zlib.compress(bytes(2**28), 1))), "no PNG, JPEG or WebP"),
    "a thousand scans": (jpeg_of_scans(1_000), "at most 100"),
    "more than is read": (bytes(11_000_000), "at most 10 MB"),
    "a program": (b"GIF89a" + bytes(100), "no PNG, JPEG or WebP"),
    "nothing": (b"", "no PNG, JPEG or WebP"),
}


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
