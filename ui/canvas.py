"""A drawing pad that forgets nothing: presets, undo, clear, light or dark, kept over page changes and reruns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from streamlit_drawable_canvas import st_canvas

from attention_core.data.presets import preset_paths
from attention_core.data.strokes import draw_paths

INK = {"light": "#15191E", "dark": "#F4F6F8"}
PAPER = {"light": "#FFFFFF", "dark": "#11151A"}
MAX_SESSION_BYTES = 2_000_000
MAX_OBJECTS, MAX_COMMANDS = 200, 20_000


@dataclass(frozen=True, eq=False)
class PadState:
    """What is on the pad.

    Attributes:
        canvas: uint8 (side, side, 4) RGBA.
        strokes: one canvas-pixel path (n, 2) per stroke, in drawing order.
    """

    canvas: np.ndarray
    strokes: list[np.ndarray]


def drawing_pad(name: str, *, side: int = 256, first_preset: int = 7) -> PadState:
    """Draw the pad with its presets and buttons.

    Args:
        name: prefix of its state; the same name on two pages is the same drawing.
        side: canvas pixels along a side.
        first_preset: the digit that is there on arrival.

    Returns:
        what is drawn now.
    """
    state = st.session_state
    if f"{name}_drawing" not in state:
        state[f"{name}_paper"], state[f"{name}_width"], state[f"{name}_generation"] = "light", 20, 0
        asked = st.query_params.get("digit", "")
        _put_preset(name, int(asked) if asked.isdecimal() and int(asked) < 10 else first_preset, side)
    component = f"{name}_pad_{state[f'{name}_generation']}"
    if component not in state:  # only when it is mounted anew: changing it later would wipe the canvas
        state[f"{name}_seed"] = state[f"{name}_drawing"]
    paper = state[f"{name}_paper"]
    with st.container(key=f"{name}_canvas_frame"):
        result = st_canvas(
            stroke_width=state[f"{name}_width"],
            stroke_color=INK[paper],
            background_color=PAPER[paper],
            width=side,
            height=side,
            initial_drawing=state[f"{name}_seed"],
            return_image_data=True,
            key=component,
        )
    if result.image_data is not None:
        state[f"{name}_drawing"] = result.json_data
        state[f"{name}_pixels"] = result.image_data
        st.query_params.pop("digit", None)  # the address tells a preset, not what was drawn since
    _buttons(name, side)
    drawing = state[f"{name}_drawing"]
    pixels = state[f"{name}_pixels"]
    return PadState(_render(drawing, side, paper) if pixels is None else pixels, strokes_of(drawing))


def _buttons(name: str, side: int) -> None:
    state = st.session_state
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_presets"):
        for digit in range(10):
            st.button(
                str(digit),
                key=f"{name}_preset_{digit}",
                on_click=_choose_preset,
                args=(name, digit, side),
                help=f"Draw a {digit} for me",
            )
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.button("Undo", key=f"{name}_undo", on_click=_undo, args=(name,), icon=":material/undo:")
        st.button("Clear", key=f"{name}_clear", on_click=_clear, args=(name,), icon=":material/delete:")
        with st.popover("Pen", icon=":material/brush:"):
            st.slider(
                "Stroke width",
                2,
                60,
                state[f"{name}_width"],
                key=f"{name}_width_choice",
                on_change=_set_width,
                args=(name,),
            )
            st.radio(
                "Canvas",
                ["light", "dark"],
                index=["light", "dark"].index(state[f"{name}_paper"]),
                horizontal=True,
                key=f"{name}_paper_choice",
                on_change=_set_paper,
                args=(name,),
            )
            st.download_button(
                "Save drawing",
                json.dumps(state[f"{name}_drawing"]),
                "drawing.json",
                "application/json",
                on_click="ignore",
                width="stretch",
            )
            uploaded = st.file_uploader(
                "Open a saved drawing", "json", key=f"{name}_upload_{state[f'{name}_generation']}"
            )
            if uploaded is not None:
                _open(name, uploaded.getvalue())


def _replace(name: str, drawing: dict[str, Any]) -> None:
    """Put another drawing onto the pad, which means mounting a new canvas."""
    st.session_state[f"{name}_drawing"] = drawing
    st.session_state[f"{name}_pixels"] = None
    st.session_state[f"{name}_generation"] += 1


def _choose_preset(name: str, digit: int, side: int) -> None:
    _put_preset(name, digit, side)
    st.query_params["digit"] = str(digit)


def _put_preset(name: str, digit: int, side: int) -> None:
    state = st.session_state
    paths = [np.round(path, 1) for path in preset_paths(digit, side)]
    ink, width = INK[state[f"{name}_paper"]], state[f"{name}_width"]
    _replace(name, {"version": "7.4.0", "objects": [_path_object(path, ink, width) for path in paths]})


def _path_object(path: np.ndarray, ink: str, width: int) -> dict[str, Any]:
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


def _undo(name: str) -> None:
    drawing = st.session_state[f"{name}_drawing"]
    _replace(name, {**drawing, "objects": drawing.get("objects", [])[:-1]})


def _clear(name: str) -> None:
    _replace(name, {**st.session_state[f"{name}_drawing"], "objects": []})


def _set_width(name: str) -> None:
    st.session_state[f"{name}_width"] = st.session_state[f"{name}_width_choice"]


def _set_paper(name: str) -> None:
    state = st.session_state
    paper = state[f"{name}_paper"] = state[f"{name}_paper_choice"]
    drawing = {key: value for key, value in state[f"{name}_drawing"].items() if key != "background"}
    _replace(name, {**drawing, "objects": [{**one, "stroke": INK[paper]} for one in drawing.get("objects", [])]})


def _open(name: str, content: bytes) -> None:
    """Take an uploaded drawing, or say why not; the present one stays until the new one is known to be sound."""
    try:
        drawing = json.loads(content) if len(content) <= MAX_SESSION_BYTES else None
        strokes = strokes_of(drawing)
        size = sum(len(one["path"]) for one in drawing["objects"])
        if not strokes or len(strokes) > MAX_OBJECTS or size > MAX_COMMANDS:
            raise ValueError
        objects = [_path_object(path, INK[st.session_state[f"{name}_paper"]], 20) for path in strokes]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        st.error("This is not a drawing saved here (or it is over 2 MB). Yours is still on the pad.")
        return
    _replace(name, {"version": "7.4.0", "objects": objects})
    st.rerun()


def strokes_of(drawing: dict[str, Any]) -> list[np.ndarray]:
    """Return each stroke of a canvas drawing as a path (n, 2) in canvas pixels; curves become their end points."""
    strokes = []
    for one in drawing.get("objects", []):
        points = [command[-2:] for command in one.get("path", []) if len(command) >= 3]
        if points:
            strokes.append(_placed(np.array(points, dtype=float), one))
    return strokes


def _placed(path: np.ndarray, one: dict[str, Any]) -> np.ndarray:
    """Return the path where the stroke stands now: dragged strokes keep their old path and get a new centre."""
    if not {"left", "top", "width", "height"} <= one.keys():
        return path
    pen, scale = one.get("strokeWidth", 0), np.array([one.get("scaleX", 1), one.get("scaleY", 1)])
    size = (np.array([one["width"], one["height"]]) + pen) * scale
    share = [{"left": 0.5, "top": 0.5}.get(one.get(origin), 0.0) for origin in ("originX", "originY")]
    centre = np.array([one["left"], one["top"]]) + size * share
    return (path - (path.min(0) + path.max(0)) / 2) * scale + centre


def _render(drawing: dict[str, Any], side: int, paper: str) -> np.ndarray:
    """Draw what the canvas shows before it has sent its own pixels."""
    canvas = np.full((side, side), 255, np.uint8)
    for one, path in zip([o for o in drawing.get("objects", []) if o.get("path")], strokes_of(drawing), strict=False):
        canvas = np.minimum(canvas, draw_paths([path], side, one.get("strokeWidth", 20))[..., 0])
    grey = canvas if paper == "light" else 255 - canvas
    return np.dstack([grey, grey, grey, np.full_like(grey, 255)])
