"""What one changes in an experiment of the page: the sentence, and the head that is looked at."""

import html
import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from attention_core import AttentionTrace
from attention_core.data.sentence_presets import LAYERED
from attention_core.explain.heads import describe_head, summarise
from attention_core.inference.translation import WordView, read_source
from pages.transformer import reading as page
from ui.computed import model_or_stop
from ui.edits import WeightsRow
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.layout import stop_run
from ui.player import export_bar
from ui.state import Field, controlled, whole_number
from ui.take_along import take_along
from ui.words import aligned_words, chosen_arc, chosen_row, sentence_box, text_field

QUERIES_AND_KEYS = {
    "encoder": "An English piece asks all English pieces",
    "decoder": "A French piece asks the French up to it, never later",
    "cross": "A French piece asks all English pieces",
}
UNCHOSEN = -1  # in place of a query: the word that looks hardest at another word
QUERY = Field(page.NAME, "query", UNCHOSEN, address="query", parse=whole_number)


_FIRST_HEADS = (
    (page.CHOSEN.default, 3),  # Mary, at Tom
    (page.TransformerHead("decoder", 0, 5), 3),  # pas, at ne
    (page.TransformerHead("decoder", 2, 1), 8),  # il, at enfant
    (page.TransformerHead("cross", 2, 0), 2),  # rouge, at red
    (page.TransformerHead("cross", 2, 2), 1),  # phot, at phot
)
FIRST_HEADS = dict(zip(LAYERED.values(), _FIRST_HEADS, strict=True))
"""Example -> the head and the query that show what it is named after."""


class ChosenHead(NamedTuple):
    """The head that is looked at, as it reads a sentence."""

    reading: page.Reading
    head: page.TransformerHead
    trace: AttentionTrace  # of its layer
    query: int

    @property
    def ignored_keys(self) -> tuple[int, ...]:
        """Keys that say nothing of its habit: the end of the sentence is no word."""
        return () if self.head.kind == "decoder" else (self.trace.n_keys - 1,)

    @property
    def weights(self) -> Tensor:
        """Its weights, (n_queries, n_keys)."""
        return self.trace.weights(self.head.head)

    @property
    def habit(self) -> str:
        """What it mostly does, in a few words."""
        return describe_head(summarise(self.trace, self.head.head, self.ignored_keys))


def weights_row(chosen: ChosenHead, query: int) -> WeightsRow:
    """Return the weights of one of its queries, for a person to change."""
    head = chosen.head
    name, text = head.attention_name, chosen.reading.text
    return WeightsRow(page.EDITS, chosen.trace, [query], head.head, name, text, f"{head.label}: ")


def choose_first_head() -> None:
    """Choose the head and the query of the example that is there; of another sentence the query alone, anew."""
    page.CHOSEN.value, QUERY.value = FIRST_HEADS.get(text_field(page.NAME).value, (page.CHOSEN.value, UNCHOSEN))


def draw_sentence() -> str | None:
    """Draw the box of the sentence; return the sentence, None where there is none."""
    with st.container(key="experiment_input"):
        return sentence_box(page.NAME, LAYERED, on_change=choose_first_head)


def draw_reading() -> page.Reading:
    """Draw the box of the sentence; return the sentence with what is changed in the model that reads it."""
    text = draw_sentence()
    model_or_stop(page.MODEL)
    if text is None:
        stop_run()
    reading = page.reading_of(text)
    draw_edited_note(reading)
    take_along(lambda: export_head(reading))
    return reading


def draw_edited_note(reading: page.Reading) -> None:
    """Say that attention is changed, if it is, and what the model says as trained."""
    if not reading.edits:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        source = read_source(reading.text)
        (now,), (trained,) = (page.translate_sources(each, source) for each in (reading, reading._replace(edits={})))
        says = {"Now": now, "As trained": trained}
        if now == trained:
            st.caption("Its attention is changed.", width="content")
            says = {"Unchanged": trained}
        texts = [f'{label}: <i lang="fr">{html.escape(french)}</i>' for label, french in says.items()]
        st.html(f'<span class="as-trained">{" &ensp; ".join(texts)}</span>', width="content")
        st.button("Everything as trained", key="transformer_restore", on_click=page.EDITS.reset)


