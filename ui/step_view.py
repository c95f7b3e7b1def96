"""What pages show of a trace: one step with its formula and numbers, a query's row, the numbers to take along."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz
from attention_core.attention.recording import Recording
from attention_core.attention.steps import steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Step
from attention_core.bounds import as_cell
from attention_core.charts import STEP_SIZE, step_chart
from attention_core.explain.arithmetic import cell_formula, row_table
from ui.chart import draw_chart
from ui.figures import file_name
from ui.glossary import explain
from ui.layout import section
from ui.state import widget_value

OFFLINE_BYTES = 2_000_000
MOST_OFFLINE = 50_000_000  # weights of a trace; more would keep the server for long


def show_words(trace: AttentionTrace, step: Step, head: int, query: int, key: int, numbers: str | None = None) -> None:
    """Draw the step's heading, shape, formula, meaning, the numbers of one cell, and its code (folded)."""
    describe(step)
    numbers = numbers or cell_formula(trace, step, head, query, key)
    if numbers:
        st.latex(numbers)
    with st.expander("The PyTorch line"):
        st.code(step.code)


def describe(step: Step) -> None:
    """Draw the step's heading, shape, formula and meaning."""
    section(step.title, step.role)
    rows, cols = step.shape
    st.caption(f"{counted(rows, step.row_axis.name)} × {counted(cols, step.col_axis.name)}")
    lines = step.formula.replace(r"\qquad", r"\\")  # side by side they do not fit beside a picture
    st.latex(rf"\begin{{gathered}} {lines} \end{{gathered}}")
    st.markdown(step.explanation, help=explain(step.title, step.symbol, step.explanation))


def counted(n: int, name: str) -> str:
    """Return a number with what it counts, "1 query" or "225 regions"."""
    one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return f"{n:,} {one if n == 1 else name}"


def show_matrix(step: Step, head: int, query: int | None, name: str, size: int = STEP_SIZE) -> None:
    """Draw the step's numbers in the form that suits them: a matrix, pictures per dimension, or bars."""
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    chart = step_chart(step, head, query=query, size=size)
    draw_chart(chart, width="content", key=f"{name}_{step.name}", alt=words, step=step.name)


def query_row(trace: AttentionTrace, head: int, query: int, n: int = 7, key_words: str = "pixel") -> None:
    """Draw the table of the keys to which a query gives most, and the sums that it rests on."""
    st.markdown("**Its row in numbers**")
    table = row_table(trace, head, query, n)
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        placeholder="",  # all the other keys together have no score
        column_config={
            "key": st.column_config.TextColumn(f"key ({key_words})"),
            "score": st.column_config.NumberColumn("score", format="%.2f"),
            "exponential": st.column_config.NumberColumn("exp(score)", format="%.3g"),
            "weight": st.column_config.NumberColumn("weight", format="%.4f"),
            "contribution": st.column_config.NumberColumn("weight × |value|", format="%.4f"),
        },
    )
    total = float(trace.log_normaliser[head, query].exp())
    st.caption(
        f"Exponentials of the whole row sum to {_short(total)}; each weight is an exponential divided by that sum. "
        f"The uniform weight would be 1/{trace.n_keys} = {1 / trace.n_keys:.4f}."
    )


def folded_row(title: str, name: str, trace: AttentionTrace, head: int, query: int, n: int, key_words: str) -> None:
    """Offer what query_row draws under a title, of a page's name; nothing is computed until it is opened."""
    folded = st.expander(title, key=f"{name}_row", on_change="rerun")
    if folded.open:
        with folded:
            query_row(trace, head, query, n, key_words)


def _short(total: float) -> str:
    return f"{total:,.0f}" if 1000 <= total < 1e9 else f"{total:.4g}"


def export_bar(
    trace: AttentionTrace,
    name: str,
    *,
    head: int = 0,
    query: int | None = None,
    about: str = "",
    recording: Recording | None = None,
    **seen: Any,
) -> None:
    """Offer the trace as numbers and as a page, the chosen query's row as a table, and the code of the chosen step.

    Files are made when they are asked for, not at every rerun; their names say page, model, head and step, or what they
    are about after the page's name. The recording is all that the page shows, this trace alone if None; seen is what
    Recording.show() can be told besides.
    """
    steps = [step.name for step in steps_of(trace)]
    chosen = widget_value(f"{name}_step")
    step = chosen if chosen in steps else "weights"
    of_head = f"head {head + 1}" if trace.n_heads > 1 else ""
    whole = file_name(name, about or f"{trace.story.mechanism} {trace.story.name} {of_head}")
    here = file_name(whole, step)
    looked_at = trace, step, head, query or 0
    files: dict[str, tuple[str, str, Callable[[], str | bytes]]] = {
        "npz": ("All numbers (.npz)", f"{whole}.npz", partial(trace_to_npz, trace)),
        "code": ("PyTorch script (.py)", f"{here}.py", partial(trace_to_code, *looked_at)),
        "ipynb": ("Notebook (.ipynb)", f"{here}.ipynb", partial(trace_to_notebook, *looked_at)),
    }
    if trace.n_heads * trace.n_queries * trace.n_keys <= MOST_OFFLINE:
        page = partial(offline_page, recording or Recording([trace]), trace, head=head, query=query, **seen)
        files["html"] = "Offline page (.html)", f"{whole}.html", page
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for kind, (label, file, make) in files.items():
            st.download_button(label, make, file, on_click="ignore", key=f"{name}_{kind}")
        if query is not None:
            row = partial(_row_of, trace, head, query)
            download_table("This query's row", row, f"{whole}-query-{query + 1}.csv", f"{name}_row")
    st.caption(
        f"Script and notebook compute the step *{step}* of the chosen head and query from what the layer was given, "
        "and print the same numbers as this page; the offline page needs no network. *Save a picture*, below, makes "
        "figures."
    )


def _row_of(trace: AttentionTrace, head: int, query: int) -> pd.DataFrame:
    table = trace_to_frame(trace, head, rows=slice(query, query + 1))
    return table.assign(query=table["query"] + 1, key=table["key"] + 1)


def offline_page(recording: Recording, trace: AttentionTrace, **seen: Any) -> str:
    """Return what is on the screen as a file that needs no server: heads to be hovered, steps to be walked through."""
    place = recording.traces.index(trace)
    return recording.show(place, steps=steps_of(trace), most_bytes=OFFLINE_BYTES, **seen).page()


def _sheet(table: pd.DataFrame) -> str:
    """Return a table as comma-separated values that a spreadsheet takes for no formulas."""
    texts = {name: column.map(as_cell) for name, column in table.items() if column.map(type).eq(str).all()}
    return table.assign(**texts).to_csv(index=False)


def download_table(label: str, make: Callable[[], pd.DataFrame], file: str, key: str) -> None:
    """Offer a table as a file of comma-separated values, which is made when it is asked for."""
    st.download_button(f"{label} (.csv)", lambda: _sheet(make()), file, on_click="ignore", key=key)
