"""Read a number: how does attention move from step to step?"""

import streamlit as st

from ui.export import export_bar
from ui.layout import section, who_asks
from ui.read.experiments import experiment_part
from ui.read.film import evidence_part, film_part, strip_part, vectors_part
from ui.read.parts import COLUMNS, NAME, REMARKS, STYLE, Shown, answer_part, number_pad, read_drawing
from ui.read.steps import STEPS, step_part
from ui.skeleton import page_frame
from ui.stepper import play_interval
from ui.walk import walk_interval

page_frame(
    NAME,
    "How does attention move from step to step? One picture, one look per digit; *what has been read decides where to "
    "look next*.",
)
st.html(STYLE)
who_asks("the reader's state before each look", "12 × 48 regions of the drawing", "their features")

draw, answer = st.columns(COLUMNS, gap="large")
with draw:
    pad = number_pad()
shown = read_drawing(pad)
if not isinstance(shown, Shown):
    with answer:
        st.info(REMARKS[shown])
    st.stop()
with answer:
    section("It reads")
    answer_part(shown)


def explore(shown: Shown) -> None:
    """Watch the reading as a film, see what each look holds, and step through the present one."""
    look = film_part(shown)
    strip_part(shown, look)
    st.divider()
    evidence_part(shown, look)
    st.divider()
    vectors_part(shown, look)
    st.divider()
    step_part(shown, look)
    export_bar(shown.reading.trace, NAME, query=look)


intervals = [seconds for seconds in (walk_interval(NAME), play_interval(STEPS)) if seconds]
st.fragment(explore, run_every=min(intervals, default=None))(shown)
st.divider()
st.fragment(experiment_part)(shown)
with st.expander("How far to believe a map"):
    st.markdown(
        "A map shows from where features were taken, not why a digit was said. A feature also sees its surroundings: "
        "each was computed from a patch of the picture much wider than its own region, so a map beside a digit can "
        "still tell the digit. Withholding a glimpse, above, is the stronger test: it changes what is read."
    )
