"""Experiments: regions blocked, a sentence about the drawing, digits taken away and counted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.edits import BlockKeys, Edits, Uniform
from attention_core.charts import overlay_strip, probability_bars
from attention_core.charts.overlay import strongest_weight
from attention_core.data.presets import MOST
from attention_core.data.questions import ANSWERS, ParsedQuestion, Question, QuestionKind, answer_in_words, write
from attention_core.data.scene_captions import sentence
from attention_core.device import to_array
from attention_core.models.scene_caption import LABELS, Caption, SceneCaption
from attention_core.models.scene_question import SceneAnswer
from attention_core.topics import ask
from attention_core.topics.ask import regions_of
from attention_core.topics.ask.charts import nothing_weights
from ui.ask.first_screen import (
    MODEL,
    NAME,
    UNIFORM,
    AskedDrawing,
    answer_one,
    best_answer,
    big_answer,
    grid_of,
    look_map,
)
from ui.chart import draw_chart
from ui.computed import by_model, card_or_empty
from ui.digits import framed
from ui.labels import distinct
from ui.player import Walk
from ui.state import Field, multiple_choice

EMPTY_KEY = -1  # among the choices: block the key that stands for nothing
SIZE, MAX_BARS = 250, 6
BLOCKED_DIGITS = Field[list[int]](NAME, "block", list, address="block")
TELLER = "scene-caption"
WALK = Walk(NAME, label="Look")
MAX_NAMED = 3
ask_about_many, tell = by_model(ask.ask_about_many), by_model(SceneCaption.explain)


def counting(drawing: AskedDrawing, question: Question) -> None:
    """Say and show how the model counts although its weights sum to one.

    What is taken away are the digits of the colour that was asked about, else of the most frequent one, else all.
    """
    st.markdown(
        "A plain average of three equal values is one of them: it cannot count. But bare paper and an extra key for "
        "*nothing* get weight too: the more digits match, the less is left for these two."
    )
    if not drawing.digits:
        st.info("There is no digit on the canvas to take away.")
        return
    colours = Counter(digit.colour for digit in drawing.digits)
    most, n_most = colours.most_common(1)[0]
    colour = question.colour if colours[question.colour] > 1 else most if n_most > 1 else None
    matching = [place for place, digit in enumerate(drawing.digits) if colour in (None, digit.colour)][:MOST]
    counts = range(0 if len(drawing.digits) > len(matching) else 1, len(matching) + 1)
    shown = [drawing.without(matching[count:]) for count in counts]
    asked = Question(QuestionKind.COUNT, colour=colour)
    text = f"{write(asked)}?"
    counted = ask_about_many(MODEL, [seen.picture for seen in shown], text)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        st.markdown(f"Asked each time: **{text}**")
        strip, width = _strip([seen.shown for seen in shown]), min(84 * len(shown), 504)
        st.image(strip, width=width, output_format="PNG", alt="The drawings that were asked about")
        n_right = sum(said == str(count) for said, count in zip(counted.answers, counts, strict=True))
        st.caption(f"Matching digits are taken away one by one: {n_right} of {len(counts)} counts are right.")
    with right:
        looks = slice(asked.n_looks)
        chart = nothing_weights(counts, counted.empty[:, looks], counted.paper[:, looks], counted.answers)
        words = "Weight of the empty key and of bare paper, by digits that match"
        draw_chart(chart, width="stretch", key="ask_counting", alt=words)


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    large = [framed(picture, 2) for picture in pictures]
    gap = np.full((len(large[0]), 6, 3), 255, np.uint8)
    return np.concatenate([part for picture in large for part in (picture, gap)][:-1], 1)


def forbidding(drawing: AskedDrawing, reading: ParsedQuestion, before: SceneAnswer) -> None:
    """Let a person block keys, and show what the answer becomes."""
    grid = grid_of(before.looks[-1])
    choose, after_map, result = st.columns([0.85, 1.25, 0.95], gap="medium")
    with choose:
        names = dict(enumerate(distinct([f"{digit.colour}, {digit.place}" for digit in drawing.digits])))
        digits = multiple_choice("Block", BLOCKED_DIGITS, names | {EMPTY_KEY: "the empty key"})
    blocked = [drawing.digits[place] for place in digits if place != EMPTY_KEY]
    keys = {key for digit in blocked for key in regions_of(digit, grid)}
    if EMPTY_KEY in digits:
        keys.add(grid[0] * grid[1])
    edits: Edits = (*([Uniform()] if UNIFORM.value else []), BlockKeys(tuple(sorted(keys))))
    after = answer_one(MODEL, drawing.picture, reading.words, edits=edits) if keys else before
    with after_map:
        words = "The last look's map over the drawing"
        look_map(drawing.canvas, after.looks[-1], SIZE, "ask_blocked", words, boxes=[digit.box for digit in blocked])
        st.caption("The last look. Dashed: blocked, with the regions around.")
    with result:
        big_answer(after)
        _answer_bars({"as it is": before, **({"blocked": after} if keys else {})})
        said, now = best_answer(before)[0], best_answer(after)[0]
        if not keys:
            st.caption("Block the digit that it needs.")
        elif said == now:
            stays = f"The answer stays {answer_in_words(said)}"
            st.caption(f"{stays}: what you took away was not needed, or a neighbour knew it too.")
        else:
            st.caption(f"The answer was {answer_in_words(said)} and is now {answer_in_words(now)}.")


def _answer_bars(answers: dict[str, SceneAnswer]) -> None:
    best = [answered.probabilities.argsort(descending=True).tolist() for answered in answers.values()]
    places = list(dict.fromkeys([*best[0][: MAX_BARS - 2], *best[-1][:3]]))[:MAX_BARS]
    series = {name: answered.probabilities[places].tolist() for name, answered in answers.items()}
    chart = probability_bars(series, [ANSWERS[place] for place in places], height=150)
    draw_chart(chart, key="ask_after", alt="Answers before and after")


def caption_tab(drawing: AskedDrawing) -> None:
    """Draw the sentence, the look of the present word, and the looks of all words."""
    told = tell(TELLER, drawing.picture)
    grid, labels = grid_of(told.trace), list(told.trace.story.query_axis.labels)
    words = sentence(told.words)
    st.markdown(f"### {words[:1].upper()}{words[1:]}{'.' if told.finished else ' …'}")
    look = WALK.draw(labels)
    where, looks = st.columns([1, 2], gap="medium")
    with where:
        look_map(drawing.canvas, told.trace, 200, "ask_told", "Where this look goes, over the drawing", query=look)
        _next_word(told, look, labels)
    with looks:
        maps = to_array(told.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = [each / strongest_weight(each.size, float(each.max())) for each in maps]
        chart = overlay_strip(drawing.canvas, np.stack(shades), labels, size=80, columns=7, chosen=look)
        draw_chart(
            chart, width="content", alt=f"The maps of all {len(labels)} looks over the drawing, each under its word"
        )
        st.caption(
            "The picture's keys and values were trained beforehand, by the network that answers questions, and then "
            "frozen: this one learned only what to ask for and what to say. Each map has its own scale. "
            f"{_figures(len(drawing.digits))}"
        )


def _next_word(told: Caption, look: int, labels: list[str]) -> None:
    if labels[look].startswith("glance"):
        st.markdown("**A first glance**, before any word.")
        return
    probabilities = to_array(told.probabilities[look])
    best = np.argsort(-probabilities)[:MAX_NAMED]
    rivals = ", ".join(f"{LABELS[place]} {probabilities[place]:.0%}" for place in best[1:])
    st.markdown(f"After this look it says **{labels[look]}** ({probabilities[best[0]]:.0%}), rather than {rivals}.")


def _figures(n_digits: int) -> str:
    """Return how often it is right on drawings of as many digits, where that was measured."""
    card = card_or_empty(TELLER)
    alike = card.get("up_to_five_digits", {}).get("accuracy_by_digits", {}).get(str(n_digits))
    if alike is None:
        return ""
    return (
        f"It tells {alike:.0%} of new drawings with as many digits without a mistake; with every weight equal "
        f"{card['with_uniform_attention']:.0%} of those with up to three."
    )
