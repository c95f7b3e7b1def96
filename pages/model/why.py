"""Why a head looks where it looks: one score by its sources, down to the word, and the weight without one source."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from attention_core.attention.edits import drop_heads
from attention_core.attention.types import Role
from attention_core.attention.wording import format_count, percent
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.data.language_pieces import NAME as LLAMA
from attention_core.hub.model import ModelError, ModelKind, readable
from attention_core.hub.run import ModelRun, TextInput
from attention_core.links import pack, unpack
from attention_core.log import log
from attention_core.study import Study, Why
from attention_core.study.heads import shows_pattern
from attention_core.study.sources import Source, Stream
from attention_core.study.stored_names import stored_names
from attention_core.study.why import Against, explain_score
from pages.model.glance import HEAD, NAME, TOKEN, HeadChoice, Selection, cached_with_run, chosen, short_name
from pages.model.heads import HEAD_DESCRIPTIONS, corpus, is_large
from pages.model.input import TEXT
from ui.computed import result_cache
from ui.job_queue import run_once
from ui.labels import error_markdown, literal, number
from ui.layout import figures_table
from ui.model_runs import PAGE_MODEL, RunRequest, prepared_of, pretrained_of, run_of
from ui.state import Field, controlled, whole_number
from ui.words import number_bars

Cell = tuple[int, int, int, int]
"""Indices of a score: its trace, head, query and key."""
EXAMPLE_TEXT, EXAMPLE_QUERY = "Mary has a red car. Mary has a red", 10
COPYING_HEAD, FINDING_HEAD = (3, 5), (2, 0)
"""Layer and head of the bundled language model: the head that copies, and the one by which it finds what to copy."""
EXAMPLE_FIGURES = (
    "In 60 such sentences, three names with twenty things, head 2.0 is the largest part on the key’s side 57 "
    "times, and without it the look more than halves 51 times."
)
MEAN, NOTHING = -1, -2  # in place of the key that a key is compared with: the mean of all others, or no key
N_BARS, N_PRODUCTS = 7, 5  # sources that have a bar of their own, and products that are listed
KEY = Field(NAME, "why_key", -1, address="key", parse=whole_number)
AGAINST = Field(NAME, "why_against", MEAN, address="rather")
IS_OFF = Field(NAME, "why_without", False, address="broken")
"""Whether the head that the sentence names is switched off."""
OPENED = Field[list[str]](
    NAME, "why_opened", list, address="opened", parse=lambda text: [*map(str, unpack(text))], text=pack
)
"""Sources that are taken apart, each by its side and its name: "key:2.0"."""
SOURCE_LABELS = {"embedding": "the word itself", "biases": "constants"}


def explain_weight(run: ModelRun, request: RunRequest, cell: Cell) -> None:
    """Draw the chosen head's score of the chosen query and a key, taken apart."""
    selection = chosen(run)
    example = LLAMA, TextInput(EXAMPLE_TEXT), (*COPYING_HEAD, EXAMPLE_QUERY)
    if (request.model_key, request.model_input, selection[1:]) != example:
        label = "Example: why does it say *car*?"
        st.button(label, key="model_why_story", icon=":material/bolt:", on_click=_open_example)
    try:
        with st.spinner("Taking the score apart"):
            model, inputs = pretrained_of(request.model_key).model, prepared_of(*request).inputs
            stream = cached_with_run(run, "stream", lambda: Stream(model, Study(model).inputs(inputs), run.tokens))
            comparisons: dict[int, Against] = {MEAN: "mean", NOTHING: None}
            against = comparisons.get(AGAINST.value, AGAINST.value)
            score_key = "why", cell, against
            table = cached_with_run(run, score_key, lambda: explain_score(stream, *cell, against=against))
            opened = _open_chosen_sources(run, score_key, table)
    except ValueError as error:
        st.info(f"This score cannot be taken apart: {error_markdown(error)}.")
        return
    _explain_in_a_sentence(run, request, stream, cell, table)
    query_column, key_column = st.columns(2, gap="large")
    with query_column:
        _draw_side(Role.QUERY, _token_name(run.tokens, cell[2]), opened.by_query())
        _choose_opened("query", opened.query_sources)
    with key_column:
        _draw_side(Role.KEY, _token_name(run.tokens, cell[3]), opened.by_key())
        _choose_opened("key", opened.key_sources)
    with st.expander(f"The {min(N_PRODUCTS, opened.cells.numel())} largest products"):
        products = opened.largest(N_PRODUCTS)
        largest = [(format_source(query), format_source(key), number(value)) for query, key, value in products]
        figures_table(("of the query", "of the key", "adds"), *largest)
    st.caption(
        f"{_name_score(run, selection)} {number(opened.score)}, is the sum of {opened.cells.numel():,} products. "
        f"{opened.note}"
    )


def _open_example() -> None:
    PAGE_MODEL.load(LLAMA)
    TEXT[NAME, ModelKind.DECODER].value = EXAMPLE_TEXT
    layer, head = COPYING_HEAD
    HEAD.value, TOKEN.value = HeadChoice(f"decoder.{layer}.self", head), EXAMPLE_QUERY
    for field in (KEY, AGAINST, IS_OFF, OPENED):
        field.reset()
    st.rerun()


