"""A drawing pad that forgets nothing: presets, undo, clear, light or dark, kept over page changes and reruns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import streamlit as st
from streamlit_drawable_canvas import st_canvas

from attention_core.bounds import DRAWING_BYTES, DRAWING_DOTS
from attention_core.data.colours import PEN
from attention_core.data.pad_drawing import inked_strokes, is_drawing, pixels_of, read_drawing, way_of
from attention_core.data.presets import preset_paths
from attention_core.data.stroke import Stroke
from attention_core.data.strokes import draw_paths
from attention_core.packed import pack_strokes, unpack_strokes
from ui.component import component
from ui.computed import computed
from ui.state import Field, between, choice, one_of

INK = {"light": "#15191E", "dark": "#F4F6F8"}
PAPER = {"light": "#FFFFFF", "dark": "#11151A"}
MOST_ASTRAY = 0.3
"""Share of the ink by which our picture of the strokes may differ from the browser's and still stands for it."""
DRAWN = "drawn"

_bare_pad = component("bare_pad")


@dataclass(frozen=True, eq=False)
class PadState:
    """What is on the pad.

    Attributes:
        canvas: uint8 (height, width, 4) RGBA.
        inked: the strokes with pen and colour, in drawing order.
        paper: "light" or "dark".
    """

    canvas: np.ndarray
    inked: list[Stroke]
    paper: str

    @property
    def strokes(self) -> list[np.ndarray]:
        """One canvas-pixel path (n, 2) per stroke."""
        return [stroke.path for stroke in self.inked]


@dataclass(frozen=True)
class Pad:
    """What a pad offers.

    Attributes:
        name: prefix of its state; the same name on two pages is the same drawing.
        presets: label -> strokes to put on the pad, one button each.
        first: the label of the one that is there on arrival.
        size: height and width in canvas pixels.
        address: the query parameter that tells which preset is on the pad; "" = none.
        help: text of a preset's button, with {} for its label.
        pens: names of the inks to choose from (see attention_core.data.colours); empty = the canvas' own ink.
        pen_width: canvas pixels, at first.
        eraser: offer to draw in the colour of the paper.
        any_ink: offer a pen of any colour.
        from_address: returns the strokes that an address asks for where it names no preset, or None.
    """

    name: str
    presets: Mapping[str, Callable[[], list[Stroke]]]
    first: str
    size: tuple[int, int] = (256, 256)
    address: str = "digit"
    help: str = "Draw a {} for me"
    pens: tuple[str, ...] = ()
    pen_width: int = 20
    eraser: bool = False
    any_ink: bool = False
    from_address: Callable[[str], list[Stroke] | None] | None = None


def drawing_pad(pad: Pad) -> PadState:
    """Draw a pad with its presets and buttons.

    Returns:
        what is drawn now.
    """
    state, name = st.session_state, pad.name
    state.setdefault(f"{name}_generation", 0)
    if _told(pad) != state.get(f"{name}_put"):  # on arrival, and after Back
        _follow_address(pad)
    component = f"{name}_pad_{state[f'{name}_generation']}"
    if component not in state:  # only when it is mounted anew: changing it later would wipe the canvas
        state[f"{name}_seed"] = state[f"{name}_drawing"]
    paper = paper_field(pad.name).value
    with st.container(key=f"{name}_canvas_frame", gap=None):
        _bare_pad(key=f"{component}_bare", on_connected_change=lambda: None)
        result = st_canvas(
            stroke_width=_width_field(pad).value,
            stroke_color=_present_ink(pad),
            background_color=PAPER[paper],
            width=pad.size[1],
            height=pad.size[0],
            initial_drawing=state[f"{name}_seed"],
            return_image_data=True,
            key=component,
        )
    pixels = pixels_of(result.image_bytes, pad.size)
    is_new = result.json_data != state[f"{name}_drawing"]
    if pixels is not None and is_new and not is_drawing(result.json_data):
        st.info("The pen has gone too far: the last stroke is not read. Undo it, or clear the pad.")
    elif pixels is not None:
        if is_new or preset_field(pad).value != DRAWN:
            _tell(pad, result.json_data, DRAWN)
        state[f"{name}_pixels"] = pixels
    _buttons(pad)
    pixels, packed = state[f"{name}_pixels"], _strokes_field(pad).value
    inked = inked_strokes(state[f"{name}_drawing"], INK[paper])
    if packed:  # what the address tells is what counts
        inked = [stroke._replace(colour=stroke.colour or INK[paper]) for stroke in unpack_strokes(packed)]
    drawn = render_strokes(inked, pad.size, paper)
    shown = drawn if pixels is None or _alike(drawn, pixels, paper) else pixels
    return PadState(shown, inked, paper)


