"""The first screen, left: coloured digits on the pad, a random scene, and what is to be said about the drawing."""

import random
from functools import partial

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.data.canvases import MOST_INK, CanvasRemark, DrawnDigit, drawn_digits, overlapping
from attention_core.data.colours import COLOURS, PEN, name_of, nearest_names, rgb_of
from attention_core.data.drawing import Stroke
from attention_core.data.presets import MOST, SCENES, random_scene, scene_strokes
from attention_core.data.questions import Question
from attention_core.topics.ask import SceneInput, owners, see, without
from ui.canvas import PAPER, Pad, PadState, covered, drawing_pad, put_strokes
from ui.computed import computed

NAME, SIDE = "ask", 320
PENS = ("red", "orange", "yellow", "green", "blue", "purple", "brown", "black")
REMARKS = {
    CanvasRemark.EMPTY: "The canvas is empty. Draw a few digits in several colours, or take a scene from below it.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: the model looks for digits.",
    CanvasRemark.FULL: (
        "The canvas is painted over, and there is nothing that looks like a digit. The model answers all the same; "
        "“Undo” takes the last stroke back."
    ),
}
LAST_SCENE = 10_000


def _asked_scene(asked: str) -> list[Stroke] | None:
    number = int(asked) if asked.isdecimal() and len(asked) <= 4 else None
    return None if number is None else random_scene(number, SIDE)


PRESETS = {name: partial(scene_strokes, scene, SIDE) for name, scene in SCENES.items()}
PAD = Pad(
    NAME,
    PRESETS,
    first=next(iter(PRESETS)),
    size=(SIDE, SIDE),
    address="scene",
    help="Put the scene “{}” on the canvas",
    pens=PENS,
    pen_width=10,
    eraser=True,
    any_ink=True,
    from_address=_asked_scene,
)


class AskedDrawing:
    def __init__(self, pad: PadState) -> None:
        self.canvas: np.ndarray = pad.canvas  # uint8 (320, 320, 4) RGBA
        self.seen: SceneInput = see(pad.canvas)  # the same as the model sees it
        self.digits: list[DrawnDigit] = drawn_digits(pad.inked, SIDE, PAPER[pad.paper])  # strokes that belong together
        full = covered(pad.canvas, pad.paper) > MOST_INK  # looks like other paper to the model
        self.remark: CanvasRemark | None = CanvasRemark.FULL if full else self.seen.remark
        self._inked = pad.inked

    @property
    def picture(self) -> Tensor:
        """The model's input, (4, 64, 64)."""
        return self.seen.picture

    @property
    def is_empty(self) -> bool:
        return self.remark is CanvasRemark.EMPTY

    def without(self, gone: list[int]) -> SceneInput:
        return without(self.seen, owners(self.seen, self._inked, self.digits, SIDE), gone)


def scene_pad() -> AskedDrawing:
    """Draw the pad with its pens and scenes, and say what is unusual about the drawing."""
    st.html(_style())
    pad = drawing_pad(PAD)
    told = "Three to six digits in up to three colours; the address brings the same scene back"
    st.button("Compose a scene at random", key="ask_compose", on_click=_compose, icon=":material/shuffle:", help=told)
    drawing = computed()(AskedDrawing)(pad)
    if drawing.remark:
        st.info(REMARKS[drawing.remark])
    return drawing


def drawing_remarks(drawing: AskedDrawing, question: Question) -> list[str]:
    remarks = []
    inks = sorted({digit.ink for digit in drawing.digits})
    for ink in [ink for ink in inks if name_of(ink) is None][:2]:
        (first, _), (second, _) = nearest_names(rgb_of(ink))
        remarks.append(f"An ink ({ink}) lies between **{first}** and **{second}**: the model may call it either.")
    near = {ink: [name_of(ink)] if name_of(ink) else [name for name, _ in nearest_names(rgb_of(ink))] for ink in inks}
    colours = {name for names in near.values() for name in names}
    if question.colour and drawing.digits and question.colour not in colours:
        remarks.append(f"There is no **{question.colour}** ink on the canvas, so what you ask about may not be there.")
    if overlapping(drawing.digits):
        remarks.append("Digits lie over each other; the model has only seen digits that stand apart.")
    if len(drawing.digits) > MOST:
        remarks.append(f"There are more than {MOST} digits or pieces; the model was trained on one to {MOST}.")
    return remarks


def _compose() -> None:
    number = random.randrange(LAST_SCENE)
    put_strokes(PAD, random_scene(number, SIDE), told=str(number))


def _style() -> str:
    dots = "".join(
        f".st-key-{NAME}_pen button:nth-of-type({place})::before {{ background: {PEN[name]}; }}"
        for place, name in enumerate(PENS, 1)
    )
    n = len(PENS)
    rainbow = f"conic-gradient({', '.join(PEN[name] for name in COLOURS[:7])}, {PEN['red']})"
    return f"""<style>
div.st-key-{NAME}_presets {{ display: flex; max-width: none; }}
div.st-key-{NAME}_presets button {{ width: auto; padding: 0.1rem 0.7rem; min-height: 2rem; }}
.st-key-{NAME}_pen button {{ padding: 0.1rem 0.5rem; min-height: 1.9rem; }}
.st-key-{NAME}_pen button p {{ font-size: 0.84rem; }}
.st-key-{NAME}_pen button::before {{ content: ""; width: 0.8rem; height: 0.8rem; border-radius: 50%;
  margin-right: 0.35rem; flex: none; box-shadow: 0 0 0 1px #8a93a055; }}
{dots}
.st-key-{NAME}_pen button:nth-of-type({n + 1})::before {{ background: {rainbow}; }}
.st-key-{NAME}_pen button:nth-of-type({n + 2})::before {{ background: none; box-shadow: 0 0 0 1px #8a93a0; }}
</style>"""
