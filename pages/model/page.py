"""Your own model: what do the heads of any transformer look at?"""

import streamlit as st

from pages.model.glance import NAME, STEPS, glance
from pages.model.input import choose_run, choose_source
from pages.model.one_head import model_steps
from pages.model.opening import opening
from pages.model.runs import runs_of
from ui.layout import stop_run
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame


def draw_run() -> None:
    """Draw the open experiment, or the text with one head's look, all heads, the numbers of one, and the questions."""
    if draw_experiment(NAME, players=(STEPS,)):
        return
    opening_container = st.container(key="model_opening")  # its style reserves its height until the model has read
    opening_container.empty()  # the browser leaves out a container without an element
    left, right = st.columns([0.8, 1.2], gap="large")
    with st.container(key="desk_model_source"):
        source = choose_source()
    with left:
        run, request = choose_run(source)
    if run is None:
        stop_run()
    changed = runs_of(run, request).changed
    with opening_container:
        opening(changed, request, changed is not run)
    with right, st.container(key="desk_model_heads"):
        glance(changed)
    page_questions(NAME, lambda: model_steps(changed), players=(STEPS,))


page_frame(
    NAME, "In each layer of a transformer several attentions run side by side, its *heads*. What do they look at?"
)
page_body(draw_run)
