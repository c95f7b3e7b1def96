"""The first screen: coloured digits on the pad, a question about them, its answer, where the looks went."""

import random
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import islice

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core import AttentionTrace, Uniform
from attention_core.charts import overlay
from attention_core.data import questions
from attention_core.data.canvases import MAX_INK, CanvasRemark, InkedDigit, group_strokes, overlapping
from attention_core.data.colours import PEN, hex_to_rgb, nearest_names
from attention_core.data.drawing import Stroke
from attention_core.data.presets import MAX_DIGITS, SCENES, random_digits, random_scene, scene_strokes
from attention_core.data.questions import answer_in_words
from attention_core.data.scene_questions import SceneDigit
from attention_core.device import to_array
from attention_core.inference import scenes as ask
from attention_core.models.scene_question import SceneAnswer, SceneQuestion
from ui.canvas import INK, PAPER, Pad, PadContent, covered, drawing_pad, last_readable, render_strokes, set_strokes
from ui.chart import note_picture
from ui.component import component
from ui.computed import by_model, cached_computation
from ui.edits import EditList, ListedEdit
from ui.hosting.bounds import QUESTION_BOX_LETTERS
from ui.labels import error_markdown, literal, note
from ui.layout import grey_out, page_style, shaded_word
from ui.state import Field, plain_text, set_widget
from ui.try_this import TRIED, TryThis, try_this

NAME, SIDE = "ask", 320
PENS = ("red", "orange", "yellow", "green", "blue", "purple", "brown", "black")
REMARKS = {
    CanvasRemark.EMPTY: "The canvas is empty. Draw a few digits in several colours, or take a scene from below it.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: the model looks for digits.",
    CanvasRemark.FULL: "The canvas is painted over: there is too much ink for digits. Undo takes the last stroke back.",
}
LAST_SCENE = 10_000
MODEL = "scene-question"
FIRST = "which digit is left of the blue one?"
TEXT = Field(NAME, "text", FIRST, address="q", parse=lambda asked: plain_text(asked)[: QUESTION_BOX_LETTERS.maximum])
LAST_READ = Field(NAME, "last_read", FIRST)
"""The last question that could be read: its answer stays while another cannot."""
ALIKE = ListedEdit(Uniform(), "it looks everywhere alike")
EDITS = EditList(NAME, uniform={"1": [ALIKE]}.__getitem__)
MAX_EXAMPLES, WORTH_SAYING = 4, 0.1
THREE_LOOKS, POSSIBLE = f"{questions.write(ask.EXAMPLES[-1])}?", ("red", "purple", "orange")
DOTS = PEN | {"black": f"light-dark({INK['light']}, {INK['dark']})"}
_glow = component("start_scene")
answer_one, read_digits = by_model(SceneQuestion.explain), by_model(ask.read_digits)


def _asked_scene(asked: str) -> list[Stroke] | None:
    return random_scene(int(asked), SIDE) if _is_number(asked) else None


def _is_number(name: str) -> bool:
    return name.isdecimal() and len(name) <= 4


PRESETS = {name: partial(scene_strokes, scene, SIDE) for name, scene in SCENES.items()}
PAD = Pad(
    NAME,
    PRESETS,
    first=next(iter(PRESETS)),
    size=(SIDE, SIDE),
    address="scene",
    pens=PENS,
    pen_width=10,
    from_address=_asked_scene,
)


class AskedDrawing:
    def __init__(self, pad: PadContent) -> None:
        self.canvas: np.ndarray = pad.canvas  # uint8 (320, 320, 4) RGBA
        self.seen: ask.SceneInput = ask.scene_input(pad.canvas)  # the same as the model sees it
        self.digits: list[InkedDigit] = group_strokes(
            pad.strokes, SIDE, PAPER[pad.paper]
        )  # strokes that belong together
        full = covered(pad.canvas, pad.paper) > MAX_INK  # looks like other paper to the model
        self.remark: CanvasRemark | None = CanvasRemark.FULL if full else self.seen.remark
        self._pad = pad

    @cached_property
    def items(self) -> list[SceneDigit]:
        """Its digits as the network reads each of them alone."""
        others = [[other for other in range(len(self.digits)) if other != place] for place in range(len(self.digits))]
        alone = [self.without(gone).picture for gone in others]
        return read_digits(MODEL, alone, [(digit.colour, digit.box) for digit in self.digits])

    @property
    def picture(self) -> Tensor:
        """The model's input, (4, 64, 64)."""
        return self.seen.picture

    def without(self, gone: list[int]) -> ask.SceneInput:
        away = {stroke for place in gone for stroke in self.digits[place].strokes}
        kept = [stroke for place, stroke in enumerate(self._pad.strokes) if place not in away]
        return ask.scene_input(render_strokes(kept, (SIDE, SIDE), self._pad.paper))


