"""Controls of what the pictures show: weights or weight x |value|, with or without the tokens that only absorb."""

from __future__ import annotations

import unicodedata

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.heads import Look, has_values
from attention_core.hub.run import ModelRun, special_keys
from ui.labels import literal
from ui.model.state import chosen_trace

WEIGHT, LENGTH, SHARE = "Weight A", "Weight × |value|", "As a share"
SPECIAL, FIRST, SIGNS = "Special tokens", "First token", "Punctuation"


def look_controls(run: ModelRun, name: str) -> Look:
    """Let a person choose what is shown, and say so wherever it is not the plain weights.

    Args:
        run: what is on the page.
        name: prefix of its state.

    Returns:
        how matrices of the chosen group are to be shown.
    """
    trace = chosen_trace(name, run)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key=f"{name}_look"):
        known = has_values(trace)
        if not known:
            st.session_state[f"{name}_shown"] = WEIGHT
        st.segmented_control(
            "Shown",
            [WEIGHT, LENGTH, SHARE] if known else [WEIGHT],
            key=f"{name}_shown",
            default=WEIGHT,
            required=True,
            persist_state="session",
            help="A weight says how much of a value is taken; weight × |value| how long the arrow is that arrives "
            "(after Kobayashi et al. 2020; here the head's values before the output projection).",
        )
        st.pills(
            "Hide as keys",
            [SPECIAL, FIRST, SIGNS],
            key=f"{name}_hidden",
            selection_mode="multi",
            persist_state="session",
            help="Tokens that take weight when there is nothing to look at. What they took is shared out among the "
            "others in proportion, so that each row keeps its sum: no longer what the model computed.",
        )
    if not known:
        st.caption("Weight × |value| is unknown here: this model's code handed out its weights only.")
    look = look_for(run, trace, name)
    if not look.is_plain:
        st.warning(not_plain(look, trace), icon=":material/visibility:")
    return look


def look_for(run: ModelRun, trace: AttentionTrace, name: str) -> Look:
    """Return how a person wants matrices to be shown, for the tokens and the values of any run.

    Args:
        run: perhaps another than that on the page.
        trace: of a layer of it.
        name: prefix of the state of look_controls.
    """
    what = st.session_state.get(f"{name}_shown", WEIGHT)
    hide = st.session_state.get(f"{name}_hidden") or []
    times_value = what in (LENGTH, SHARE) and has_values(trace)
    return Look(times_value, times_value and what == SHARE, hidden_keys(run, trace, hide))


def hidden_keys(run: ModelRun, trace: AttentionTrace, kinds: list[str]) -> frozenset[int]:
    """Return the positions of the keys that a person hides.

    Args:
        run: what is on the page.
        trace: whose keys they are.
        kinds: of SPECIAL, FIRST, SIGNS.
    """
    hidden: set[int] = set()
    if SPECIAL in kinds:
        hidden |= special_keys(run, trace)
    if FIRST in kinds:
        hidden.add(0)
    if SIGNS in kinds:
        hidden |= {place for place, label in enumerate(trace.story.key_axis.labels) if is_sign(label)}
    return frozenset(hidden)


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
    """Return a sentence on what is shown in place of the plain weights, or "" where they are shown."""
    if look.is_plain:
        return ""
    told = []
    if look.times_value:
        told.append("the length of what each key adds to the query's context" + (", as a share" * look.normalised))
    if look.hidden:
        names = ", ".join(literal(trace.story.key_axis.labels[one], 16) for one in sorted(look.hidden)[:4])
        more = f" and {len(look.hidden) - 4} more" if len(look.hidden) > 4 else ""
        told.append(f"{names}{more} hidden, their share given to the other keys of each row")
    return f"Not the plain weights: {'; '.join(told)}."