def choose_cell(run: ModelRun) -> Cell:
    """Draw the choice of a key, and of what it is compared with; return the cell of the chosen head, query and key."""
    selection = chosen(run)
    trace = run.groups[selection.group][selection.layer]
    head, rows = selection.head, [selection.query]
    weights, mask = trace.weights(head, rows)[0], trace.allowed(head, rows)
    order = weights.argsort(descending=True).tolist()
    visible = [key for key in order if mask is None or mask[0, key]]
    labels = {key: f"{run.tokens[key].strip()} ({key + 1})" for key in visible}
    if not KEY.encode() or KEY.value not in visible:
        KEY.set_default(visible[0])
    weighted_labels = {key: f"{label}: {percent(float(weights[key]))}" for key, label in labels.items()}
    rivals = {key: label for key, label in labels.items() if key != KEY.value}
    comparisons = {MEAN: "the others, on average", NOTHING: "nothing"} | rivals
    AGAINST.clamp_to_options(list(comparisons))
    with st.container(horizontal=True, gap="medium"):
        KEY.widget(st.selectbox, "Why does it look at", visible, format_func=weighted_labels.get, width=260)
        AGAINST.widget(st.selectbox, "Rather than at", list(comparisons), format_func=comparisons.get, width=260)
    trace_index = next(index for index, recorded in enumerate(run.recording.traces) if recorded is trace)
    return trace_index, selection.head, selection.query, KEY.value


def _name_score(run: ModelRun, selection: Selection) -> str:
    """Return the beginning of a sentence: the score that is taken apart, less what it is compared with."""
    trace = run.groups[selection.group][selection.layer]
    visible_keys = [key for key in trace.visible_keys(selection.head, selection.query) if key != KEY.value]
    if AGAINST.value == NOTHING or not visible_keys:
        return "The score,"
    if AGAINST.value == MEAN:
        return "The score, less the mean of the others," if len(visible_keys) > 1 else "The score, less the other,"
    return f"The score, less that of {literal(run.tokens[AGAINST.value].strip())},"


def _open_chosen_sources(run: ModelRun, score_key: tuple[Any, ...], table: Why) -> Why:
    """Return the table with the chosen sources taken apart; forget those that it lacks."""
    opened: list[str] = []
    for path in OPENED.value:
        with suppress(ValueError):
            side, name = path.split(":", 1)
            open_source = partial(table.open, "query" if side == "query" else "key", name)
            table = cached_with_run(run, (*score_key, *opened, path), open_source)
            opened.append(path)
    OPENED.value = opened
    return table


def _choose_opened(side: str, sources: Sequence[Source]) -> None:
    """Let a person choose which sources of a side are taken apart."""
    chosen_here = [path.partition(":")[2] for path in OPENED.value if path.startswith(f"{side}:")]
    elsewhere = [path for path in OPENED.value if not path.startswith(f"{side}:")]
    st.multiselect(
        "Take apart, too",
        [*chosen_here, *(source.name for source in sources if source.terms)],
        format_func=lambda name: format_source(name).removeprefix("head "),
        placeholder="…",
        **controlled(
            f"model_why_opened_{side}",
            chosen_here,
            lambda names: OPENED.set([*elsewhere, *(f"{side}:{name}" for name in names)]),
        ),
    )


def _draw_side(role: Role, token: str, effects: dict[str, float]) -> None:
    """Draw what each source of the query, or of the key, adds to the score: the largest, and all others together."""
    largest = {*sorted(effects, key=lambda name: abs(effects[name]), reverse=True)[:N_BARS]}
    names = [name for name in effects if name in largest]
    labels, values = [*map(format_source, names)], [effects[name] for name in names]
    if n_remaining := len(effects) - len(names):
        labels.append(f"{format_count(n_remaining, 'others')}{' together' * (n_remaining > 1)}")
        values.append(sum(effects.values()) - sum(values))

    def open_source(bar: int) -> None:
        if bar < len(names):
            OPENED.value = [*OPENED.value, f"{role}:{names[bar]}"]

    st.markdown(f"**On the {role}’s side**: what wrote at {token}")
    title = f"Sources of the {role}"
    number_bars(f"model_why_{role}", labels, values, ROLE_COLOURS[role], title, "take it apart", open_source)


def describe_weight(run: ModelRun, cell: Cell) -> str:
    """Say from where to where a head looks, and how much, Markdown."""
    trace_index, head, query, key = cell
    share = percent(float(run.recording.traces[trace_index].weights(head, [query], [key])))
    query_token, key_token = _token_name(run.tokens, query), _token_name(run.tokens, key)
    return f"{short_name(trace_index, head).capitalize()} looks from {query_token} at {key_token}: {share}."