def scene_pad() -> tuple[AskedDrawing, bool]:
    """Draw the pad with its pens and scenes; return what is drawn, or was before it was empty, and which of both."""
    dots = "".join(
        f".st-key-{NAME}_pen button:nth-of-type({place})::before {{ background: {DOTS[name]}; }}"
        for place, name in enumerate(PENS, 1)
    )
    page_style(dots)
    pad = drawing_pad(PAD)
    st.button("Another scene", key="ask_compose", on_click=_compose, icon=":material/shuffle:")
    remark = asked_drawing(pad).remark
    if remark:
        st.info(REMARKS[remark])
    is_empty = remark is CanvasRemark.EMPTY
    return asked_drawing(last_readable(PAD, pad, is_empty)), not is_empty


asked_drawing = cached_computation()(AskedDrawing)


def digits_of(drawing: AskedDrawing) -> list[SceneDigit]:
    """Return the digits of a ready or random scene; of another drawing as the network reads each of them alone."""
    name = PAD.preset.value
    placed = random_digits(int(name), SIDE) if _is_number(name) else SCENES.get(name, ())
    seen = {"black": "white"} if PAD.paper.value == "dark" else {}  # the canvas' own ink
    return [SceneDigit(str(digit), seen.get(colour, colour), x, y) for digit, colour, x, y in placed] or drawing.items


def drawing_remarks(drawing: AskedDrawing, question: questions.Question) -> list[str]:
    remarks = [] if ask.is_clear(question, digits_of(drawing)) else [ask.UNCLEAR]
    near = {name for digit in drawing.digits for name, _ in nearest_names(hex_to_rgb(digit.ink))}
    if question.colour and near and question.colour not in near:
        remarks.append(f"There is no **{question.colour}** ink on the canvas.")
    if overlapping(drawing.digits):
        remarks.append("Digits lie over each other; the model has only seen digits that stand apart.")
    if len(drawing.digits) > MAX_DIGITS:
        remarks.append(
            f"There are more than {MAX_DIGITS} digits or pieces; the model was trained on one to {MAX_DIGITS}."
        )
    return remarks


def _compose() -> None:
    number = random.randrange(LAST_SCENE)
    set_strokes(PAD, random_scene(number, SIDE), preset=str(number))


def question_part(drawing: AskedDrawing) -> tuple[questions.ParsedQuestion, bool]:
    """Draw the box and examples with one answer; return the last question that can be read, and whether it is typed."""
    suggested = ask.clear_questions(digits_of(drawing))
    TEXT.widget(
        st.text_input,
        "Your question, in English",
        max_chars=QUESTION_BOX_LETTERS.maximum,
        label_visibility="collapsed",
        placeholder="what colour is the 7?",
    )
    try:
        reading = questions.read_question(TEXT.value)
    except questions.QuestionError as error:
        st.info(f"{error_markdown(error)} **What can be asked**, for instance:")
        _chips(suggested)
        return questions.read_question(LAST_READ.value), False
    LAST_READ.value = TEXT.value
    _chips(suggested[:MAX_EXAMPLES])
    if reading.rephrased:
        st.caption(f"Read as: {literal(' '.join(reading.words))}")
    return reading, True


def _chips(some: Sequence[questions.Question]) -> None:
    with st.container(horizontal=True, gap="xsmall", key="ask_examples"):
        for place, question in enumerate(some):
            text = f"{questions.write(question)}?"
            st.button(text, key=f"ask_example_{place}", on_click=TEXT.take, args=(text,))


