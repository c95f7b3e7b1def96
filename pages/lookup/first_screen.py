"""The first screen: what is asked, what a dictionary says to it, what comes back softly, and from which records."""

import html
from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace, Role
from attention_core.attention.wording import format_count
from attention_core.bounds.harmless import escape_hidden
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelError
from attention_core.inference import soft_lookup as core
from pages.lookup.records import MAX_QUERIES, MAX_QUERY_TEXT, read_queries
from pages.lookup.table import BY, EDITS, NAME, QUERIES, QUERY, WAYS, LookupRequest, guess_again
from ui.computed import cached_computation
from ui.labels import distinct, error_markdown, literal, note
from ui.layout import grey_out, role_colour
from ui.model_runs import pretrained_of
from ui.player import step_of
from ui.state import Field, set_widget, single_choice, widget_value
from ui.try_this import GUESSING, NOT_TRIED, TRIED, TryThis, try_this

TYPED, REFUSED = "lookup_asked", Field(NAME, "refused", "")
LONG = 24  # letters from which on a key is written smaller
AT_ONCE = 16  # texts that are read before the next visitor has the turn
FITS = 800  # letters of records that are all shown; more are in a box that is scrolled
ROWS = 10  # records, as many
NEAR = 0.25  # cosine below which a query resembles nothing; twice that where no weight is large


def query_part(asked: LookupRequest) -> int:
    """Draw the box and the queries, and say what of it cannot be used; return which query is looked at."""
    words = "Ask something of your own"
    st.text_input(
        words,
        key=TYPED,
        placeholder=words,
        label_visibility="collapsed",
        max_chars=MAX_QUERY_TEXT,
        on_change=_ask,
    )
    for remark in (*asked.remarks, *([REFUSED.value] if REFUSED.value else [])):
        st.info(remark)
    QUERY.clamp_to_options(range(len(asked.queries)), 0)
    names = distinct([error_markdown(query) for query in asked.queries])
    return single_choice(
        "Query", QUERY, dict(enumerate(names)), label_visibility="collapsed", wrap=True, on_change=guess_again
    )


def _ask() -> None:
    """Ask for what was typed, before what was asked until now."""
    typed = " ".join(widget_value(TYPED).split())
    guess_again()
    set_widget(TYPED, "")
    understood = read_queries(typed)
    REFUSED.value = " ".join(understood.remarks) if typed else ""
    if understood.queries:
        lines = [line for line in QUERIES.value.splitlines() if line.strip() and line != typed]
        QUERIES.value, QUERY.value = "\n".join([typed, *lines][:MAX_QUERIES]), 0


def encoder_input() -> dict[str, core.Encoder]:
    """Let a person choose how texts are compared; return both ways, the chosen one first.

    Without a sentence encoder it says so, and spelling is the only way.
    """
    chosen = single_choice("Compared by", BY, WAYS, on_change=guess_again)
    ways = {"spelling": core.SPELLING}
    try:
        if find_local(PACKAGE) is None:
            raise ModelError(f"The sentence encoder MiniLM is not here. The Python package {PACKAGE} brings it.")
        ways["meaning"] = core.meaning(pretrained_of(PACKAGE), _read)
    except ModelError as error:
        if chosen == "meaning":
            st.info(f"{error_markdown(error)} Until then texts are compared by spelling.")
        return ways
    return ways if chosen == "spelling" else dict(reversed(ways.items()))


def _read(texts: Sequence[str]) -> Tensor:
    starts = range(0, len(texts), AT_ONCE)
    return torch.cat([_vectors(tuple(texts[start : start + AT_ONCE])) for start in starts])


@cached_computation(spinner="Reading the texts")
def _vectors(texts: tuple[str, ...]) -> Tensor:
    return core.sentence_vectors(pretrained_of(PACKAGE), texts)


