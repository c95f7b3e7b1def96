"""A drawing pad: presets, undo, clear, light or dark paper; a drawing is kept over reruns and other pages."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from PIL.ImageColor import getrgb
from streamlit.delta_generator import DeltaGenerator
from streamlit_drawable_canvas import st_canvas

from attention_core.data.colours import PEN
from attention_core.data.drawing import Stroke, draw_strokes, inked_strokes, strokes_of
from attention_core.data.presets import preset_paths
from attention_core.links import checked_strokes, pack_strokes, unpack_strokes
from ui.component import component
from ui.computed import cached_computation
from ui.layout import last_on_phone
from ui.lecture.mode import LECTURE
from ui.state import Field, is_mounted, single_choice
from ui.style import page_style

INK = {"light": "#15191E", "dark": "#F4F6F8"}
PAPER = {"light": "#FFFFFF", "dark": "#11151A"}
CUSTOM, ERASER = "drawn", "eraser"
MIN_INK_CONTRAST = 40
"""By how many of 255 levels a channel of a pixel has to differ from its paper to be ink."""
FABRIC_VERSION = "7.4.0"  # of Fabric.js, whose JSON the canvas reads and writes
Json = dict[str, Any]
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
        name: its keys begin with it; pads of the same name on two pages have the same drawing.
        presets: label -> a function that returns its strokes, one button each; `first` is on the pad on arrival.
        size: height and width in canvas pixels.
        pens: names of inks, see attention_core.data.colours; empty = only the ink of the paper.
        from_address: returns the strokes of a name in the address that is no preset's, or None.
        preset: the label of the preset on the pad; CUSTOM = another drawing.
        drawing: what is on the pad, as JSON of the canvas; empty before the pad is first drawn.
        strokes: the same, rounded as in the address; strokes in the ink of the paper have no colour.
        packed: the same as text in the address; "" if it is a preset, or too long for a link.
        last_readable: the strokes of the last drawing that the page could read.
        undone: the shapes that Redo brings back, as JSON of the canvas.
        generation, seed: how often the canvas was mounted anew, and with which drawing it was the last time.
        applied_address: preset and packed strokes of the address that the pad shows.
        too_long: a drawing too long for the address, for Forward after Back has removed it.
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
        self.drawing = Field[Json](self.name, "drawing", dict)
        self.strokes = Field[list[Stroke]](self.name, "inked", list)
        self.packed = Field(self.name, "strokes", "", address="strokes", parse=checked_strokes, text=str)
        self.last_readable = Field[list[Stroke]](self.name, "last_readable", self.presets[self.first])
        self.undone = Field[list[Json]](self.name, "undone", list)
        self.generation = Field(self.name, "generation", 0)
        self.seed = Field[Json](self.name, "seed", dict)
        self.applied_address = Field[tuple[str, str] | None](self.name, "followed", None)
        self.too_long = Field[Json | None](self.name, "too_long", None)
        if self.pens:
            self.pen = Field(self.name, "pen", self.pens[0], address="pen")


def draw_pad(pad: Pad) -> PadContent:
    """Draw a pad with its presets and buttons; return what is on it."""
    paper = st.context.theme.type or "light"
    if paper != pad.paper.value:
        _change_paper(pad, paper)
    if _address_of(pad) != pad.applied_address.value:  # on arrival, and after Back
        _follow_address(pad)
    key = f"{pad.name}_pad_{pad.generation.value}"
    if not is_mounted(key):  # not later: a canvas whose initial drawing changes is wiped
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
    if sent not in (pad.drawing.value, pad.seed.value | {"background": PAPER[paper]}):  # somebody has drawn
        strokes = strokes_of(sent)
        if strokes is None:
            st.info("The pen has gone too far: the last stroke is not read. Undo it, or clear the pad.")
        else:
            _record(pad, sent, strokes)
    with (
        st.container(horizontal=True, gap="medium", key=f"{pad.name}_pen_in_a_row") if LECTURE.value else nullcontext()
    ):
        _draw_buttons(pad)
    return _content(pad, pad.strokes.value)


def columns_beside_pad() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return containers of an experiment: of its pad, which a lecture hides and a phone has last, and beside that."""
    if LECTURE.value:
        return st.container(key="experiment_input"), st.container()
    last_on_phone("experiment_columns", "experiment_input")
    with st.container(key="experiment_columns"):
        left, right = st.columns([1, 2.2], gap="medium")
    return left.container(key="experiment_input"), right


def readable_content(pad: Pad, content: PadContent, is_unreadable: bool) -> PadContent:
    """Return what is on a pad or, if the page cannot read it, what it could read last."""
    if is_unreadable:
        return _content(pad, pad.last_readable.value)
    pad.last_readable.value = pad.strokes.value
    return content


def _content(pad: Pad, strokes: list[Stroke]) -> PadContent:
    paper = pad.paper.value
    coloured = [stroke._replace(colour=stroke.colour or INK[paper]) for stroke in strokes]
    return PadContent(render_strokes(coloured, pad.size, paper), coloured, paper)


def _address_of(pad: Pad) -> tuple[str, str]:
    return pad.preset.value, pad.packed.value


def _record(
    pad: Pad, drawing: Json, strokes: Sequence[Stroke], preset: str = CUSTOM, undone: Sequence[Json] = ()
) -> None:
    """Set the fields of a drawing, those in the address too, and the shapes that Redo brings back."""
    ink = INK[pad.paper.value]
    uncoloured = [stroke._replace(colour=None if stroke.colour == ink else stroke.colour) for stroke in strokes]
    pad.packed.value, pad.strokes.value = _pack(uncoloured) if preset == CUSTOM else ("", uncoloured)
    pad.preset.value, pad.drawing.value, pad.undone.value = preset, drawing, [*undone]
    pad.applied_address.value = _address_of(pad)


