"""What follows the present word: steps, the network unrolled, alignments."""

from collections.abc import Mapping

import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.bounds import as_markdown
from attention_core.device import to_array
from attention_core.topics.translate.charts import alignment_chart, collapse_chart, unrolled_chart
from attention_core.topics.translate.translation import NEXT_LABEL, ShownTranslation, read_source, word_likeness
from ui.chart import draw_chart
from ui.computed import cached_computation
from ui.glossary import note, paragraph
from ui.layout import section
from ui.player import StepLook, show_step_chart, show_step_heading, show_words
from ui.state import Field, single_choice, whole_number
from ui.translate.first_screen import STEPS
from ui.translate.forcing import WORD, follow_first_screen
from ui.translate.models import NAME, TRANSLATORS, model_of

_word_likeness = cached_computation(by_model=True)(word_likeness)
HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
FIXED = "One key gets all the weight, and the context never changes: this one vector has to hold the whole sentence."
NO_WEIGHTS = "A dot product has no weights of its own: training shapes the states so that the right pairs score high."


def translate_steps(shown: ShownTranslation, row: int) -> None:
    """Draw the stepper over the trace, and the present step at the present word."""
    follow_first_screen(shown, row)
    trace, view = shown.trace, shown.view
    query = view.first_piece[row]
    asks, pieces = view.target[row] == NEXT_LABEL, view.pieces_of[row]
    st.markdown(
        f"**{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(view.target)}**: "
        + ("what comes next?" if asks else f"the decoder is about to say **{as_markdown(view.target[row])}**.")
        + (f" Here: its first piece, {as_markdown(pieces[0])}." if len(pieces) > 1 else "")
    )
    head = min(HEAD.value, trace.n_heads - 1)
    if not (step := STEPS.draw(trace, query, head)):
        return
    words, matrix = st.columns([1, 1.3], gap="large")
    with words:
        if trace.n_heads > 1:
            head = single_choice("Head", HEAD, {head: str(head + 1) for head in range(trace.n_heads)}, wrap=True)
        best = int(trace.weights(head, [query])[0].argmax())
        show_words(trace, step, head, query)
        if view.is_single and step.role in (Role.SCORES, Role.WEIGHTS, Role.CONTEXT):
            note(FIXED)
        if shown.translator == "dot" and step.role is Role.SCORES:
            note(NO_WEIGHTS)
    with matrix:

        def shows_sum(step: Step) -> bool:
            return step.name == "context" and trace.n_keys > 1

        def look(step: Step) -> StepLook:
            marked = query if step.row_axis is trace.story.query_axis else best
            return StepLook(marked, size=240 if shows_sum(step) else 330)

        show_step_chart(trace, step, head, look, NAME, stepper=STEPS)
        if shows_sum(step):
            _multiplied(trace, head, query)


def _multiplied(trace: AttentionTrace, head: int, query: int) -> None:
    section("Multiplied vectors: each state times its weight", Role.VALUE)
    weights, labels = trace.weights(head, [query])[0], trace.story.key_axis.labels
    vectors = weights[:, None] * trace.value_of(head)
    chart = collapse_chart(labels, *map(to_array, (vectors, weights, vectors.sum(0))), width=400)
    words = f"{len(labels)} states, each times its weight, and the context that they add up to"
    draw_chart(chart, width="content", key="translate_multiplied", alt=words)


def alignments(models: Mapping[str, ShownTranslation], text: str) -> None:
    """Draw the alignments of the models as heatmaps on one colour scale; say whether words alike are looked at."""
    places = st.columns([4 if shown.view.is_single else 9 for shown in models.values()], gap="large")
    longest = max(max(len(shown.view.target), len(shown.view.source)) for shown in models.values())
    cell = min(38, 400 / longest)
    for (slot, shown), place in zip(models.items(), places, strict=True):
        view = shown.view
        with place:
            st.markdown(f"**{TRANSLATORS[shown.translator].capitalize()}**: {_what_it_is(shown)}")
            if view.is_single:
                continue
            alike = _most_alike(shown, text)
            chart = alignment_chart(
                to_array(view.weights),
                view.target,
                view.keys,
                size=round(cell * max(len(view.target), len(view.keys))),
                marked_row=min(WORD.value, len(view.target) - 1),
                framed=[(row, word) for row, (word, _) in alike.items()],
            )
            words = f"Weights of {len(view.target)} target words over {len(view.keys)} keys, {shown.translator}"
            draw_chart(chart, width="content", key=f"translate_alignment_{slot}", alt=words)
            if alike and shown.translator != "mean":
                _what_it_caught(shown, alike)


