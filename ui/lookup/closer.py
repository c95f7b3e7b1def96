"""One query from all sides: temperature, noise or regression; step by step; in numbers and letters."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts.bar_table import Bars, bar_table
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.device import to_array
from attention_core.hub.tokens import readable
from attention_core.topics.lookup.charts import bump_chart, recall_chart, regression_chart, sweep_chart
from attention_core.topics.lookup.encoders import SPELLING, Encoder
from attention_core.topics.lookup.ngrams import ngrams, place_of, shared_runs
from attention_core.topics.lookup.recall import Recall, fit_for_recall, recall_among_noise
from attention_core.topics.lookup.soft_lookup import Records, regression, soft_lookup, temperature_sweep
from ui.chart import draw_chart
from ui.computed import computed
from ui.labels import literal
from ui.layout import section
from ui.lookup.records import NAME, TEMPERATURES, WIDTHS, as_text, choose_query
from ui.player import Stepper, query_row, show_matrix, show_words
from ui.skeleton import note, say

STEPS = Stepper(NAME)
N_SHOWN = 8  # records that stand beside each other by both ways
NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def closer(records: Records, queries: Sequence, trace: AttentionTrace, temperature: float, encoder: Encoder) -> None:
    """Draw what the temperature does to the chosen query, and beside it noise in text keys or regression on numbers.

    Where texts are compared by meaning, spelling stands beside it instead of the noise.
    """
    query = choose_query(trace)
    sweep, other = st.columns(2, gap="large")
    with sweep:
        section("From look-up to average")
        _temperature_sweep(records, queries[query], temperature, encoder)
    with other:
        if encoder is not SPELLING:
            section("By spelling and by meaning")
            _both_ways(records, queries, trace, query, temperature)
        elif not records.numeric_keys:
            section("When the keys are noisy")
            _recall_among_noise(records, temperature)
        elif records.numeric_values:
            section("Attention as regression")
            _regression(records, queries, trace, query, temperature)


def _temperature_sweep(records: Records, query: str | float, temperature: float, encoder: Encoder) -> None:
    grid = [width**2 for width in WIDTHS] if records.numeric_keys else TEMPERATURES
    temperatures = np.geomspace(grid[0], grid[-1], 48).tolist()
    weights = to_array(temperature_sweep(records, query, temperatures, encoder))
    chart = sweep_chart(weights, temperatures, [as_text(key) for key in records.keys], temperature)
    draw_chart(chart, key="sweep", alt="Weights of the chosen query against the temperature")
    st.caption(
        "Low temperature: all the weight goes to the most similar key. It acts like a dictionary that always answers. "
        f"High temperature: every record gets 1/{len(records.keys)}, and the answer is the plain average."
    )


def _both_ways(records: Records, queries: Sequence, trace: AttentionTrace, query: int, temperature: float) -> None:
    spelled = soft_lookup(records, queries, temperature).weights(0, [query])[0]
    meant = trace.weights(0, [query])[0]
    best = torch.maximum(spelled, meant).argsort(descending=True)[:N_SHOWN].tolist()
    labels, colours = trace.story.key_axis.labels, (ROLE_COLOURS[Role.WEIGHTS],)
    columns = [
        Bars(way, (shares := weights[best].tolist()), 1.0, [f"{share:.0%}" for share in shares], colours)
        for way, weights in (("spelling", spelled), ("meaning", meant))
    ]
    draw_chart(bar_table([labels[key] for key in best], columns), width="content", alt="The weights by both ways")
    note(
        "The weights of the chosen query by both ways, at this temperature. Spelling sees shared letters; it knows no "
        "synonyms, but also names that no network has read. Meaning was learned from texts, and can be wrong in its "
        "own ways."
    )


def _recall_among_noise(records: Records, temperature: float) -> None:
    keys, n_repeats = fit_for_recall([str(key) for key in records.keys])
    chart = recall_chart(_recall(keys, temperature, n_repeats))
    draw_chart(chart, key="recall", alt="Share of records found against the share of letters replaced")
    times = "once" if n_repeats == 1 else f"{n_repeats} times over"
    first = "" if len(keys) == len(set(records.keys)) else f" The first {len(keys)} records are tried."
    st.caption(
        "Letters of all keys are replaced at random, then each record is asked for by its right name, "
        f"{times}. With one wrong letter the dictionary finds nothing. The soft look-up gets worse only "
        f"gradually.{first}"
    )


@computed()
def _recall(keys: tuple[str, ...], temperature: float, n_repeats: int) -> list[Recall]:
    return recall_among_noise(keys, temperature, NOISE, n_repeats=n_repeats)


def _regression(records: Records, queries: Sequence, trace: AttentionTrace, query: int, temperature: float) -> None:
    places, curve = regression(records, temperature)
    keys, asked, weights = np.asarray(records.keys), np.asarray(queries), to_array(trace.weights(0, [query])[0])
    span = (float(min(keys.min(), asked.min())), float(max(keys.max(), asked.max())))
    chart = regression_chart(
        keys,
        np.asarray(records.values),
        (to_array(places), to_array(curve)),
        asked,
        to_array(trace.context()[:, 0]),
        weights,
        query,
        (records.key_name, records.value_name),
        span,
    )
    draw_chart(chart, key="regression", alt="Records, the curve of answers, and the query")
    bump = bump_chart(keys, weights, float(asked[query]), span, records.key_name)
    draw_chart(bump, key="bump", alt="Weights of the chosen query over the keys")
    st.caption(
        "Dashed: the chosen query. Pink: its weights, also as the size of the records. Orange: what a query at each "
        "place gets back. This is kernel regression (Nadaraya 1964, Watson 1964): attention with numbers for keys."
    )


def step_by_step(trace: AttentionTrace) -> None:
    """Step through the look-up for the chosen query."""
    query = choose_query(trace)
    step = STEPS.draw(trace)
    if STEPS.hides(trace, step, query):
        return
    words, matrix = st.columns([0.82, 1], gap="large")
    with words:
        show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with matrix:
        show_matrix(step, 0, query if step.row_axis is trace.story.query_axis else None, NAME)


def in_numbers(records: Records, queries: Sequence, trace: AttentionTrace, encoder: Encoder) -> None:
    """Draw the chosen query's row, and what a text has in common with the key that gets most weight."""
    query = choose_query(trace)
    numbers, spelling = st.columns([1.5, 1], gap="large")
    with numbers:
        query_row(trace, 0, query, key_words=records.key_name)
    if records.numeric_keys:
        return
    with spelling:
        section("How a text becomes a vector")
        text, key = queries[query], str(records.keys[int(trace.weights(0, [query])[0].argmax())])
        if encoder is not SPELLING:
            _pieces(encoder, text)
            return
        both, runs = shared_runs(text, key), ngrams(text)
        st.markdown(
            f"{literal(text)} has {len(runs)} different runs of two and three letters, {literal(key)} has "
            f"{len(ngrams(key))}; **{len(both)}** are common to both: "
            + (" ".join(f"`{run}`" for run in both[:24]) or "none")
            + "."
        )
        rows = [(run, runs[run], *place_of(run)) for run in sorted(runs, key=lambda run: (-len(run), run))[:200]]
        table = pd.DataFrame(rows, columns=["run", "count", "adds to number", "sign"])
        sign = {"sign": st.column_config.NumberColumn(format="%+d")}
        st.dataframe(table, hide_index=True, height=180, width="content", column_config=sign)
        st.caption(
            "Each run adds to one of 512 numbers; a hash, a fixed scrambling of its letters, says which. _ marks the "
            "ends of a word. Only spelling is compared: “car” and “automobile” have nothing in common here. All "
            "vectors have length 1, so scores by L2 distance would give the very same weights."
        )


def _pieces(encoder: Encoder, text: str) -> None:
    tokenizer = encoder.named["tokenizer"]
    pieces = readable(tokenizer, tokenizer(text)["input_ids"])
    st.markdown(" ".join(literal(piece) for piece in pieces))
    say(
        f"The sentence encoder reads {literal(text)} as these **{len(pieces)} pieces**; [CLS] and [SEP] mark its ends. "
        "In six layers every piece asks all others, so that a state knows its neighbours. The states are added up, and "
        "the sum is cut to length 1: one vector of 384 numbers for the whole text. No single number of it means "
        "anything; only which vectors lie close."
    )
    st.page_link("pages/model.py", label="See where its heads look", icon=":material/arrow_forward:")
