"""What the heads of a whole model do: numbers for each, which are alike, through all layers; two runs side by side."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.page import pieces
from attention_core.attention.wording import percent
from attention_core.data.phrase_book import phrase_book
from attention_core.device import to_array
from attention_core.explain import heads as core
from attention_core.hub.catalogue import DISPLAY_NAMES
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import ModelRun, patches_of
from attention_core.study import Heads, Study
from attention_core.study.heads import NAMES
from pages.model import glance
from pages.model.input import choose_input
from pages.model.one_head import patch_view
from ui.job_queue import queued_result
from ui.labels import error_markdown, explain, literal, paragraph
from ui.model_runs import LatestRun, choose_model, pretrained_of, run_of, uploaded_run
from ui.player import StepLook, show_numbers
from ui.state import Field, named, one_of, single_choice

EXPLAINED = {
    "entropy": "0: each query looks at one key. Mean over the queries.",
    "relative_entropy": "1: everywhere alike; 0: at one key.",
    "distance": "How far from itself a query looks on average.",
    "first": "Often where heads look that find nothing.",
    "following": "Always 0 where a decoder may not look ahead.",
    "special": "Tokens that are no words, such as [CLS] and [SEP].",
    "unspent": "It goes to no token.",
}
SHARES = {"relative_entropy", "first", "itself", "previous", "following", "special", "unspent"}
N_SIMILAR = 4
MATRIX_SIZE = 270
KIND = Field(glance.NAME, "kind", next(iter(NAMES)), address="kind", parse=one_of(NAMES))
N_SENTENCES = 100
METRIC = Field(glance.NAME, "metric", "previous", address="metric", parse=one_of(core.METRICS))


def heads_in_numbers(run: ModelRun) -> None:
    """Draw a number for every head of the chosen kind of attention; a click chooses a head."""
    now, layers = glance.chosen_layers(run)
    found = glance.summaries_of(run, now.group)
    known = [field for field in core.METRICS if _is_told(found, field)]
    metric = METRIC.clamp_to_options(known)
    METRIC.widget(st.selectbox, "Number", known, format_func=core.METRICS.get, width=420)
    values = [[getattr(head, metric) for head in layer] for layer in found]
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        glance.head_map(run, "model_numbers", values, now, core.METRICS[metric], float(metric in SHARES))
    with right:
        n_queries, n_counted = layers[0].n_queries, len(core.summarised_queries(layers))
        sampled = "" if n_counted == n_queries else f" Over {n_counted:,} of {n_queries:,} queries, evenly spaced."
        st.caption(EXPLAINED.get(metric, "Mean over the queries.") + sampled, help=explain(*core.METRICS.values()))
        own = found[now.layer][now.head]
        st.markdown(f"**Layer {now.layer + 1}, head {now.head + 1}**: {core.describe_head(own)}")
        with st.container(key="desk_model_numbers"):
            _most_alike(run, now, layers)


def _is_told(found: list[list[core.HeadSummary]], field: str) -> bool:
    values = [getattr(head, field) for layer in found for head in layer]
    return any(value > 1e-6 if field == "unspent" else not math.isnan(value) for value in values)


def _most_alike(run: ModelRun, now: glance.Selection, layers: list[AttentionTrace]) -> None:
    apart = glance.cached_with_run(run, ("apart", *now[:3]), lambda: core.distances_from(layers, now.layer, now.head))
    places = [(layer, head) for layer, trace in enumerate(layers) for head in range(trace.n_heads)]
    if len(places) == 1:
        return
    sampled = f", on {apart.n_sampled:,} of {apart.n_queries:,} queries" * (apart.n_sampled < apart.n_queries)
    st.markdown(f"**The most similar heads**, by Jensen-Shannon distance from 0 to 1{sampled}")
    row = to_array(apart.row)
    with st.container(gap="xxsmall"):
        for other in [int(one) for one in np.argsort(row, kind="stable") if places[one] != now[1:3]][:N_SIMILAR]:
            layer, head = places[other]
            st.button(
                f"Layer {layer + 1}, head {head + 1}: {row[other]:.2f} away",
                key=f"model_like_{now.group}_{layer}_{head}",
                type="tertiary",
                on_click=partial(glance.choose, group=now.group, layer=layer, head=head),
            )


def corpus() -> Sequence[str]:
    """Return the sentences by which heads get their names, evenly spaced in the phrase book."""
    return phrase_book()[:: len(phrase_book()) // N_SENTENCES][:N_SENTENCES]


def heads_of(asked: LatestRun) -> Heads:
    """Return what every head of a model does over sentences that come along; ValueError = it cannot read them."""
    pretrained = pretrained_of(asked.key)

    def portions() -> Iterator[tuple[float, Heads]]:
        texts = corpus()

        def tell(n_read: int) -> None:
            bar.progress(min(n_read / len(texts), 1.0), f"Reading {n_read} of {len(texts)} sentences")

        yield 1.0, Study(pretrained.model, pretrained.tokenizer).heads(texts, progress=tell)

    bar = st.empty()
    try:
        return queued_result(("heads of", asked.key), portions)
    finally:
        bar.empty()


def named_heads(run: ModelRun, asked: LatestRun) -> None:
    """Draw how far each head does what heads are named after, and where in a corpus the chosen one is clearest."""
    st.markdown(
        f"Each head reads {N_SENTENCES} sentences, and random words said twice. What it does with these gives it its "
        "name."
    )
    try:
        found = heads_of(asked)
    except ValueError as error:
        st.info(f"The model cannot read them: {error_markdown(error)}.")
        return
    now, kinds = glance.chosen_layers(run)[0], [name for name in NAMES if name in found.means]
    if not kinds:
        st.info("This model cannot read random words, so that its heads have no names.")
        return
    kind = KIND.clamp_to_options(kinds)
    KIND.widget(st.selectbox, "How far it is", kinds, width=330)
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        glance.head_map(run, "model_named", found.map(kind).tolist(), now, f"{kind}, share", 1.0)
    with right:
        own, margin = (float(one[kind][now.layer][now.head]) for one in (found.means, found.margins))
        called = found.name(now.layer, now.head)
        st.markdown(
            f"**Layer {now.layer + 1}, head {now.head + 1}**: {called or 'nothing clear'}. {kind.capitalize()}: "
            f"{percent(own)} ± {percent(margin)} ({NAMES[kind]})."
        )
        for example in found.examples.get((now.layer, now.head), ())[:1]:
            asks, looked_at = (literal(example.tokens[place].strip()) for place in (example.query, example.key))
            text = "".join(piece if is_glued else f" {piece}" for piece, is_glued in pieces(example.tokens))
            words = literal(text.strip(), 200)
            st.markdown(
                f"Clearest in the sentences: {asks} looks at {looked_at}, {percent(example.weight)}, in {words}"
            )
        columns = found.columns()
        rows = [row for row in zip(columns["layer"], columns["head"], columns["name"], strict=True) if row[2]]
        with st.container(key="desk_model_named"):
            table = [(layer + 1, head + 1, name) for layer, head, name in rows]
            st.dataframe(
                dict(zip(("layer", "head", "called"), zip(*table, strict=True), strict=False)), hide_index=True
            )


def rolled_out(run: ModelRun) -> None:
    """Draw attention rolled out through all layers beside the last layer's; below, where a chosen patch came from."""
    paragraph("Attention rollout multiplies weights; values do not count.")
    now, layers = glance.chosen_layers(run)
    trace = layers[0]
    try:
        found = glance.cached_with_run(run, ("rollout", now.group), lambda: core.rollout(layers))
    except ValueError as error:
        why = f"Rollout multiplies whole matrices and is drawn for up to 1,024 positions; here are {trace.n_queries:,}."
        if "self-attention" in str(error):
            why = "Only self-attention can be followed from layer to layer: choose another kind above."
        st.info(why)
        return
    query = min(now.query, trace.n_queries - 1)
    rolled, last = (to_array(matrix.nan_to_num()) for matrix in (found.rolled, found.last))
    look = StepLook(query, size=MATRIX_SIZE, reach=float(max(rolled.max(), last.max())))
    titles = {"After all layers": rolled, "The last layer alone": last}
    for place, (title, matrix) in zip(st.columns(2, gap="large"), titles.items(), strict=True):
        with place:
            st.markdown(f"**{title}**")
            show_numbers(trace, matrix, f"model_rolled_{title.split()[-1]}", look, {"title": title})
    patches = patches_of(run, trace)
    if patches is not None and run.picture is not None:
        patch_view(run, run.picture, patches, query, rolled[query])


