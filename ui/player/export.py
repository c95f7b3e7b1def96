"""What a visitor takes along of a trace: numbers, code, a page and tables."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_notebook, trace_to_npz
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds.harmless import as_cell
from ui.chart import file_name
from ui.player.steps import steps_of
from ui.state import widget_value

OFFLINE_BYTES = 2_000_000
MAX_OFFLINE = 50_000_000  # weights of a trace; more would keep the server for long


def export_bar(
    trace: AttentionTrace,
    name: str,
    *,
    head: int = 0,
    query: int | None = None,
    subject: str = "",
    recording: Recording | None = None,
    **options: Any,
) -> None:
    """Offer the trace as numbers and as a page, the chosen query's row as a table, and the code of the chosen step.

    Files are made when they are asked for, not at every rerun; their names say page, model, head and step, or their
    subject after the page's name. The recording is all that the page shows, this trace alone if None; for the options
    see Recording.show().
    """
    steps = [step.name for step in steps_of(trace)]
    chosen = widget_value(f"{name}_step")
    step = chosen if chosen in steps else "weights"
    of_head = f"head {head + 1}" if trace.n_heads > 1 else ""
    name_of_all = file_name(name, subject or f"{trace.story.mechanism} {trace.story.name} {of_head}")
    name_of_step = file_name(name_of_all, step)
    current = trace, step, head, query or 0
    files: dict[str, tuple[str, str, Callable[[], str | bytes]]] = {
        "npz": ("Numbers", f"{name_of_all}.npz", partial(trace_to_npz, trace)),
        "code": ("Script", f"{name_of_step}.py", partial(trace_to_code, *current)),
        "ipynb": ("Notebook", f"{name_of_step}.ipynb", partial(trace_to_notebook, *current)),
    }
    if trace.n_heads * trace.n_queries * trace.n_keys <= MAX_OFFLINE:
        page = partial(offline_page, recording or Recording([trace]), trace, head=head, query=query, **options)
        files["html"] = "Offline page", f"{name_of_all}.html", page
    if recording:
        files["bib"] = "Citation", f"{name_of_all}.bib", recording.to_bibtex
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for kind, (label, file, make) in files.items():
            st.download_button(label, make, file, on_click="ignore", key=f"{name}_{kind}")
        if query is not None:
            row = partial(_row_of, trace, head, query)
            download_table("Row", row, f"{name_of_all}-query-{query + 1}.csv", f"{name}_row")


def _row_of(trace: AttentionTrace, head: int, query: int) -> pd.DataFrame:
    table = trace_to_frame(trace, head, rows=slice(query, query + 1))
    return table.assign(query=table["query"] + 1, key=table["key"] + 1)


def offline_page(recording: Recording, trace: AttentionTrace, **options: Any) -> str:
    """Return what is on the screen as a file that needs no server: heads to be hovered, steps to be walked through."""
    layer = recording.traces.index(trace)
    return recording.show(layer, steps=steps_of(trace), max_bytes=OFFLINE_BYTES, **options).page()


def _sheet(table: pd.DataFrame) -> str:
    """Return a table as comma-separated values that a spreadsheet takes for no formulas."""
    texts = {name: column.map(as_cell) for name, column in table.items() if column.map(type).eq(str).all()}
    return table.assign(**texts).to_csv(index=False)


def download_table(label: str, make: Callable[[], pd.DataFrame], file: str, key: str) -> None:
    """Offer a table as a file of comma-separated values, which is made when it is asked for."""
    st.download_button(f"{label} (.csv)", lambda: _sheet(make()), file, on_click="ignore", key=key)
