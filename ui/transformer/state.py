"""What a visitor arranged on the transformer page and what the model made of it, computed once per sentence."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.models.transformer import KINDS, TransformerConfig
from attention_core.topics.transformer.ablation import Edited, Head, head_worth, switched_off
from attention_core.topics.transformer.habits import habit_words
from attention_core.topics.translate.translation import Source, Translation, explain_layers, read_source, translate
from attention_core.topics.translate.word_view import piece_probabilities
from ui.models import COMPUTE, model_or_stop

NAME = "transformer"
MODEL = "translator-transformer"
FIRST = Head("encoder", 0, 0)
FIRST_QUERY = 2
BEAM = 5


class Look(NamedTuple):
    """What a visitor looks at.

    Attributes:
        text: the sentence.
        source: its pieces.
        made: its translation by the model as trained.
        off: heads that are switched off.
        with_positions: whether the model is told where each piece stands.
    """

    text: str
    source: Source
    made: Translation
    off: tuple[Head, ...]
    with_positions: bool

    @property
    def is_edited(self) -> bool:
        """Whether anything differs from the model as trained."""
        return bool(self.off) or not self.with_positions


def begin() -> None:
    """Fill in what a visitor finds on arrival; a link may name a head, as in ?head=cross-2-3."""
    state = st.session_state
    if f"{NAME}_kind" in state:
        return
    chosen = _named(st.query_params.get("head", "")) or FIRST
    state[f"{NAME}_kind"], state[f"{NAME}_layer"], state[f"{NAME}_head"] = chosen
    state[f"{NAME}_off"] = []
    state[f"{NAME}_query"] = FIRST_QUERY


def _named(words: str) -> Head | None:
    kind, _, place = words.partition("-")
    layer, _, head = place.partition("-")
    if kind not in KINDS or not (layer.isdecimal() and head.isdecimal()):
        return None
    config = TransformerConfig()
    if not (1 <= int(layer) <= config.n_layers and 1 <= int(head) <= config.n_heads):
        return None
    return Head(kind, int(layer) - 1, int(head) - 1)


def chosen_head() -> Head:
    """Return the head that is shown large."""
    state = st.session_state
    return Head(state[f"{NAME}_kind"], state[f"{NAME}_layer"], state[f"{NAME}_head"])


def write_address() -> None:
    """Put the chosen head into the address."""
    kind, layer, head = chosen_head()
    if chosen_head() == FIRST:
        st.query_params.pop("head", None)
    else:
        st.query_params["head"] = f"{kind}-{layer + 1}-{head + 1}"


def take_head(key: str) -> None:
    """Make the clicked head the chosen one; runs before the page does."""
    clicked = st.session_state[key]["selection"].get("head")
    if clicked:
        st.session_state[f"{NAME}_layer"] = int(clicked[0]["layer"])
        st.session_state[f"{NAME}_head"] = int(clicked[0]["head"])


def take_cell(key: str) -> None:
    """Make the clicked row the query; runs before the page does."""
    clicked = st.session_state[key]["selection"].get("cell")
    if clicked:
        st.session_state[f"{NAME}_query"] = int(clicked[0]["row"])


def chosen_query(trace: AttentionTrace) -> int:
    """Return the piece that asks, from 0."""
    return min(st.session_state[f"{NAME}_query"], trace.n_queries - 1)


def heads_off() -> tuple[Head, ...]:
    """Return the heads that are switched off."""
    return tuple(Head(*one) for one in st.session_state[f"{NAME}_off"])


def switch(head: Head) -> None:
    """Switch a head off, or on again."""
    off = st.session_state[f"{NAME}_off"]
    st.session_state[f"{NAME}_off"] = [one for one in off if one != list(head)] + (
        [] if list(head) in off else [list(head)]
    )


def look_at(text: str) -> Look:
    """Return what is looked at for a sentence; the model is there."""
    with_positions = not st.session_state.get(f"{NAME}_without", False)
    return Look(text, read_source(text), translation(text), heads_off(), with_positions)


def translation(text: str, off: tuple[Head, ...] = (), with_positions: bool = True) -> Translation:
    """Return the French that beam search finds, perhaps with heads switched off or positions left out."""
    return Translation(*_translation(text, _plain(off), with_positions))


@st.cache_data(max_entries=300, show_spinner=False)
def _translation(text: str, off: tuple[tuple[str, int, int], ...], with_positions: bool) -> tuple:
    model = _edited(off, with_positions)
    with COMPUTE:
        return tuple(translate(model, read_source(text), BEAM))


def traces(look: Look) -> dict[tuple[str, int], AttentionTrace]:
    """Return the traces of all layers, by (kind, layer), of the edited model saying what the unedited one says."""
    return _traces(look.text, _plain(look.off), look.with_positions)


@st.cache_resource(max_entries=24, show_spinner=False)
def _traces(text: str, off: tuple[tuple[str, int, int], ...], with_positions: bool) -> dict:
    source, model, made = read_source(text), model_or_stop(MODEL), translation(text)
    edits = switched_off(Head(*one) for one in off)
    with COMPUTE:
        return explain_layers(model, source, made, edits, with_positions=with_positions)


def notes(look: Look, kind: str) -> list[list[str]]:
    """Return for each layer and head of a kind what it mostly looks at, in a phrase."""
    found = traces(look)
    layers = [trace for (its_kind, _), trace in found.items() if its_kind == kind]
    return [[habit_words(trace, head) for head in range(trace.n_heads)] for trace in layers]


@st.cache_data(max_entries=300, show_spinner=False)
def _probabilities(text: str, off: tuple[tuple[str, int, int], ...], with_positions: bool) -> list[float]:
    model, made = _edited(off, with_positions), translation(text)
    with COMPUTE:
        return piece_probabilities(model, read_source(text), made.ids)


def probabilities(look: Look, edited: bool) -> list[float]:
    """Return how probable each piece of the translation is, as trained or edited."""
    return (
        _probabilities(look.text, _plain(look.off), look.with_positions)
        if edited
        else _probabilities(look.text, (), True)
    )


@st.cache_data(max_entries=100, show_spinner="Switching off one head after the other")
def worth(text: str) -> dict[str, Tensor]:
    """Return what the translation loses without each head, by kind (n_layers, n_heads)."""
    model, made = model_or_stop(MODEL), translation(text)
    with COMPUTE:
        return head_worth(model, read_source(text), made)


def _edited(off: tuple[tuple[str, int, int], ...], with_positions: bool) -> Edited:
    model: Any = model_or_stop(MODEL)
    return Edited(model, switched_off(Head(*one) for one in off), with_positions)


def _plain(off: tuple[Head, ...]) -> tuple[tuple[str, int, int], ...]:
    return tuple(sorted(tuple(one) for one in off))
