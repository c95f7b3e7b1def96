"""What the heads of a whole model do: numbers for each, which are alike, through all layers; two runs side by side."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.view.colours import PINKS
from attention_core.attention.view.page import pieces
from attention_core.attention.wording import percent
from attention_core.charts.heads import masked_weights
from attention_core.charts.png import matrix_png
from attention_core.charts.ramps import Ramp
from attention_core.data.phrase_book import phrase_book
from attention_core.device import to_array
from attention_core.explain import heads as core
from attention_core.hub.catalogue import DISPLAY_NAMES
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.run import ModelRun, patches_of
from attention_core.study import Heads, Study
from attention_core.study.heads import HEAD_NAMES
from pages.model import glance
from pages.model.head_list import named_heads
from pages.model.input import choose_input
from pages.model.one_head import patch_view
from ui.job_queue import queued_result
from ui.labels import error_markdown, explain, literal
from ui.lecture.mode import LECTURE
from ui.model_runs import RunRequest, model_choice, pretrained_of, run_of, uploaded_run
from ui.player import StepStyle, show_numbers
from ui.state import Field, one_of, single_choice, slugs

EXPLAINED = {
    "entropy": "0: each query looks at one key. Mean over the queries.",
    "relative_entropy": "1: everywhere alike; 0: at one key.",
    "distance": "How far from itself a query looks on average.",
    "first": "Often where heads look that find nothing.",
    "following": "Always 0 where a decoder may not look ahead.",
    "special": "Marks, such as [CLS], put before every text, and [SEP], put after it.",
    "unspent": "It goes to no token.",
}
SHARES = {"relative_entropy", "first", "itself", "previous", "following", "special", "unspent"}
HEAD_DESCRIPTIONS = {
    "induction": "It is an **induction head**: it looks at what came next when the same token came before.",
    "previous token": "It is a **previous-token head**: it looks one token back.",
    "duplicate token": "It is a **duplicate-token head**: it looks at the same token, said before.",
}
"""Sentences on heads, by what attention_core.study.heads.HEAD_NAMES calls them."""
N_SIMILAR = 4
N_NAMED, PICTURE_PIXELS = 4, 640  # heads that a hall sees, and the side of each picture
MATRIX_SIZE = 270
BEHAVIOUR = Field(glance.NAME, "kind", next(iter(HEAD_NAMES)), address="kind", parse=one_of(HEAD_NAMES))
N_SENTENCES = 100
METRIC = Field(glance.NAME, "metric", "previous", address="metric", parse=one_of(core.METRICS))


def chosen_or_clearest(run: ModelRun) -> glance.Selection:
    """Return what is looked at; as long as nobody has chosen a head, the one whose number is clearest."""
    selection = glance.chosen(run)
    numbers = {
        (layer, head): getattr(summary, METRIC.value)
        for layer, summaries in enumerate(glance.summaries_of(run, selection.group))
        for head, summary in enumerate(summaries)
    }
    numbers = {head: number for head, number in numbers.items() if not math.isnan(number)}
    if glance.IS_HEAD_CHOSEN.value or glance.HEAD.encode() or not numbers:
        return selection
    clearest = min if "entropy" in METRIC.value else max
    layer, head = clearest(numbers, key=numbers.__getitem__)
    return selection._replace(layer=layer, head=head)


def heads_in_numbers(run: ModelRun) -> None:
    """Draw a number for every head of the chosen kind of attention; a click chooses a head."""
    selection = chosen_or_clearest(run)
    layers = run.groups[selection.group]
    head_summaries = glance.summaries_of(run, selection.group)
    metrics = [field for field in core.METRICS if _has_numbers(head_summaries, field)]
    if not metrics:
        st.info("No head has a number: no weight of this attention is one, or every token is masked.")
        return
    metric = METRIC.clamp_to_options(metrics)
    if LECTURE.value:  # a hall sees some of the heads themselves
        _draw_named_heads(run, selection)
        return
    METRIC.widget(st.selectbox, "Number", metrics, format_func=core.METRICS.get, width=420)
    values = [[getattr(head, metric) for head in layer] for layer in head_summaries]
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        glance.head_map(run, "model_numbers", values, selection, core.METRICS[metric], float(metric in SHARES))
    with right:
        n_queries, n_sampled = layers[0].n_queries, len(core.summarised_queries(layers))
        sampled = "" if n_sampled == n_queries else f" Over {n_sampled:,} of {n_queries:,} queries, evenly spaced."
        with st.container(key="desk_model_numbers"):
            st.caption(EXPLAINED.get(metric, "Mean over queries.") + sampled, help=explain(core.METRICS[metric]))
            _draw_similar_heads(run, selection, layers)


def _draw_named_heads(run: ModelRun, selection: glance.Selection) -> None:
    """Draw the heads with the clearest names side by side, or all heads where none has a name."""
    all_named = named_heads(run, selection.group).items()
    named = [(head, sentence) for head, (sentence, choice) in all_named if "query" not in choice]  # seen before
    if not named:
        glance.glance_picture(run, selection, width=1180, height=560)
        return
    for ((layer, head), sentence), column in zip(named, st.columns(len(named[:N_NAMED]), gap="medium"), strict=False):
        weights = masked_weights(run.groups[selection.group][layer], head)
        cell = max(1, PICTURE_PIXELS // max(weights.shape))
        with column:
            st.markdown(sentence)
            st.image(matrix_png(np.kron(weights, np.ones((cell, cell))), Ramp(PINKS, 0.0, 1.0)), width="stretch")


def describe_metric(summary: core.HeadSummary, description: str) -> str:
    """Return a head's description, after the chosen number with its title if that says something else."""
    metric = METRIC.value
    value, title = getattr(summary, metric), core.METRICS[metric]
    text = percent(value) if metric in SHARES else f"{value:.2f}"
    if math.isnan(value) or title.removeprefix("Share on ") in description:
        return description
    return f"{title[0].lower()}{title[1:]} {text}. In all: {description}"


