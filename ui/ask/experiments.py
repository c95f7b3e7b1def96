"""Experiments: a sentence about the drawing, digits taken away and counted, regions and choice itself forbidden."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.edits import BlockKeys, Uniform
from attention_core.attention.trace import AttentionTrace
from attention_core.charts import overlay_strip
from attention_core.data.colours import PEN
from attention_core.data.presets import HEIGHT, MOST, PLACES_OF_MANY, digit_strokes
from attention_core.data.questions import ParsedQuestion, Question, QuestionKind, write
from attention_core.data.scene_captions import sentence
from attention_core.device import to_array
from attention_core.models.scene_caption import LABELS, Caption, SceneCaption
from attention_core.models.scene_question import SceneAnswer
from attention_core.topics.ask import SceneInput, ask_about_many, regions_around, regions_of, scene_input
from attention_core.topics.ask.charts import nothing_weights
from ui.ask.first_screen import (
    MODEL,
    NAME,
    SCORE_NAMES,
    SCORING,
    SIDE,
    AskedDrawing,
    answer_bars,
    ask_this,
    best_answer,
    big_answer,
    both_answers,
    grid_of,
    look_map,
)
from ui.canvas import render_strokes
from ui.chart import draw_chart
from ui.computed import cached_computation, card_or_empty
from ui.digits import by_model, framed
from ui.labels import distinct
from ui.player import Walk
from ui.state import Field, chart_selection, multiple_choice, named, single_choice


class BlockedRegions:
    """A click on the map blocks a region and its neighbours, another one gives them back; a field keeps them."""

    def __init__(self, field: Field[list[int]]) -> None:
        self.field = field

    def regions(self, grid: tuple[int, int]) -> list[int]:
        return [region for region in self.field.value if 0 <= region < grid[0] * grid[1]]

    def draw(
        self,
        canvas: np.ndarray,
        look: AttentionTrace,
        size: int,
        boxes: Sequence[tuple[float, float, float, float]] = (),
        query: int = 0,
    ) -> None:
        """Draw the map of a look's query to be clicked, what is blocked in dashes, and the way back."""
        rows, columns = grid_of(look)
        blocked, key = self.regions((rows, columns)), f"{self.field.key}_click"

        def take_click() -> None:
            for click in chart_selection(key, "region"):
                here = int(click["position"])
                row, column = divmod(here, columns)
                near = set(regions_around(row, column, row + 1, column + 1, (rows, columns)))
                self.field.value = sorted(set(blocked) - near if here in blocked else {*blocked, *near})

        cells = [
            (row / rows, column / columns, (row + 1) / rows, (column + 1) / columns)
            for row, column in (divmod(region, columns) for region in blocked)
        ]
        words = "The look's map over the drawing; click a region to block it"
        look_map(canvas, look, size, key, words, boxes=[*boxes, *cells], on_select=take_click, query=query)
        if blocked:
            label = f"Give the {len(blocked)} clicked regions back"
            st.button(label, key=f"{self.field.key}_give_back", on_click=self.field.reset)
        else:
            st.caption("Click the map to block a region and its neighbours, click again to give them back.")


OWN, COMPOSED = "this drawing", "a composed one"
DIGITS_OF_MANY = (4, 7, 2, 9, 6)
EMPTY_KEY = -1  # among the choices: block the key that stands for nothing
SIZE = 250
COUNT_OF = Field(NAME, "count_of", OWN, address="count", **named(own=OWN, composed=COMPOSED))
BLOCKED_DIGITS = Field[list[int]](NAME, "block", list, address="block")
BLOCKED = BlockedRegions(Field[list[int]](NAME, "blocked", list, address="blocked"))
UNIFORM = Field(NAME, "uniform", False, address="uniform")
TELLER = "scene-caption"
WALK = Walk(NAME, label="Look")
HIDDEN = BlockedRegions(Field[list[int]](NAME, "hidden", list, address="hidden"))
MAX_NAMED = 3
count, tell = by_model(ask_about_many), by_model(SceneCaption.explain)


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
        source = single_choice("Digits of", COUNT_OF, (OWN, COMPOSED))
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
    counted = count(MODEL, [seen.picture for seen in shown], text, SCORING.value)
    with right:
        chart = nothing_weights(counts, counted.empty, counted.paper, counted.answers)
        words = "The weight of the empty key and of bare paper against the number of digits that match"
        draw_chart(chart, width="stretch", key="ask_counting", alt=words)
        n_right = sum(told == str(count) for told, count in zip(counted.answers, counts, strict=True))
        st.caption(
            f"Measured just now with the {SCORE_NAMES[SCORING.value]} score: {n_right} of {len(counts)} counts are "
            "right. Block the empty key under “Try: forbid it to look”: bare paper alone is often enough to count."
        )


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


