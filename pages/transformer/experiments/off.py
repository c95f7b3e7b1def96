"""What if a head looked elsewhere? It is switched off, its arcs are cut and dragged, and the French is said anew."""

import streamlit as st

from attention_core.inference.translation import piece_probabilities, read_source
from pages.transformer import reading as page
from pages.transformer.inputs import ChosenHead, draw_arcs, draw_choice, draw_reading, weights_row
from ui.computed import cached_computation
from ui.edits import show_weights_difference, weight_editor
from ui.labels import error_markdown, literal
from ui.translators import show_next_word, translation

SMALLEST_CHANGE = 0.0005  # change of a probability below which hardly anything has changed
_probabilities = cached_computation(on_cluster=True)(piece_probabilities)


def draw_input() -> ChosenHead:
    """Draw the sentence, and the choice of a head, which can be switched off."""
    return draw_choice(draw_reading(), switch=True)


def answer(chosen: ChosenHead) -> str:
    """Say what the model says as trained, and with the changes."""
    reading = chosen.reading
    learned = translation(page.TRANSLATOR, reading.text).text
    if not reading.edits:
        return f"As trained it says *{error_markdown(learned)}*"
    (changed,) = page.translate_sources(reading, read_source(reading.text))
    if changed == learned:
        return f"With your changes it still says *{error_markdown(learned)}*"
    return f"With your changes it says *{error_markdown(changed)}*"


def draw(chosen: ChosenHead) -> None:
    """Draw the arcs, which can be changed, and what becomes of the translation."""
    reading, head, trace, query = chosen
    queries, keys = trace.story.query_axis.labels, trace.story.key_axis.labels
    row = weights_row(chosen, query)
    left, right = st.columns(2, gap="large")
    with left:
        draw_arcs(chosen, lambda key, weight: row.set_weight([key], weight) if key in row.keys else None)
        rows = range(query if head.kind == "decoder" else len(queries))
        row_names = {row_index: queries[row_index] for row_index in rows if row_index != query}
        weight_editor(row, {(key,): keys[key] for key in row.keys}, row_names)
        page.EDITS.draw(trace, hint="Click a lower word, then an upper one.")
    with right, st.container(key="desk_transformer_changed"):
        if reading.edits:
            _draw_largest_change(reading)
        show_weights_difference(page.NAME, page.traces(reading._replace(edits={}))[head[:2]], trace, head.head)


def _draw_largest_change(reading: page.Reading) -> None:
    """Draw the next pieces where what is learned to come next has changed most."""
    source, learned = read_source(reading.text), translation(page.TRANSLATOR, reading.text)
    readings = reading._replace(edits={}), reading
    before, after = (_probabilities(page.edited(each), source, learned.ids) for each in readings)
    changes = [abs(new - old) for old, new in zip(before, after, strict=True)]
    piece = changes.index(max(changes))
    context = f"after {literal(' '.join(learned.labels[:piece]))}" if piece else "first"
    amount = "Most" if changes[piece] >= SMALLEST_CHANGE else "Hardly anything"
    st.caption(f"{amount} has changed in what comes {context}:")
    show_next_word(page.TRANSLATOR, source, tuple(learned.ids[:piece]), reading.edits)
