"""Parts of the look-up page: the queries, the answers, and what follows from them."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import ROLE_COLOURS
from attention_core.charts.lookup import bump_chart, recall_chart, regression_chart, sweep_chart
from attention_core.device import to_array
from attention_core.topics.lookup.ngrams import ngrams, place_of, shared_runs
from attention_core.topics.lookup.recall import fit_for_recall, recall_among_noise
from attention_core.topics.lookup.records import MAX_QUERIES, Asked, read_queries
from attention_core.topics.lookup.soft_lookup import Records, exact_lookup, regression, temperature_sweep, value_labels
from ui.labels import distinct, literal
from ui.lookup.records import forget_query

TEMPERATURES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
WIDTHS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
TABLE_STYLE = """<style>
.looked-up { max-height: 24rem; overflow: auto; } .looked-up table { border-collapse: collapse; width: 100%; }
.looked-up th, .looked-up td { padding: 0.3rem 0.5rem; text-align: left; vertical-align: top; font-size: 0.9rem; }
.looked-up th { font-weight: 600; border: none; border-bottom: 1px solid #8a93a066; }
.looked-up td { border: none; border-bottom: 1px solid #8a93a033; overflow-wrap: anywhere; min-width: 5rem; }
</style>"""


def query_input(name: str, records: Records) -> Asked:
    """Let a person type queries, one per line."""
    kind = "numbers, as the keys are" if records.numeric_keys else "texts"
    st.text_area(
        f"Queries, one per line ({kind})",
        key=f"{name}_queries",
        height=104,
        persist_state="session",
        max_chars=MAX_QUERIES * 200,
        on_change=forget_query(name),
    )
    asked = read_queries(st.session_state[f"{name}_queries"], records.numeric_keys)
    for remark in asked.remarks:
        st.info(remark)
    return asked


def temperature_input(name: str, records: Records) -> float:
    """Let a person choose the temperature, for numbers as the width of the bump; returns the temperature."""
    if records.numeric_keys:
        return _slider(f"{name}_width", "Width of the bump (its square is the temperature)", WIDTHS, 0.4) ** 2
    return _slider(f"{name}_temperature", "Temperature: left a look-up, right a plain average", TEMPERATURES, 0.05)


def _slider(key: str, words: str, options: Sequence[float], first: float) -> float:
    state = st.session_state
    if state.get(key) not in options:
        state[key] = first
    return st.select_slider(words, options, key=key, persist_state="session", format_func=lambda one: f"{one:g}")


def answers(records: Records, queries: Sequence, trace: AttentionTrace) -> None:
    """Draw one row per query: what a dictionary says, the most similar key, and what comes back softly."""
    hits = exact_lookup(records, queries)
    weights, context = trace.weights(), trace.context()
    likeness = step_of(trace, "scores").value()
    labels = value_labels(records)
    near = "distance" if records.numeric_keys else "cosine"
    rows = []
    for place, (query, hit) in enumerate(zip(queries, hits, strict=True)):
        best = int(weights[place].argmax())
        if records.numeric_values:
            back = f"{float(context[place, 0]):.6g}"
        else:
            top = context[place].topk(min(3, len(labels)))
            shares = zip(top.values.tolist(), top.indices.tolist(), strict=True)
            back = ", ".join(f"{share:.0%} {labels[one]}" for share, one in shares if share >= 0.005)
        alike = abs(query - records.keys[best]) if records.numeric_keys else float(likeness[place, best])
        most = f"{_words(records.keys[best])} ({float(weights[place, best]):.0%}, {near} {alike:.2f})"
        rows.append((_words(query), _words(hit.value) if hit.found else "miss", back, most))
    softly = "soft look-up (average)" if records.numeric_values else "soft look-up"
    _wrapped_table(("query", "dictionary", softly, "most weight on"), rows)
    if not records.numeric_keys and float(likeness.max(1).values.min()) < 0.25:
        worst = int(likeness.max(1).values.argmin())
        st.caption(
            f"{literal(_words(queries[worst]), 40)} resembles no key (cosine at most "
            f"{float(likeness[worst].max()):.2f}), and yet its weights sum to 100 %: a softmax cannot say miss."
        )


def _wrapped_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a small table whose texts are wrapped, not cut; the first column is a query's, the third a context's."""
    colours = (ROLE_COLOURS[Role.QUERY], "inherit", ROLE_COLOURS[Role.CONTEXT], ROLE_COLOURS[Role.WEIGHTS])
    top = "".join(f'<th style="color:{colour}">{head}</th>' for head, colour in zip(heads, colours, strict=True))
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell[:160])}</td>" for cell in row) + "</tr>" for row in rows)
    st.html(f'{TABLE_STYLE}<div class="looked-up"><table><tr>{top}</tr>{body}</table></div>')


