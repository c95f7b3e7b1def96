"""What pages say of a step: its formula, meaning and code, and a row's largest weights."""

import math
from collections.abc import Collection, Mapping

import streamlit as st

from attention_core.attention.steps import cell_formula, row_table
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.attention.wording import format_count
from ui.labels import explain
from ui.layout import figures_table, section
from ui.lecture.mode import LECTURE
from ui.navigation import open_question
from ui.player.chart import described_key
from ui.state import PAGE

CODE_OPEN = "desk_code_open"


def show_words(
    trace: AttentionTrace,
    step: Step,
    head: int,
    query: int,
    name: str,
    key: int | None = None,
    *,
    formulas: Mapping[str, str] | None = None,
    folds_formula: Collection[Role] = (),
) -> None:
    """Draw the step's heading, shape, formula, meaning, the numbers of one cell, and its code (folded).

    The cell is that of a key, None = of the one that show_all_numbers frames under the same name; `formulas`, by the
    names of steps, stand in its place. The formula is folded of steps of these roles.
    """
    with st.container(key="step_words"):
        show_step_heading(step, folds_formula=step.role in folds_formula)
        key = described_key(trace, head, query, name) if key is None else key
        if numbers := (formulas or {}).get(step.name) or cell_formula(trace, step, head, query, key):
            st.latex(numbers)
        with st.container(key=f"desk_code_{step.name}"):  # the last of the words, see moving_step.js
            expander = st.expander("PyTorch", key=CODE_OPEN, on_change="rerun")
            if expander.open:  # what colours code is a third of what a browser would load for the page
                expander.code(step.code)


def show_step_heading(step: Step, *, folds_formula: bool = False) -> None:
    """Draw the step's heading, shape, formula and meaning; a formula that is folded comes last."""
    is_below_section = not LECTURE.value and open_question(PAGE.value) is None
    section(step.title, step.role, step.name, level=3 if is_below_section else 2)
    rows, cols = step.shape
    st.caption(f"{format_count(rows, step.row_axis.name)} × {format_count(cols, step.col_axis.name)}")
    lines = step.formula.replace(r"\qquad", r"\\")  # side by side they do not fit beside a picture
    above = st.container()
    st.markdown(step.explanation, help=explain(step.title, step.symbol, step.explanation))
    with st.expander("The formula") if folds_formula else above:
        st.latex(rf"\begin{{gathered}} {lines} \end{{gathered}}")


def query_row(trace: AttentionTrace, head: int, query: int, n: int, key_words: str) -> None:
    """Draw the table of the n keys to which a query gives most, and the sums that it rests on."""
    table = row_table(trace, head, query, n)
    rows = (
        (key, "" if math.isnan(score) else f"{score:.2f}", f"{exponential:.3g}", f"{weight:.4f}", f"{contribution:.4f}")
        for key, score, exponential, weight, contribution in table.itertuples(index=False)
    )
    figures_table((f"key ({key_words})", "score", "exp(score)", "weight", "weight × |value|"), *rows)
    total = float(trace.log_normaliser[head, query].exp())
    n_visible = max(1, len(trace.visible_keys(head, query)))
    if not trace.edits:  # which may set weights beside the softmax
        st.caption(f"weight = exp(score) / {_rounded(total)}, the row's sum; all alike: {1 / n_visible:.4f}.")


def _rounded(total: float) -> str:
    return f"{total:,.0f}" if 1000 <= total < 1e9 else f"{total:.4g}"