def answer(asked: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Draw what a dictionary says to a query, and what the soft look-up brings back."""
    records, text = asked.records, asked.queries[query]
    stored = dict(zip(records.keys, records.values, strict=True))
    weights, context, labels = trace.weights()[query], trace.context()[query], core.value_labels(records)
    best = int(weights.argmax())
    found = _strong(stored[text]) if text in stored else f"<b>not found</b> no key is exactly “{_plain(text[:60])}”"
    share = f"{'most, but only ' * (weights[best] < 0.5)}{float(weights[best]):.0%} of the attention"
    top = context.topk(min(2, len(labels)))
    shares = zip(top.values.tolist(), top.indices.tolist(), strict=True)
    back = " + ".join(f"{share:.0%} {_plain(labels[column])}" for share, column in shares if share >= 0.005)
    rest = " + …" * (float(top.values.sum()) < 0.995)
    soft = f"{_strong(records.keys[best])} {share}<p>The answer is the mixture: <strong>{back}{rest}</strong></p>"
    if not weights.any():
        soft = "<b>nothing</b> every record is cut"
    grey_out("lookup_answer", not asked.is_present)
    with st.container(key="lookup_answer"):
        st.html(
            f'<div class="looked-up"><h4>A dictionary</h4>{found}</div><div class="looked-up">'
            f'<h4 style="color:{role_colour(Role.WEIGHTS)}">The soft look-up</h4>{soft}</div>'
        )


def remark_on_nothing_near(asked: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Say that the weights sum to 100% all the same where a query resembles no key."""
    nearest, largest = (float(step_of(trace, name).value()[query].max()) for name in ("scores", "weights"))
    if not largest or nearest >= (2 * NEAR if largest < 0.5 else NEAR):
        return
    note(
        f"{literal(asked.queries[query], 40)} resembles no key much, yet its weights sum to 100%: a softmax cannot "
        "answer “nothing fits”."
    )


def record_list(asked: LookupRequest, trace: AttentionTrace, query: int) -> None:
    """Draw the records, each with a bar of the weight that a query gives it; of many, the heaviest come first."""
    records = asked.records
    weighed = list(zip(records.keys, records.values, trace.weights()[query].tolist(), strict=True))
    if is_long := len(asked.text) > FITS or len(weighed) > ROWS:
        weighed.sort(key=lambda record: record[2], reverse=True)
    most = max(weight for *_, weight in weighed) or 1.0
    rows = "".join(
        f"<tr{' class=best' * (weight == most)}><td>{_plain(key)}</td><td>{_plain(value)}</td>"
        f'<td><span><i style="width:{weight:.1%}"></i></span>{weight:.0%}</td></tr>'
        for key, value, weight in weighed
    )
    heads = zip((Role.KEY, Role.VALUE, Role.WEIGHTS), (records.key_name, records.value_name, "weight"), strict=True)
    head = "".join(f'<th style="color:{role_colour(role)}">{_plain(name)}</th>' for role, name in heads)
    box = ' class="records scrolled" tabindex="0"' if is_long else ' class="records"'
    st.html(f"<div{box}><table><tr>{head}</tr>{rows}</table></div>")
    if is_long:
        note(f"{format_count(len(weighed), 'records')}, the heaviest first: scroll the list to see all.")


def _strong(text: str) -> str:
    return f"<b{' class=long' if len(text) > LONG else ''}>{_plain(text)}</b>"


def _plain(text: str) -> str:
    return html.escape(escape_hidden(text[:400]))


def try_the_other_way(asked: LookupRequest, query: int, ways: dict[str, core.Encoder]) -> None:
    """Let a visitor guess what the query finds when texts are compared in the other way than now."""
    if len(ways) < 2:
        return
    is_tried, text = TRIED[NAME].value not in (NOT_TRIED, GUESSING), [asked.queries[query]]
    other, before = sorted(WAYS, key=lambda way: (way == BY.value) != is_tried)
    likely = {
        way: core.soft_lookup(asked.records, text, 1.0, ways[way]).weights()[0].argsort(descending=True).tolist()
        for way in WAYS
    }
    keys = sorted({key for order in likely.values() for key in order[:2]})
    names = [error_markdown(asked.records.keys[key][:40]) for key in keys]
    best = {way: keys.index(order[0]) for way, order in likely.items()}

    def outcome() -> tuple[int, str]:
        now = best[other]
        words = f"By {other} it finds *{names[now]}*; by {before}, *{names[best[before]]}*."
        if other != "spelling":
            return now, words
        asks, key = text[0][:60], asked.records.keys[keys[now]][:40]
        return now, f"{words} Letters in common: {_letters_in_common(asks, key)}, {_letters_in_common(key, asks)}."

    question = f"Now compare by {other} only. What does *{error_markdown(text[0][:60])}* find?"

    def act() -> None:
        BY.value = other
        EDITS.reset()

    try_this(NAME, TryThis(f"compare by {other}", question, names, act, outcome, "lookup_answer"))


def _letters_in_common(text: str, other: str) -> str:
    pieces = ((error_markdown(piece), is_shared) for piece, is_shared in core.shared_letters(text, other))
    return "".join(f"**{piece}**" if is_shared else piece for piece, is_shared in pieces)
