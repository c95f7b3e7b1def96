"""What do other texts call it? Their letters and words, and slips that one meets."""

import streamlit as st

from ui.labels import explain

NOTATIONS = (
    (r"$W_Q$, $W_K$, $W_V$", r"$QW$, $KW$, $VW$; $W^Q$, $W^K$, $W^V$", "the projections that make $Q$, $K$ and $V$"),
    (r"$h_j$, a state", "an annotation", "what a recurrent encoder knows at one word"),
    (r"$S_{ij}$, a score", r"$e_{ij}$, an energy; a logit; $\alpha_{ij}$ before the softmax", "how well a key fits"),
    (r"$A_{ij}$, a weight", r"$\alpha_{ij}$ after the softmax", "the share that a query gives to a key"),
    (r"$c_i$, a context", "a glimpse; an attention vector; a head's output", "the weighted sum of the values"),
    (r"$d_k$", r"$d_e$; $d$", "how many numbers a query and a key have"),
)


def draw_input() -> None:
    """Draw nothing: there is nothing to change."""


def answer(_: None) -> str:
    """Say what is most often mixed up."""
    return "Some texts write α for scores and weights alike."


def draw(_: None) -> None:
    """Draw the names, and slips."""
    rows = [f"| {' | '.join(row)} |" for row in NOTATIONS]
    table = "\n".join(["| here | elsewhere | what it is |", "|---|---|---|", *rows])
    st.markdown(table, help=explain(table))
    st.caption(
        "Slips that you may meet: 28 × 28 pixels are 784, not 748; a mask is high, not low, where it matters; the "
        "paper of 2017 is called *Attention is all you need*."
    )
