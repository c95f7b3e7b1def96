"""The atlas: what does attention look like when there are a hundred thousand tokens?"""

import streamlit as st

from ui.atlas.foot import foot
from ui.atlas.map import atlas_map
from ui.atlas.places import places_part
from ui.atlas.shelf import shelf_of
from ui.atlas.source_choice import choose_source
from ui.atlas.sources import choose_head
from ui.atlas.survey import begin_survey, survey_interval, survey_part
from ui.layout import section, who_asks
from ui.skeleton import page_frame

NAME = "atlas"

page_frame(
    NAME,
    "What does attention look like when there are a hundred thousand tokens? Like a country: too large for one look, "
    "easy with a map.",
)
who_asks("each of n positions", "all of them, or those before", "the values of those it looks at")

chosen, mapped = st.columns([1, 3.1], gap="medium")
with chosen:
    source = choose_source(NAME)
    head = choose_head(NAME, source) if source else 0

if source:
    shelf = shelf_of(source.key, head, source.trace)
    running = begin_survey(NAME, shelf)
    with chosen:
        places_part(NAME, shelf)
    with mapped:  # a fragment of its own: it runs whenever the browser asks for tiles
        st.fragment(atlas_map)(NAME, shelf, title=source.title, is_running=running)
    with chosen:
        st.fragment(survey_part, run_every=survey_interval(running))(NAME, shelf)
else:
    with mapped:
        st.info("Choose what to map on the left.")
st.divider()
section("Why it fits")
why, map_words = st.columns(2, gap="large")
with why:
    st.markdown(
        "The weights of n positions are n × n numbers, but n queries, n keys of d numbers each and one normaliser per "
        "row say all of them. A tile of 256 × 256 is computed again, exactly, whenever somebody looks there: "
    )
    st.latex(
        r"\begin{aligned} A_{ij} &= \exp(s\, q_i \cdot k_j - \ell_i) \\"
        r"\ell_i &= \log \textstyle\sum_m \exp(s\, q_i \cdot k_m) \end{aligned}"
    )
with map_words:
    st.markdown(
        "Far out, a coloured block stands for many cells: their mean, or the largest of them, so that a single strong "
        "weight is not lost in the crowd. The survey passes over the matrix once and keeps the sums of blocks only. "
        "Colours are logarithmic at first: weights that share 1 among thousands span many powers of ten."
    )
    st.caption(
        "Drag to move; wheel, pinch or double-click to zoom; arrow keys, + and −, 0 for the whole. Bars at the edges "
        "add up what is in view: a whole row is 1. A link to this page opens the same view."
    )
    st.caption(
        "A large weight is not yet a reason: what a key hands over is its weight times its value, which may be small. "
        "The page “Your own model” shows both."
    )
if source:
    foot(NAME, shelf)
