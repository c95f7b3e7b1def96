"""What do other texts call it? Their letters and words, and slips that one meets."""

import streamlit as st

from ui.labels import explain

NOTATIONS = (
    (r"$W_Q$, $W_K$, $W_V$", r"$QW$, $KW$, $VW$; $W^Q$, $W^K$, $W^V$"),
    (r"$h_j$, a state of an encoder", "an annotation"),
    (r"$S_{ij}$, a score", r"$e_{ij}$, an energy; a logit; $\alpha_{ij}$ before the softmax"),
    (r"$A_{ij}$, a weight", r"$\alpha_{ij}$ after the softmax"),
    (r"$c_i$, a context", "a glimpse; an attention vector; a head's output"),
    (r"$d_k$, the size of a query", r"$d_e$; $d$"),
)


def draw_input() -> None:
    """Draw nothing: there is nothing to change."""


def answer(_: None) -> str:
    """Say what is most often mixed up."""
    return "Some texts write α for scores and weights alike."


def draw(_: None) -> None:
    """Draw the names, and slips."""
    rows = [f"| {' | '.join(row)} |" for row in NOTATIONS]
    table = "\n".join(["| here | elsewhere |", "|---|---|", *rows])
    st.markdown(table, help=explain(table))
    st.caption(
        "Slips: 28 × 28 is 784, not 748; a mask is high, not low, where it matters; the paper is *Attention is all you "
        "need*."
    )