def _pack(strokes: list[Stroke]) -> tuple[str, list[Stroke]]:
    """Return strokes as text of an address and as it restores them; "" and the same if they are too long for a link."""
    try:
        packed = pack_strokes(strokes)
        return packed, unpack_strokes(packed)
    except (ValueError, OverflowError):
        return "", strokes


def _follow_address(pad: Pad) -> None:
    """Put on the pad what the address says; what was too long for it comes again with Forward after Back."""
    preset, packed = _address_of(pad)
    if pad.applied_address.value == (CUSTOM, ""):
        pad.too_long.value = pad.drawing.value
    if packed:
        set_strokes(pad, unpack_strokes(packed))
    elif preset == CUSTOM and pad.too_long.value is not None:
        _replace(pad, pad.too_long.value)
    elif preset in pad.presets:
        _on_preset(pad, preset)
    else:
        strokes = pad.from_address(preset) if pad.from_address else None
        set_strokes(pad, strokes or pad.presets[pad.first](), preset=preset)


def digit_presets() -> dict[str, Callable[[], list[Stroke]]]:
    """Return the ten digits as presets of a pad of the default size."""

    def strokes(digit: int) -> list[Stroke]:
        return [Stroke(np.round(path, 1), Pad.pen_width) for path in preset_paths(digit, Pad.size[0])]

    return {str(digit): partial(strokes, digit) for digit in range(10)}


def _draw_buttons(pad: Pad) -> None:
    name = pad.name
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_presets"):
        for label in pad.presets:
            st.button(label, key=f"{name}_preset_{label}", on_click=_on_preset, args=(pad, label))
    if pad.pens:
        dots = (
            f".st-key-{name}_pen button:nth-of-type({number})::before {{ background: {PEN[pen]}; }}"
            for number, pen in enumerate(pad.pens, 1)
        )
        page_style("".join(dots))
        single_choice("Pen", pad.pen, (*pad.pens, ERASER), label_visibility="collapsed", wrap=True)
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
    """Return a stroke's colour on a paper: the paper's ink for black and for None."""
    return INK[paper] if colour is None or colour.upper() == INK["light"] else colour


def set_strokes(pad: Pad, strokes: Sequence[Stroke], *, add: bool = False, preset: str = CUSTOM) -> None:
    """Replace the strokes on the pad, or add to them; for a callback, or before the pad is drawn.

    The preset is what the address calls them.
    """
    paper = pad.paper.value
    objects = [_path_object(stroke.path, _colour_on(paper, stroke.colour), stroke.width) for stroke in strokes]
    existing = pad.drawing.value.get("objects", []) if add else []
    _replace(pad, {"version": FABRIC_VERSION, "objects": [*existing, *objects]}, preset)


def remove_strokes(pad: Pad, width: float) -> None:
    """Remove all strokes of one pen width from the pad; for a callback."""
    drawing = pad.drawing.value
    objects = [shape for shape in drawing.get("objects", []) if abs(shape.get("strokeWidth", 0) - width) > 1e-6]
    _replace(pad, {**drawing, "objects": objects})


def _replace(pad: Pad, drawing: Json, preset: str = CUSTOM, undone: Sequence[Json] = ()) -> None:
    """Set the drawing and mount the canvas anew with it."""
    _record(pad, drawing, inked_strokes(drawing), preset, undone)
    pad.generation.value += 1


def _on_preset(pad: Pad, label: str) -> None:
    set_strokes(pad, pad.presets[label](), preset=label)


def _path_object(path: np.ndarray, ink: str, width: float) -> Json:
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


def _undo(pad: Pad, n_strokes: float) -> None:
    """Remove the last strokes, this many, math.inf = all; a negative number redoes as many."""
    drawing = pad.drawing.value
    objects = drawing.get("objects", [])
    shapes, n_left = [*objects, *pad.undone.value], int(max(len(objects) - n_strokes, 0))
    _replace(pad, {**drawing, "objects": shapes[:n_left]}, undone=shapes[n_left:])


def _change_paper(pad: Pad, paper: str) -> None:
    """Change the paper, and with it the strokes in the colour of its ink or of the paper; others stay."""
    before, pad.paper.value = pad.paper.value, paper
    new_colours = {INK[before].lower(): INK[paper], PAPER[before].lower(): PAPER[paper]}
    objects = [
        {**shape, "stroke": new_colours.get(str(shape.get("stroke")).lower(), shape.get("stroke"))}
        for shape in pad.drawing.value.get("objects", [])
    ]
    if objects:
        _replace(pad, {"version": FABRIC_VERSION, "objects": objects}, pad.preset.value)


@cached_computation()
def render_strokes(strokes: Sequence[Stroke], size: tuple[int, int], paper: str) -> np.ndarray:
    """Return strokes as the canvas shows them, uint8 (height, width, 4); paper is "light" or "dark"."""
    return draw_strokes(strokes, size, INK[paper], PAPER[paper])


def inked_share(canvas: np.ndarray, paper: str) -> float:
    """Return the share of a canvas, uint8 (height, width, 4), that is not in the colour of its paper."""
    return float(inked_pixels(canvas, paper).mean())


def inked_pixels(canvas: np.ndarray, paper: str) -> np.ndarray:
    """Return which pixels of a canvas, uint8 (height, width, 4), differ from its paper, bool (height, width)."""
    levels = enumerate(getrgb(PAPER[paper]))  # a channel at a time: fifty times as fast as along the short last axis
    return np.logical_or.reduce([np.abs(canvas[..., i] - np.int16(level)) > MIN_INK_CONTRAST for i, level in levels])