def _alike(ours: np.ndarray, pixels: np.ndarray, paper: str) -> bool:
    """Return whether the strokes tell what the browser shows; then ours counts, which a link gives again exactly."""
    astray, ink = np.abs(ours.astype(np.int16) - pixels), np.abs(pixels[..., :3].astype(np.int16) - _rgb(PAPER[paper]))
    return bool(astray.sum() <= MOST_ASTRAY * ink.sum())


def preset_field(pad: Pad) -> Field[str]:
    """Return which preset is on the pad; DRAWN when it is something else."""
    return Field(pad.name, "preset", pad.first, address=pad.address)


def paper_field(name: str) -> Field[str]:
    """Return whether the paper of a pad is light or dark."""
    return Field(name, "paper", "light", address="paper", parse=one_of(PAPER))


def _width_field(pad: Pad) -> Field[int]:
    return Field(pad.name, "width", pad.pen_width, address="width", parse=between(2, 60))


def _strokes_field(pad: Pad) -> Field[str]:
    """Return what is drawn, packed; "" where a preset tells it or it is more than a link may hold."""
    return Field(pad.name, "strokes", "", address="strokes", parse=sound_strokes, text=str)


def sound_strokes(packed: str) -> str:
    """Return packed strokes as they are, for a field that keeps them; ValueError if they are none."""
    unpack_strokes(packed)
    return packed


def _told(pad: Pad) -> tuple[str, str]:
    return preset_field(pad).value, _strokes_field(pad).value


def _tell(pad: Pad, drawing: dict[str, Any], told: str, undone: Sequence[dict[str, Any]] = ()) -> None:
    """Keep what is drawn now and the strokes that can be drawn again, and let the address tell the drawing."""
    state, name = st.session_state, pad.name
    state[f"{name}_drawing"], state[f"{name}_undone"] = drawing, [*undone]
    preset_field(pad).value, _strokes_field(pad).value = told, _packed(pad, drawing) if told == DRAWN else ""
    state[f"{name}_put"] = _told(pad)


def _packed(pad: Pad, drawing: dict[str, Any]) -> str:
    return strokes_text(_uncoloured(pad, drawing))


def _uncoloured(pad: Pad, drawing: dict[str, Any]) -> list[Stroke]:
    """Return a drawing's strokes; those in the canvas' own ink have no colour."""
    ink = INK[paper_field(pad.name).value]
    return [
        stroke._replace(colour=None if stroke.colour == ink else stroke.colour)
        for stroke in inked_strokes(drawing, ink)
    ]


def strokes_text(strokes: Sequence[Stroke]) -> str:
    """Return strokes packed for an address; "" if they are more than a link may hold."""
    try:
        return sound_strokes(pack_strokes(strokes))
    except (ValueError, OverflowError):
        return ""


def _follow_address(pad: Pad) -> None:
    """Put what the address asks for onto the pad; a drawing too long for it that goes with Back comes with Forward."""
    state, name, (asked, packed) = st.session_state, pad.name, _told(pad)
    if state.get(f"{name}_put") == (DRAWN, ""):
        state[f"{name}_mine"] = state[f"{name}_drawing"]
    if packed:
        put_strokes(pad, unpack_strokes(packed))
    elif asked == DRAWN and f"{name}_mine" in state:
        _replace(pad, state[f"{name}_mine"])
    else:
        found = pad.from_address(asked) if pad.from_address and asked not in pad.presets else None
        put_strokes(pad, found or pad.presets[asked if asked in pad.presets else pad.first](), told=asked)


def digit_presets(side: int = 256, width: float = 20) -> dict[str, Callable[[], list[Stroke]]]:
    """Return the ten digits as presets of a square pad."""

    def strokes(digit: int) -> list[Stroke]:
        return [Stroke(np.round(path, 1), width) for path in preset_paths(digit, side)]

    return {str(digit): partial(strokes, digit) for digit in range(10)}


