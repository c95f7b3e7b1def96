"""The trace of a text as it grows: a row for each token."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.heads import masked_weights
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.palette import weights_ramp
from attention_core.explain.heads.groups import groups, kind_of
from attention_core.hub.generation import Generation
from attention_core.hub.run import ModelRun
from ui.layout import section
from ui.model.state import chosen


def growing(run: ModelRun, made: Generation, name: str) -> None:
    """Draw the grown trace of the chosen head, its newest row framed.

    Args:
        run: what is on the page, in which the head was chosen.
        made: the text so far.
        name: prefix of the page's state.
    """
    number, head = number_of_chosen(run, made, name)
    trace = made.trace(number)
    section("How its trace grows")
    st.markdown(f"A row for each token: {head_words(made, number, head)}.")
    st.altair_chart(
        matrix_chart(
            masked_weights(trace, head),
            trace.story.query_axis,
            trace.story.key_axis,
            Role.WEIGHTS,
            title="weight",
            size=380,
            marked_row=trace.n_queries - 1,
            ramp=weights_ramp(trace.n_keys),
        ),
        key=f"{name}_says_growing_{number}_{head}_{trace.n_queries}",
        width="content",
        alt=f"Weights of {head_words(made, number, head)}, of the text so far; the newest row is framed",
    )
    st.caption(_how_it_ran(made, trace.n_queries))


def head_words(made: Generation, number: int, head: int) -> str:
    """Return a head in words, "decoder self, layer 3, head 5"."""
    kind = kind_of(made.first.names[number])
    layer = sum(kind_of(name) == kind for name in made.first.names[:number])
    return f"{kind}, layer {layer + 1}, head {head + 1}"


def _how_it_ran(made: Generation, n_rows: int) -> str:
    last = 1000 * made.seconds[-1]
    if len(made.seconds) == 1:
        return f"{n_rows} rows, computed at once in {last:,.0f} ms, with the trace. The next token will add one row."
    if not made.uses_cache:
        return f"All {n_rows} rows were computed again for the last token, in {last:,.0f} ms, with the trace."
    return (
        f"The last token ran alone in {last:,.0f} ms, with the trace: one new query, a new row, over the keys that the "
        f"model had kept. The first {made.n_prompt} tokens ran together in {1000 * made.seconds[0]:,.0f} ms. The grown "
        "matrix is the one of the whole text run at once."
    )


def number_of_chosen(run: ModelRun, made: Generation, name: str) -> tuple[int, int]:
    """Return the trace, by its number, and the head that are looked at; the nearest that grow with the text."""
    picked, names = chosen(name, run), made.first.names
    wanted = groups(run.recording)[picked.group][picked.layer].story.name
    writing = [number for number, one in enumerate(names) if one.split(".")[0] != "encoder" or not made.source]
    number = names.index(wanted) if wanted in names else writing[-1]
    number = number if number in writing else writing[-1]
    return number, min(picked.head, made.first.traces[number].n_heads - 1)
