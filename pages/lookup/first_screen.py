"""The first screen: what is asked, what a dictionary says to it, what comes back softly, and from which records."""

import html
from collections.abc import Sequence
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.wording import format_count, percent
from attention_core.bounds.harmless import escape_hidden
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelError
from attention_core.inference import soft_lookup as core
from pages.lookup.records import MAX_QUERIES, MAX_QUERY_TEXT, read_queries
from pages.lookup.table import BY, COMPARISONS, EDITS, NAME, QUERIES, QUERY, LookupRequest, guess_again
from ui.computed import cached_computation
from ui.labels import distinct, error_markdown, literal, note
from ui.layout import grey_out, role_colour
from ui.model_runs import pretrained_of
from ui.player import step_of
from ui.state import Field, set_widget, single_choice, widget_value
from ui.try_this import GUESSING, NOT_TRIED, TRY_STAGE, TryThis, try_this

QUERY_BOX, REFUSED = "lookup_asked", Field(NAME, "refused", "")
LONG = 24  # letters from which on a key is written smaller
AT_ONCE = 16  # texts that are read before the next visitor has the turn
FITS = 800  # letters of records that are all shown; more are in a box that is scrolled
ROWS = 10  # records, as many
NEAR = 0.25  # cosine below which a query resembles nothing; twice that where no weight is large


def choose_query(request: LookupRequest) -> int:
    """Draw the box for a query, the queries, and what cannot be used; return the index of the present query."""
    prompt = "Ask something of your own"
    box = partial(st.text_input, prompt, key=QUERY_BOX, placeholder=prompt, label_visibility="collapsed")
    box(max_chars=MAX_QUERY_TEXT, on_change=_on_query)
    for remark in filter(None, (*request.remarks, REFUSED.value)):
        st.info(remark)
    QUERY.clamp_to_options(range(len(request.queries)), 0)
    names = distinct([error_markdown(query) for query in request.queries])
    return single_choice(
        "Query", QUERY, dict(enumerate(names)), label_visibility="collapsed", wrap=True, on_change=guess_again
    )


def _on_query() -> None:
    """Put the query from the box before the others, and make it the present one."""
    query = " ".join(widget_value(QUERY_BOX).split())
    guess_again()
    set_widget(QUERY_BOX, "")
    result = read_queries(query)
    REFUSED.value = " ".join(result.remarks) if query else ""
    if result.queries:
        lines = [line for line in QUERIES.value.splitlines() if line.strip() and line != query]
        QUERIES.value, QUERY.value = "\n".join([query, *lines][:MAX_QUERIES]), 0


def encoder_input() -> dict[str, core.Encoder]:
    """Draw the choice of how texts are compared; return the encoder of each, the chosen one first.

    Without a sentence encoder it says so, and returns that of spelling alone.
    """
    chosen = single_choice("Compared by", BY, COMPARISONS, on_change=guess_again)
    encoders = {"spelling": core.SPELLING}
    try:
        if find_local(PACKAGE) is None:
            raise ModelError(f"The sentence encoder MiniLM is not here. The Python package {PACKAGE} brings it.")
        encoders["meaning"] = core.meaning(pretrained_of(PACKAGE), _encode)
    except ModelError as error:
        if chosen == "meaning":
            st.info(f"{error_markdown(error)} Until then texts are compared by spelling.")
        return encoders
    return encoders if chosen == "spelling" else dict(reversed(encoders.items()))


def _encode(texts: Sequence[str]) -> Tensor:
    starts = range(0, len(texts), AT_ONCE)
    return torch.cat([_vectors(tuple(texts[start : start + AT_ONCE])) for start in starts])


@cached_computation(spinner="Reading the texts")
def _vectors(texts: tuple[str, ...]) -> Tensor:
    return core.sentence_vectors(pretrained_of(PACKAGE), texts)


