"""What one changes on the page and in its experiments: the table, the query, how softly and by what it compares."""

from typing import NamedTuple

import streamlit as st

from attention_core import AttentionTrace
from attention_core.inference.soft_lookup import Encoder, soft_lookup
from pages.lookup import first_screen as screen
from pages.lookup import table
from ui.labels import literal
from ui.player import Stepper, export_bar
from ui.take_along import take_along

STEPS = Stepper(table.NAME)


class LookUp(NamedTuple):
    """A query, and how the records are looked up for it."""

    request: table.LookupRequest
    query: int
    temperature: float
    encoders: dict[str, Encoder]  # by how they compare, the chosen one first
    plain: AttentionTrace
    trace: AttentionTrace  # with the edits that fit

    @property
    def encoder(self) -> Encoder:
        return next(iter(self.encoders.values()))

    @property
    def text(self) -> str:
        """The query, as it was typed."""
        return self.request.queries[self.query]

    @property
    def heaviest(self) -> int:
        """The index of the record of most weight."""
        return int(self.trace.weights()[self.query].argmax())

    def describe_answer(self) -> str:
        """Say which key the query finds, in Markdown."""
        key = f"**{literal(self.request.records.keys[self.heaviest], 60)}**"
        is_cut = not self.trace.weights()[self.query].any()
        return f"{literal(self.text, 60)} finds {'nothing, every record is cut' if is_cut else key}."


def look_up(request: table.LookupRequest, query: int) -> LookUp:
    """Draw how softly and by what is compared; return how a query is looked up so."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="lookup_ways"):
        encoders = screen.choose_encoder()
        label = "Temperature: from picky (the best key alone) to fair (all alike)"
        temperature = table.TEMPERATURE.widget(st.select_slider, label, table.TEMPERATURES)
    plain = soft_lookup(request.records, request.queries, temperature, next(iter(encoders.values())))
    trace = plain.replace(table.EDITS.fitting(plain, input_id=request.in_words))
    take_along(lambda: export_bar(trace, table.NAME, query=query))
    return LookUp(request, query, temperature, encoders, plain, trace)


def draw_lookup() -> LookUp:
    """Draw all that one changes, on the screen of an experiment; return how the query is looked up."""
    with st.container(key="experiment_input"):
        preset = table.chosen_table()
        table.choose_table()
        request = table.current_request(preset)
        screen.type_query(request)
        return look_up(request, screen.choose_query(request))
