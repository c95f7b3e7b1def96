"""Records to look up in, what is asked of them, how softly, by spelling or meaning; one query from all sides."""

import html
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.bounds import escape_hidden
from attention_core.charts.vega import ROLE_COLOURS
from attention_core.charts.words import Bars, bar_table
from attention_core.device import to_array
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.model import ModelError, readable
from attention_core.packed import pack, unpack
from attention_core.topics.lookup.charts import bump_chart, recall_chart, regression_chart, sweep_chart
from attention_core.topics.lookup.encoders import (
    SPELLING,
    Encoder,
    meaning,
    ngrams,
    place_of,
    sentence_vectors,
    shared_runs,
)
from attention_core.topics.lookup.records import (
    MAX_QUERIES,
    MAX_RECORDS,
    MAX_TEXT,
    PRESETS,
    QueryTable,
    Table,
    ValidRecords,
    read_queries,
    usable_records,
)
from attention_core.topics.lookup.soft_lookup import (
    Recall,
    Records,
    exact_lookup,
    fit_for_recall,
    recall_among_noise,
    regression,
    soft_lookup,
    temperature_sweep,
    value_labels,
)
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.inside_streamlit import growing_table
from ui.labels import distinct, error_markdown, literal
from ui.layout import role_colour, section
from ui.model_runs import pretrained_of
from ui.player import Stepper, query_row, show_step_chart, show_words
from ui.skeleton import abbr, note, paragraph
from ui.state import Field, is_mounted, one_of, single_choice, whole_number

NAME = "lookup"
WAYS = ("spelling", "meaning")
BY = Field(NAME, "by", WAYS[0], address="by", parse=one_of(WAYS))
KEPT_ROWS = 2000  # rows of the editor that are remembered; only MAX_RECORDS of them are looked at
SLUGS = {preset.lower().replace(" ", "-"): preset for preset in PRESETS}
PRESET = Field(
    NAME,
    "preset",
    next(iter(PRESETS)),
    address="table",
    parse=SLUGS.__getitem__,
    text=lambda preset: next(slug for slug, name in SLUGS.items() if name == preset),
)
LOADED = Field(NAME, "loaded", "")  # the preset that the fields below began with
EDITION, BASE = Field(NAME, "edition", 0), Field(NAME, "base", list)
ROWS = Field(NAME, "rows", list, address="rows", parse=lambda text: _fitting(unpack(text)), text=pack)
KEY = Field(
    NAME,
    "key",
    list,
    address="key",
    parse=lambda text: [_table().columns[place] for place in dict.fromkeys(map(whole_number, text.split(".")))],
    text=lambda columns: ".".join(str(_table().columns.index(column)) for column in columns),
)
"""Its columns; several make one text."""
VALUE = Field(
    NAME,
    "value",
    "",
    address="value",
    parse=lambda text: _table().columns[whole_number(text)],
    text=lambda column: str(_table().columns.index(column)),
)
QUERIES = Field(NAME, "queries", "", address="q")
QUERY = Field(NAME, "query", -1, address="query", parse=whole_number)
TEMPERATURES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
WIDTHS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)
TEMPERATURE = Field(NAME, "temperature", 0.05, address="temperature", parse=one_of(TEMPERATURES))
WIDTH = Field(NAME, "width", 0.4, address="width", parse=one_of(WIDTHS))
TABLE_STYLE = """<style>
.looked-up { max-height: 24rem; overflow: auto; } .looked-up table { border-collapse: collapse; width: 100%; }
.looked-up th, .looked-up td { padding: 0.3rem 0.5rem; text-align: left; vertical-align: top; font-size: 0.9rem; }
.looked-up th { font-weight: 600; border: none; border-bottom: 1px solid #8a93a066; }
.looked-up td { border: none; border-bottom: 1px solid #8a93a033; overflow-wrap: anywhere; min-width: 5rem; }
</style>"""


def record_table() -> ValidRecords:
    """Let a person take a preset, edit its records, and choose which column is asked and which is handed over."""
    if PRESET.value != LOADED.value or not ROWS.is_preset:
        _load(PRESET.value)
    preset = PRESETS[single_choice("Table", PRESET, list(PRESETS), label_visibility="collapsed", wrap=True)]
    columns = preset.table.columns
    st.caption(preset.note)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        more = {"persist_state": "session", "on_change": QUERY.reset}
        st.multiselect("Asked (key)", columns, key=KEY.key, placeholder="Choose columns", **more)
        st.selectbox("Handed over (value)", columns, key=VALUE.key, **more)
        st.button("Restore", key="lookup_restore", on_click=LOADED.reset, help="The preset as it was.")
    usable = usable_records(Table(columns, preset.table.numeric, _edit(preset.table)), KEY.value, VALUE.value)
    for remark in usable.remarks:
        (st.info if usable.records else st.error)(remark)
    return usable


