"""The tabs and sections: steps, the network unrolled, alignments, any length, how it was learned, grammar."""

import html
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.attention.wording import percent
from attention_core.bounds.harmless import as_markdown
from attention_core.charts import signed_ramp
from attention_core.charts.png import matrix_png
from attention_core.data.pieces import MAX_WORDS, english_words
from attention_core.device import to_array
from attention_core.evaluate.translation_figures import Learning, learning_of
from attention_core.inference.encoder_states import collapse
from attention_core.inference.grammar import GENDERS, OPPOSITE, committed_grammar, gender_probability, gendered_words
from attention_core.inference.translation import NEXT_LABEL, TracedTranslation, read_source, vector_similarities
from attention_core.weights import WeightsError
from pages.translate.charts import alignment_chart, unrolled_chart
from pages.translate.first_screen import STEPS
from pages.translate.forcing import WORD, forced_words_note, n_forced_words
from ui.chart import draw_chart, picture_address
from ui.computed import cached_computation, load_snapshots, model_or_fault
from ui.fragments import BODY, rerun_fragments
from ui.labels import error_markdown, note, paragraph
from ui.layout import figures_table, section
from ui.player import StepStyle, described_key, show_all_numbers, show_step_heading, step_of
from ui.state import Field, between, single_choice, whole_number
from ui.translators import NAME, TRANSLATORS, model_of

_vector_similarities = cached_computation(on_cluster=True)(vector_similarities)
MAX_CELL, MAX_HEATMAP = 38, 400  # sides of a cell and of a heatmap, screen pixels
HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
KEY_NOTE = "One key gets all the weight, and the context never changes: this one vector has to hold the whole sentence."
DOT_NOTE = "A dot product has no weights of its own: training shapes the states so that the right pairs score high."


def translate_steps(traced: TracedTranslation, row: int) -> None:
    """Draw all the numbers of the trace, at the present word."""
    trace, view = traced.trace, traced.view
    query, head = view.first_piece[row], min(HEAD.value, trace.n_heads - 1)
    st.markdown(_describe_row(traced, row))

    def choose_head(_: Step) -> None:
        if trace.n_heads > 1:
            single_choice("Head", HEAD, {index: str(index + 1) for index in range(trace.n_heads)}, wrap=True)

    def style_of(step: Step) -> StepStyle:
        marked = query if step.row_axis is trace.story.query_axis else described_key(trace, head, query, NAME)
        return StepStyle(marked, size=240 if _is_sum(trace, step) else 330)

    def on_query(piece: int) -> None:
        WORD.value = bisect(view.first_piece, piece) - 1
        rerun_fragments(BODY)

    show_all_numbers(
        trace,
        STEPS,
        NAME,
        head=head,
        query=query,
        style_of=style_of,
        on_query=on_query,
        above_text=choose_head,
        below_text=partial(_draw_notes, traced),
        below_picture=partial(_draw_sum, trace, head, query),
        widths=(1, 1.3),
    )


def _draw_notes(traced: TracedTranslation, step: Step) -> None:
    if traced.view.is_single and step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
        note(KEY_NOTE)
    if traced.translator == "dot" and step.role is Role.SCORES:
        note(DOT_NOTE)


def _is_sum(trace: AttentionTrace, step: Step) -> bool:
    """Return whether a step is the sum of several vectors."""
    return step.name == "context" and trace.n_keys > 1


def _draw_sum(trace: AttentionTrace, head: int, query: int, step: Step) -> None:
    """Draw the sum of a query's context, where the step is one."""
    if not _is_sum(trace, step):
        return
    section("Multiplied vectors: each state times its weight", Role.VALUE)
    weights, labels = trace.weights(head, [query])[0], trace.story.key_axis.labels
    vectors = weights[:, None] * trace.value_of(head)
    description = f"{len(labels)} states, each times its weight, and the context that they add up to"
    _draw_weighted_sum(labels, to_array(vectors), to_array(weights), to_array(vectors.sum(0)), description)


def _describe_row(traced: TracedTranslation, row: int) -> str:
    target, pieces = traced.view.target, traced.view.pieces_of[row]
    verb = "made" if row < n_forced_words(traced) else "about"
    action = f"the decoder is {verb} to say **{as_markdown(target[row])}**."
    if target[row] == NEXT_LABEL:
        action = "what comes next?"
    first_piece = f" Here: its first piece, {as_markdown(pieces[0])}." if len(pieces) > 1 else ""
    return f"**{TRANSLATORS[traced.translator].capitalize()}, word {row + 1} of {len(target)}**: {action}{first_piece}"


