"""What the page opens on: which token looks at which, over the sentence, and what one other word does to that."""

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.explain.heads import is_self_attention
from attention_core.hub.catalogue import PACKAGE
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun, TextInput, special_keys
from pages.model.glance import NAME, Selection, chosen_layers, is_off
from pages.model.heads import SECOND_TEXT
from pages.model.input import ENGLISH, TEXT
from pages.model.one_head import token_view
from ui.labels import error_markdown
from ui.model_runs import LatestRun, run_of
from ui.try_this import GUESSING, NOT_TRIED, TRIED, TryThis, try_this

FIRST_TEXT = ENGLISH["Who was tired?"]
ASKS, CANDIDATES = "it", ("animal", "street")
EMPTY = "·"  # in the place of a token of spaces alone, which nothing could emphasise


def opening(run: ModelRun, asked: LatestRun | None, is_changed: bool) -> None:
    """Say where the chosen token looks most, with arcs over the text; offer to change a word of the first example.

    The run is as it is with the page's edits, if any of them changes it; nothing was asked for = it is a recording.
    """
    now, layers = chosen_layers(run)
    trace = layers[now.layer]
    weights = trace.weights(now.head, [now.query])[0].tolist()
    asks = error_markdown(trace.story.query_axis.labels[now.query].strip() or EMPTY)
    given = asked.given if asked is not None and asked.key == PACKAGE else None
    read = given.text if isinstance(given, TextInput) and given == TextInput(given.text) else ""
    told = _where_it_looks(run, trace, weights, now.query)
    if read == SECOND_TEXT and asks == ASKS and not is_changed:
        both = zip(
            CANDIDATES, *(_shares(one, now) for one in (run_of(PACKAGE, TextInput(FIRST_TEXT)), run)), strict=True
        )
        told = ", ".join(f"*{word}*: {percent(before)} → {percent(after)}" for word, before, after in both)
    if is_off(trace, now.head):
        st.markdown(f"##### This head is switched off: *{asks}* takes nothing from it")
    else:
        st.markdown(f"##### *{asks}* looks at {told}")
    if is_changed:
        st.caption(f"{'This' if trace.edits else 'Another'} layer's attention is changed by hand in *What it does*.")
    token_view(run, trace, now.head)
    marks = dict.fromkeys(run.tokens[place] for place in sorted(run.special))
    if marks:
        with st.container(key="desk_model_marks"):
            names = ", ".join(map(error_markdown, marks))
            st.caption(f"{names}: {_what_they_are(run)}. A large weight is not yet understanding.")
    tried = TRIED[NAME]
    if read == FIRST_TEXT and tried.value not in (NOT_TRIED, GUESSING):
        tried.reset()  # its answer is about the other text
    if read == FIRST_TEXT or (read == SECOND_TEXT and tried.value != NOT_TRIED):
        try_this(NAME, _surprise(run, trace, now))


def _where_it_looks(run: ModelRun, trace: AttentionTrace, weights: list[float], query: int) -> str:
    """Return the word with most of a query's weights, and whether itself or a mark has more, Markdown."""
    rest = special_keys(run, trace) | ({query} if is_self_attention(trace) else set())
    if is_self_attention(trace) and query in run.special:
        rest = frozenset()
    words = [place for place, weight in enumerate(weights) if weight and place not in rest]
    key = max(words or range(len(weights)), key=weights.__getitem__)
    names = {place: error_markdown(trace.story.key_axis.labels[place].strip() or EMPTY) for place in (key, *rest)}
    told = f"*{names[key]}*: {percent(weights[key])}" if any(weights) else "nothing"
    for place in sorted(rest):
        if weights[place] > weights[key]:
            name = "itself" if place == query and is_self_attention(trace) else names[place]
            told += f", more at {name}: {percent(weights[place])}"
    return told


def _what_they_are(run: ModelRun) -> str:
    """Say what the tokens of a run are that are called special."""
    if run.patch_grid is not None:
        return "no part of the picture, but put beside its patches by the model"
    if run.kind is ModelKind.DECODER:
        return "often where heads look that find nothing, since every token sees the first one"
    return "marks that the model adds to the text"


def _shares(run: ModelRun, now: Selection) -> list[float]:
    weights = run.groups[now.group][now.layer].weights(now.head, [run.tokens.index(ASKS)])[0]
    return [float(weights[run.tokens.index(word)]) for word in CANDIDATES]


def _surprise(run: ModelRun, trace: AttentionTrace, now: Selection) -> TryThis:

    def act() -> None:
        TEXT[NAME, ModelKind.ENCODER].value = SECOND_TEXT

    def outcome() -> tuple[int, str]:
        animal, street = _shares(run, now)
        weights = trace.weights(now.head, [run.tokens.index(ASKS)])[0]
        marks = float(weights[sorted(special_keys(run, trace))].sum())
        shares = [street, animal, marks]
        words = f"*street* gets {percent(street)}, *animal* {percent(animal)}, [CLS] and [SEP] "
        return shares.index(max(shares)), f"{words}{percent(marks)}."

    return TryThis(
        "Say *wide* instead of *tired*",
        "Say *wide* instead of *tired*: *it* is now the street. Where does this head look?",
        ("At the street", "Still at the animal", "At [CLS] and [SEP], that is, nowhere"),
        act,
        outcome,
        "model_opening",
    )
