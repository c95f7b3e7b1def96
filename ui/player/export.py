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
        "npz": ("Numbers", f"{whole}.npz", partial(trace_to_npz, trace)),
        "code": ("Script", f"{here}.py", partial(trace_to_code, *looked_at)),
        "ipynb": ("Notebook", f"{here}.ipynb", partial(trace_to_notebook, *looked_at)),
    }
    if trace.n_heads * trace.n_queries * trace.n_keys <= MAX_OFFLINE:
        page = partial(offline_page, recording or Recording([trace]), trace, head=head, query=query, **seen)
        files["html"] = "Offline page", f"{whole}.html", page
    if recording:
        files["bib"] = "Citation", f"{whole}.bib", recording.to_bibtex
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for kind, (label, file, make) in files.items():
            st.download_button(label, make, file, on_click="ignore", key=f"{name}_{kind}")
        if query is not None:
            row = partial(_row_of, trace, head, query)
            download_table("Row", row, f"{whole}-query-{query + 1}.csv", f"{name}_row")


def _row_of(trace: AttentionTrace, head: int, query: int) -> pd.DataFrame:
    table = trace_to_frame(trace, head, rows=slice(query, query + 1))
    return table.assign(query=table["query"] + 1, key=table["key"] + 1)


def offline_page(recording: Recording, trace: AttentionTrace, **seen: Any) -> str:
    """Return what is on the screen as a file that needs no server: heads to be hovered, steps to be walked through."""
    place = recording.traces.index(trace)
    return recording.show(place, steps=steps_of(trace), max_bytes=OFFLINE_BYTES, **seen).page()


def _sheet(table: pd.DataFrame) -> str:
    """Return a table as comma-separated values that a spreadsheet takes for no formulas."""
    texts = {name: column.map(as_cell) for name, column in table.items() if column.map(type).eq(str).all()}
    return table.assign(**texts).to_csv(index=False)


def download_table(label: str, make: Callable[[], pd.DataFrame], file: str, key: str) -> None:
    """Offer a table as a file of comma-separated values, which is made when it is asked for."""
    st.download_button(f"{label} (.csv)", lambda: _sheet(make()), file, on_click="ignore", key=key)
