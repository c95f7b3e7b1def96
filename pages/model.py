"""Your own model: what do the heads of any transformer look at?"""

import streamlit as st

from ui.layout import who_asks
from ui.model.glance import glance
from ui.model.handed_over import look_controls
from ui.model.run_choice import choose_run, choose_source
from ui.model.state import begin, write_address
from ui.model.views import choose_view, draw_view
from ui.skeleton import page_frame

NAME = "model"
GLANCE_WIDTH = 700

page_frame(
    NAME, "What do the heads of a transformer look at? Name a model, give it your input, and see every layer and head."
)
who_asks("each token, or patch of a picture", "each one that it may see", "its vector")

source = choose_source(NAME)
given, seen = st.columns([0.8, 1.2], gap="large")
with given:
    run, shown = choose_run(NAME, source)
if run is not None:
    begin(NAME, run)
    with given:
        look = look_controls(run, NAME)
    with seen:
        glance(run, NAME, look, width=GLANCE_WIDTH)
    write_address(NAME, run)
    st.divider()
    view = choose_view(NAME, shown)
    draw_view(view, run, NAME, shown, look)
