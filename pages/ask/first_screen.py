"""The first screen: coloured digits on the pad, a question about them, its answer, where the looks went."""

import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property, partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core import AttentionTrace, BlockKeys, Uniform
from attention_core.attention.wording import percent
from attention_core.data import questions
from attention_core.data.canvases import MAX_INK, Box, CanvasRemark, InkedDigit, group_strokes, overlapping
from attention_core.data.colours import hex_to_rgb, nearest_names
from attention_core.data.drawing import Stroke
from attention_core.data.presets import MAX_DIGITS, SCENES, random_digits, random_scene, scene_strokes
from attention_core.data.questions import answer_in_words
from attention_core.data.scene_questions import SceneDigit
from attention_core.inference import scenes as ask
from attention_core.models.scene_question import SceneAnswer, SceneQuestion
from pages.ask.scene import Answers, draw_question_scene
from ui import canvas
from ui.canvas import PAPER, Pad, PadContent, draw_pad, inked_share, readable_content, render_strokes, set_strokes
from ui.computed import by_model, cached_computation
from ui.edits import EditList, ListedEdit
from ui.hosting.bounds import QUESTION_BOX_LETTERS
from ui.labels import error_markdown, literal, note
from ui.layout import grey_out, shaded_word
from ui.state import Field, plain_text, whole_number
from ui.style import page_style
from ui.try_this import TRY_STAGE, TryThis

NAME, SIDE = "ask", 320
PENS = ("red", "orange", "green", "blue")
REMARKS = {
    CanvasRemark.EMPTY: "The canvas is empty. Draw a few digits in several colours, or take a scene from below it.",
    CanvasRemark.DOT: "That is a dot. Keep drawing: the model looks for digits.",
    CanvasRemark.FULL: "The canvas is painted over: there is too much ink for digits. Undo takes the last stroke back.",
}
N_SCENES = 10_000  # scenes that the address can name: numbers of at most four digits
MODEL = "scene-question"
FIRST_QUESTION = "which digit is left of the blue one?"
QUESTION = Field(
    NAME, "text", FIRST_QUESTION, address="q", parse=lambda text: plain_text(text)[: QUESTION_BOX_LETTERS.maximum]
)
GLIMPSE = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The chosen look, from 0; at first the last one that the question needs."""
SHOWS_NAMES = Field(NAME, "names", False, address="names")
"""Whether colours are named in the drawing: red and green are alike to many."""
SHOWS_PENS = Field(NAME, "shows_pens", False, address="pens")
LAST_READ = Field(NAME, "last_read", FIRST_QUESTION)
"""The last question that could be read; its answer stays while a new one cannot."""
EQUAL_WEIGHTS = ListedEdit(Uniform(), "it looks everywhere alike")
EDITS = EditList(NAME, uniform={"1": [EQUAL_WEIGHTS]}.__getitem__)
MAX_EXAMPLES, NOTEWORTHY_WEIGHT = 4, 0.1
CHAIN_QUESTION, CHAIN_OPTIONS = f"{questions.format_question(ask.EXAMPLES[-1])}?", ("red", "purple", "orange")
"""A question that is answered by three looks in turn, and the answers to guess from."""
explain_answer, read_digits = by_model(SceneQuestion.explain), by_model(ask.read_digits)


def _parse_scene(name: str) -> list[Stroke] | None:
    return random_scene(int(name), SIDE) if _is_scene_number(name) else None


def _is_scene_number(name: str) -> bool:
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
    from_address=_parse_scene,
)


class PadScene:
    """A drawing on the pad: its pixels, the model's input, its digits."""

    def __init__(self, pad: PadContent) -> None:
        self.canvas: np.ndarray = pad.canvas  # uint8 (320, 320, 4) RGBA
        self.scene: ask.SceneInput = ask.scene_input(pad.canvas)  # the canvas as the model gets it
        # strokes that belong together
        self.digits: list[InkedDigit] = group_strokes(pad.strokes, SIDE, PAPER[pad.paper])
        is_full = inked_share(pad.canvas, pad.paper) > MAX_INK  # the model takes so much ink for the paper
        self.remark: CanvasRemark | None = CanvasRemark.FULL if is_full else self.scene.remark
        self.paper = PAPER[pad.paper]
        self._pad = pad

    @cached_property
    def recognised_digits(self) -> list[SceneDigit]:
        """Its digits as the network reads each of them alone."""
        indices = range(len(self.digits))
        pictures = [self.without([index for index in indices if index != single]).picture for single in indices]
        return read_digits(MODEL, pictures, [(digit.colour, digit.box) for digit in self.digits])

    @property
    def picture(self) -> Tensor:
        """The model's input, (4, 64, 64)."""
        return self.scene.picture

    def without(self, removed: list[int]) -> ask.SceneInput:
        """Return the model's input without the digits of these indices."""
        removed_strokes = {stroke for index in removed for stroke in self.digits[index].strokes}
        remaining = [stroke for index, stroke in enumerate(self._pad.strokes) if index not in removed_strokes]
        return ask.scene_input(render_strokes(remaining, (SIDE, SIDE), self._pad.paper))


