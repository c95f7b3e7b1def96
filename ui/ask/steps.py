"""One look, step by step: the regions' numbers as a picture, the empty key's beside it; how far to believe it."""

import numpy as np
import streamlit as st

from attention_core.attention.types import Role, Step
from attention_core.charts import contact_sheet, overlay, ramp_for
from attention_core.charts.bars import bars
from attention_core.charts.vega import ROLE_COLOURS, Chart
from attention_core.data.questions import ANSWERS
from attention_core.device import to_array
from attention_core.models.scene_question import SCORINGS, SceneAnswer
from attention_core.models.scene_question_steps import EMPTY
from attention_core.topics.ask.charts import region_picture, vector_bars
from ui.ask.first_screen import MODEL, NAME, SCORING, AskedDrawing, grid_of, shaded_words
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.player import Stepper, export_bar, query_row_expander, show_words
from ui.state import Field, single_choice, whole_number

STEPS = Stepper(NAME)
SCORE_NAMES = {"dot": "dot product", "additive": "additive"}
LOOK = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The look that is shown, from 0; at first the last one."""
SHEET = 24  # dimensions of keys and values that are drawn: those that differ most from region to region
BARS = 12


def chosen_glimpse(answered: SceneAnswer) -> int:
    places = range(len(answered.looks))
    return LOOK.clamp_to_options(places, places[-1])


def ask_steps(drawing: AskedDrawing, answered: SceneAnswer, scoring: str) -> None:
    """Step through one look from the picture to the answer, which came by a scoring function."""
    number = chosen_glimpse(answered)
    names = {place: f"Look {place + 1}" for place in range(len(answered.looks))}
    with st.container(horizontal=True, gap="medium"):
        single_choice("Look", LOOK, names, label_visibility="collapsed")
        if single_choice("Score", SCORING, SCORE_NAMES, label_visibility="collapsed") != scoring:
            st.rerun()  # the whole page: its answer is another
    trace = answered.looks[number]
    step, grid = STEPS.draw(trace), grid_of(trace)
    if not STEPS.draw_guess(trace, step):
        weights = to_array(trace.weights()[0])
        heaviest = int(weights.argmax())
        words, picture = st.columns([0.82, 1], gap="large")
        with words:
            small, hint = st.columns([1, 1.1], vertical_alignment="center")
            with small:
                chart = overlay(drawing.canvas, weights[:-1].reshape(grid), size=104, bar=False)
                draw_chart(chart, width="content", key="ask_small", alt="The drawing with this look's map")
            with hint:
                st.html(f"<p style='margin:0'>{shaded_words(answered.words[number])}</p>")
                st.caption(f"The largest weight: {trace.story.key_axis.labels[heaviest]} (number {heaviest + 1}).")
            show_words(trace, step, 0, 0, heaviest)
        with picture:
            _show(step, drawing, grid, heaviest)
            query_row_expander("This look in numbers", NAME, trace, 0, 0, 7, "region")


def _show(step: Step, drawing: AskedDrawing, grid: tuple[int, int], heaviest: int) -> None:
    if step.name == "picture":
        pixels = drawing.seen.shown.repeat(5, 0).repeat(5, 1)
        st.image(pixels, output_format="PNG", alt="The 64 x 64 picture that the model sees")
        return
    values = to_array(step.value().float())
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    chart = _chart_for(step, values, drawing, grid, heaviest)
    draw_chart(chart, width="content", key=f"ask_{step.name}", alt=words, step=step.name)
    if len(values) > 1:
        st.caption(f"The {SHEET} of {values.shape[1]} dimensions that differ most; after ∅ the empty key's number.")


def _chart_for(step: Step, values: np.ndarray, drawing: AskedDrawing, grid: tuple[int, int], heaviest: int) -> Chart:
    n_regions = grid[0] * grid[1]
    if step.role == Role.OUTPUT:
        leading = np.argsort(-values[0])[:BARS]
        labels, colour = [ANSWERS[place] for place in leading], ROLE_COLOURS[Role.OUTPUT]
        return bars(values[0][leading].tolist(), labels, title="probability", colour=colour, height=300).properties(
            width=380
        )
    if values.shape == (1, n_regions + 1):
        ramp = ramp_for(step.role, values[np.isfinite(values)], n_regions + 1)
        return region_picture(
            values[0],
            grid,
            ramp,
            title=step.title.lower(),
            extra=EMPTY,
            size=350,
            ink=to_array(drawing.seen.picture[0]),
            marked=heaviest,
        )
    if values.shape[0] == n_regions + 1:
        telling = np.sort(np.argsort(-values[:-1].std(0))[:SHEET])
        names = [f"{place}  ∅ {values[-1, place]:+.1f}" for place in telling]
        pictures = values[:-1, telling].T.reshape(-1, *grid)
        ramp = ramp_for(step.role, pictures, n_regions)
        return contact_sheet(pictures, names, ramp, title=step.title.split(":")[0].lower(), columns=6, size=64)
    return vector_bars(values[0], title=step.symbol, colour=ROLE_COLOURS[step.role])


def doubts() -> None:
    """Say what the map can and cannot tell, and how often the model is right on drawings that it never saw."""
    st.markdown(
        "A weight says where a value was taken from, not why the answer follows from it. Blocking a digit (*Try*) "
        "tells more."
    )
    card = card_or_empty(MODEL)
    figures, uniform = card.get("test_drawings", {}), card.get("with_uniform_attention", {})
    rows = [
        {
            "score": SCORE_NAMES[name],
            **{kind: f"{share:.1%}" for kind, share in figures[name].get("accuracy_by_kind", {}).items()},
            "all": f"{figures[name]['accuracy']:.1%}",
            "all, uniform weights": f"{uniform[name]:.1%}" if name in uniform else "",
        }
        for name in SCORINGS
        if "accuracy" in figures.get(name, {})
    ]
    if rows:
        st.dataframe(rows, hide_index=True, width="stretch")
        n = figures[SCORINGS[0]].get("n", 0)
        st.caption(f"Right answers to {n:,} questions about drawings that it was not trained on.")


def export_look(drawing: AskedDrawing, answered: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    look = answered.looks[chosen_glimpse(answered)]
    export_bar(look, NAME, query=0, picture=drawing.canvas, grid=grid_of(look))
