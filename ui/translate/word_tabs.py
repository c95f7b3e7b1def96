"""What follows the present word: steps, the network unrolled, alignments, likeness of meaning."""

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.bounds import as_markdown
from attention_core.charts.vega import BLUE_ORANGE, LABEL_COLOUR, ROLE_COLOURS
from attention_core.charts.words import Bars, bar_table
from attention_core.device import to_array
from attention_core.topics.translate.charts import alignment_chart, collapse_chart, unrolled_chart
from attention_core.topics.translate.translation import (
    NEXT_LABEL,
    Likeness,
    ShownTranslation,
    likeness_at,
    n_agreeing,
    parts_of_context,
    read_source,
)
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.labels import literal
from ui.layout import section
from ui.player import query_row_expander, show_step_chart, show_step_heading, show_words
from ui.skeleton import note, paragraph
from ui.state import Field, single_choice, whole_number
from ui.translate.first_screen import LAYER, STEPS
from ui.translate.forcing import WORD, follow_first_screen
from ui.translate.models import NAME, TRANSLATORS, model_of

_likeness = cached_computation(by_model=True)(likeness_at)
HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
FIXED = (
    "The softmax has one key to choose from: its weight is always 1, and the context never changes. "
    "All that the decoder can know of the sentence has to fit into this one vector."
)


def translate_steps(shown: ShownTranslation, row: int) -> None:
    """Draw the stepper over the trace, and the present step at the present word."""
    follow_first_screen(shown, row)
    trace, view = shown.trace, shown.view
    query = view.first_piece[row]
    asks, pieces = view.target[row] == NEXT_LABEL, view.pieces_of[row]
    st.markdown(
        f"**{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(view.target)}**: "
        + ("what comes next?" if asks else f"the decoder is about to say **{as_markdown(view.target[row])}**.")
        + (f" Its first piece is looked at, {as_markdown(pieces[0])}." if len(pieces) > 1 else "")
    )
    step = STEPS.draw(trace)
    head = min(HEAD.value, trace.n_heads - 1)
    if STEPS.draw_guess(trace, step, query, head):
        return
    words, matrix = st.columns([1, 1.3], gap="large")
    with words:
        if trace.n_heads > 1:
            head = single_choice("Head", HEAD, {head: str(head + 1) for head in range(trace.n_heads)}, wrap=True)
        best = int(trace.weights(head, [query])[0].argmax())
        show_words(trace, step, head, query, best)
        if view.is_single and step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
            note(FIXED)
    with matrix:
        show_step_chart(step, head, query if step.row_axis is trace.story.query_axis else best, NAME, size=330)
        if step.name in ("weights", "scores", "scaled") and trace.n_keys > 1:
            query_row_expander("This row in numbers", NAME, trace, head, query, 4, "word")
    if step.name == "context" and trace.n_keys > 1:
        _multiplied(trace, head, query)


def _multiplied(trace: AttentionTrace, head: int, query: int) -> None:
    section("Multiplied vectors: each state times its weight", Role.VALUE)
    parts = parts_of_context(trace, head, query)
    labels, (vectors, context, shares) = trace.story.key_axis.labels, map(to_array, parts)
    chart = collapse_chart(labels, vectors, shares, context, width=400, multiplied=True)
    words = f"{len(labels)} states, each times its weight, and the context that they add up to"
    draw_chart(chart, width="content", key="translate_multiplied", alt=words)
    largest = sorted(range(len(labels)), key=lambda place: -shares[place])[:3]
    told = ", ".join(f"{as_markdown(labels[place])} {shares[place]:.0%}" for place in largest)
    rest = 1 - sum(float(shares[place]) for place in largest)
    note(
        f"Number by number the rows add up to the context. The bars say how much of it each row brings: {told}"
        + (f", the others {rest:.0%}." if len(labels) > len(largest) else ".")
    )


def alignments(models: Mapping[str, ShownTranslation]) -> None:
    """Draw the alignments of the models as heatmaps on one colour scale."""
    places = st.columns([max(len(shown.view.keys), 4) for shown in models.values()], gap="large")
    longest = max(max(len(shown.view.target), len(shown.view.keys)) for shown in models.values())
    cell = min(38, 430 / longest)
    for (slot, shown), place in zip(models.items(), places, strict=True):
        view = shown.view
        with place:
            st.markdown(f"**{TRANSLATORS[shown.translator].capitalize()}**: {_what_it_is(shown)}")
            chart = alignment_chart(
                to_array(view.weights),
                view.target,
                view.keys,
                size=round(cell * max(len(view.target), len(view.keys))),
                marked=min(WORD.value, len(view.target) - 1),
                key_title="key: the encoder's last state" if view.is_single else "keys: the encoder's state at",
            )
            words = f"Weights of {len(view.target)} target words over {len(view.keys)} keys, {shown.translator}"
            draw_chart(chart, width="content", key=f"translate_alignment_{slot}", alt=words)
    st.caption(
        "Each row sums to 1. Where French turns the order round, so does the diagonal: “red car”, “voiture rouge”. "
        "After figure 3 of Bahdanau, Cho and Bengio (2015)."
    )


def _what_it_is(shown: ShownTranslation) -> str:
    if shown.view.is_single:
        return "one column, all 1: everything has to pass through one vector."
    if shown.translator == "mean":
        return f"every word always gets 1/{len(shown.view.keys)}. Nothing is chosen."
    if shown.translator == "transformer":
        return f"cross-attention of layer {LAYER.value}, mean of {shown.trace.n_heads} heads."
    return "hover a row to see where its word looks."


OUTPUTS = {"read_out": "layer", "output": "word"}