def _draw_weighted_sum(
    labels: Sequence[str], vectors: np.ndarray, weights: np.ndarray, context: np.ndarray, description: str
) -> None:
    """Draw vectors, the weight of each, and their weighted sum."""
    ramp, n = signed_ramp(vectors), len(labels)
    vectors_style, sum_style = (
        f"--rows:url({picture_address(matrix_png(matrix, ramp))})" for matrix in (vectors, context[None])
    )
    rows = "".join(
        f'<span>{html.escape(label)}</span><em style="--at:{row / max(1, n - 1)}"></em>'
        f'<i style="--share:{weight}" title="{percent(weight)}"></i>'
        for row, (label, weight) in enumerate(zip(labels, weights.tolist(), strict=True))
    )
    st.html(
        f'<div class="collapse" role="img" aria-label="{description}" style="{vectors_style}; --n:{n}">{rows}'
        f'<b>weighted sum of {n} ↓</b><span class="sum">context</span>'
        f'<em style="{sum_style}; --n:1; --at:0"></em></div>'
    )


def draw_alignments(models: Mapping[str, TracedTranslation], text: str) -> None:
    """Draw each model's alignment as a heatmap, all on one colour scale; say whether attention follows likeness."""
    widths = [4 if traced.view.is_single else 9 for traced in models.values()]  # one vector has no heatmap
    columns = st.columns(widths, gap="large")
    longest = max(max(len(traced.view.target), len(traced.view.source)) for traced in models.values())
    cell = min(MAX_CELL, MAX_HEATMAP / longest)
    for (slot, traced), column in zip(models.items(), columns, strict=True):
        view = traced.view
        with column:
            name = TRANSLATORS[traced.translator].capitalize()
            st.markdown(f"**{name}**{_describe_alignment(traced)} {forced_words_note(traced)}")
            if view.is_single:
                continue
            closest = _closest_words(traced, text)
            chart = alignment_chart(
                to_array(view.weights),
                view.target,
                view.keys,
                size=round(cell * max(len(view.target), len(view.keys))),
                marked_row=min(WORD.value, len(view.target) - 1),
                framed=list(closest.items()),
            )
            description = f"Weights of {len(view.target)} target words over {len(view.keys)} keys, {traced.translator}"
            draw_chart(chart, width="content", key=f"translate_alignment_{slot}", alt=description)
            if closest and traced.translator != "mean":
                _draw_meaning_and_order(traced, closest)


def _describe_alignment(traced: TracedTranslation) -> str:
    if traced.view.is_single:
        return ": nothing to align."
    if traced.translator == "mean" and not traced.trace.edits:
        return f": every word always gets 1/{len(traced.view.keys)}."
    if traced.translator == "transformer":
        return f": cross-attention of the last layer, mean of {traced.trace.n_heads} heads."
    return ""


def _closest_words(traced: TracedTranslation, text: str) -> dict[int, int]:
    """Return, for each row with a French word, the index of the English word whose vector is most similar."""
    similarities = _vector_similarities(model_of(traced.translator), read_source(text), traced.translation, traced.view)
    lettered_rows = [row for row, label in enumerate(traced.view.target[:-1]) if any(map(str.isalnum, label))]
    return {row: int(similarities[row].argmax()) for row in lettered_rows}


def _draw_meaning_and_order(traced: TracedTranslation, closest: Mapping[int, int]) -> None:
    """Say how often attention follows the closest word, and which neighbours change their order in this sentence."""
    view, heaviest = traced.view, traced.view.weights.argmax(1).tolist()
    n_heaviest = sum(heaviest[row] == english_word for row, english_word in closest.items())
    exception = "" if n_heaviest == len(closest) else ": closeness alone does not say where it looks"
    grammar = "No two French neighbours look at two English neighbours the other way round here."
    first_rows = (row for row in list(closest)[:-1] if row + 1 in closest)
    row = next((row for row in first_rows if heaviest[row + 1] == heaviest[row] - 1), None)
    if row is not None:
        neighbours = view.target[row : row + 2], view.keys[heaviest[row + 1] :][:2]
        french, english = map(" ".join, neighbours)
        grammar = f"*{as_markdown(french)}* looks at *{as_markdown(english)}* the other way round."
    st.caption(
        "**Same meaning?** Framed is the English word whose vector is most similar to the French word's. It is the "
        f"heaviest for {n_heaviest} of {len(closest)}{exception}.\n\n**Grammar?** {grammar}"
    )