def _load(name: str) -> None:
    preset = PRESETS[name]
    LOADED.value = name
    EDITION.value += 1
    ROWS.preset([list(row) for row in preset.table.rows])
    KEY.preset(list(preset.key))
    VALUE.preset(preset.value)
    QUERIES.preset("\n".join(preset.queries))
    BY.preset(preset.by)
    numeric = preset.table.numeric[preset.table.columns.index(preset.key[0])]
    (WIDTH if numeric else TEMPERATURE).preset(preset.temperature)
    QUERY.preset(QUERY.default)


def _table() -> Table:
    return PRESETS[PRESET.value].table


def _fitting(rows: list[list]) -> list[list]:
    """Return rows of a link as the table has them; ValueError = they are another table's, or none."""
    numeric = _table().numeric
    if not isinstance(rows, list) or len(rows) > KEPT_ROWS:
        raise ValueError(f"there must be at most {KEPT_ROWS} rows")
    for row in rows:
        for cell, is_number in zip(row, numeric, strict=True):
            if cell is not None and not isinstance(cell, int | float if is_number else str):
                raise ValueError("a cell must be of its column's kind")
    return rows


def _edit(table: Table) -> tuple[tuple, ...]:
    """Show the editor; it forgets what was typed when the page is left, so a copy of the rows is kept beside it."""
    key = f"lookup_editor_{EDITION.value}"
    if not is_mounted(key):
        BASE.value = ROWS.value
    base = pd.DataFrame(BASE.value, columns=list(table.columns))
    config = {}
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        base[column] = base[column].astype("float64" if numeric else "object")
        config[column] = (
            st.column_config.NumberColumn(column, format="%.6g", width=70)
            if numeric
            else st.column_config.TextColumn(column, max_chars=MAX_TEXT, width=190)
        )
    with growing_table():
        edited = st.data_editor(
            base, key=key, num_rows="dynamic", hide_index=True, height=250, width="stretch", column_config=config
        )
    ROWS.value = edited.astype(object).where(edited.notna(), None).to_numpy().tolist()[:KEPT_ROWS]
    st.caption(
        f"Click a cell to edit it, add rows below, or paste from a spreadsheet. The first {MAX_RECORDS} are used."
    )
    return tuple(map(tuple, ROWS.value))


def query_input(records: Records) -> QueryTable:
    """Let a person type queries, one per line."""
    kind = "numbers, as the keys are" if records.numeric_keys else "texts"
    label = f"Queries, one per line ({kind})"
    QUERIES.widget(st.text_area, label, height=104, max_chars=MAX_QUERIES * 200, on_change=QUERY.reset)
    asked = read_queries(QUERIES.value, records.numeric_keys)
    for remark in asked.remarks:
        st.info(remark)
    return asked


def temperature_input(records: Records) -> float:
    """Let a person choose the temperature, for numbers as the width of the bump; return the temperature."""
    field, options, words = TEMPERATURE, TEMPERATURES, "Temperature: left a look-up, right a plain average"
    if records.numeric_keys:
        field, options, words = WIDTH, WIDTHS, "Width of the bump (its square is the temperature)"
    field.clamp_to_options(options, field.default)
    chosen = field.widget(st.select_slider, words, options, format_func="{:g}".format)
    return chosen**2 if records.numeric_keys else chosen