def _what_it_is(shown: ShownTranslation) -> str:
    if shown.view.is_single:
        return "nothing to align, one vector is all there is."
    if shown.translator == "mean":
        return f"every word always gets 1/{len(shown.view.keys)}. Nothing is chosen."
    if shown.translator == "transformer":
        return f"cross-attention of the last layer, mean of {shown.trace.n_heads} heads."
    return "hover a row to see where its word looks."


def _most_alike(shown: ShownTranslation, text: str) -> dict[int, tuple[int, float]]:
    """Return for each row with a French word the English word whose vector is most similar, and their cosine."""
    alike = _word_likeness(model_of(shown.translator), read_source(text), shown.translation, shown.view)
    said = [row for row, label in enumerate(shown.view.target[:-1]) if any(map(str.isalnum, label))]
    return {row: (int(alike[row].argmax()), float(alike[row].max())) for row in said}


def _what_it_caught(shown: ShownTranslation, alike: Mapping[int, tuple[int, float]]) -> None:
    """Say of which words the vectors are alike, and whether the order of words turns round in this sentence."""
    view, looked = shown.view, shown.view.weights.argmax(1).tolist()
    n = sum(looked[row] == word for row, (word, _) in alike.items())
    pairs = ", ".join(f"{view.target[row]}–{view.keys[word]} {cosine:.2f}" for row, (word, cosine) in alike.items())
    so = "" if n == len(alike) else ": closeness alone does not say where it looks"
    note(
        "**Same meaning?** Framed is the English word whose vector is most similar to the French word's. It is the "
        f"heaviest for {n} of {len(alike)}{so}. Cosines: {as_markdown(pairs)}."
    )
    turns = (row for row in list(alike)[:-1] if row + 1 in alike and looked[row + 1] == looked[row] - 1)
    if (row := next(turns, None)) is None:
        note("**Grammar?** No two neighbours change places in this sentence.")
    else:
        french, english = (" ".join(words) for words in (view.target[row : row + 2], view.keys[looked[row + 1] :][:2]))
        note(f"**Grammar?** *{as_markdown(french)}* looks at *{as_markdown(english)}* the other way round.")


OUTPUTS = {"read_out": "layer", "output": "word"}


def unrolled(shown: ShownTranslation, row: int) -> None:
    """Draw the network at the present word, with the present step lit, beside what that step does."""
    if shown.translator == "transformer":
        st.info("The transformer has no recurrent network to unroll. Take another model above.")
        return
    if row != WORD.value:
        st.rerun()
    trace, query = shown.trace, shown.view.first_piece[row]
    paragraph("The encoder reads downwards and upwards, the decoder speaks downwards.")
    if not (step := STEPS.draw(trace, query)):
        return
    picture, words = st.columns([1, 1.1], gap="large")
    numbers = None, None
    if not shown.view.is_single:
        numbers = tuple(to_array(one(0, [query])[0]) for one in (trace.scores, trace.weights))
    source, target = step_of(trace, "embedding").row_axis.labels, trace.story.query_axis.labels
    lit = OUTPUTS[step.name] if step.role is Role.OUTPUT else step.role.value
    chart = unrolled_chart(source, target, query, lit, *numbers)
    draw_chart(chart, width="content", key="translate_unrolled", alt="The network unrolled, its step lit", on=picture)
    with words:
        show_step_heading(step)
        fed = f"fed **{as_markdown(target[query - 1])}**" if query else "fed the start"
        st.markdown(
            f"{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(shown.view.target)}: {fed}, the "
            f"decoder says **{as_markdown(target[query])}**. The next state is fed that word, and here no context; in "
            "Bahdanau et al. (2014) it gets the context too."
        )
        if numbers[0] is None:
            note("Nothing is scored: the two ends of the reading are handed over, the same at every word.")
