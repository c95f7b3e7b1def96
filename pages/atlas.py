"""The atlas: what does attention look like when there are a hundred thousand tokens?"""

import streamlit as st

from ui.atlas import NAME
from ui.atlas.map import TICK, atlas_map, places_part, survey_goes_on, survey_part
from ui.atlas.shared_atlas import shelf_of
from ui.atlas.sources import choose_head, choose_source, take_along
from ui.layout import attention_roles
from ui.skeleton import Tab, live, page_frame, page_tabs


def why_it_fits() -> None:
    """Say how a matrix that no memory holds can be shown exactly."""
    why, survey = st.columns(2, gap="large")
    why.markdown(
        "n positions have n × n weights. All of them follow from n queries and n keys of d numbers each, and one sum "
        "per row. A tile of 256 × 256 is computed again, exactly, whenever somebody looks there: "
    )
    why.latex(
        r"\begin{aligned} A_{ij} &= \exp(s\, q_i \cdot k_j - \ell_i) \\"
        r"\ell_i &= \log \textstyle\sum_m \exp(s\, q_i \cdot k_m) \end{aligned}"
    )
    survey.markdown(
        "Far out, a coloured block stands for many cells: their mean, or the largest of them, so that one strong "
        "weight among many stays visible. The survey passes over the matrix once and keeps the sums of blocks only."
    )


def how_to_read_it() -> None:
    """Say how to move the map, and what its colours mean."""
    move, read = st.columns(2, gap="large")
    move.markdown(
        "Drag to move; wheel, pinch or double-click to zoom; arrow keys, + and −, 0 for the whole. Bars at the edges "
        "add up what is in view: a whole row is 1. A link to this page opens the same view."
    )
    read.markdown(
        "Colours are logarithmic at first, because weights that share 1 among thousands differ by many powers of "
        "ten.\n\n"
        "A large weight is not yet a reason: what a key hands over is its weight times its value, which may be small. "
        "The page “Your own model” shows both."
    )


page_frame(
    NAME,
    "What does attention look like when there are a hundred thousand tokens? It is too large for one look, so here is "
    "a map.",
)
attention_roles(
    "each of n positions",
    "all of them, or those before",
    "the values of those it looks at",
    here="Here each of thousands of words asks all those before it.",
    try_this="Under <i>More places</i> go to <i>Largest far away</i>: words that return make a line.",
)

tabs = [Tab("why", "Why it fits", why_it_fits), Tab("read", "How to read it", how_to_read_it)]
chosen, mapped = st.columns([1, 3.1], gap="medium")
with chosen:
    source = choose_source()
    head = choose_head(source) if source else 0
if source:
    shelf = shelf_of(source.key, head, source.trace)
    goes_on = survey_goes_on(shelf)
    with chosen:
        places_part(shelf)
    with mapped:
        live(atlas_map, shelf, source.title, goes_on)
    with chosen:
        live(survey_part, shelf, goes_on, beat=TICK if goes_on else None)
    tabs.append(Tab("take", "Take it along", lambda: take_along(shelf)))
else:
    mapped.info("Choose what to map on the left.")
page_tabs(NAME, *tabs)