def _has_numbers(head_summaries: list[list[core.HeadSummary]], metric: str) -> bool:
    values = [getattr(head, metric) for layer in head_summaries for head in layer]
    return any(value > 1e-6 if metric == "unspent" else not math.isnan(value) for value in values)


def _draw_similar_heads(run: ModelRun, selection: glance.Selection, layers: list[AttentionTrace]) -> None:
    key, chosen = ("apart", *selection[:3]), selection[1:3]
    apart = glance.cached_with_run(run, key, lambda: core.distances_from(layers, *chosen))
    heads = [(layer, head) for layer, trace in enumerate(layers) for head in range(trace.n_heads)]
    if len(heads) == 1:
        return
    sampled = f", on {apart.n_sampled:,} of {apart.n_queries:,} queries" * (apart.n_sampled < apart.n_queries)
    st.markdown(f"**The most similar heads**, by Jensen-Shannon distance from 0 to 1{sampled}")
    row = to_array(apart.row)
    nearest_first = [int(index) for index in np.argsort(row, kind="stable") if heads[index] != chosen]
    with st.container(gap="xxsmall"):
        for index in nearest_first[:N_SIMILAR]:
            layer, head = heads[index]
            st.button(
                f"{glance.short_name(layer, head).capitalize()}: {row[index]:.2f} away",
                key=f"model_like_{selection.group}_{layer}_{head}",
                type="tertiary",
                on_click=partial(glance.choose, group=selection.group, layer=layer, head=head),
            )


MANY_PARAMETERS = 40_000_000


def is_large(pretrained: Pretrained) -> bool:
    """Return whether a person should ask for figures of a model that take hundreds of passes."""
    return sum(parameter.numel() for parameter in pretrained.model.parameters()) > MANY_PARAMETERS