def chosen_head(reading: page.Reading) -> ChosenHead:
    """Return the head that the address names, as it reads a sentence."""
    head = page.CHOSEN.value
    trace = page.traces(reading)[head[:2]]
    query = _first_query(reading, head) if QUERY.value == UNCHOSEN else QUERY.value
    return ChosenHead(reading, head, trace, min(query, trace.n_queries - 1))


def _first_query(reading: page.Reading, head: page.TransformerHead) -> int:
    """Return the word that looks hardest at another word, as trained; first come those that look hardest there."""
    traces = page.traces(page.Reading(reading.text, {}))
    trace, is_decoder = traces[head[:2]], head.kind == "decoder"
    labels = traces["cross" if is_decoder else head.kind, head.layer].story.query_axis.labels  # after what comes next
    queries, keys = ([_is_word(label) for label in axis] for axis in (labels, trace.story.key_axis.labels))
    queries[-1] = keys[0 if is_decoder else -1] = False  # the end and the start are no words
    weights = trace.weights(head.head).cpu()
    may_be = torch.tensor(queries)[:, None] & torch.tensor(keys)
    if head.kind != "cross":
        may_be.fill_diagonal_(False)
    largest = (weights * may_be).amax(1)
    is_strongest = (largest > 0) & (largest == weights.amax(1))
    return int((largest + is_strongest).argmax())


def _is_word(label: str) -> bool:
    return any(letter.isalnum() for letter in label)


def draw_choice(reading: page.Reading, *, switch: bool = False) -> ChosenHead:
    """Let a person choose kind, layer and head, and perhaps switch it off."""
    head = page.CHOSEN.value
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="transformer_choice"):
        for name, (label, choices) in page.CHOICES.items():
            st.segmented_control(
                label,
                choices,
                format_func=lambda choice: choice.capitalize() if isinstance(choice, str) else str(choice + 1),
                required=True,
                **controlled(f"transformer_{name}", getattr(head, name), partial(_on_choice, name)),
            )
        if switch:
            edit = head.switch_off_edit
            label = "Switch on" if edit in page.EDITS.changes else "Switch off"
            st.button(label, key="transformer_switch", on_click=with_rerun(page.EDITS.toggle), args=(edit,))
    st.caption(f"{QUERIES_AND_KEYS[head.kind]}.")
    return chosen_head(reading)


def _on_choice(name: str, choice: Any) -> None:
    page.CHOSEN.value = page.CHOSEN.value._replace(**{name: choice})


def draw_arcs(chosen: ChosenHead, change: Callable[[int, float | None], None] | None = None) -> None:
    """Draw where each query looks; `change` is called with the key of a changed arc and its weight, None = cut."""
    queries, keys = chosen.trace.story.query_axis, chosen.trace.story.key_axis
    labels = list(queries.labels)
    view = WordView(
        target=labels,
        source=list(keys.labels),
        keys=list(keys.labels),
        weights=chosen.weights,
        probabilities=[math.nan] * len(labels),
        first_piece=list(range(len(labels))),
        first_key=list(range(len(keys))),
        pieces_of=[[label] for label in labels],
    )
    aligned_words(
        page.NAME,
        view,
        model=chosen.head.label,
        active=chosen.query,
        axes=(queries.name, keys.name),
        plain=True,
        cuts=change is not None,
        on_choose=partial(_on_word, change),
    )


def _on_word(change: Callable[[int, float | None], None] | None) -> None:
    row, arc = chosen_row(page.NAME), chosen_arc(page.NAME)
    if row is not None:
        QUERY.value = row
    if change and arc:
        change(*arc)
        rerun_fragments(BODY)


def export_head(reading: page.Reading) -> None:
    """Offer the chosen head's trace."""
    chosen = chosen_head(reading)
    export_bar(chosen.trace, page.NAME, head=chosen.head.head, query=chosen.query)