LIT_OUTPUTS = {"read_out": "layer", "output": "word"}
"""What lights up in the picture of the network, by the name of the step of its output."""


def draw_unrolled(traced: TracedTranslation, row: int) -> None:
    """Draw the network at the present word, with the present step lit, beside what that step does."""
    if traced.translator == "transformer":
        st.info("The transformer has no recurrent network to unroll. Take another model above.")
        return
    trace, query = traced.trace, traced.view.first_piece[row]
    paragraph("The encoder reads downwards and upwards, the decoder speaks downwards.")
    step = STEPS.draw(trace)
    picture, text_column = st.columns([1, 1.1], gap="large")
    scores = weights = None
    if not traced.view.is_single:
        scores, weights = (to_array(matrix_of(0, [query])[0]) for matrix_of in (trace.scores, trace.weights))
    source, target = step_of(trace, "embedding").row_axis.labels, trace.story.query_axis.labels
    lit = LIT_OUTPUTS[step.name] if step.role is Role.OUTPUT else step.role.value
    chart = unrolled_chart(source, target, query, lit, scores, weights)
    alt = "The network unrolled, its step lit"
    draw_chart(chart, width="content", key="translate_unrolled", alt=alt, container=picture)
    with text_column:
        show_step_heading(step)
        predecessor = f"**{as_markdown(target[query - 1])}**" if query else "the start"
        verb = "is made to say" if row < n_forced_words(traced) else "says"
        n, french = len(traced.view.target), as_markdown(target[query])
        text = f"Word {row + 1} of {n}: fed {predecessor}, the decoder {verb} **{french}**."
        if row + 1 < n:
            text += " The next state is fed that word, and here no context; in Bahdanau et al. (2014) it gets that too."
        st.markdown(text)
        if scores is None:
            note("Nothing is scored: the two ends of the reading are handed over, the same at every word.")


SNAPSHOT_MODEL, DOT_MODEL = "translator-additive", "translator-dot"
_collapsed = cached_computation(on_cluster=True)(collapse)
N_STATES = Field(NAME, "n", 8, address="n", parse=between(1, MAX_WORDS))
MOMENT = Field(NAME, "moment", 5, address="moment", parse=whole_number)


def draw_any_length(text: str) -> None:
    """Draw n encoder states, their weighted sum, and what it would cost to lay them end to end instead."""
    model, why = model_or_fault(DOT_MODEL)
    if model is None:
        st.info(f"The network with dot attention is not there. {why}")
        return
    picture, numbers = st.columns([1.35, 1], gap="large")
    with picture:
        n = N_STATES.widget(st.slider, "Words of the source, n", 1, MAX_WORDS)
        collapsed = _collapsed(model, text, n)
        states, weights, context = map(to_array, (collapsed.states, collapsed.weights, collapsed.context))
        description = f"{len(collapsed.words)} encoder states and their weighted sum"
        _draw_weighted_sum(collapsed.words, states, weights, context, description)
        again = " Where the sentence ends, it begins again." * (n > len(english_words(text)))
        st.caption(f"Bars: the weights of dot attention before the first French word.{again}")
    with numbers:
        d, d_out = states.shape[1], model.config.d_embedding
        vector, read_out = f"{d:,}", f"{2 * d * d_out:,}"  # the read-out takes the decoder's state, too
        figures_table(
            ("", "attention", "added", "end to end"),
            ("numbers handed over", vector, vector, f"{n * d:,}"),
            ("parameters of the read-out", read_out, read_out, f"{(1 + n) * d * d_out:,}"),
        )
        st.caption(
            "Attention gives one vector, however long the sentence. So does adding up, but then no word counts more. "
            "Laid end to end, states fit one length."
        )