def corpus() -> Sequence[str]:
    """Return the sentences by which heads get their names, evenly spaced in the phrase book."""
    return phrase_book()[:: len(phrase_book()) // N_SENTENCES][:N_SENTENCES]


def heads_of(request: RunRequest) -> Heads:
    """Return what every head of a model does over sentences that come along; ValueError = it cannot read them."""
    pretrained = pretrained_of(request.model_key)

    def portions() -> Iterator[tuple[float, Heads]]:
        texts = corpus()

        def show_progress(n_read: int) -> None:
            bar.progress(min(n_read / len(texts), 1.0), f"Reading {n_read} of {len(texts)} sentences")

        yield 1.0, Study(pretrained.model, pretrained.tokenizer).heads(texts, progress=show_progress)

    bar = st.empty()
    try:
        return queued_result(("heads of", request.model_key), portions)
    finally:
        bar.empty()


def heads_by_name(run: ModelRun, request: RunRequest) -> None:
    """Draw how far each head does what heads are named after, and where in a corpus the chosen one is clearest."""
    st.markdown(f"Read: {N_SENTENCES} sentences, and random words said twice.")
    try:
        heads = heads_of(request)
    except ValueError as error:
        st.info(f"The model cannot read them: {error_markdown(error)}.")
        return
    selection, behaviours = glance.chosen_in_text(run), [name for name in HEAD_NAMES if name in heads.means]
    if not behaviours:
        st.info("This model cannot read random words, so that its heads have no names.")
        return
    layer, head = selection.layer, selection.head
    name = heads.name(layer, head)
    if name and not BEHAVIOUR.encode():
        BEHAVIOUR.set_default(name)
    behaviour = BEHAVIOUR.clamp_to_options(behaviours)
    BEHAVIOUR.widget(st.selectbox, "How far it is", behaviours, width=330)
    left, right = st.columns([1.35, 1], gap="large")
    with left:
        glance.head_map(run, "model_named", heads.map(behaviour).tolist(), selection, f"{behaviour}, share", 1.0)
    with right:
        mean, margin = (percent(float(of_heads[behaviour][layer][head])) for of_heads in (heads.means, heads.margins))
        called = f": {name or 'nothing clear'}" * (name in ("", behaviour))  # beside the map of its name alone
        st.markdown(
            f"**{glance.short_name(layer, head).capitalize()}**{called}. "
            f"{behaviour.capitalize()}: {mean} ± {margin} ({HEAD_NAMES[behaviour].partition(',')[0]})."
        )
        examples = heads.examples.get((layer, head), ())
        clear = [example for example in examples if example.shows(name)]
        missing = f", no {name}" if name in HEAD_DESCRIPTIONS else ""
        start = "Clearest" if clear else f"Strongest{missing}"
        for example in (*clear, *examples)[:1]:
            query, key = (literal(example.tokens[position].strip()) for position in (example.query, example.key))
            text = "".join(piece if is_glued else f" {piece}" for piece, is_glued in pieces(example.tokens))
            sentence = literal(text.strip(), 200)
            st.markdown(f"{start}: {query} looks at {key}, {percent(example.weight)}, in {sentence}")
        columns = heads.columns()
        rows = [row for row in zip(columns["layer"], columns["head"], columns["name"], strict=True) if row[2]]
        with st.container(key="desk_model_named"):
            names = ("layer", "head", "called")
            st.dataframe(dict(zip(names, zip(*rows, strict=True), strict=False)), hide_index=True)


def rolled_out(run: ModelRun) -> None:
    """Draw attention rolled out through all layers beside the last layer's; below, where a chosen patch came from."""
    selection, layers = glance.chosen_layers(run)
    trace = layers[0]
    try:
        rollout = glance.cached_with_run(run, ("rollout", selection.group), lambda: core.rollout(layers))
    except ValueError as error:
        n = f"{trace.n_queries:,}"
        reason = f"Rollout multiplies whole matrices and is drawn for up to 1,024 positions; here are {n}."
        if "self-attention" in str(error):
            reason = "Only self-attention can be followed from layer to layer: choose another kind above."
        st.info(reason)
        return
    query = min(selection.query, trace.n_queries - 1)
    rolled, last = (to_array(matrix.nan_to_num()) for matrix in (rollout.rolled, rollout.last))
    view = StepStyle(query, size=MATRIX_SIZE, reach=float(max(rolled.max(), last.max())))
    titles = {"After all layers": rolled, "The last layer alone": last}
    for column, (title, matrix) in zip(st.columns(2, gap="large"), titles.items(), strict=True):
        with column:
            st.markdown(title)
            show_numbers(trace, matrix, f"model_rolled_{title.split()[-1]}", view, {"title": title})
    patches = patches_of(run, trace)
    if patches is not None and run.picture is not None:
        patch_view(run, run.picture, patches, query, rolled[query])


INPUT, MODEL = "Another input", "Another model"
SECOND_TEXT = "The animal didn't cross the street because it was too wide."
"""What the second input begins with: as many tokens as the page's own example, another meaning of "it"."""
COMPARED = Field(glance.NAME, "other_what", INPUT, address="compare", **slugs(input=INPUT, model=MODEL))


def choose_second_run(request: RunRequest | None) -> ModelRun | None:
    """Let a person choose a second run; None = there is none yet."""
    if request is not None:
        single_choice("Compare with", COMPARED, [INPUT, MODEL], label_visibility="collapsed")
    try:
        second = _second_run(request)
    except ModelError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return None
    for note in second.notes if second else ():
        st.info(error_markdown(note))
    return second


def describe_pair(run: ModelRun, second: ModelRun) -> str:
    """Return what the chosen head does in the first run, and what the same one does in the second, in a sentence."""
    selection = glance.chosen(run)
    nearest = glance.nearest(second, selection)
    first, other = (_does(run, selection), _does(second, nearest))
    return f"{glance.short_name(*selection[1:3]).capitalize()}: {first} here; {other} in the second run."


def _does(run: ModelRun, selection: glance.Selection) -> str:
    return core.describe_head(glance.summaries_of(run, selection.group)[selection.layer][selection.head])


def side_by_side(run: ModelRun, second: ModelRun) -> None:
    """Draw all heads of two runs, head for head."""
    selection = glance.chosen(run)
    sides = zip(st.columns(2, gap="large"), (run, second), (selection, glance.nearest(second, selection)), strict=True)
    for column, displayed, selected in sides:
        with column:
            model = error_markdown(DISPLAY_NAMES.get(displayed.model, displayed.model))
            st.markdown(f"**{model}**, {glance.short_name(*selected[1:3])}")
            glance.glance_picture(displayed, selected, width=520, height=265)


def _second_run(request: RunRequest | None) -> ModelRun | None:
    if request is None:
        return uploaded_run(glance.SECOND_RUN)
    if COMPARED.value == INPUT:
        pretrained = pretrained_of(request.model_key)
        first = SECOND_TEXT if pretrained.kind is ModelKind.ENCODER else ""
        second_input = choose_input(glance.SECOND_RUN, pretrained, first=first)
        return run_of(request.model_key, second_input) if second_input is not None else None
    key = model_choice(glance.SECOND_RUN).draw()
    return run_of(key, request.model_input) if key is not None else None
