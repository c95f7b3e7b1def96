"""Two runs side by side: another input, another model, or another recording, looked at with the same head."""

from weakref import ref

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from attention_core.explain.heads import describe_head, distances_head_for_head
from attention_core.hub.catalogue import IN_WORDS
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import ModelRun
from ui.labels import error_markdown
from ui.model import glance
from ui.model.input import choose_input
from ui.model_runs import LatestRun, choose_model, pretrained_of, run_of, uploaded_run
from ui.state import Field, named, single_choice

INPUT, MODEL = "Another input", "Another model"
ALL, MOVED = "All heads", "How far each head moved"
SECOND_TEXT = "The animal didn't cross the street because it was too wide."
"""What the second input begins with: as many tokens as the page's own example, another meaning of "it"."""
COMPARED = Field(glance.NAME, "other_what", INPUT, address="compare", **named(input=INPUT, model=MODEL))
SHOWN = Field(glance.NAME, "other_shown", ALL, address="compare_shown", **named(all=ALL, moved=MOVED))


def side_by_side(run: ModelRun, asked: LatestRun | None) -> None:
    """Let a person choose a second run and draw both, head for head."""
    with st.container(horizontal=True, gap="large"):
        if asked is not None:
            single_choice("Compare with", COMPARED, [INPUT, MODEL], label_visibility="collapsed")
        single_choice("Show", SHOWN, [ALL, MOVED], label_visibility="collapsed")
    try:
        other = _other_run(asked)
    except ModelError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return
    if other is None:
        return
    for note in other.notes:
        st.info(error_markdown(note))
    now = glance.chosen(run)
    if SHOWN.value == MOVED:
        _heads_that_moved(run, other, now)
        return
    sides = zip(st.columns(2, gap="large"), (run, other), (now, glance.nearest(other, now)), strict=True)
    for column, shown, at in sides:
        with column:
            does = describe_head(glance.summaries_of(shown, at.group)[at.layer][at.head])
            st.markdown(f"**{_in_words(shown)}**, layer {at.layer + 1}, head {at.head + 1}: {does}")
            glance.glance_picture(shown, at, width=520)


def _in_words(run: ModelRun) -> str:
    return error_markdown(IN_WORDS.get(run.model, run.model))


def _other_run(asked: LatestRun | None) -> ModelRun | None:
    if asked is None:
        return uploaded_run(glance.OTHER)
    if COMPARED.value == INPUT:
        pretrained = pretrained_of(asked.key)
        first = SECOND_TEXT if pretrained.kind is ModelKind.ENCODER else ""
        given = choose_input(glance.OTHER, pretrained, first=first)
        return run_of(asked.key, given) if given is not None else None
    key = choose_model(glance.OTHER)
    return run_of(key, asked.given) if key is not None else None


def _heads_that_moved(run: ModelRun, other: ModelRun, now: glance.Selection) -> None:
    first, second = run.groups[now.group], other.groups.get(now.group)
    reason = _not_comparable(first, second)
    if reason:
        st.caption(f"How far each head has moved cannot be said: {reason}.")
        return
    between = "moved from", ref(run), now.group
    moved = glance.cached_with_run(other, between, lambda: to_array(distances_head_for_head(first, second)))
    st.markdown("**How far each head moved**")
    glance.head_map("model_moved", moved.tolist(), now, title="Jensen-Shannon distance")
    st.caption("0: the head looks at the same positions in both; 1: at none that it looks at in the other. Click one.")


def _not_comparable(first: list[AttentionTrace], second: list[AttentionTrace] | None) -> str:
    """Return why heads cannot be compared one by one, or "" if they can."""
    if not second:
        return "the other model has no attention of this kind"
    if [trace.n_heads for trace in first] != [trace.n_heads for trace in second]:
        return "the models have other numbers of layers or heads"
    sizes = [f"{layers[0].n_queries} × {layers[0].n_keys}" for layers in (first, second)]
    if sizes[0] == sizes[1]:
        return ""
    return f"{sizes[0]} and {sizes[1]} weights cannot be laid over each other; inputs of as many tokens can"