def draw_training() -> None:
    """Draw the alignments of three sentences, their French given, at a moment of the additive model's training."""
    try:
        sentences = _learned_sentences()
    except WeightsError as error:
        st.info(f"The alignments that were kept in training are not there. {error_markdown(error)}")
        return
    moments = sentences[0].moments
    MOMENT.clamp(0, len(moments) - 1)
    text_column, slider = st.columns([1, 1.4], gap="large", vertical_alignment="center")
    with slider:
        labels = [f"{moment.step:,}" for moment in moments]
        moment = MOMENT.widget(st.select_slider, "Updates so far", range(len(moments)), format_func=labels.__getitem__)
    mean = sum(sentence.moments[moment].sharpness for sentence in sentences) / len(sentences)
    text_column.markdown(
        "Nobody tells the model which words belong together. Here it has additive attention, and the French is given. "
        f"Sharpness: **{percent(mean)}** (0% looks everywhere alike, 100% at one word)."
    )
    columns = st.columns(len(sentences), gap="medium")
    for number, (column, sentence) in enumerate(zip(columns, sentences, strict=True)):
        chart = alignment_chart(to_array(sentence.moments[moment].weights), sentence.target, sentence.source, size=270)
        alt = f"Alignment after {sentence.moments[moment].step:,} updates: {' '.join(sentence.source[:-1])}"
        draw_chart(chart, width="content", key=f"translate_learning_{number}", alt=alt, container=column)


@cached_computation()
def _learned_sentences() -> list[Learning]:
    return learning_of(load_snapshots(SNAPSHOT_MODEL))


GENDER_TRANSLATORS = ("additive", "dot", "general")
_gender_probability = cached_computation(on_cluster=True)(gender_probability)


def draw_grammar(models: Mapping[str, TracedTranslation], text: str) -> None:
    """Draw how likely both genders of an article are with English words barred, and figures of held-out sentences."""
    traced = next((model for model in models.values() if model.translator in GENDER_TRANSLATORS), None)
    if traced is None:
        st.info("Choose additive, dot or general attention above: their articles are tried here.")
        return
    article = next(gendered_words(traced.view), None)
    if article is None:
        st.info(f"{_why_no_article(traced.view.target)} Try *The red car is here.*")
    else:
        view = traced.view
        model, source = model_of(traced.translator), read_source(text)
        probabilities = _gender_probability(model, source, traced.translation, view, article)
        noun, heaviest = (as_markdown(view.source[column]) for column in (article.noun, article.heaviest))
        noun_weight, heaviest_weight = (
            percent(float(view.weights[article.row, column])) for column in (article.noun, article.heaviest)
        )
        paragraph(
            f"**{article.form} or {article.opposite}?** Before *{as_markdown(view.target[article.row + 1])}*, "
            f"{article.form} looks at *{heaviest}* ({heaviest_weight}) and at the noun, *{noun}* ({noun_weight})."
        )
        variants = "as learned", f"{noun} barred", f"{heaviest} barred", "each English word read alone"
        rows = [(name, percent(share), percent(1 - share)) for name, share in zip(variants, probabilities, strict=True)]
        figures_table(("", article.form, article.opposite), *rows)
    _draw_grammar_figures(traced.translator)


def _why_no_article(target: Sequence[str]) -> str:
    """Say why no article is tried: there is none, or its noun looks at no English noun."""
    if form := next((word for word in target if word.lower() in OPPOSITE), ""):
        return (
            f"*{as_markdown(form)}* cannot be tried here: that takes a noun after it that looks at an "
            "English word with *the*, *a*, *my* or the like at most two words before."
        )
    return f"This French has no {', '.join(' or '.join(pair) for pair in GENDERS)}."


def _draw_grammar_figures(translator: str) -> None:
    figures = committed_grammar(translator)
    if not figures:
        return
    learned, noun, heaviest, word_by_word = figures["right"].values()
    st.markdown(
        "**Gender is caught by the states, not by a look at the noun. Attention catches the order of words**: it "
        f"follows {figures['turned']} of {figures['n_turned']} neighbours that French turns round."
    )
    figures_table(
        (TRANSLATORS[translator].capitalize(), f"right gender of {figures['n']} articles in test sentences"),
        ("as it is", percent(learned)),
        (f"the noun barred, {percent(figures['noun_weight'])} of the weight", percent(noun)),
        ("the heaviest other word barred", percent(heaviest)),
        ("each English word read alone", percent(word_by_word)),
        ("always masculine", percent(figures["masculine"])),
    )
