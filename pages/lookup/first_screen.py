"""The first screen: the query, by what and how softly it is looked up, and another comparison to guess."""

from functools import partial

import streamlit as st

from attention_core import AttentionTrace
from attention_core.hub.model import ModelError
from attention_core.inference import soft_lookup as core
from pages.lookup.records import MAX_QUERIES, MAX_QUERY_TEXT, read_queries
from pages.lookup.table import BY, COMPARISONS, EDITS, NAME, QUERIES, QUERY, LookupRequest, guess_again
from ui.labels import distinct, error_markdown
from ui.meaning import meaning_encoder
from ui.player import step_of
from ui.state import Field, set_widget, single_choice, widget_value
from ui.try_this import TryThis, is_answered, try_this

QUERY_BOX = "lookup_asked"
BOX_REMARKS = Field(NAME, "refused", "")  # what could not be used of the query in the box
MAX_RUNS = 3  # of letters that a query shares with the nearest keys, one each
MIN_COSINE = 0.25  # below which a query resembles no key; twice that where no weight is large


def type_query(request: LookupRequest) -> None:
    """Draw the box for a query, and what cannot be used."""
    prompt = "Ask something of your own"
    box = partial(st.text_input, prompt, key=QUERY_BOX, placeholder=prompt, label_visibility="collapsed")
    box(max_chars=MAX_QUERY_TEXT, on_change=_on_query)
    for remark in filter(None, (*request.remarks, BOX_REMARKS.value)):
        st.info(remark)


def choose_query(request: LookupRequest) -> int:
    """Draw the queries; return the index of the present one."""
    names = distinct([error_markdown(query) for query in request.queries])
    options = dict(enumerate(names))
    return single_choice("Query", QUERY, options, label_visibility="collapsed", wrap=True, on_change=guess_again)


def _on_query() -> None:
    """Put the query from the box before the others, and make it the present one."""
    query = " ".join(widget_value(QUERY_BOX).split())
    guess_again()
    set_widget(QUERY_BOX, "")
    result = read_queries(query)
    BOX_REMARKS.value = " ".join(result.remarks) if query else ""
    if result.queries:
        lines = [line for line in QUERIES.value.splitlines() if line.strip() and line != query]
        QUERIES.value, QUERY.value = "\n".join([query, *lines][:MAX_QUERIES]), 0


def choose_encoder() -> dict[str, core.Encoder]:
    """Draw the choice of how texts are compared; return the encoder of each comparison, the chosen one first.

    Without a sentence encoder it says so, and returns only that of spelling.
    """
    chosen = single_choice("Compared by", BY, COMPARISONS, on_change=guess_again)
    encoders = {"spelling": core.SPELLING}
    try:
        encoders["meaning"] = meaning_encoder()
    except ModelError as error:
        if chosen == "meaning":
            st.info(f"{error_markdown(error)} Until then texts are compared by spelling.")
        return encoders
    return {chosen: encoders[chosen], **encoders}


def fits_nothing(trace: AttentionTrace, query: int) -> bool:
    """Return whether a query resembles no key, though its weights sum to 100% all the same."""
    score, weight = (float(step_of(trace, name).value()[query].max()) for name in ("scores", "weights"))
    return not trace.edits and weight > 0 and score < (2 * MIN_COSINE if weight < 0.5 else MIN_COSINE)


def try_second_comparison(request: LookupRequest, query: int, encoders: dict[str, core.Encoder]) -> None:
    """Let a visitor guess what the query finds by meaning instead of spelling, or by spelling instead of meaning."""
    if len(encoders) < 2:
        return
    (alternative,) = {*COMPARISONS} - {BY.value}
    present_by, next_by = (alternative, BY.value) if is_answered(NAME) else (BY.value, alternative)
    rankings_by = {
        by: core.soft_lookup(request.records, request.queries, 1.0, encoders[by]).weights().argsort(1, True).tolist()
        for by in COMPARISONS
    }
    # a query that finds the same both ways shows nothing
    rows = (query, *range(len(request.queries)))
    asked = next((row for row in rows if len({rankings[row][0] for rankings in rankings_by.values()}) > 1), None)
    if asked is None:
        guess_again()
        return
    text = request.queries[asked]
    keys = sorted({key for rankings in rankings_by.values() for key in rankings[asked][:2]})
    names = [error_markdown(request.records.keys[key][:40]) for key in keys]
    best_by = {by: keys.index(rankings[asked][0]) for by, rankings in rankings_by.items()}

    def outcome() -> tuple[int, str]:
        option = best_by[next_by]
        sentence = f"By {next_by} it finds *{names[option]}*; by {present_by}, *{names[best_by[present_by]]}*."
        nearest = [request.records.keys[key] for key in rankings_by[next_by][asked][:MAX_RUNS]]
        runs = {key[:40]: shared[0] for key in nearest if (shared := core.shared_runs(text, key))}
        if next_by == "spelling" and runs:
            letters = ", ".join(f"*{error_markdown(key)}* {run.strip('_')}" for key, run in runs.items())
            sentence += f" Letters in common, in a row or at an end: {letters}."
        return option, sentence

    question = f"By {next_by} alone, which key is nearest to *{error_markdown(text[:60])}*?"

    def act() -> None:
        BY.value, QUERY.value = next_by, asked
        EDITS.reset()

    try_this(NAME, TryThis(f"compare by {next_by}", question, names, act, outcome, "lookup_scene"))