INPUT, MODEL = "Another input", "Another model"
SECOND_TEXT = "The animal didn't cross the street because it was too wide."
"""What the second input begins with: as many tokens as the page's own example, another meaning of "it"."""
COMPARED = Field(glance.NAME, "other_what", INPUT, address="compare", **named(input=INPUT, model=MODEL))


def side_by_side(run: ModelRun, asked: LatestRun | None) -> None:
    """Let a person choose a second run and draw both, head for head."""
    if asked is not None:
        single_choice("Compare with", COMPARED, [INPUT, MODEL], label_visibility="collapsed")
    try:
        other = _other_run(asked)
    except ModelError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return
    if other is None:
        return
    for note in other.notes:
        st.info(error_markdown(note))
    now = glance.chosen(run)
    sides = zip(st.columns(2, gap="large"), (run, other), (now, glance.nearest(other, now)), strict=True)
    for column, shown, at in sides:
        with column:
            does = core.describe_head(glance.summaries_of(shown, at.group)[at.layer][at.head])
            model = error_markdown(DISPLAY_NAMES.get(shown.model, shown.model))
            st.markdown(f"**{model}**, layer {at.layer + 1}, head {at.head + 1}: {does}")
            glance.glance_picture(shown, at, width=520)


def _other_run(asked: LatestRun | None) -> ModelRun | None:
    if asked is None:
        return uploaded_run(glance.OTHER)
    if COMPARED.value == INPUT:
        pretrained = pretrained_of(asked.key)
        first = SECOND_TEXT if pretrained.kind is ModelKind.ENCODER else ""
        given = choose_input(glance.OTHER, pretrained, first=first)
        return run_of(asked.key, given) if given is not None else None
    key = choose_model(glance.OTHER)
    return run_of(key, asked.given) if key is not None else None