def _explain_in_a_sentence(run: ModelRun, request: RunRequest, stream: Stream, cell: Cell, table: Why) -> None:
    """Say in a sentence why the head looks there; offer to switch off the head that it owes that to."""
    trace_index, head, _, key = cell
    source, name_of_head = next(iter(table.by_key())), _head_namer(request)
    description = _describe_head(name_of_head(trace_index, head), run, cell[2], key)
    sentence = f"{description} The {'largest' if table.score >= 0 else 'lowest'} part on the key’s side comes from "
    if not re.fullmatch(r"\d+\.\d+", source):  # it is no head
        st.markdown(f"{sentence}{format_source(source)}.")
        return
    source_layer, source_head = map(int, source.split("."))
    source_ref = source_layer, source_head
    position = int(stream.traces[source_layer].weights(source_head, [key])[0].argmax())
    distance, direction = abs(key - position), "back" if position < key else "ahead"
    length = "one token" if distance == 1 else f"{distance} tokens"
    source_description = _describe_head(name_of_head(*source_ref), run, key, position)
    target = f"{length} {direction}, at {_token_name(run.tokens, position)}" if distance else "at itself"
    st.markdown(f"{sentence}**{short_name(*source_ref)}**, which looked {target}. {source_description}")
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        st.button(
            f"Switch {short_name(*source_ref)} {'on again' if IS_OFF.value else 'off'}",
            key="model_why_switch",
            on_click=IS_OFF.set,
            args=(not IS_OFF.value,),
            type="secondary" if IS_OFF.value else "primary",
            icon=":material/power_settings_new:",
        )
        if IS_OFF.value:
            _show_without_head(run, request, cell, source_ref)
    if IS_OFF.value and (request.model_key, cell[:2], source_ref) == (LLAMA, COPYING_HEAD, FINDING_HEAD):
        st.caption(EXAMPLE_FIGURES)


def _describe_head(name: str, run: ModelRun, query: int, key: int) -> str:
    """Return a sentence on a head by its name; "" of one without, or which does not do so where it looks here."""
    return HEAD_DESCRIPTIONS.get(name, "") * shows_pattern(name, run.tokens, query, key)


def _show_without_head(run: ModelRun, request: RunRequest, cell: Cell, head_ref: tuple[int, int]) -> None:
    """Show the weight, and in a decoder the probability of the next token, before and after a head is switched off."""
    trace_index, head, query, key = cell
    try:
        runs = run, run_of(*request, drop_heads([head_ref]))
    except ModelError as error:
        st.warning(error_markdown(error))
        return
    weights = (float(result.recording.traces[trace_index].weights(head, [query], [key])) for result in runs)
    shares = {f"its look at {literal(run.tokens[key].strip())}": [*weights]}
    pretrained = pretrained_of(request.model_key)
    row = query - len(run.tokens)  # negative, since logits may lack the first positions
    logits = [result.logits for result in runs if result.logits is not None]
    if pretrained.kind is ModelKind.DECODER and logits and -row <= len(logits[0]):
        token = int(logits[0][row].argmax())
        token_label = literal(readable(pretrained.tokenizer, [token])[0].strip())
        probabilities = [float(logit_rows[row].float().softmax(-1)[token]) for logit_rows in logits]
        shares[f"then {token_label} as the next word"] = probabilities
    for name, (before, after) in shares.items():
        st.markdown(f"{name}\n## {percent(before)} → {percent(after)}", width="content")


def _head_namer(request: RunRequest) -> Callable[[int, int], str]:
    """Return a function that names a head by layer and number; "" in other models than decoders, and in large ones.

    Of some large ones the names are stored.
    """
    pretrained = pretrained_of(request.model_key)
    names = stored_names(pretrained.name)
    if names or pretrained.kind is not ModelKind.DECODER or is_large(pretrained):
        return lambda *head: names.get(head, "")
    try:
        study = Study(pretrained.model, pretrained.tokenizer)
        return run_once(result_cache(), ("names", request.model_key), lambda: study.names(corpus())).name
    except ValueError:  # a score can be taken apart without names of heads
        log.exception("the heads of %s have no names", request.model_key)
        return lambda *head: ""


def _token_name(labels: Sequence[str], position: int) -> str:
    """Return a token as Markdown and, if the text has several of it, which of them."""
    tokens = [label.strip() for label in labels]
    n_before, n_alike = tokens[:position].count(tokens[position]), tokens.count(tokens[position])
    ordinal = ("the first", "the second", "the third")[n_before] if n_before < 3 else f"number {n_before + 1}"
    return literal(tokens[position]) + f" ({ordinal})" * (n_alike > 1)


def format_source(source: str) -> str:
    """Return the name of an attention_core.study.sources.Source in words."""
    start = r"(^|: |^(?:query|key):)"
    source = re.sub(rf"{start}(\d+)\.(\d+)", lambda m: f"{m[1]}{short_name(m[2], m[3])}", source)
    source = re.sub(r" of (\d+) (\S*?)(?=: |$)", lambda m: f", from {m[2]} ({int(m[1]) + 1})", source)
    source = re.sub(rf"{start}mlp (\d+)$", r"\1feed-forward \2", source)
    source = re.sub(r"(^|: )(embedding|biases)$", lambda m: m[1] + SOURCE_LABELS[m[2]], source)
    return re.sub(r"^(query|key):", r"\1: ", source)