@cached_computation()
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
        shown.append(scene_input(render_strokes([*blue, *red], (SIDE, SIDE), "light")))
    return Series(list(range(MOST)), shown, Question(QuestionKind.COUNT, colour="red"))


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    large = [framed(picture, 2) for picture in pictures]
    gap = np.full((len(large[0]), 6, 3), 255, np.uint8)
    return np.concatenate([part for picture in large for part in (picture, gap)][:-1], 1)


def forbidding(drawing: AskedDrawing, reading: ParsedQuestion, before: SceneAnswer) -> None:
    """Let a person block keys or make the attention uniform, and show what the answer becomes."""
    grid = grid_of(before.looks[-1])
    choose, after_map, result = st.columns([0.85, 1.25, 0.95], gap="medium")
    with choose:
        names = dict(enumerate(distinct([f"{digit.colour}, {digit.place}" for digit in drawing.digits])))
        digits = multiple_choice("Block", BLOCKED_DIGITS, names | {EMPTY_KEY: "the empty key"})
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
    after = both_answers(MODEL, drawing.picture, reading.words, edits)[SCORING.value] if changed else before
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


def caption_tab(drawing: AskedDrawing) -> None:
    """Draw the sentence, the look of the present word to be clicked, and the looks of all words."""
    before = tell(TELLER, drawing.picture)
    grid = grid_of(before.trace)
    hidden = HIDDEN.regions(grid)
    told = tell(TELLER, drawing.picture, (BlockKeys(tuple(hidden)),)) if hidden else before
    labels = list(told.trace.story.query_axis.labels)
    _sentence(told, before if hidden else None)
    look = WALK.draw(labels)
    where, looks = st.columns([1, 2], gap="medium")
    with where:
        HIDDEN.draw(drawing.canvas, told.trace, 200, query=look)
        _next_word(told, look, labels)
    with looks:
        maps = to_array(told.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = maps / maps.max((1, 2), keepdims=True).clip(1e-9)
        chart = overlay_strip(drawing.canvas, shades, labels, size=80, columns=7, chosen=look)
        draw_chart(
            chart, width="content", alt=f"The maps of all {len(labels)} looks over the drawing, each under its word"
        )
        st.caption(f"Each map is as dark as it can be where its own weight is largest. {_figures()}")


def _sentence(told: Caption, before: Caption | None) -> None:
    words = sentence(told.words)
    st.markdown(f"### {words[:1].upper()}{words[1:]}{'.' if told.finished else ' …'}")
    if not told.finished:
        st.caption("It never came to an end, and was stopped: a drawing unlike those that it has learned from.")
    if before is not None:
        changed = (
            "The sentence has not changed." if before.words == told.words else f"Before: {sentence(before.words)}."
        )
        st.caption(f"With regions blocked. {changed}")


def _next_word(told: Caption, look: int, labels: list[str]) -> None:
    if labels[look].startswith("glance"):
        st.markdown("**A first glance**, before any word: what it sees stays in the state and steers the next look.")
        return
    probabilities = to_array(told.probabilities[look])
    best = np.argsort(-probabilities)[:MAX_NAMED]
    rivals = ", ".join(f"{LABELS[place]} {probabilities[place]:.0%}" for place in best[1:])
    st.markdown(f"After this look it says **{labels[look]}** ({probabilities[best[0]]:.0%}), rather than {rivals}.")


def _figures() -> str:
    card = card_or_empty(TELLER)
    figures, pen = card.get("test_drawings", {}), card.get("held_out_strokes", {})
    if not ({"accuracy", "peak_inside"} <= set(figures) and "accuracy" in pen):
        return ""
    return (
        f"On {figures['n']:,} composed drawings of up to three digits that it never saw, whole sentences are right in "
        f"{figures['accuracy']:.1%}, on pen strokes that it never saw in {pen['accuracy']:.1%}; the peak of the mask "
        f"lies inside a digit being told in {figures['peak_inside']:.1%}. With uniform weights "
        f"{card['with_uniform_attention']:.1%} are right."
    )
