"""A drawing pad: presets, undo, clear, light or dark paper; a drawing outlives page changes and reruns."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from PIL.ImageColor import getrgb
from streamlit_drawable_canvas import st_canvas

from attention_core.attention.edits import HeadRef
from attention_core.data.colours import PEN
from attention_core.data.drawing import Stroke, draw_strokes, inked_strokes, strokes_of
from attention_core.data.presets import preset_paths
from attention_core.links import checked_strokes, pack_strokes, unpack_strokes
from ui.component import component
from ui.computed import cached_computation
from ui.lecture.mode import LECTURE
from ui.state import Field, is_mounted, single_choice

INK = {"light": "#15191E", "dark": "#F4F6F8"}
PAPER = {"light": "#FFFFFF", "dark": "#11151A"}
CUSTOM, ERASER = "drawn", "eraser"

_bare_pad = component("bare_pad")


@dataclass(frozen=True, eq=False)
class PadContent:
    """A drawing on a pad: its canvas, uint8 (height, width, 4) RGBA, and its strokes, in drawing order."""

    canvas: np.ndarray
    strokes: list[Stroke]
    paper: str


@dataclass(eq=False)
class Pad:
    """A drawing pad: its presets, inks and size, and the fields of what a visitor has drawn on it.

    Attributes:
        name: prefix of its state; the same name on two pages is the same drawing.
        presets: label -> strokes to put on the pad, one button each; `first` is there on arrival.
        size: height and width in canvas pixels.
        pens: names of inks, see attention_core.data.colours; empty = the canvas' own ink alone.
        from_address: returns the strokes that an address asks for where it names no preset, or None.
        preset: the label of the preset on the pad; CUSTOM = something else.
        strokes: the drawing, packed; "" where it is a preset, or more than a link may hold.
        drawing: the drawing as the canvas writes it; empty before anybody has opened the pad.
        inked: its strokes, rounded as in the address; those in the paper's own ink have no colour.
        last_readable: the strokes of the last drawing that was not empty.
        generation: how often the canvas was mounted anew; `seed` is its drawing then.
        applied_address: preset and strokes of the address that the pad shows.
        too_long: a drawing too long for the address, kept for Forward after Back has removed it.
    """

    name: str
    presets: Mapping[str, Callable[[], list[Stroke]]]
    first: str
    size: tuple[int, int] = (256, 256)
    address: str = "digit"
    pens: tuple[str, ...] = ()
    pen_width: int = 20
    from_address: Callable[[str], list[Stroke] | None] | None = None

    def __post_init__(self) -> None:
        self.preset = Field(self.name, "preset", self.first, address=self.address)
        self.paper = Field(self.name, "paper", "light")
        self.strokes = Field(self.name, "strokes", "", address="strokes", parse=checked_strokes, text=str)
        self.drawing = Field[dict[str, Any]](self.name, "drawing", dict)
        self.inked = Field[list[Stroke]](self.name, "inked", list)
        self.last_readable = Field[list[Stroke]](self.name, "last_readable", self.presets[self.first])
        self.undone = Field[list[dict[str, Any]]](self.name, "undone", list)
        self.generation = Field(self.name, "generation", 0)
        self.seed = Field[dict[str, Any]](self.name, "seed", dict)
        self.applied_address = Field[tuple[str, str] | None](self.name, "followed", None)
        self.too_long = Field[dict[str, Any] | None](self.name, "too_long", None)
        if self.pens:
            self.pen = Field(self.name, "pen", self.pens[0], address="pen")

    def runs(self, read: Callable[[np.ndarray], Any]) -> Callable[[HeadRef], Any]:
        """Return a function that reads the preset that an edit names, on light paper."""
        return lambda run: read(render_strokes(self.presets[run.input](), self.size, "light"))


def drawing_pad(pad: Pad) -> PadContent:
    """Draw a pad with its presets and buttons; return the drawing."""
    paper = st.context.theme.type or "light"
    if paper != pad.paper.value:
        _change_paper(pad, paper)
    if _address_state(pad) != pad.applied_address.value:  # on arrival, and after Back
        _follow_address(pad)
    key = f"{pad.name}_pad_{pad.generation.value}"
    if not is_mounted(key):  # only when it is mounted anew: changing it later would wipe the canvas
        pad.seed.value = pad.drawing.value
    with st.container(key=f"{pad.name}_canvas_frame", gap=None):
        _bare_pad(key=f"{key}_bare", on_connected_change=lambda: None)
        sent = st_canvas(
            stroke_width=pad.pen_width,
            stroke_color=_current_ink(pad),
            background_color=PAPER[paper],
            width=pad.size[1],
            height=pad.size[0],
            initial_drawing=pad.seed.value,
            key=key,
        ).json_data
    if sent not in (pad.drawing.value, pad.seed.value | {"background": PAPER[paper]}):
        strokes = strokes_of(sent)
        if strokes is None:
            st.info("The pen has gone too far: the last stroke is not read. Undo it, or clear the pad.")
        else:
            _record(pad, sent, strokes)
    with st.container(horizontal=True, gap="medium", key=f"{pad.name}_in_a_row") if LECTURE.value else nullcontext():
        _buttons(pad)
    return _content(pad, pad.inked.value)


def last_readable(pad: Pad, content: PadContent, is_empty: bool) -> PadContent:
    """Return the drawing on a pad or, if it is empty, the last one that was not."""
    if is_empty:
        return _content(pad, pad.last_readable.value)
    pad.last_readable.value = pad.inked.value
    return content


def _content(pad: Pad, strokes: list[Stroke]) -> PadContent:
    paper = pad.paper.value
    inked = [stroke._replace(colour=stroke.colour or INK[paper]) for stroke in strokes]
    return PadContent(render_strokes(inked, pad.size, paper), inked, paper)


def _address_state(pad: Pad) -> tuple[str, str]:
    return pad.preset.value, pad.strokes.value


def _record(
    pad: Pad,
    drawing: dict[str, Any],
    strokes: Sequence[Stroke],
    preset: str = CUSTOM,
    undone: Sequence[dict[str, Any]] = (),
) -> None:
    """Keep a drawing and the strokes that Redo brings back, and write it into the address."""
    ink = INK[pad.paper.value]
    inked = [stroke._replace(colour=None if stroke.colour == ink else stroke.colour) for stroke in strokes]
    packed, pad.inked.value = packed_strokes(inked) if preset == CUSTOM else ("", inked)
    pad.drawing.value, pad.undone.value = drawing, [*undone]
    pad.preset.value, pad.strokes.value = preset, packed
    pad.applied_address.value = _address_state(pad)


def packed_strokes(strokes: list[Stroke]) -> tuple[str, list[Stroke]]:
    """Return strokes packed for an address and as they come out of it; "" and themselves if a link cannot hold them."""
    try:
        packed = pack_strokes(strokes)
        return packed, unpack_strokes(packed)
    except (ValueError, OverflowError):
        return "", strokes


def _follow_address(pad: Pad) -> None:
    """Put the drawing of the address onto the pad; one too long for it goes with Back and returns with Forward."""
    preset, packed = _address_state(pad)
    if pad.applied_address.value == (CUSTOM, ""):
        pad.too_long.value = pad.drawing.value
    if packed:
        set_strokes(pad, unpack_strokes(packed))
    elif preset == CUSTOM and pad.too_long.value is not None:
        _replace(pad, pad.too_long.value)
    else:
        strokes = pad.from_address(preset) if pad.from_address and preset not in pad.presets else None
        set_strokes(pad, strokes or pad.presets[preset if preset in pad.presets else pad.first](), preset=preset)


def digit_presets() -> dict[str, Callable[[], list[Stroke]]]:
    """Return the ten digits as presets of a pad of the usual size."""

    def strokes(digit: int) -> list[Stroke]:
        return [Stroke(np.round(path, 1), Pad.pen_width) for path in preset_paths(digit, Pad.size[0])]

    return {str(digit): partial(strokes, digit) for digit in range(10)}


def _buttons(pad: Pad) -> None:
    name = pad.name
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_presets"):
        for label in pad.presets:
            st.button(label, key=f"{name}_preset_{label}", on_click=_choose_preset, args=(pad, label))
    if pad.pens:
        labels = {pen: pen for pen in (*pad.pens, ERASER)} | ({"black": "white"} if pad.paper.value == "dark" else {})
        single_choice("Pen", pad.pen, labels, label_visibility="collapsed", wrap=True)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"{name}_tools"):
        st.button("Undo", key=f"{name}_undo", on_click=_undo, args=(pad, 1))
        st.button("Redo", key=f"{name}_redo", on_click=_undo, args=(pad, -1), disabled=not pad.undone.value)
        st.button("Clear", key=f"{name}_clear", on_click=_undo, args=(pad, math.inf))


def _current_ink(pad: Pad) -> str:
    paper = pad.paper.value
    if not pad.pens:
        return INK[paper]
    if pad.pen.value == ERASER:
        return PAPER[paper]
    return _colour_on(paper, PEN[pad.pen.value if pad.pen.value in pad.pens else pad.pens[0]])


def _colour_on(paper: str, colour: str | None) -> str:
    """Return a stroke's colour on a paper: ink without one, and black, is the paper's own."""
    return INK[paper] if colour is None or colour.upper() == INK["light"] else colour


def set_strokes(pad: Pad, strokes: Sequence[Stroke], *, add: bool = False, preset: str = CUSTOM) -> None:
    """Replace the strokes on the pad, or add to them; to be called in a callback, or before the pad is drawn.

    The preset is their name in the address, from which they can be made again.
    """
    paper = pad.paper.value
    objects = [_path_object(stroke.path, _colour_on(paper, stroke.colour), stroke.width) for stroke in strokes]
    existing = pad.drawing.value.get("objects", []) if add else []
    _replace(pad, {"version": "7.4.0", "objects": [*existing, *objects]}, preset)


def remove_strokes(pad: Pad, width: float) -> None:
    """Take every stroke of one pen width off the pad; call it in a callback."""
    drawing = pad.drawing.value
    objects = [shape for shape in drawing.get("objects", []) if abs(shape.get("strokeWidth", 0) - width) > 1e-6]
    _replace(pad, {**drawing, "objects": objects})


def _replace(pad: Pad, drawing: dict[str, Any], preset: str = CUSTOM, undone: Sequence[dict[str, Any]] = ()) -> None:
    _record(pad, drawing, inked_strokes(drawing), preset, undone)
    pad.generation.value += 1


def _choose_preset(pad: Pad, label: str) -> None:
    set_strokes(pad, pad.presets[label](), preset=label)


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


def _undo(pad: Pad, by: float) -> None:
    """Take the last strokes off the pad, this many; a negative number draws them again."""
    drawing = pad.drawing.value
    objects = drawing.get("objects", [])
    strokes, n = [*objects, *pad.undone.value], int(max(len(objects) - by, 0))
    _replace(pad, {**drawing, "objects": strokes[:n]}, undone=strokes[n:])


def _change_paper(pad: Pad, paper: str) -> None:
    """Change the paper; ink and eraser strokes in its own colours change with it, coloured ones stay."""
    before, pad.paper.value = pad.paper.value, paper
    new_colours = {INK[before].lower(): INK[paper], PAPER[before].lower(): PAPER[paper]}
    objects = [
        {**shape, "stroke": new_colours.get(str(shape.get("stroke")).lower(), shape.get("stroke"))}
        for shape in pad.drawing.value.get("objects", [])
    ]
    if objects:
        _replace(pad, {"version": "7.4.0", "objects": objects}, pad.preset.value)


@cached_computation()
def render_strokes(strokes: Sequence[Stroke], size: tuple[int, int], paper: str) -> np.ndarray:
    """Draw strokes as the canvas shows them, uint8 (height, width, 4); paper is "light" or "dark"."""
    return draw_strokes(strokes, size, INK[paper], PAPER[paper])


def covered(canvas: np.ndarray, paper: str) -> float:
    """Return the share of a canvas, uint8 (height, width, 4), that is not in the colour of its paper."""
    return float(ink_of(canvas, paper).mean())


def ink_of(canvas: np.ndarray, paper: str) -> np.ndarray:
    """Return where a canvas, uint8 (height, width, 4), is not in the colour of its paper, bool (height, width)."""
    return np.abs(canvas[..., :3].astype(int) - getrgb(PAPER[paper])).max(-1) > 40