def answers(records: Records, queries: Sequence, trace: AttentionTrace) -> None:
    """Draw one row per query: what a dictionary says, the most similar key, and what comes back softly."""
    weights, context, likeness = trace.weights(), trace.context(), step_of(trace, "scores").value()
    labels = value_labels(records)
    rows = []
    for place, (query, hit) in enumerate(zip(queries, exact_lookup(records, queries), strict=True)):
        best = int(weights[place].argmax())
        if records.numeric_values:
            back = as_text(float(context[place, 0]))
        else:
            top = context[place].topk(min(3, len(labels)))
            shares = zip(top.values.tolist(), top.indices.tolist(), strict=True)
            back = ", ".join(f"{share:.0%} {labels[column]}" for share, column in shares if share >= 0.005)
        near = f"cosine {float(likeness[place, best]):.2f}"
        if records.numeric_keys:
            near = f"distance {abs(query - records.keys[best]):.2f}"
        most = f"{as_text(records.keys[best])} ({float(weights[place, best]):.0%}, {near})"
        rows.append((as_text(query), as_text(hit.value) if hit.found else "miss", back, most))
    softly = "soft look-up (average)" if records.numeric_values else "soft look-up"
    heads = {"query": Role.QUERY, "dictionary": None, softly: Role.CONTEXT, "most weight on": Role.WEIGHTS}
    top = "".join(f'<th style="color:{role_colour(role)}">{head}</th>' for head, role in heads.items())
    cells = (["<td>" + html.escape(escape_hidden(cell[:160])) + "</td>" for cell in row] for row in rows)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    body = body.replace("(cosine", "(" + abbr("cosine"), 1).replace(", cosine", ", " + abbr("cosine"), 1)
    st.html(f'{TABLE_STYLE}<div class="looked-up"><table><tr>{top}</tr>{body}</table></div>')
    nearest, worst = likeness.max(1).values.min(0)
    if not records.numeric_keys and float(nearest) < 0.25:
        note(
            f"{literal(as_text(queries[int(worst)]), 40)} resembles no key (cosine at most {float(nearest):.2f}), and "
            "yet its weights sum to 100%: a softmax cannot answer “nothing fits”."
        )


def as_text(entry: str | float | None) -> str:
    return entry if isinstance(entry, str) else f"{entry:.6g}"


def choose_query(trace: AttentionTrace) -> int:
    """Let a person choose which query is looked at."""
    QUERY.clamp_to_options(range(trace.n_queries), min(1, trace.n_queries - 1))
    return single_choice(
        "Look closer at one query",
        QUERY,
        dict(enumerate(distinct([*map(error_markdown, trace.story.query_axis.labels)]))),
        wrap=True,
    )


MODELS = (PACKAGE, "sentence-transformers/all-MiniLM-L6-v2")
"""Names of the same sentence encoder: as a package, and in the hub's cache."""
AT_ONCE = 16  # texts that are read before the next visitor has the turn


def encoder_input(place: DeltaGenerator) -> Encoder:
    """Let a person choose in a place how texts are compared; without a sentence encoder, say so and take spelling."""
    with place:
        if single_choice("Texts are compared by", BY, WAYS) == WAYS[0]:
            return SPELLING
    name = next((name for name in MODELS if find_local(name) is not None), "")
    try:
        if not name:
            raise ModelError(
                f"The sentence encoder MiniLM is not on this machine. It comes with the Python package {PACKAGE}."
            )
        return meaning(pretrained_of(name), lambda texts: _read(name, texts))
    except ModelError as error:
        st.info(f"{error_markdown(error)} Until then texts are compared by their spelling.")
        return SPELLING


def _read(name: str, texts: Sequence[str]) -> Tensor:
    starts = range(0, len(texts), AT_ONCE)
    return torch.cat([_vectors(name, tuple(texts[start : start + AT_ONCE])) for start in starts])


@cached_computation(spinner="Reading the texts")
def _vectors(name: str, texts: tuple[str, ...]) -> Tensor:
    return sentence_vectors(pretrained_of(name), texts)


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


@cached_computation()
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


def lookup_steps(trace: AttentionTrace) -> None:
    """Step through the look-up for the chosen query."""
    query = choose_query(trace)
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, query):
        return
    words, matrix = st.columns([0.82, 1], gap="large")
    with words:
        show_words(trace, step, 0, query, int(trace.weights(0, [query])[0].argmax()))
    with matrix:
        show_step_chart(step, 0, query if step.row_axis is trace.story.query_axis else None, NAME)


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
    paragraph(
        f"The sentence encoder reads {literal(text)} as these **{len(pieces)} pieces**; [CLS] and [SEP] mark its ends. "
        "In six layers every piece asks all others, so that a state knows its neighbours. The states are added up, and "
        "the sum is cut to length 1: one vector of 384 numbers for the whole text. No single number of it means "
        "anything; only which vectors lie close."
    )
    st.page_link("pages/model.py", label="See where its heads look", icon=":material/arrow_forward:")
