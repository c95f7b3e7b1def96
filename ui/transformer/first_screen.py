"""The first screen: a sentence in French, and the pieces of both; what the transformer makes of it, changed or not."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.topics.transformer.ablation import EditedTransformer, TransformerHead, switched_off
from attention_core.topics.translate.translation import (
    SourceSentence,
    Translation,
    explain_layers,
    read_source,
    translate,
)
from attention_core.topics.translate.word_view import piece_probabilities, sentence_probability
from ui.computed import computed, model_or_stop
from ui.labels import as_percent, literal
from ui.sentence import knows_enough
from ui.state import Field

NAME = "transformer"
MODEL = "translator-transformer"
BEAM = 5
MOST_NAMED = 4  # changes that are named; more are counted
PIECES_STYLE = """<style>
.pieces { line-height: 2; margin: 0; overflow-wrap: anywhere; font-size: 0.95rem; }
.pieces span { padding: 0.1rem 0.34rem; background: color-mix(in srgb, currentcolor 8%, transparent); }
.pieces span:first-child { border-radius: 4px 0 0 4px; } .pieces span:last-child { border-radius: 0 4px 4px 0; }
.pieces b { font-weight: 400; margin-right: 0.3rem; display: inline-block; }
.pieces span + span { margin-left: 1.5px; } .pieces .end { font-style: italic; opacity: 0.7; }
.said { font-size: 1.45rem; line-height: 1.35; margin: 0 0 0.2rem 0; overflow-wrap: anywhere; }
</style>"""


class Experiment(NamedTuple):
    """A sentence, and what is changed in the model that reads it."""

    text: str
    off: tuple[TransformerHead, ...] = ()  # heads that are switched off
    with_positions: bool = True  # whether the model is told where each piece stands

    @property
    def as_trained(self) -> Experiment:
        return Experiment(self.text)

    @property
    def changes(self) -> list[str]:
        return [head.label for head in self.off] + ["positions left out"] * (not self.with_positions)


AT_TOP: Field[Experiment | None] = Field(NAME, "at_top", None)  # whose French stands there


def _edited(experiment: Experiment) -> EditedTransformer:
    model: Any = model_or_stop(MODEL)
    return EditedTransformer(model, switched_off(experiment.off), experiment.with_positions)


@computed(by_model=True)
def translation(experiment: Experiment) -> Translation:
    return translate(_edited(experiment), read_source(experiment.text), BEAM)


@computed(by_model=True)
def probabilities(experiment: Experiment) -> list[float]:
    """Return how probable each piece of the translation as trained is to the model as changed."""
    made = translation(experiment.as_trained)
    if experiment == experiment.as_trained:
        return made.probabilities
    return piece_probabilities(_edited(experiment), read_source(experiment.text), made.ids)


@computed(by_model=True)
def traces(experiment: Experiment) -> dict[tuple[str, int], AttentionTrace]:
    """Return the traces of all layers, by (kind, layer), of the changed model saying what it says as trained."""
    edited, source, made = _edited(experiment), read_source(experiment.text), translation(experiment.as_trained)
    return explain_layers(edited.model, source, made, edited.edits, with_positions=edited.with_positions)


def french_part(experiment: Experiment, restore: Callable[[], None]) -> None:
    """Draw the French of the model as changed beside that of the trained one; its pieces, how probable they are."""
    made, AT_TOP.value = translation(experiment), experiment
    whole, per_piece = sentence_probability(made.probabilities, len(made.probabilities))
    st.html(f'{PIECES_STYLE}<p class="said" lang="fr">{html.escape(made.text)}</p>')
    if experiment.changes:
        _as_trained(experiment, made, restore)
    st.html(f'<p class="pieces">{pieces_html(made.labels, made.word_of)}</p>')
    unfinished = "" if made.finished else " It found no end."
    st.caption(
        f"Whole sentence: {as_percent(whole)}. Average per piece: {as_percent(per_piece)}.{unfinished} Pieces drawn "
        "without a gap form one word. The model works with such pieces."
    )


def _as_trained(experiment: Experiment, made: Translation, restore: Callable[[], None]) -> None:
    before, changes = translation(experiment.as_trained), experiment.changes
    beside = "the same words." if made.ids == before.ids else f'<i lang="fr">{html.escape(before.text)}</i>'
    st.html(f'<p class="as-trained" style="margin:0">As trained: {beside}</p>')
    what = ", ".join(changes[:MOST_NAMED])
    more = f" and {len(changes) - MOST_NAMED} more" if len(changes) > MOST_NAMED else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Off: {what}{more}." if experiment.off else f"{what.capitalize()}.")
        st.button("Everything as trained", key="transformer_restore", on_click=restore)


def english_part(source: SourceSentence) -> None:
    """Draw the English sentence as the pieces that the model reads, and what it could not read."""
    st.html(f'{PIECES_STYLE}<p class="pieces">{pieces_html(source.labels, source.word_of)}</p>')
    if source.unknown:
        names = ", ".join(literal(word, 20) for word in source.unknown[:5])
        st.info(f"Letters or signs that the model never met: {names}. It takes all of them for the same unknown sign.")
    knows_enough(source.words, source.known)
    if source.n_dropped:
        st.info(f"{source.n_dropped} more words were not read: there is room for 99 pieces.")


def pieces_html(labels: Sequence[str], word_of: Sequence[int]) -> str:
    """Return pieces as HTML, those of one word touching; the last one may be the end."""
    words: dict[int, list[str]] = {}
    for label, word in zip(labels, word_of, strict=True):
        words.setdefault(word, []).append(f"<span>{html.escape(label)}</span>")
    last = max(words, default=0)
    if words.get(last) == ["<span>end</span>"]:
        words[last] = ['<span class="end">end</span>']
    return "".join(f"<b>{''.join(group)}</b>" for group in words.values())