def scene_pad() -> tuple[PadScene, bool]:
    """Draw the pad, its pens and scenes; return the drawing, of an empty pad the last one, and if it is present."""
    pad = draw_pad(PAD)
    st.button("Another scene", key="ask_compose", on_click=_compose, icon=":material/shuffle:")
    if not SHOWS_PENS.widget(st.toggle, "Draw") and PAD.preset.value != canvas.CUSTOM:
        page_style(":is(.st-key-ask_pen, .st-key-ask_tools) { display: none; }")
    if remark := read_drawing(pad).remark:
        st.info(REMARKS[remark])
    is_empty = remark is CanvasRemark.EMPTY
    return read_drawing(readable_content(PAD, pad, is_empty)), not is_empty


read_drawing = cached_computation()(PadScene)


def digits_of(drawing: PadScene) -> list[SceneDigit]:
    """Return the digits of a preset or random scene as placed, of a drawing as the network reads each alone."""
    name = PAD.preset.value
    placed = random_digits(int(name), SIDE) if _is_scene_number(name) else SCENES.get(name, ())
    renamed = {"black": "white"} if PAD.paper.value == "dark" else {}  # the black pen's ink on dark paper
    digits = [SceneDigit(str(digit), renamed.get(colour, colour), x, y) for digit, colour, x, y in placed]
    return digits or drawing.recognised_digits


def drawing_remarks(drawing: PadScene, question: questions.Question) -> list[str]:
    remarks = [] if ask.is_clear(question, digits_of(drawing)) else [ask.UNCLEAR]
    ink_names = {name for digit in drawing.digits for name, _ in nearest_names(hex_to_rgb(digit.ink))}
    if question.colour and ink_names and question.colour not in ink_names:
        remarks.append(f"There is no **{question.colour}** ink on the canvas.")
    if overlapping(drawing.digits):
        remarks.append("Digits lie over each other; the model has only seen digits that stand apart.")
    if len(drawing.digits) > MAX_DIGITS:
        remarks.append(
            f"There are more than {MAX_DIGITS} digits or pieces; the model was trained on one to {MAX_DIGITS}."
        )
    return remarks


def _compose() -> None:
    number = random.randrange(N_SCENES)
    set_strokes(PAD, random_scene(number, SIDE), preset=str(number))


def draw_question(drawing: PadScene, examples: DeltaGenerator | None = None) -> tuple[questions.ParsedQuestion, bool]:
    """Draw the box and examples with one answer; return the last question that could be read, and if it is present.

    The examples stand in a container of theirs, None = below the box.
    """
    suggested = ask.clear_questions(digits_of(drawing))
    QUESTION.widget(
        st.text_input,
        "Your question, in English",
        max_chars=QUESTION_BOX_LETTERS.maximum,
        on_change=GLIMPSE.restore_default,
        label_visibility="collapsed",
        placeholder="Your question, in English",
    )
    try:
        reading = questions.read_question(QUESTION.value)
    except questions.QuestionError as error:
        st.info(f"{error_markdown(error)} **What can be asked**, for instance:")
        _draw_examples(suggested)
        return questions.read_question(LAST_READ.value), False
    LAST_READ.value = QUESTION.value
    with examples or nullcontext():
        _draw_examples(suggested[:MAX_EXAMPLES])
    if reading.is_rephrased:
        st.caption(f"Read as: {literal(' '.join(reading.words))}")
    return reading, True


def _draw_examples(suggested: Sequence[questions.Question]) -> None:
    with st.container(horizontal=True, gap="xsmall", key="ask_examples"):
        for number, question in enumerate(suggested):
            text = f"{questions.format_question(question)}?"
            st.button(text, key=f"ask_example_{number}", on_click=_take_example, args=(text,))


def _take_example(text: str) -> None:
    QUESTION.value = text
    GLIMPSE.restore_default()


def learned_and_edited(drawing: PadScene, reading: questions.ParsedQuestion) -> tuple[SceneAnswer, SceneAnswer]:
    """Return the answer as learned, and with the visitor's edits that fit."""
    learned = explain_answer(MODEL, drawing.picture, reading.words, edits=())
    edits = EDITS.fitting(learned.looks[0])
    return learned, explain_answer(MODEL, drawing.picture, reading.words, edits=edits) if edits else learned


