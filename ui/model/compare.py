"""Two runs side by side: another input, another model, or another recording, looked at with the same head."""

from __future__ import annotations

from weakref import ref

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from attention_core.explain.heads import PLAIN, Look, distances_head_for_head, groups, habit
from attention_core.hub.model import Kind, ModelError
from attention_core.hub.run import ModelRun
from ui.labels import literal
from ui.layout import section
from ui.model.glance import glance_picture, summaries_of
from ui.model.handed_over import look_for
from ui.model.head_map import head_map
from ui.model.input import choose_input
from ui.model.kept import kept
from ui.model.large import large_matrix
from ui.model.state import Chosen, chosen
from ui.runs.recording import uploaded_run
from ui.runs.runs import Latest, pretrained_of, run_of
from ui.runs.source import choose_model

INPUT, MODEL = "Another input", "Another model"
SECOND_TEXTS = {Kind.ENCODER: "The animal didn't cross the street because it was too wide."}
"""What the second input begins with: as many tokens as the page's own example, another meaning of "it"."""


def side_by_side(run: ModelRun, name: str, shown: Latest | None, look: Look = PLAIN) -> None:
    """Let a person choose a second run and draw both, head for head.

    Args:
        run: what is on the page.
        name: prefix of the page's state.
        shown: model and input of the run, or None for a recording.
        look: how matrices are shown.
    """
    section("Side by side")
    st.markdown("The same head on another input, or in another model: which heads change, and which do not care?")
    other = _other_run(run, f"{name}_other", shown)
    if other is None:
        return
    for note in other.notes:
        st.info(note)
    picked = chosen(name, run)
    facing = _facing(other, picked)
    sides = zip(("left", "right"), st.columns(2, gap="large"), (run, other), (picked, facing), strict=True)
    for side, column, one, at in sides:
        with column:
            st.markdown(f"**{one.model}**: {literal(' '.join(one.target_tokens or one.tokens), 70)}")
            trace = groups(one.recording)[at.group][at.layer]
            its_look = look if one is run else look_for(one, trace, name)
            glance_picture(one, at, its_look, width=520)
            does = habit(summaries_of(one, at.group)[at.layer][at.head])
            st.caption(f"Layer {at.layer + 1}, head {at.head + 1}: {does}.")
            large_matrix(trace, at.head, its_look, name, query=at.query, size=380, side=f"_{side}")
    _change(run, other, picked, name, shown)


def _other_run(run: ModelRun, name: str, shown: Latest | None) -> ModelRun | None:
    if shown is None:
        return uploaded_run(name)
    what = st.segmented_control(
        "Compare with",
        [INPUT, MODEL],
        default=INPUT,
        key=f"{name}_what",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    try:
        if what == INPUT:
            for key, text in SECOND_TEXTS.items():
                st.session_state.setdefault(f"{name}_text_{key.value}", text)
            given = choose_input(name, pretrained_of(shown.key), wide=True)
            return run_of(shown.key, given) if given is not None else None
        key = choose_model(name)
        return run_of(key, shown.given) if key is not None else None
    except ModelError as error:
        st.error(str(error), icon=":material/error:")
        return None


def _facing(other: ModelRun, picked: Chosen) -> Chosen:
    """Return the head of the other run that stands where the chosen one stands, as nearly as it has one."""
    found = groups(other.recording)
    group = picked.group if picked.group in found else next(iter(found))
    layer = min(picked.layer, len(found[group]) - 1)
    trace = found[group][layer]
    return Chosen(group, layer, min(picked.head, trace.n_heads - 1), min(picked.query, trace.n_queries - 1))


def _change(run: ModelRun, other: ModelRun, picked: Chosen, name: str, shown: Latest | None) -> None:
    """Draw how far every head is from the same head of the other run, where the two can be laid over each other."""
    first, second = groups(run.recording).get(picked.group), groups(other.recording).get(picked.group)
    reason = _not_comparable(first, second)
    if reason or first is None or second is None:
        st.caption(f"How far each head has moved cannot be said: {reason}.")
        return
    what = ("moved from", shown or ref(run), picked.group)
    moved = kept(other, what, lambda: to_array(distances_head_for_head(first, second)))
    key = f"{name}_moved"
    st.markdown("**How far each head moved**")
    head_map(name, key, moved.tolist(), picked, title="Jensen-Shannon distance")
    st.caption(
        "0: the head looks at the same positions in both; 1: at nothing that it looks at in the other. A click chooses "
        "the head."
    )


def _not_comparable(first: list[AttentionTrace] | None, second: list[AttentionTrace] | None) -> str:
    """Return why heads cannot be compared one by one, or "" if they can."""
    if not first or not second:
        return "the other model has no attention of this kind"
    if [trace.n_heads for trace in first] != [trace.n_heads for trace in second]:
        return "the models have other numbers of layers or heads"
    one, other = ((layers[0].n_queries, layers[0].n_keys) for layers in (first, second))
    if one != other:
        return (
            f"{one[0]} × {one[1]} and {other[0]} × {other[1]} weights cannot be laid over each other; "
            "inputs of as many tokens can"
        )
    return ""