def _buttons(pad: Pad) -> None:
    state, name = st.session_state, pad.name
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_presets"):
        for label in pad.presets:
            st.button(
                label,
                key=f"{name}_preset_{label}",
                on_click=_choose_preset,
                args=(pad, label),
                help=pad.help.format(label),
            )
    if pad.pens or pad.eraser:
        _pen_choice(pad)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"{name}_tools"):
        st.button("Undo", key=f"{name}_undo", on_click=_turn_back, args=(pad, 1))
        st.button("Redo", key=f"{name}_redo", on_click=_turn_back, args=(pad, -1), disabled=not state[f"{name}_undone"])
        st.button("Clear", key=f"{name}_clear", on_click=_turn_back, args=(pad, math.inf))
        with st.popover("Pen"):
            st.slider(
                "Stroke width",
                2,
                60,
                key=_width_field(pad).key,
                persist_state="session",
            )
            st.radio(
                "Canvas",
                ["light", "dark"],
                horizontal=True,
                key=paper_field(name).key,
                persist_state="session",
                on_change=_turn_paper,
                args=(pad, paper_field(name).value),
            )
            st.download_button(
                "Save drawing",
                json.dumps(state[f"{name}_drawing"]),
                f"{name}-drawing.json",
                "application/json",
                on_click="ignore",
                width="stretch",
            )
            uploaded = st.file_uploader(
                "Open a saved drawing",
                "json",
                key=f"{name}_upload_{state[f'{name}_generation']}",
                max_upload_size=DRAWING_BYTES.millions,
            )
            if uploaded is not None:
                _open(pad, uploaded.getvalue())


ERASER, ANY_INK = "eraser", "any"
FIRST_ANY_INK = "#00A0A0"


def _pen_choice(pad: Pad) -> None:
    names = [*(pad.pens or ("pen",)), *([ANY_INK] if pad.any_ink else []), *([ERASER] if pad.eraser else [])]
    pen = choice("Pen", _pen_field(pad), names, label_visibility="collapsed", wrap=True)
    if pen == ANY_INK:
        st.color_picker("Ink of any colour", key=_any_ink_field(pad).key, persist_state="session")


def _pen_field(pad: Pad) -> Field[str]:
    return Field(pad.name, "pen", (pad.pens or ("pen",))[0], address="pen")


def _any_ink_field(pad: Pad) -> Field[str]:
    return Field(pad.name, "any_ink", FIRST_ANY_INK, address="colour", parse=_colour_of, text=lambda ink: ink[1:])