def draw_answer(request: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Draw what a dictionary returns for a query, and what the soft look-up returns."""
    records, text = request.records, request.queries[query]
    stored = dict(zip(records.keys, records.values, strict=True))
    weights, context, labels = trace.weights()[query], trace.context()[query], core.value_labels(records)
    heaviest = int(weights.argmax())
    exact = f"<b>not found</b> no key is exactly “{_plain(text[:60])}”"
    if text in stored:
        exact = _strong(stored[text])
    soft = "<b>nothing</b> every record is cut"
    if weights.any():
        share = f"{'most, but only ' * (weights[heaviest] < 0.5)}{percent(float(weights[heaviest]))} of the attention"
        top = context.topk(min(2, len(labels)))
        shares = zip(top.values.tolist(), top.indices.tolist(), strict=True)
        mixture = " + ".join(f"{percent(share)} {_plain(labels[column])}" for share, column in shares if share >= 0.005)
        mixture += " + …" * (float(top.values.sum()) < 0.995)
        soft = f"{_strong(records.keys[heaviest])} {share}<p>The answer is the mixture: <strong>{mixture}</strong></p>"
    grey_out("lookup_answer", not request.is_present)
    with st.container(key="lookup_answer"):
        st.html(
            f'<div class="looked-up"><h4>A dictionary</h4>{exact}</div><div class="looked-up">'
            f'<h4 style="color:{role_colour(Role.WEIGHTS)}">The soft look-up</h4>{soft}</div>'
        )


def remark_on_nothing_near(request: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Say that the weights sum to 100% all the same where a query resembles no key."""
    nearest, largest = (float(step_of(trace, name).value()[query].max()) for name in ("scores", "weights"))
    if not largest or nearest >= (2 * NEAR if largest < 0.5 else NEAR):
        return
    note(
        f"{literal(request.queries[query], 40)} resembles no key much, yet its weights sum to 100%: a softmax cannot "
        "answer “nothing fits”."
    )


def draw_records(request: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Draw the records, each with a bar of its weight; a long list has the heaviest first."""
    records = request.records
    weighed = list(zip(records.keys, records.values, trace.weights()[query].tolist(), strict=True))
    if is_long := len(request.text) > FITS or len(weighed) > ROWS:
        weighed.sort(key=lambda record: record[2], reverse=True)
    largest = max(weight for *_, weight in weighed) or 1.0
    rows = "".join(
        f"<tr{' class=best' * (weight == largest)}><td>{_plain(key)}</td><td>{_plain(value)}</td>"
        f'<td><span><i style="width:{weight:.1%}"></i></span>{percent(weight)}</td></tr>'
        for key, value, weight in weighed
    )
    columns = zip((Role.KEY, Role.VALUE, Role.WEIGHTS), (records.key_name, records.value_name, "weight"), strict=True)
    header = "".join(f'<th style="color:{role_colour(role)}">{_plain(name)}</th>' for role, name in columns)
    box = ' class="records scrolled" tabindex="0"' if is_long else ' class="records"'
    st.html(f"<div{box}><table><tr>{header}</tr>{rows}</table></div>")
    if is_long:
        note(f"{format_count(len(weighed), 'records')}, the heaviest first: scroll the list to see all.")


def _strong(text: str) -> str:
    return f"<b{' class=long' if len(text) > LONG else ''}>{_plain(text)}</b>"


def _plain(text: str) -> str:
    return html.escape(escape_hidden(text[:400]))


def try_second_comparison(request: LookupRequest, query: int, encoders: dict[str, core.Encoder]) -> None:
    """Let a visitor guess what the query finds by meaning instead of spelling, or by spelling instead of meaning."""
    if len(encoders) < 2:
        return
    is_tried, text = TRY_STAGE[NAME].value not in (NOT_TRIED, GUESSING), request.queries[query]
    next_by, present_by = sorted(COMPARISONS, key=lambda by: (by == BY.value) != is_tried)
    ranking_by = {
        by: core.soft_lookup(request.records, [text], 1.0, encoders[by]).weights()[0].argsort(descending=True).tolist()
        for by in COMPARISONS
    }
    keys = sorted({key for order in ranking_by.values() for key in order[:2]})
    names = [error_markdown(request.records.keys[key][:40]) for key in keys]
    best = {by: keys.index(order[0]) for by, order in ranking_by.items()}

    def outcome() -> tuple[int, str]:
        option = best[next_by]
        sentence = f"By {next_by} it finds *{names[option]}*; by {present_by}, *{names[best[present_by]]}*."
        if next_by == "spelling":
            pair = text[:60], request.records.keys[keys[option]][:40]
            sentence += f" Letters in common: {_mark_shared(*pair)}, {_mark_shared(*reversed(pair))}."
        return option, sentence

    question = f"Now compare by {next_by} only. What does *{error_markdown(text[:60])}* find?"

    def act() -> None:
        BY.value = next_by
        EDITS.reset()

    try_this(NAME, TryThis(f"compare by {next_by}", question, names, act, outcome, "lookup_answer"))


def _mark_shared(text: str, compared_text: str) -> str:
    """Return Markdown for a text, bold where it shares letters with the compared one."""
    runs = ((error_markdown(run), is_shared) for run, is_shared in core.shared_letters(text, compared_text))
    return "".join(f"**{run}**" if is_shared else run for run, is_shared in runs)