def draw_answer(
    drawing: PadScene,
    reading: questions.ParsedQuestion,
    chosen: int,
    on_look: Callable[[int], None],
    *,
    is_empty: bool,
    is_present: bool,
) -> SceneAnswer:
    """Draw the scene of the answer, in grey unless drawing and question are both present; return the answer.

    `chosen` is the look that is shown in the end, on_look gets another one.
    """
    learned, edited = learned_and_edited(drawing, reading)
    equal = explain_answer(MODEL, drawing.picture, reading.words, edits=(Uniform(),))
    is_equal = EQUAL_WEIGHTS in EDITS.changes

    def on_equal(wanted: bool) -> None:
        if EDITS.changes and not wanted:
            EDITS.reset()
        elif wanted != is_equal:
            EDITS.toggle(EQUAL_WEIGHTS)

    def on_cut(key: int) -> None:
        keys, name = keys_of_digit(drawing, key, learned.looks[0])
        EDITS.add(BlockKeys(keys), description=f"it no longer looks at {name}")

    grey_out("ask_answer", not is_present)
    state = {"query": chosen, "isEven": is_equal, "isEmpty": is_empty, "plays": is_present, "paper": drawing.paper}
    names = [(digit.colour, (digit.box[1] + digit.box[3]) / 2, digit.box[2]) for digit in drawing.digits]
    state["boxes"] = [digit.box for digit in drawing.digits]
    state["names"] = names if SHOWS_NAMES.value else []
    with st.container(key="ask_answer"):
        answers = Answers(learned, equal, edited)
        draw_question_scene(drawing.canvas, answers, reading.question.n_looks, state, on_look, on_equal, on_cut)
        for remark in drawing_remarks(drawing, reading.question):
            st.caption(remark)
        if reading.question.between:
            with st.container(key="desk_ask_note"):
                note(
                    "Such a question is *the shirt of the person kicking the ball*: first the ball, then the person, "
                    "then the shirt."
                )
    return edited


def keys_of_digit(drawing: PadScene, key: int, look: AttentionTrace) -> tuple[tuple[int, ...], str]:
    """Return the keys around the digit at a key of a look, and its name; where there is none the key alone."""
    rows, columns = look.story.key_axis.picture_grid
    if key == rows * columns:
        return (key,), "nothing"
    middles = [((index // columns + 0.5) / rows, (index % columns + 0.5) / columns) for index in range(rows * columns)]
    for digit in drawing.digits:
        keys = tuple(index for index, middle in enumerate(middles) if _is_near(middle, digit.box, 1 / rows))
        if key in keys:
            return keys, f"the {digit.colour} digit"
    return (key,), f"region {key + 1}"


def _is_near(point: tuple[float, float], box: Box, margin: float) -> bool:
    """Return whether a point (y, x) lies in a box, or no further from it than a margin; all in shares of a side."""
    top, left, bottom, right = box
    return top - margin <= point[0] <= bottom + margin and left - margin <= point[1] <= right + margin


def draw_empty_weight(trace: AttentionTrace, query: int = 0) -> None:
    """Draw a sentence on the weight of the empty key, where it is large."""
    if (weight := float(trace.weights(0, [query])[0, -1])) >= NOTEWORTHY_WEIGHT:
        st.caption(f"{percent(weight)} of this look goes to no place at all.")


def chain_surprise() -> TryThis:
    """Return the page's surprise: a question that is answered by three looks in turn."""

    def act() -> None:
        set_strokes(PAD, PRESETS[PAD.first](), preset=PAD.first)
        QUESTION.value = CHAIN_QUESTION
        EDITS.reset()

    def outcome() -> tuple[int, str]:
        picture = ask.scene_input(render_strokes(PRESETS[PAD.first](), PAD.size, "light")).picture
        words = questions.read_question(CHAIN_QUESTION).words
        answer, _ = best_answer(explain_answer(MODEL, picture, words, edits=()))
        option = CHAIN_OPTIONS.index(answer) if answer in CHAIN_OPTIONS else len(CHAIN_OPTIONS)
        return option, f"After three looks it says *{answer}*: what one look takes goes into the query of the next."

    if (QUESTION.value, PAD.preset.value) != (CHAIN_QUESTION, PAD.first):
        TRY_STAGE[NAME].reset()  # the verdict on a guess was about another question or drawing
    return TryThis(
        "a question of three looks",
        f"*{CHAIN_QUESTION}* Follow it through the drawing. What will it answer?",
        (*CHAIN_OPTIONS, "something else"),
        act,
        outcome,
        "ask_answer",
        hides=".st-key-numbers",
    )


def best_answer(answer: SceneAnswer) -> tuple[str, float]:
    """Return the likeliest answer in words, and its probability."""
    index = int(answer.probabilities.argmax())
    return answer_in_words(questions.ANSWERS[index]), float(answer.probabilities[index])


def shaded_words(words: AttentionTrace) -> str:
    """Return HTML of the question's words, the darker the larger their weight."""
    weights = words.weights()[0].tolist()
    largest, labels = max(weights), words.story.key_axis.labels
    return " ".join(shaded_word(label, weight, largest) for label, weight in zip(labels, weights, strict=True))
