"""The views of the page "Your own model": one at a time, so that a page stays short and a click quick."""

from __future__ import annotations

import streamlit as st

from attention_core.explain.heads import Look
from attention_core.hub.language import predicts_words
from attention_core.hub.run import ModelRun
from ui.model.compare import side_by_side
from ui.model.heads import heads_section, rollout_section, similar_section
from ui.model.knock_out import knock_out
from ui.model.language import next_tokens
from ui.model.one_head import one_head
from ui.runs.runs import Latest, pretrained_of
from ui.stepper import play_interval

ONE, ALL, WORDS, OUT, PAIR = "One head", "All heads in numbers", "What it says next", "Knock a head out", "Side by side"
ADDRESSES = {"head": ONE, "heads": ALL, "words": WORDS, "without": OUT, "pair": PAIR}


def choose_view(name: str, shown: Latest | None) -> str:
    """Draw the choice of views and return the chosen one; in the address as `?view=`.

    Args:
        name: prefix of the page's state.
        shown: model and input of the run, or None for a recording, which no model can be asked about.
    """
    speaks = shown is not None and predicts_words(pretrained_of(shown.key))
    views = [ONE, ALL, *([WORDS] if speaks else []), *([OUT] if shown else []), PAIR]
    key = f"{name}_view"
    if st.session_state.get(key) not in views:
        asked = ADDRESSES.get(st.query_params.get("view", ""))
        st.session_state[key] = asked if asked in views else ONE
    return st.segmented_control(
        "View",
        views,
        key=key,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
        on_change=_write,
        args=(key,),
        wrap=True,
    )


def _write(key: str) -> None:
    st.query_params["view"] = next(short for short, view in ADDRESSES.items() if view == st.session_state[key])


def draw_view(view: str, run: ModelRun, name: str, shown: Latest | None, look: Look) -> None:
    """Draw the chosen view."""
    if view == ONE:
        st.fragment(one_head, run_every=play_interval(name))(run, name, look)
    elif view == ALL:
        for number, part in enumerate((heads_section, similar_section, rollout_section)):
            if number:
                st.divider()
            part(run, name)
    elif view == PAIR:
        side_by_side(run, name, shown, look)
    elif shown is not None:
        (next_tokens if view == WORDS else knock_out)(run, shown.key, shown.given, name)
