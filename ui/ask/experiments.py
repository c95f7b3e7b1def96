"""Something to try: take digits away and see how an average counts; forbid the attention keys, or all choice."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.edits import BlockKeys, Uniform
from attention_core.data.colours import PEN
from attention_core.data.question_reading import ParsedQuestion
from attention_core.data.questions import Question, QuestionKind, write
from attention_core.data.sketches import HEIGHT, MOST, PLACES_OF_MANY, digit_strokes
from attention_core.models.scene_question import SceneAnswer
from attention_core.topics.ask import AnswerCounts, SceneInput, count_in, regions_of, see
from attention_core.topics.ask.charts import nothing_weights
from ui.ask.asking import MODEL, SCORE_NAMES, SCORING, answer, answer_bars, ask_this, best_answer, big_answer, grid_of
from ui.ask.blocking import BlockedRegions
from ui.ask.drawing import NAME, SIDE, AskedDrawing
from ui.canvas import render_strokes
from ui.chart import draw_chart
from ui.computed import computed, model_or_stop
from ui.labels import distinct
from ui.state import Field, choice, named, several

OWN, COMPOSED = "this drawing", "a composed one"
DIGITS_OF_MANY = (4, 7, 2, 9, 6)
FRAME = (200, 205, 211)
EMPTY_KEY = -1  # among the choices: block the key that stands for nothing
SIZE = 250
COUNT_OF = Field(NAME, "count_of", OWN, address="count", **named(own=OWN, composed=COMPOSED))
BLOCKED_DIGITS = Field[list[int]](NAME, "block", list, address="block")
BLOCKED = BlockedRegions(Field[list[int]](NAME, "blocked", list, address="blocked"))
UNIFORM = Field(NAME, "uniform", False, address="uniform")


class Series(NamedTuple):
    counts: list[int]  # how many match in each
    shown: list[SceneInput]  # the drawings as the model sees them
    question: Question  # what is asked about each


def counting(drawing: AskedDrawing, question: Question | None) -> None:
    """Say and show how the model counts although its weights sum to one."""
    st.markdown(
        "Averaging three equal values gives the same as one, so a plain average cannot count. But things that do not "
        "match get weight too: bare paper, and one extra key that stands for *nothing*. The more digits match, the "
        "less weight is left for the rest. The network reads the count from how much the rest has faded."
    )
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        source = choice("Digits of", COUNT_OF, (OWN, COMPOSED))
        series = _own_series(drawing, question) if source == OWN else _composed_series()
        if series is None:
            st.info("There is no digit on the canvas to take away. Draw some, or look at a composed drawing.")
            return
        counts, shown, asked = series
        text = f"{write(asked)}?"
        st.markdown(f"Asked each time: **{text}**")
        if st.button("Ask this about the drawing above", key="ask_ask_count", on_click=ask_this, args=(text,)):
            st.rerun()
        st.image(
            _strip([seen.shown for seen in shown]),
            width=min(84 * len(shown), 504),
            output_format="PNG",
            alt="The drawings that were asked about",
        )
        st.caption(
            "Your drawing, its matching digits taken away one by one. Strokes of one ink that touch count as one digit."
            if source == OWN
            else "None to five red digits beside a blue one."
        )
    counted = count([seen.picture for seen in shown], text, SCORING.value)
    with right:
        chart = nothing_weights(counts, counted.empty, counted.paper, counted.answers)
        words = "The weight of the empty key and of bare paper against the number of digits that match"
        draw_chart(chart, width="stretch", key="ask_counting", alt=words)
        n_right = sum(told == str(count) for told, count in zip(counted.answers, counts, strict=True))
        st.caption(
            f"Measured just now with the {SCORE_NAMES[SCORING.value]} score: {n_right} of {len(counts)} counts are "
            "right. Block the empty key under “Try: forbid it to look”: bare paper alone is often enough to count."
        )


@computed(by_model=True)
def count(pictures: list[Tensor], text: str, scoring: str) -> AnswerCounts:
    return count_in(model_or_stop(MODEL), pictures, text, scoring)


def _own_series(drawing: AskedDrawing, question: Question | None) -> Series | None:
    """Take away the digits of the colour that was asked about, else of the most frequent one, else all."""
    if not drawing.digits:
        return None
    colours = Counter(digit.colour for digit in drawing.digits)
    wanted = question.colour if question and question.kind is QuestionKind.COUNT else None
    colour = wanted if wanted in colours else colours.most_common(1)[0][0]
    if colours[colour] < 2 and colour != wanted:
        colour = None
    matching = [place for place, digit in enumerate(drawing.digits) if colour in (None, digit.colour)][:MOST]
    others = len(drawing.digits) > len(matching)
    counts = list(range(0 if others else 1, len(matching) + 1))
    return Series(
        counts, [drawing.without(matching[count:]) for count in counts], Question(QuestionKind.COUNT, colour=colour)
    )


@computed()
def _composed_series() -> Series:
    places = [(x * SIDE, y * SIDE) for x, y in PLACES_OF_MANY]
    blue = digit_strokes(3, places[-1], HEIGHT * SIDE, colour=PEN["blue"])
    shown = []
    for count in range(MOST):
        red = [
            stroke
            for digit, place in list(zip(DIGITS_OF_MANY, places, strict=False))[:count]
            for stroke in digit_strokes(digit, place, HEIGHT * SIDE, colour=PEN["red"])
        ]
        shown.append(see(render_strokes([*blue, *red], (SIDE, SIDE), "light")))
    return Series(list(range(MOST)), shown, Question(QuestionKind.COUNT, colour="red"))


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    framed = [picture.repeat(2, 0).repeat(2, 1) for picture in pictures]
    for picture in framed:
        for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
            edge[:] = FRAME
    gap = np.full((len(framed[0]), 6, 3), 255, np.uint8)
    return np.concatenate([part for picture in framed for part in (picture, gap)][:-1], 1)


def forbidding(drawing: AskedDrawing, reading: ParsedQuestion, before: SceneAnswer) -> None:
    """Let a person block keys or make the attention uniform, and show what the answer becomes."""
    grid = grid_of(before.looks[-1])
    choose, after_map, result = st.columns([0.85, 1.25, 0.95], gap="medium")
    with choose:
        names = dict(enumerate(distinct([f"{digit.colour}, {digit.place}" for digit in drawing.digits])))
        digits = several("Block", BLOCKED_DIGITS, names | {EMPTY_KEY: "the empty key"})
        told = "Every region and the empty key get the same weight, whatever is asked."
        uniform = UNIFORM.widget(st.toggle, "Uniform attention", help=told)
        clicked = BLOCKED.regions(grid)
        st.caption("A region has seen its surroundings too, so that a digit is blocked with a margin.")
    blocked = [drawing.digits[place] for place in digits if place != EMPTY_KEY]
    keys = set(clicked) | {key for digit in blocked for key in regions_of(digit, grid)}
    if EMPTY_KEY in digits:
        keys.add(grid[0] * grid[1])
    edits = (*([Uniform()] if uniform else []), *([BlockKeys(tuple(sorted(keys)))] if keys else []))
    changed = bool(edits)
    after = answer(drawing.picture, reading.words, SCORING.value, edits) if changed else before
    with after_map:
        BLOCKED.draw(drawing.canvas, after.looks[-1], SIZE, [digit.box for digit in blocked])
        st.caption(f"Look {len(after.looks)}, the last one, with your change. Dashed: blocked.")
    with result:
        big_answer(after)
        series = {"as it is": before, "with your change": after} if changed else {"as it is": before}
        answer_bars(series, "as it is", "ask_after", "Answers before and after")
        st.caption(_what_became(best_answer(before)[0], best_answer(after)[0], changed))


def _what_became(before: str, after: str, changed: bool) -> str:
    if not changed:
        return "Nothing is changed yet: block a digit, or switch the attention to uniform."
    if before == after:
        return f"The answer stays {before}: what you took away was not needed, or a neighbour knew it too."
    return f"The answer was {before} and is now {after}."
