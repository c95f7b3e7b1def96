"""A drawing pad that forgets nothing: presets, undo, clear, light or dark, kept over page changes and reruns."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from PIL.ImageColor import getrgb
from streamlit_drawable_canvas import st_canvas

from attention_core.bounds import DRAWING_BYTES
from attention_core.data.colours import PEN
from attention_core.data.drawing import (
    Stroke,
    decode_pixels,
    draw_strokes,
    inked_strokes,
    read_drawing,
    strokes_of,
)
from attention_core.data.presets import preset_paths
from attention_core.packed import pack_strokes, unpack_strokes
from ui.component import component
from ui.computed import cached_computation
from ui.state import Field, between, is_mounted, one_of, single_choice

INK = {"light": "#15191E", "dark": "#F4F6F8"}
PAPER = {"light": "#FFFFFF", "dark": "#11151A"}
MAX_ASTRAY = 0.3
"""Share of the ink by which our picture of the strokes may differ from the browser's and still stands for it."""
DRAWN, ERASER, ANY_INK = "drawn", "eraser", "any"
FIRST_ANY_INK = "#00A0A0"

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


@dataclass(eq=False)
class Pad:
    """What a pad offers, and what a visitor has set on it.

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
        preset: which preset is on the pad; DRAWN when it is something else.
        paper: whether its paper is light or dark.
        width: of the pen.
        strokes: what is drawn, packed; "" where a preset tells it or it is more than a link may hold.
        pen: the ink that was chosen.
        ink: the colour of the pen of any colour.
        drawing: what is on it, as the canvas writes it; empty before anybody has opened the pad.
        inked: its strokes, those in the canvas' own ink without colour; of what the address tells, those that it tells.
        undone: strokes that can be drawn again.
        pixels: uint8 (height, width, 4), as the browser sent them last.
        generation: how often the canvas was mounted anew.
        seed: the drawing with which it was mounted.
        put: preset and strokes of the address that were put onto it.
        mine: a drawing that is too long for the address, which Back took away.
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

    def __post_init__(self) -> None:
        self.preset = Field(self.name, "preset", self.first, address=self.address)
        self.paper = Field(self.name, "paper", "light", address="paper", parse=one_of(PAPER))
        self.width = Field(self.name, "width", self.pen_width, address="width", parse=between(2, 60))
        self.strokes = Field(self.name, "strokes", "", address="strokes", parse=checked_strokes, text=str)
        self.drawing = Field[dict[str, Any]](self.name, "drawing", dict)
        self.inked = Field[list[Stroke]](self.name, "inked", list)
        self.undone = Field[list[dict[str, Any]]](self.name, "undone", list)
        self.pixels = Field[np.ndarray | None](self.name, "pixels", None)
        self.generation = Field(self.name, "generation", 0)
        self.seed = Field[dict[str, Any]](self.name, "seed", dict)
        self.put = Field[tuple[str, str] | None](self.name, "put", None)
        self.mine = Field[dict[str, Any] | None](self.name, "mine", None)
        if self.pens or self.eraser:
            self.pen = Field(self.name, "pen", (self.pens or ("pen",))[0], address="pen")
        if self.any_ink:
            self.ink = Field(
                self.name, "any_ink", FIRST_ANY_INK, address="colour", parse=_colour_of, text=lambda ink: ink[1:]
            )


def drawing_pad(pad: Pad) -> PadState:
    """Draw a pad with its presets and buttons.

    Returns:
        what is drawn now.
    """
    pad.paper.suggest("dark" if st.context.theme.type == "dark" else "light")
    if _address_state(pad) != pad.put.value:  # on arrival, and after Back
        _follow_address(pad)
    component = f"{pad.name}_pad_{pad.generation.value}"
    if not is_mounted(component):  # only when it is mounted anew: changing it later would wipe the canvas
        pad.seed.value = pad.drawing.value
    paper = pad.paper.value
    with st.container(key=f"{pad.name}_canvas_frame", gap=None):
        _bare_pad(key=f"{component}_bare", on_connected_change=lambda: None)
        result = st_canvas(
            stroke_width=pad.width.value,
            stroke_color=_present_ink(pad),
            background_color=PAPER[paper],
            width=pad.size[1],
            height=pad.size[0],
            initial_drawing=pad.seed.value,
            return_image_data=True,
            key=component,
        )
    pixels = decode_pixels(result.image_bytes, pad.size)
    is_new = pixels is not None and (result.json_data != pad.drawing.value or pad.preset.value != DRAWN)
    strokes = strokes_of(result.json_data) if is_new else pad.inked.value
    if strokes is None:
        st.info("The pen has gone too far: the last stroke is not read. Undo it, or clear the pad.")
    elif pixels is not None:
        if is_new:
            _record(pad, result.json_data, strokes)
        pad.pixels.value = pixels
    _buttons(pad)
    pixels = pad.pixels.value
    inked = [stroke._replace(colour=stroke.colour or INK[paper]) for stroke in pad.inked.value]
    drawn = render_strokes(inked, pad.size, paper)
    shown = drawn if pixels is None or _matches(drawn, pixels, paper) else pixels
    return PadState(shown, inked, paper)


def _matches(ours: np.ndarray, pixels: np.ndarray, paper: str) -> bool:
    """Return whether the strokes tell what the browser shows; then ours counts, which a link gives again exactly."""
    astray, ink = (
        np.abs(ours.astype(np.int16) - pixels),
        np.abs(pixels[..., :3].astype(np.int16) - getrgb(PAPER[paper])),
    )
    return bool(astray.sum() <= MAX_ASTRAY * ink.sum())


def checked_strokes(packed: str) -> str:
    """Return packed strokes as they are, for a field that keeps them; ValueError if they are none."""
    unpack_strokes(packed)
    return packed


def _address_state(pad: Pad) -> tuple[str, str]:
    return pad.preset.value, pad.strokes.value


def _record(
    pad: Pad,
    drawing: dict[str, Any],
    strokes: Sequence[Stroke],
    told: str = DRAWN,
    undone: Sequence[dict[str, Any]] = (),
) -> None:
    """Keep what is drawn now and the strokes that can be drawn again, and let the address tell the drawing."""
    ink = INK[pad.paper.value]
    inked = [stroke._replace(colour=None if stroke.colour == ink else stroke.colour) for stroke in strokes]
    packed, pad.inked.value = packed_strokes(inked) if told == DRAWN else ("", inked)
    pad.drawing.value, pad.undone.value = drawing, [*undone]
    pad.preset.value, pad.strokes.value = told, packed
    pad.put.value = _address_state(pad)


def packed_strokes(strokes: list[Stroke]) -> tuple[str, list[Stroke]]:
    """Return strokes packed for an address and as they come out of it; "" and themselves if a link cannot hold them."""
    try:
        packed = pack_strokes(strokes)
        return packed, unpack_strokes(packed)
    except (ValueError, OverflowError):
        return "", strokes


def _follow_address(pad: Pad) -> None:
    """Put what the address asks for onto the pad; a drawing too long for it that goes with Back comes with Forward."""
    asked, packed = _address_state(pad)
    if pad.put.value == (DRAWN, ""):
        pad.mine.value = pad.drawing.value
    if packed:
        put_strokes(pad, unpack_strokes(packed))
    elif asked == DRAWN and pad.mine.value is not None:
        _replace(pad, pad.mine.value)
    else:
        found = pad.from_address(asked) if pad.from_address and asked not in pad.presets else None
        put_strokes(pad, found or pad.presets[asked if asked in pad.presets else pad.first](), told=asked)


def digit_presets(side: int = 256, width: float = 20) -> dict[str, Callable[[], list[Stroke]]]:
    """Return the ten digits as presets of a square pad."""

    def strokes(digit: int) -> list[Stroke]:
        return [Stroke(np.round(path, 1), width) for path in preset_paths(digit, side)]

    return {str(digit): partial(strokes, digit) for digit in range(10)}


def _buttons(pad: Pad) -> None:
    name = pad.name
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
        st.button("Redo", key=f"{name}_redo", on_click=_turn_back, args=(pad, -1), disabled=not pad.undone.value)
        st.button("Clear", key=f"{name}_clear", on_click=_turn_back, args=(pad, math.inf))
        with st.popover("Pen"):
            pad.width.widget(st.slider, "Stroke width", 2, 60)
            pad.paper.widget(
                st.radio,
                "Canvas",
                ["light", "dark"],
                horizontal=True,
                on_change=_turn_paper,
                args=(pad, pad.paper.value),
            )
            st.download_button(
                "Save drawing",
                json.dumps(pad.drawing.value),
                f"{name}-drawing.json",
                "application/json",
                on_click="ignore",
                width="stretch",
            )
            uploaded = st.file_uploader(
                "Open a saved drawing",
                "json",
                key=f"{name}_upload_{pad.generation.value}",
                max_upload_size=DRAWING_BYTES.millions,
            )
            if uploaded is not None:
                _open(pad, uploaded.getvalue())


def _pen_choice(pad: Pad) -> None:
    names = [*(pad.pens or ("pen",)), *([ANY_INK] if pad.any_ink else []), *([ERASER] if pad.eraser else [])]
    pen = single_choice("Pen", pad.pen, names, label_visibility="collapsed", wrap=True)
    if pen == ANY_INK:
        pad.ink.widget(st.color_picker, "Ink of any colour")


def _colour_of(digits: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{6}", digits):
        raise ValueError("a colour is six digits")
    return f"#{digits}"


def _present_ink(pad: Pad) -> str:
    paper = pad.paper.value
    chosen = pad.pen.value if pad.pens or pad.eraser else ""
    if chosen == ERASER:
        return PAPER[paper]
    if chosen == ANY_INK:
        return pad.ink.value
    return PEN[chosen if chosen in pad.pens else pad.pens[0]] if pad.pens else INK[paper]


def put_strokes(pad: Pad, strokes: Sequence[Stroke], *, add: bool = False, told: str = DRAWN) -> None:
    """Put strokes onto the pad, in place of what is there or on top of it; call it in a callback, or before the pad.

    Args:
        pad: onto which.
        strokes: what to draw.
        add: keep what is there.
        told: what the address says of it, from which they can be made again.
    """
    ink = INK[pad.paper.value]
    objects = [_path_object(stroke.path, stroke.colour or ink, stroke.width) for stroke in strokes]
    kept = pad.drawing.value.get("objects", []) if add else []
    _replace(pad, {"version": "7.4.0", "objects": [*kept, *objects]}, told)


def remove_strokes(pad: Pad, width: float) -> None:
    """Take every stroke of one pen width off the pad; call it in a callback."""
    drawing = pad.drawing.value
    kept = [shape for shape in drawing.get("objects", []) if abs(shape.get("strokeWidth", 0) - width) > 1e-6]
    _replace(pad, {**drawing, "objects": kept})


def _replace(pad: Pad, drawing: dict[str, Any], told: str = DRAWN, undone: Sequence[dict[str, Any]] = ()) -> None:
    _record(pad, drawing, inked_strokes(drawing), told, undone)
    pad.pixels.value = None
    pad.generation.value += 1


def _choose_preset(pad: Pad, label: str) -> None:
    put_strokes(pad, pad.presets[label](), told=label)


def _path_object(path: np.ndarray, ink: str, width: float) -> dict[str, Any]:
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
    drawing = pad.drawing.value
    drawn = drawing.get("objects", [])
    strokes, n = [*drawn, *pad.undone.value], int(max(len(drawn) - by, 0))
    _replace(pad, {**drawing, "objects": strokes[:n]}, undone=strokes[n:])


def _turn_paper(pad: Pad, before: str) -> None:
    """Change the paper; ink and eraser strokes in its own colours change with it, coloured ones stay."""
    paper = pad.paper.value
    turned = {INK[before].lower(): INK[paper], PAPER[before].lower(): PAPER[paper]}
    drawing = {key: value for key, value in pad.drawing.value.items() if key != "background"}
    objects = [
        {**shape, "stroke": turned.get(str(shape.get("stroke")).lower(), shape.get("stroke"))}
        for shape in drawing.get("objects", [])
    ]
    _replace(pad, {**drawing, "objects": objects}, pad.preset.value)


def _open(pad: Pad, content: bytes) -> None:
    """Take an uploaded drawing, or say why not; the present one stays until the new one is known to be sound."""
    ink = INK[pad.paper.value]
    try:
        objects = [_path_object(stroke.path, stroke.colour or ink, stroke.width) for stroke in read_drawing(content)]
    except ValueError as error:
        st.error(str(error))
        return
    _replace(pad, {"version": "7.4.0", "objects": objects})
    st.rerun()


@cached_computation()
def render_strokes(strokes: Sequence[Stroke], size: tuple[int, int], paper: str) -> np.ndarray:
    """Draw strokes as the canvas shows them, uint8 (height, width, 4); paper is "light" or "dark"."""
    return draw_strokes(strokes, size, INK[paper], PAPER[paper])


def strokes_on(pad: Pad) -> list[Stroke] | None:
    """Return what is on a pad of another page, in ink that goes with the paper; None where nobody has opened it yet."""
    return pad.inked.value if pad.drawing.value else None


def covered(canvas: np.ndarray, paper: str) -> float:
    """Return the share of a canvas, uint8 (height, width, 4), that is not in the colour of its paper."""
    return float((np.abs(canvas[..., :3].astype(int) - getrgb(PAPER[paper])).max(-1) > 40).mean())