def _colour_of(digits: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{6}", digits):
        raise ValueError("a colour is six digits")
    return f"#{digits}"


def _present_ink(pad: Pad) -> str:
    paper = paper_field(pad.name).value
    chosen = _pen_field(pad).value if pad.pens or pad.eraser else ""
    if chosen == ERASER:
        return PAPER[paper]
    if chosen == ANY_INK:
        return _any_ink_field(pad).value
    return PEN[chosen if chosen in pad.pens else pad.pens[0]] if pad.pens else INK[paper]


def put_strokes(pad: Pad, strokes: Sequence[Stroke], *, add: bool = False, told: str = DRAWN) -> None:
    """Put strokes onto the pad, in place of what is there or on top of it; call it in a callback, or before the pad.

    Args:
        pad: onto which.
        strokes: what to draw.
        add: keep what is there.
        told: what the address says of it, from which they can be made again.
    """
    state = st.session_state
    ink = INK[paper_field(pad.name).value]
    objects = [_path_object(stroke.path, stroke.colour or ink, stroke.width) for stroke in strokes]
    kept = state[f"{pad.name}_drawing"].get("objects", []) if add else []
    _replace(pad, {"version": "7.4.0", "objects": [*kept, *objects]}, told)


def remove_strokes(pad: Pad, width: float) -> None:
    """Take every stroke of one pen width off the pad; call it in a callback."""
    drawing = st.session_state[f"{pad.name}_drawing"]
    kept = [shape for shape in drawing.get("objects", []) if abs(shape.get("strokeWidth", 0) - width) > 1e-6]
    _replace(pad, {**drawing, "objects": kept})


def _replace(pad: Pad, drawing: dict[str, Any], told: str = DRAWN, undone: Sequence[dict[str, Any]] = ()) -> None:
    """Put another drawing onto the pad, which means mounting a new canvas."""
    _tell(pad, drawing, told, undone)
    st.session_state[f"{pad.name}_pixels"] = None
    st.session_state[f"{pad.name}_generation"] = st.session_state.get(f"{pad.name}_generation", 0) + 1


def _choose_preset(pad: Pad, label: str) -> None:
    put_strokes(pad, pad.presets[label](), told=label)


def _path_object(path: np.ndarray, ink: str, width: float) -> dict[str, Any]:
    """Return a stroke as the canvas' own library writes one."""
    commands: list[list[Any]] = [["M", *path[0].tolist()], *(["L", *point] for point in path[1:].tolist())]
    (left, top), (right, bottom) = path.min(0).tolist(), path.max(0).tolist()
    return {
        "type": "Path",
        "path": commands,
        "stroke": ink,
        "strokeWidth": width,
        "strokeLineCap": "round",
        "strokeLineJoin": "round",
        "fill": None,
        "originX": "left",
        "originY": "top",
        "left": left - width / 2,
        "top": top - width / 2,
        "width": right - left,
        "height": bottom - top,
    }


def _turn_back(pad: Pad, by: float) -> None:
    """Take so many of the last strokes off the pad, to be drawn again when asked for; below 0 = draw them again."""
    drawing = st.session_state[f"{pad.name}_drawing"]
    drawn = drawing.get("objects", [])
    strokes, n = [*drawn, *st.session_state[f"{pad.name}_undone"]], int(max(len(drawn) - by, 0))
    _replace(pad, {**drawing, "objects": strokes[:n]}, undone=strokes[n:])


def _turn_paper(pad: Pad, before: str) -> None:
    """Change the paper; ink and eraser strokes in its own colours change with it, coloured ones stay."""
    state, name = st.session_state, pad.name
    paper = paper_field(name).value
    turned = {INK[before].lower(): INK[paper], PAPER[before].lower(): PAPER[paper]}
    drawing = {key: value for key, value in state[f"{name}_drawing"].items() if key != "background"}
    objects = [
        {**shape, "stroke": turned.get(str(shape.get("stroke")).lower(), shape.get("stroke"))}
        for shape in drawing.get("objects", [])
    ]
    _replace(pad, {**drawing, "objects": objects}, preset_field(pad).value)


def _open(pad: Pad, content: bytes) -> None:
    """Take an uploaded drawing, or say why not; the present one stays until the new one is known to be sound."""
    ink = INK[paper_field(pad.name).value]
    try:
        objects = [_path_object(stroke.path, stroke.colour or ink, stroke.width) for stroke in read_drawing(content)]
    except ValueError as error:
        st.error(str(error))
        return
    _replace(pad, {"version": "7.4.0", "objects": objects})
    st.rerun()


@computed()
def render_strokes(strokes: Sequence[Stroke], size: tuple[int, int], paper: str) -> np.ndarray:
    """Draw strokes as the canvas shows them, uint8 (height, width, 4); paper is "light" or "dark"."""
    canvas = np.zeros((*size, 4), np.uint8)
    canvas[:] = (*_rgb(PAPER[paper]), 255)
    apart = max(1.0, way_of(strokes) / DRAWING_DOTS.most)
    for (colour, width), together in groupby(strokes, key=lambda stroke: (stroke.colour, stroke.width)):
        whole = draw_paths([_dense(stroke.path, apart) for stroke in together], size, width)
        share = whole[..., :1].astype(np.uint16)  # of the paper, in 255ths
        ink = np.array(_rgb(colour or INK[paper]), np.uint16)
        canvas[..., :3] = (canvas[..., :3] * share + ink * (255 - share) + 127) // 255
    return canvas


def drawn_elsewhere(pad: Pad) -> list[Stroke] | None:
    """Return what is on a pad of another page, in ink that goes with the paper; None where nobody has opened it yet."""
    drawing = st.session_state.get(f"{pad.name}_drawing")
    return None if drawing is None else _uncoloured(pad, drawing)


def covered(canvas: np.ndarray, paper: str) -> float:
    """Return the share of a canvas, uint8 (height, width, 4), that is not in the colour of its paper."""
    return float((np.abs(canvas[..., :3].astype(int) - _rgb(PAPER[paper])).max(-1) > 40).mean())


def _dense(path: np.ndarray, apart: float) -> np.ndarray:
    """Return a path (n, 2) with points so many pixels apart: a line without beads where its points were."""
    way = np.concatenate(([0.0], np.linalg.norm(np.diff(path, axis=0), axis=1).cumsum()))
    places = np.linspace(0, way[-1], max(2, round(float(way[-1]) / apart) + 1))
    return np.stack([np.interp(places, way, along) for along in path.T], 1)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
