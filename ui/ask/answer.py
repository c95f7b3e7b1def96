"""The answer, by both scoring functions, and where each look went: over the words and over the drawing."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.interventions import NO_INTERVENTION, Intervention
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import overlay, probability_bars
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.data.colours import PEN
from attention_core.data.question_reading import Reading
from attention_core.data.questions import ANSWERS, NOTHING, numbers_of
from attention_core.device import to_array
from attention_core.models.scene_question import SCORINGS, Answered
from ui.ask.pad import NAME, AskedDrawing, drawing_remarks
from ui.ask.question import MODEL
from ui.layout import role_colour
from ui.models import COMPUTE, model_or_stop

SCORE_NAMES = {"dot": "dot product", "additive": "additive"}
MAP_SIZE = 204
MOST_BARS = 6


def answer(picture: Tensor, reading: Reading, scoring: str, intervention: Intervention = NO_INTERVENTION) -> Answered:
    """Let the model answer."""
    model = model_or_stop(MODEL)
    with COMPUTE:
        return model.explain(picture, numbers_of(reading.words), reading.words, scoring, intervention)


def chosen_scoring() -> str:
    """Return the scoring function that is chosen now."""
    asked = st.query_params.get("score", SCORINGS[0])
    return st.session_state.get(f"{NAME}_scoring") or (asked if asked in SCORINGS else SCORINGS[0])


def answer_part(drawing: AskedDrawing, reading: Reading) -> Answered:
    """Draw the answer with its rivals, and both looks; return the answer by the chosen scoring function."""
    both = {scoring: answer(drawing.picture, reading, scoring) for scoring in SCORINGS}
    scoring = chosen_scoring()
    said, bars = st.columns([1, 1.25], gap="medium")
    with said:
        big_answer(both[scoring])
        _choose_scoring(scoring)
        st.caption(_comparison(both))
    with bars, st.container(key=f"{NAME}_bars"):
        chart = answer_bars({SCORE_NAMES[one]: answered for one, answered in both.items()}, SCORE_NAMES[scoring])
        st.altair_chart(
            chart, width="stretch", key=f"{NAME}_answers", alt="Probabilities of the best answers by both scores"
        )
    for remark in drawing_remarks(drawing, reading.question):
        st.caption(remark)
    looks_part(drawing.canvas, both[scoring], MAP_SIZE, NAME)
    return both[scoring]


def best(answered: Answered) -> tuple[str, float]:
    """Return the most probable answer and its probability."""
    place = int(answered.probabilities.argmax())
    return ANSWERS[place], float(answered.probabilities[place])


def big_answer(answered: Answered) -> None:
    """Write the answer large, a colour with its ink, "nothing" with what it means."""
    word, probability = best(answered)
    ink = PEN.get(word)
    dot = (
        f'<span style="display:inline-block;width:0.62em;height:0.62em;border-radius:50%;background:{ink};'
        'box-shadow:0 0 0 1px #8a93a077;margin-right:0.3em"></span>'
        if ink
        else ""
    )
    st.html(
        f'<div class="answer" style="font-size:3rem;font-weight:650;line-height:1.15">{dot}{word}'
        f'<span style="font-size:1.1rem;font-weight:400;opacity:0.75;margin-left:0.6em">{probability:.0%}</span></div>'
    )
    if word == NOTHING:
        st.caption("What you ask about seems not to be on the drawing.")


def answer_bars(answers: dict[str, Answered], first: str):
    """Return a chart of the best answers of each; `first` decides their order."""
    leading = answers[first].probabilities
    places: list[int] = leading.argsort(descending=True)[: MOST_BARS - 2].tolist()
    for one in answers.values():
        places += [place for place in one.probabilities.argsort(descending=True)[:3].tolist() if place not in places]
    places = places[:MOST_BARS]
    series = {name: one.probabilities[places].tolist() for name, one in answers.items()}
    return probability_bars(series, [ANSWERS[place] for place in places], height=150)


def _choose_scoring(scoring: str) -> None:
    key = f"{NAME}_scoring"
    st.segmented_control(
        "Score",
        SCORINGS,
        default=None if key in st.session_state else scoring,
        format_func=lambda one: SCORE_NAMES[one],
        key=key,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        on_change=_write_scoring,
        help="How query and key are compared. Both were trained together and share the picture's features.",
    )


def _write_scoring() -> None:
    st.query_params["score"] = st.session_state[f"{NAME}_scoring"]


def _comparison(both: dict[str, Answered]) -> str:
    words = {scoring: best(answered)[0] for scoring, answered in both.items()}
    if len(set(words.values())) == 1:
        return "Both scores agree."
    return "; ".join(f"{SCORE_NAMES[scoring]} says {word}" for scoring, word in words.items()).capitalize() + "."


def looks_part(canvas: np.ndarray, answered: Answered, size: int, key: str) -> None:
    """Draw every look: the question's words shaded by weight, the map over the drawing, the weight of "nothing"."""
    grid = grid_of(answered)
    weights = [to_array(look.weights()[0]) for look in answered.looks]
    columns = st.columns(len(weights), gap="small")
    for number, (column, one, words) in enumerate(zip(columns, weights, answered.words, strict=True)):
        with column:
            said = f"<b>Look {number + 1}</b> {shaded_words(words)}"
            st.html(f"<p style='margin:0;font-size:0.94rem;line-height:1.7'>{said}</p>")
            look = f"{key}_look_{number}"
            with st.container(horizontal=True, gap="small", vertical_alignment="top", key=look):
                chart = overlay(canvas, one[:-1].reshape(grid), size=size)
                st.altair_chart(
                    chart,
                    width="content",
                    key=f"{look}_map",
                    alt=f"Where look {number + 1} goes: a map of weights over the drawing",
                )
                st.html(empty_bar(float(one[-1]), size), width="content")


def grid_of(answered: Answered) -> tuple[int, int]:
    """Return (rows, columns) of the regions."""
    side = round((answered.looks[0].n_keys - 1) ** 0.5)
    return side, side


def shaded_words(words: AttentionTrace) -> str:
    """Return HTML of a question whose words are shaded by their weights."""
    weights = words.weights()[0].tolist()
    most, colour = max(weights), ROLE_COLOURS[Role.WEIGHTS]
    parts = [
        f'<span title="{weight:.1%}" style="padding:1px 4px 2px;border-radius:4px;'
        f'background:color-mix(in srgb, {colour} {80 * weight / most:.0f}%, transparent)">{html.escape(word)}</span>'
        for word, weight in zip(words.story.key_axis.labels, weights, strict=True)
    ]
    return " ".join(parts)


def empty_bar(weight: float, height: int) -> str:
    """Return HTML of a small bar for the weight of the empty key."""
    colour = ROLE_COLOURS[Role.WEIGHTS]
    return (
        f'<div style="width:62px;font-size:0.8rem;line-height:1.25" title="Weight of the empty key: {weight:.2%}">'
        f'<div style="height:{height - 42}px;width:16px;border:1px solid #8a93a066;border-radius:3px;display:flex;'
        f'align-items:flex-end"><div style="width:100%;height:{100 * weight:.1f}%;background:{colour};'
        f'border-radius:2px"></div></div><b style="color:{role_colour(Role.WEIGHTS)}">{weight:.0%}</b><br>nothing</div>'
    )
