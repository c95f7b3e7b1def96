"""Packed texts and session files: what goes in comes out; whatever else a stranger sends is a ValueError, quickly."""

import base64
import json
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.bounds.limits import DRAWING_POINTS, DRAWING_STROKES, UNPACKED_BYTES, UNPACKED_DEPTH
from attention_core.data.stroke import Stroke
from attention_core.links import is_packed, pack, pack_strokes, read_session, unpack, unpack_strokes, write_session

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def depth(value) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inside), default=0)


def packed_bytes(plain: bytes) -> str:
    return "~1" + base64.urlsafe_b64encode(zlib.compress(plain)).decode().rstrip("=")


def test_whatever_is_packed_comes_out_in_letters_that_an_address_may_hold():
    @given(PLAIN.filter(lambda value: depth(value) <= UNPACKED_DEPTH.maximum))
    def check(value):
        text = pack(value)
        assert is_packed(text)
        assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
        assert unpack(text) == value

    check()


@pytest.mark.parametrize("unit", [1, 0.5, 0.1])
def test_strokes_come_out_to_a_tenth_of_a_pixel(unit):
    rng = np.random.default_rng(0)
    strokes = [
        Stroke(np.cumsum(rng.integers(-9, 9, (n, 2)), 0) * unit + 40, 9.5, "#0072b2" if n % 2 else None)
        for n in (1, 7, 60)
    ]
    found = unpack_strokes(pack_strokes(strokes))
    for before, after in zip(strokes, found, strict=True):
        assert np.allclose(before.path, after.path, atol=0.051)
        assert (before.width, before.colour) == (after.width, after.colour)
    assert pack_strokes(found) == pack_strokes(strokes)  # so a reload changes nothing


def test_a_drawn_digit_is_short():
    angle = np.linspace(0, 6, 80)
    path = np.round(np.stack([128 + 60 * np.cos(angle), 128 + 90 * np.sin(angle)], 1))
    assert len(pack_strokes([Stroke(path, 20)])) < 400


@given(st.binary(max_size=400))
def test_random_bytes_are_refused(data):
    for text in (data.decode("latin-1"), "~1" + data.decode("latin-1"), packed_bytes(data)):
        for read in (unpack, unpack_strokes):
            try:
                read(text)
            except ValueError:
                continue
            assert text == packed_bytes(data)  # these bytes happen to be JSON
    with pytest.raises(ValueError):
        read_session(data)


@given(PLAIN)
def test_any_json_is_strokes_or_refused(value):
    with pytest.raises(ValueError):
        unpack_strokes(packed_bytes(json.dumps([value]).encode()))


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_text_with_one_letter_changed_is_refused_or_the_same(place, letter):
    text = pack({"X": [["1", "0.5"], ["-2", "7"]], "names": ["x1", "x2"]})
    place %= len(text)
    changed = text[:place] + chr(letter) + text[place + 1 :]
    try:
        assert unpack(changed) == unpack(text)  # the last letter has spare bits
    except ValueError:
        assert changed != text


@pytest.mark.parametrize(
    "text",
    [
        "", "~", "~1", "~2" + pack([1])[2:], pack([1])[:-4], pack([1]) + "AAAA", "~1" + "A" * 500_000,
        packed_bytes(b"[" * 100_000 + b"]" * 100_000), packed_bytes(b"[" * 7 + b"]" * 7), packed_bytes(b"1" * 5_000),
        packed_bytes(b"NaN"), packed_bytes(b"[1e999]"), packed_bytes(b"\xff"), packed_bytes(b""),
    ],
)  # fmt: skip
def test_cut_deep_long_and_newer_texts_are_refused(text):
    with pytest.raises(ValueError):
        unpack(text)


def test_a_bomb_is_refused_before_it_is_inflated():
    bomb = packed_bytes(b" " * 100 * UNPACKED_BYTES.maximum)
    tracemalloc.start()
    with pytest.raises(ValueError):
        unpack(bomb)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * UNPACKED_BYTES.maximum


@pytest.mark.parametrize(
    "strokes",
    [
        {}, [[]], [[1, 20, "", 1]], [[1, 20, "", 1, 2, 3]], [[3, 20, "", 1, 2]], [[1, 900, "", 1, 2]],
        [[1, 20, "red", 1, 2]], [[1, 20, "", 1, 2.5]], [[1, 20, "", True, 1]], [[1, 20, "", 10**7, 1]],
        [[1, 20, "", *[9_000] * 4]], [[1, 20, "", 1, 2]] * (DRAWING_STROKES.maximum + 1),
        [[1, 20, "", *[0] * 2 * (DRAWING_POINTS.maximum // 2 + 1)]] * 2,
    ],
)  # fmt: skip
def test_what_is_no_drawing_is_refused(strokes):
    with pytest.raises(ValueError):
        unpack_strokes(pack(strokes))


def test_a_session_comes_out_as_it_went_in_and_a_huge_one_is_refused():
    values = {"text": "Déjà vu", "strokes": "~1" + "A" * 20_000}
    assert read_session(write_session("pixels", values)) == ("pixels", values)
    with pytest.raises(ValueError, match="larger"):
        read_session(b" " * (UNPACKED_BYTES.maximum + 1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "newer"),
        ({"version": 0}, "damaged"),
        ({"format": "something else"}, "damaged"),
        ({"page": 7}, "damaged"),
        ({"values": {"text": 1}}, "damaged"),
        ({"values": {str(n): "" for n in range(300)}}, "damaged"),
        ({"values": [[[[[[[[]]]]]]]]}, "damaged"),
    ],
)
def test_a_session_that_is_none_is_refused_in_words(change, words):
    session = json.loads(write_session("pixels", {"text": "a"})) | change
    with pytest.raises(ValueError, match=words):
        read_session(json.dumps(session).encode())
