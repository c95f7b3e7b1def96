"""Controls of what the pictures show: weights or weight x |value|, with or without the tokens that only absorb."""

from __future__ import annotations

import unicodedata

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import Look, has_values
from attention_core.hub.run import ModelRun, special_keys
from ui.labels import literal
from ui.model.state import NAME, choice, chosen_layers
from ui.state import Field

WEIGHT, LENGTH, SHARE = "Weight A", "Weight × |value|", "As a share"
SPECIAL, FIRST, SIGNS = "Special tokens", "First token", "Punctuation"
SHOWN = Field(NAME, "shown", WEIGHT)
HIDDEN = Field[list[str]](NAME, "hidden", list)


def look_controls(run: ModelRun) -> Look:
    """Let a person choose how matrices are shown, and say so wherever it is not the plain weights."""
    now, layers = chosen_layers(run)
    trace = layers[now.layer]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known = has_values(trace)
        choice(
            "Shown",
            SHOWN,
            [WEIGHT, LENGTH, SHARE] if known else [WEIGHT],
            help="A weight says how much of a value is taken; weight × |value| how long the arrow is that arrives "
            "(after Kobayashi et al. 2020; here the head's values before the output projection).",
        )
        st.pills(
            "Hide as keys",
            [SPECIAL, FIRST, SIGNS],
            key=HIDDEN.key,
            selection_mode="multi",
            persist_state="session",
            help="Tokens that take weight when there is nothing to look at. What they took is shared out among the "
            "others in proportion, so that each row keeps its sum: no longer what the model computed.",
        )
    if not known:
        st.caption("Weight × |value| is unknown here: this model's code handed out its weights only.")
    look = look_for(run, trace)
    if not look.is_plain:
        st.warning(not_plain(look, trace), icon=":material/visibility:")
    return look


def look_for(run: ModelRun, trace: AttentionTrace) -> Look:
    """Return how a person wants matrices to be shown, for the tokens and the values of a trace of any run."""
    times_value = SHOWN.value in (LENGTH, SHARE) and has_values(trace)
    hidden: set[int] = set()
    if SPECIAL in HIDDEN.value:
        hidden |= special_keys(run, trace)
    if FIRST in HIDDEN.value:
        hidden.add(0)
    if SIGNS in HIDDEN.value:
        hidden |= {place for place, label in enumerate(trace.story.key_axis.labels) if is_sign(label)}
    return Look(times_value, times_value and SHOWN.value == SHARE, frozenset(hidden))


def is_sign(label: str) -> bool:
    """Return whether a token is punctuation only, as separators are."""
    bare = label.strip(" ▁Ġ").removeprefix("##")
    return bool(bare) and all(unicodedata.category(sign).startswith("P") for sign in bare)


def what_is_shown(look: Look) -> str:
    """Return the name of the numbers in the pictures, for titles of colour bars."""
    if not look.times_value:
        return "weight"
    return "share of weight × |value|" if look.normalised else "weight × |value|"


def not_plain(look: Look, trace: AttentionTrace) -> str:
    """Return a sentence on what is shown in place of the plain weights."""
    parts = []
    if look.times_value:
        parts.append("the length of what each key adds to the query's context" + (", as a share" * look.normalised))
    if look.hidden:
        names = ", ".join(literal(trace.story.key_axis.labels[place], 16) for place in sorted(look.hidden)[:4])
        more = f" and {len(look.hidden) - 4} more" if len(look.hidden) > 4 else ""
        parts.append(f"{names}{more} hidden, their share given to the other keys of each row")
    return f"Not the plain weights: {'; '.join(parts)}."