def _words(entry: str | float | None) -> str:
    return entry if isinstance(entry, str) else f"{entry:.6g}"


def choose_query(name: str, trace: AttentionTrace) -> int:
    """Let a person choose which query is looked at."""
    state = st.session_state
    key = f"{name}_query"
    if not isinstance(state.get(key), int) or not 0 <= state[key] < trace.n_queries:
        state[key] = min(1, trace.n_queries - 1)
    labels = distinct(trace.story.query_axis.labels)
    return st.segmented_control(
        "Look closer at one query",
        range(trace.n_queries),
        key=key,
        format_func=lambda place: labels[place],
        required=True,
        persist_state="session",
        wrap=True,
    )


def sweep_section(records: Records, query: str | float, temperature: float) -> None:
    """Draw how the temperature takes look-up into average for one query."""
    grid = WIDTHS if records.numeric_keys else TEMPERATURES
    span = [one**2 if records.numeric_keys else one for one in (grid[0], grid[-1])]
    temperatures = np.geomspace(*span, 48).tolist()
    weights = to_array(temperature_sweep(records, query, temperatures))
    labels = [_words(key) for key in records.keys]
    st.altair_chart(
        sweep_chart(weights, temperatures, labels, temperature),
        width="stretch",
        key="sweep",
        alt="Weights of the chosen query against the temperature",
    )
    st.caption(
        "Cold: all weight on the most similar key, as in a dictionary, only that it never misses. "
        f"Hot: every record gets 1/{len(records.keys)}, and what comes back is the plain average."
    )


def recall_section(records: Records, temperature: float) -> None:
    """Draw how often the right record is found when the keys are misspelled."""
    keys, n_repeats = fit_for_recall([str(key) for key in records.keys])
    st.altair_chart(
        recall_chart(_recall(keys, temperature, n_repeats)),
        width="stretch",
        key="recall",
        alt="Share of records found against the share of letters replaced",
    )
    times = "once" if n_repeats == 1 else f"{n_repeats} times over"
    first = "" if len(keys) == len(set(records.keys)) else f" The first {len(keys)} records are tried."
    st.caption(
        "Letters of all keys are replaced at random, then each record is asked for by its right name, "
        f"{times}. One wrong letter and the dictionary misses; the soft look-up forgets gradually.{first}"
    )


@st.cache_data(max_entries=100, show_spinner=False)
def _recall(keys: tuple[str, ...], temperature: float, n_repeats: int) -> list:
    return recall_among_noise(keys, temperature, NOISE, n_repeats=n_repeats)


def regression_section(
    records: Records, queries: Sequence[float], trace: AttentionTrace, chosen: int, temperature: float
) -> None:
    """Draw numeric records, the chosen query's bump of weights, and the curve of what every query gets back."""
    curve = regression(records, temperature)
    keys, weights = np.asarray(records.keys), to_array(trace.weights(0, [chosen])[0])
    asked = np.asarray(queries)
    span = (float(min(keys.min(), asked.min())), float(max(keys.max(), asked.max())))
    chart = regression_chart(
        keys,
        np.asarray(records.values),
        (to_array(curve[0]), to_array(curve[1])),
        asked,
        to_array(trace.context()[:, 0]),
        weights,
        chosen,
        (records.key_name, records.value_name),
        span,
    )
    st.altair_chart(chart, width="stretch", key="regression", alt="Records, the curve of answers, and the query")
    st.altair_chart(
        bump_chart(keys, weights, float(asked[chosen]), span, records.key_name),
        width="stretch",
        key="bump",
        alt="Weights of the chosen query over the keys",
    )
    st.caption(
        "Dashed: the chosen query. Pink: its weights, also as the size of the records. Orange: what a query at each "
        "place gets back. This is kernel regression (Nadaraya 1964, Watson 1964): attention with numbers for keys."
    )


def spelling_section(query: str, key: str) -> None:
    """Show the runs of letters that a query and the key with most weight have in common, and where they are hashed."""
    both = shared_runs(query, key)
    mine, theirs = ngrams(query), ngrams(key)
    st.markdown(
        f"{literal(query)} has {len(mine)} different runs of two and three letters, {literal(key)} has {len(theirs)}; "
        f"**{len(both)}** are common to both: " + (" ".join(f"`{run}`" for run in both[:24]) or "none") + "."
    )
    rows = [
        {"run": run, "count": count, "adds to number": place_of(run)[0], "sign": f"{place_of(run)[1]:+d}"}
        for run, count in sorted(mine.items(), key=lambda one: (-len(one[0]), one[0]))[:200]
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, height=180, width="content")
    st.caption(
        "A hash, not a dictionary, decides which of the 512 numbers a run adds to; _ marks the ends of a word. It "
        "compares spelling, not meaning: “car” and “automobile” have nothing in common here. All vectors have "
        "length 1: scored by the L2 distance, the keys would get the very same weights."
    )