def unrolled(shown: ShownTranslation, row: int) -> None:
    """Draw the network at the present word, with the present step lit, beside what that step does."""
    if shown.translator == "transformer":
        st.info("The transformer has no recurrent network to unroll. Take another model above, or click its words.")
        return
    if row != WORD.value:
        st.rerun()
    trace, query = shown.trace, shown.view.first_piece[row]
    paragraph(
        "The whole network at the present word. The encoder reads downwards and upwards, the decoder speaks downwards."
    )
    step = STEPS.draw(trace)
    if STEPS.draw_guess(trace, step, query):
        return
    picture, words = st.columns([1, 1.1], gap="large")
    numbers = None, None
    if not shown.view.is_single:
        numbers = tuple(to_array(one(0, [query])[0]) for one in (trace.scores, trace.weights))
    source, target = step_of(trace, "embedding").row_axis.labels, trace.story.query_axis.labels
    lit = OUTPUTS[step.name] if step.role is Role.OUTPUT else step.role.value
    chart = unrolled_chart(source, target, query, lit, *numbers)
    alt = f"The network unrolled, saying {target[query]}; lit is: {step.title}"
    draw_chart(chart, width="content", key="translate_unrolled", alt=alt, on=picture)
    with words:
        show_step_heading(step)
        fed = f"fed **{as_markdown(target[query - 1])}**, the piece before" if query else "fed the start"
        st.markdown(
            f"{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(shown.view.target)}: the decoder is "
            f"{fed}, and says **{as_markdown(target[query])}**. The next state is fed that in turn."
        )
        note(
            "A line is as thick as its weight. The next layer joins state and context."
            if numbers[0] is not None
            else "Nothing is scored: the two ends of the reading are all that is handed over, the same at every word."
        )


SIGNED = (BLUE_ORANGE[8], BLUE_ORANGE[2])


def same_meaning(shown: ShownTranslation, row: int, text: str, layer: int) -> None:
    """Draw weight, cosine of state and key, and cosine of word vectors for every English word; say what they show."""
    paragraph(
        "“*Accord* gets *agreement* because the two mean the same, so their vectors are close.” Is that so? Here are "
        "the weights of the present word beside two cosines: of the decoder's state with every key, and of the two "
        "word vectors."
    )
    view = shown.words
    if view.is_single:
        st.info("This model has one vector and nothing to choose from. Take one with attention above.")
        return
    row = view.row_of(shown.view.first_piece[row])
    alike = _likeness(model_of(shown.translator), read_source(text), shown.made, layer)
    table, words = st.columns([1, 1], gap="large")
    largest = float(alike.keys[row].abs().max()), float(alike.words[row].nan_to_num().abs().max())
    columns = [
        Bars("weight", *_bar_values(view.weights[row], "{:.0%}"), (ROLE_COLOURS[Role.WEIGHTS],), 1 / len(view.keys)),
        Bars("cosine: state, key", *_bar_values(alike.keys[row], "{:.2f}", largest[0]), SIGNED),
        Bars("cosine: words", *_bar_values(alike.words[row].nan_to_num(), "{:.2f}", largest[1]), SIGNED),
    ]
    chart = bar_table(view.source, columns, across=64, ink=LABEL_COLOUR)
    alt = f"Weights and cosines of “{view.target[row]}” with every English word"
    draw_chart(chart, width="content", key="translate_likeness", alt=alt, on=table)
    with words:
        _in_words(shown, row, alike)
        note(
            "A word of several pieces counts with the mean of their vectors; a French word asks with the state before "
            "its first piece. French and English words share one table of vectors."
            + (" The transformer's heads are laid end to end." if shown.trace.n_heads > 1 else "")
        )


def _bar_values(values: Tensor, form: str, limit: float = 1.0) -> tuple[list[float], float, list[str]]:
    return values.tolist(), limit or 1.0, [form.format(value) for value in values.tolist()]


def _in_words(shown: ShownTranslation, row: int, alike: Likeness) -> None:
    view, weights = shown.words, shown.words.weights.cpu()
    french, best, nearest = view.target[row], int(weights[row].argmax()), int(alike.keys[row].argmax())
    asked, key = literal(view.source[best], 24), float(alike.keys[row, best])
    near = (
        "the largest of all" if nearest == best else f"but the key of {literal(view.source[nearest], 24)} is more alike"
    )
    st.markdown(
        f"{literal(french, 24)} looks most at {asked}, with a weight of {float(weights[row, best]):.0%}. The decoder's "
        f"state and that key have cosine **{key:.2f}**, {near}"
        + (f" ({float(alike.keys[row, nearest]):.2f})." if nearest != best else ".")
    )
    if french != NEXT_LABEL:
        nearest = int(alike.words[row].argmax())
        cosine = float(alike.words[row, best])
        st.markdown(
            f"The word vectors of {literal(french, 24)} and {asked} have cosine **{cosine:.2f}**: "
            + ("of all the words here, that is the closest." if nearest == best else "others here are closer.")
        )
    said = torch.tensor([label != NEXT_LABEL for label in view.target])
    by_key, by_word, n = n_agreeing(weights, alike.keys), n_agreeing(weights[said], alike.words[said]), len(weights)
    st.markdown(
        f"In the whole sentence the largest weight is at the key most like the state in **{by_key} of {n}** words, and "
        f"at the English word whose vector is closest in **{by_word} of {int(said.sum())}**."
    )
    how = TRANSLATORS[shown.translator]
    follows = (
        "mostly follows the likeness of *state and key*, which its score measures and its training made. "
        if by_key > 0.75 * n
        else "does not follow the likeness of *state and key*: its score has learned another comparison. "
    )
    st.markdown(
        f"So here {how} {follows}"
        + (
            "The words themselves are close as well."
            if by_word > 0.75 * n
            else "Word vectors alone do not tell which words mean the same: that is in the states, and in the score."
        )
    )
