"""Values in links and session files: packed as JSON, deflated and in letters; strokes as small steps.

Everything read here comes from strangers. A text that is damaged, foreign, newer or too large gives a ValueError.
"""

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from attention_core.bounds import limits as bounds
from attention_core.data.stroke import Stroke, path_length
from attention_core.files import read_json

MARK, VERSION = "~", "1"
"""A packed text begins with both."""
MAX_DIGITS, WIDEST = 15, 60
UNITS = (1, 2, 10)
"""Steps of a stroke per canvas pixel; the first in which its points are whole."""
SESSION, SESSION_VERSION = "attention-explorer session", 1
DAMAGED = "This file is damaged, or it is not a session saved here."


def pack(value: Any) -> str:
    """Return a value of JSON, its numbers finite, as letters that an address may hold; half a character becomes "?"."""
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(errors="replace")
    return MARK + VERSION + base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")


def is_packed(text: str) -> bool:
    """Return whether a text says that it was made by `pack`."""
    return text.startswith(MARK)


def unpack(text: str) -> Any:
    """Return what was packed; ValueError where the text is damaged, newer, too long, or its value too large or deep."""
    if not is_packed(text) or text[1:2] != VERSION or len(text) > bounds.LINK_LETTERS.maximum:
        raise ValueError(f"text must begin with {MARK}{VERSION} and have at most {bounds.LINK_LETTERS.maximum} letters")
    body = text[2:]
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        inflater = zlib.decompressobj()
        plain = inflater.decompress(data, bounds.UNPACKED_BYTES.maximum)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("the packed text is damaged") from error
    if not inflater.eof or inflater.unused_data:
        max_bytes = bounds.UNPACKED_BYTES.maximum
        raise ValueError(f"the packed text is cut, has something behind it, or becomes more than {max_bytes} bytes")
    return _json(plain)


def pack_strokes(strokes: Sequence[Stroke]) -> str:
    """Pack a drawing, exact to a tenth of a canvas pixel: each stroke's unit, width, colour, first point and steps."""
    packed = []
    for stroke in strokes:
        path = np.round(stroke.path, 1)
        unit = next((unit for unit in UNITS if np.array_equal(path * unit, np.round(path * unit))), UNITS[-1])
        steps = np.diff(np.rint(path * unit).astype(int), axis=0, prepend=0)
        width = round(float(stroke.width), 2)
        packed.append([unit, int(width) if width.is_integer() else width, stroke.colour or "", *steps.ravel().tolist()])
    return pack(packed)


def unpack_strokes(text: str) -> list[Stroke]:
    """Return a drawing from `pack_strokes`; ValueError as of unpack, or for no strokes, too many or too far ones."""
    packed = unpack(text)
    if not isinstance(packed, list) or len(packed) > bounds.DRAWING_STROKES.maximum:
        raise ValueError(f"a drawing has at most {bounds.DRAWING_STROKES.maximum} strokes")
    strokes = [_stroke(parts) for parts in packed]
    if sum(len(stroke.path) for stroke in strokes) > bounds.DRAWING_POINTS.maximum:
        raise ValueError(f"a drawing has at most {bounds.DRAWING_POINTS.maximum} points")
    if path_length(strokes) > bounds.PEN_PATH.maximum:
        raise ValueError(f"the pen of a drawing goes at most {bounds.PEN_PATH} pixels along and down")
    return strokes


def checked_strokes(packed: str) -> str:
    """Return packed strokes as they are, for a field that keeps them; ValueError as of unpack_strokes."""
    unpack_strokes(packed)
    return packed


def write_session(page: str, values: Mapping[str, str]) -> bytes:
    """Return a session as a file: what a link without bounds would say of a page."""
    return json.dumps({"format": SESSION, "version": SESSION_VERSION, "page": page, "values": dict(values)}).encode()


def read_session(content: bytes) -> tuple[str, dict[str, str]]:
    """Return page and values of a session's file; a ValueError is for the visitor. There may be no such page."""
    if len(content) > bounds.UNPACKED_BYTES.maximum:
        raise ValueError(f"This file is larger than {bounds.UNPACKED_BYTES} bytes; a session is smaller.")
    try:
        session = _json(content)
    except ValueError as error:
        raise ValueError(DAMAGED) from error
    if not isinstance(session, dict) or session.get("format") != SESSION:
        raise ValueError(DAMAGED)
    version, page, values = session.get("version"), session.get("page"), session.get("values")
    if isinstance(version, int) and version > SESSION_VERSION:
        raise ValueError("This session was saved by a newer Attention Explorer, which can open it.")
    texts = [page, *values, *values.values()] if isinstance(values, dict) else [None]
    is_small = len(texts) <= 2 * bounds.SESSION_VALUES.maximum
    if version != SESSION_VERSION or not is_small or not all(isinstance(text, str) for text in texts):
        raise ValueError(DAMAGED)
    return str(page), values  # type: ignore[return-value]


def _json(plain: bytes) -> Any:
    """Read JSON whose numbers are finite and have few digits, whose texts are whole, and that is not deep."""
    parsers = {"parse_int": _integer, "parse_float": _finite, "parse_constant": _finite}
    value = read_json(plain, bounds.UNPACKED_BYTES.maximum, **parsers)
    json.dumps(value, ensure_ascii=False).encode()  # a ValueError where a text has half a character
    level = [value]
    for _ in range(bounds.UNPACKED_DEPTH.maximum):
        containers = [member for member in level if isinstance(member, dict | list)]
        level = [*chain.from_iterable(c.values() if isinstance(c, dict) else c for c in containers)]
        if not level:
            return value
    raise ValueError(f"the value is deeper than {bounds.UNPACKED_DEPTH.maximum}")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has at most {MAX_DIGITS} digits")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError("numbers must be finite")
    return number


def _stroke(packed: Any) -> Stroke:
    if not isinstance(packed, list) or len(packed) < 5 or len(packed) % 2 == 0:
        raise ValueError("a stroke has a unit, a width, a colour and points")
    unit, width, colour, *steps = packed
    if type(unit) is not int or unit not in UNITS or type(width) not in (int, float) or not 1 <= width <= WIDEST:
        raise ValueError("no such unit or width of a pen")
    if not isinstance(colour, str) or not re.fullmatch("(#[0-9a-fA-F]{6})?", colour):
        raise ValueError("a colour is # and six digits, or empty")
    max_distance = bounds.PEN_DISTANCE.maximum
    if {*map(type, steps)} != {int} or max(map(abs, steps)) > UNITS[-1] * max_distance:
        raise ValueError("steps are whole and not large")
    path = np.array(steps, float).reshape(-1, 2).cumsum(0) / unit
    if np.abs(path).max() > max_distance:
        raise ValueError("the stroke leaves the canvas")
    return Stroke(path, width, colour or None)