def answer_part(
    drawing: AskedDrawing, reading: questions.ParsedQuestion, is_present: bool, over_drawing: DeltaGenerator
) -> SceneAnswer:
    """Draw the answer and its looks, greyed unless they are of what stands on the page; return the answer."""
    own, alike = (answer_one(MODEL, drawing.picture, reading.words, edits=edits) for edits in ((), (Uniform(),)))
    runs = PAD.runs(lambda canvas: answer_one(MODEL, ask.scene_input(canvas).picture, reading.words))
    edits, is_alike = EDITS.fitting(own.looks[0], runs=runs), ALIKE in EDITS.changes
    answered = answer_one(MODEL, drawing.picture, reading.words, edits=edits) if edits else own
    for key in ("ask_answer", "ask_glow"):
        grey_out(key, not is_present)
    with over_drawing:
        grid = answered.looks[0].story.key_axis.grid
        maps = [to_array(look.weights()[0, :-1]) for look in answered.looks[: reading.question.n_looks]]
        for number, weights in enumerate(maps, 1):
            chart = partial(overlay, drawing.canvas, weights.reshape(grid))
            note_picture(chart, f"Look {number}, over the drawing")
        shown = [{"words": [], "weights": weights.tolist()} for weights in maps]
        _glow(key="ask_glow_looks", data={"looks": shown, "strokes": [], "said": [], "answered": 0, "over": True})
    with st.container(key="ask_answer"):
        with st.container(horizontal=True, gap="large", vertical_alignment="center"):
            with st.container(width="content"):
                big_answer(answered)
            with st.container(width="content", gap="xsmall", key="ask_other"):
                other = answer_in_words(best_answer(own if is_alike else alike)[0])
                st.markdown(f"{'Free to choose' if is_alike else 'Forced to look everywhere alike'}: **{other}**")
                set_widget("ask_uniform", is_alike)
                st.toggle("Force every weight equal", key="ask_uniform", on_change=EDITS.toggle, args=(ALIKE,))
        if len(edits) > is_alike:
            st.caption(f"Its attention is changed under *Try*; as learned: **{answer_in_words(best_answer(own)[0])}**")
        for remark in drawing_remarks(drawing, reading.question):
            st.caption(remark)
        with st.container(key="tells_ask"):
            looks = islice(zip(answered.words, answered.looks, strict=True), reading.question.n_looks)
            for number, (words, look) in enumerate(looks, 1):
                st.html(f"<p style='margin:0;line-height:1.7'><b>Look {number}</b> {shaded_words(words)}</p>")
                say_nowhere(look)
        if reading.question.between:
            with st.container(key="desk_ask_note"):
                note("*The shirt of the person kicking the ball*: first the ball, then the person, then the shirt.")
    try_this(NAME, _three_looks())
    return answered


def say_nowhere(look: AttentionTrace, query: int = 0) -> None:
    """Say how much of a look the empty key gets, where it is worth saying."""
    if (share := float(look.weights(0, [query])[0, -1])) >= WORTH_SAYING:
        st.caption(f"{share:.0%} of this look goes to no place at all.")


def _three_looks() -> TryThis:

    def act() -> None:
        set_strokes(PAD, PRESETS[PAD.first](), preset=PAD.first)
        TEXT.value = THREE_LOOKS
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        picture = ask.scene_input(render_strokes(PRESETS[PAD.first](), PAD.size, "light")).picture
        asked = MODEL, picture, questions.read_question(THREE_LOOKS).words
        (answer, sure), (alike, _) = (best_answer(answer_one(*asked, edits=one)) for one in ((), (Uniform(),)))
        words = f"After three looks it says *{answer}* ({sure:.0%}); forced to look everywhere alike, "
        words += f"*{answer_in_words(alike)}*."
        return POSSIBLE.index(answer) if answer in POSSIBLE else len(POSSIBLE), words

    if (TEXT.value, PAD.preset.value) != (THREE_LOOKS, PAD.first):
        TRIED[NAME].reset()  # what came of a guess was about another question or drawing
    return TryThis(
        "a question with a way to go",
        f"*{THREE_LOOKS}* Follow it through the drawing. What will it answer?",
        (*POSSIBLE, "something else"),
        act,
        outcome,
        "ask_answer",
        hides=":is(.st-key-ask_answer, .st-key-ask_glow, .st-key-ask_tabs [role=tabpanel])",
    )


def best_answer(answered: SceneAnswer) -> tuple[str, float]:
    place = int(answered.probabilities.argmax())
    return questions.ANSWERS[place], float(answered.probabilities[place])


def big_answer(answered: SceneAnswer) -> None:
    word, probability = best_answer(answered)
    ink = PEN.get(word)
    dot = (
        f'<span style="display:inline-block;width:0.62em;height:0.62em;border-radius:50%;background:{ink};'
        'box-shadow:0 0 0 1px #8a93a077;margin-right:0.3em"></span>'
        if ink
        else ""
    )
    st.html(
        f'<div class="answer" style="font-size:3rem;font-weight:650;line-height:1.15">{dot}{answer_in_words(word)}'
        f' <span style="font-size:1.1rem;font-weight:400;opacity:0.75">{probability:.0%} sure</span>'
        "</div>"
    )


def shaded_words(words: AttentionTrace) -> str:
    weights = words.weights()[0].tolist()
    parts = zip(words.story.key_axis.labels, weights, strict=True)
    return " ".join(shaded_word(word, weight, max(weights)) for word, weight in parts)
