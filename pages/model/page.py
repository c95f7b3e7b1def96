"""Your own model: what do the heads of any transformer look at?"""

import streamlit as st

from pages.model.glance import NAME, STEPS
from pages.model.head_list import choose_named_head
from pages.model.input import choose_run, choose_source
from pages.model.one_head import model_steps
from pages.model.opening import headline, opening, surprise
from pages.model.runs import runs_of
from ui.layout import stop_run
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame


def draw_run() -> None:
    """Draw the open experiment, or what a head looks at, the choices of text and head, its numbers, the questions."""
    if draw_experiment(NAME, players=(STEPS,)):
        return
    opening_container = st.container(key="model_opening")  # its style reserves its height until the model has read
    opening_container.empty()  # the browser leaves out a container without an element
    left, right = st.columns([1.6, 1], gap="large")
    with right, st.container(key="desk_model_source"):
        source = choose_source()
    with left:
        run, request = choose_run(source)
    if run is None:
        stop_run()
    changed = runs_of(run, request).changed
    with opening_container:
        with st.container(horizontal=True, vertical_alignment="center", key="model_in_a_row"):
            with st.container(key="model_headline"):
                headline(changed, run, request)
            surprise(changed, request)
        opening(changed, request, changed is not run)
    with st.container(key="desk_model_heads"):
        choose_named_head(changed)
    page_questions(NAME, lambda: model_steps(changed), players=(STEPS,))


page_frame(
    NAME,
    "A model has many attentions side by side, its *heads*: 3.1 is head 1 of layer 3, both from 0.",
)
page_body(draw_run)
