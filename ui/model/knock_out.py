"""Section in which heads are switched off: what the model then makes of the same input, and which heads matter."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention_core.charts.head_maps import layer_head_map
from attention_core.charts.heatmap import MAX_RECT_SIDE
from attention_core.explain.heads.groups import groups
from attention_core.hub.knock_out import Effect, Head, KnockOutMap, every_head, fill
from attention_core.hub.language import predicts_words
from attention_core.hub.model import Kind, ModelError
from attention_core.hub.run import ModelRun
from ui.layout import section
from ui.model.changes import show_change
from ui.model.kept import kept
from ui.model.portions import portion, run_again
from ui.model.state import Chosen, choose, chosen
from ui.models import COMPUTE
from ui.runs.runs import ModelInput, prepared_of, pretrained_of, run_of

MOST_OFF = 200
"""Heads that may be switched off together."""


@st.fragment
def knock_out(run: ModelRun, key: str, given: ModelInput, name: str) -> None:
    """Draw what changes without the chosen heads, and how much the model needs each head.

    Args:
        run: what is on the page now, with every head.
        key: of the model.
        given: its input.
        name: prefix of the section's state, which is the page's.
    """
    if st.session_state.pop(f"{name}_out_worth_clicked", False):
        st.rerun()  # the head that was clicked is chosen on the whole page
    section("Knock a head out")
    st.markdown(
        "A head that is switched off hands over 0 inside the run, so that everything after it changes. High weights do "
        "not tell whether a head matters; this does."
    )
    pretrained = pretrained_of(key)
    if "bypasses" in run.recording.note:
        st.info(
            f"The code of {pretrained.name} bypasses the library's attention interface: no head can be switched off."
        )
        return
    picked = chosen(name, run)
    off = _choose_heads(run, name, picked)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        _map(run, key, given, name, picked)
    with right:
        _change(run, key, given, name, tuple(off))
    state = f"{name}_out_trying"
    if st.session_state.get(state) and not run_again():
        st.session_state[state] = False


def _change(run: ModelRun, key: str, given: ModelInput, name: str, off: tuple[Head, ...]) -> None:
    if not off:
        st.info("No head is switched off. Choose one above, or click one on the map.")
        return
    try:
        without = run_of(key, given, off)
    except ModelError as error:
        st.warning(str(error))
        return
    show_change(run, without, key, given, name, off)


def names_of_heads(run: ModelRun) -> dict[str, Head]:
    """Return every head by its name for people, such as "decoder self, layer 3, head 5"."""
    number = {id(trace): number for number, trace in enumerate(run.recording.traces)}
    return {
        f"{group}, layer {layer + 1}, head {head + 1}": (number[id(trace)], head)
        for group, layers in groups(run.recording).items()
        for layer, trace in enumerate(layers)
        for head in range(trace.n_heads)
    }


def _number(run: ModelRun, group: str, layer: int) -> int:
    """Return the number of a layer of a group among all traces of the run."""
    trace = groups(run.recording)[group][layer]
    return next(number for number, one in enumerate(run.recording.traces) if one is trace)


def _choose_heads(run: ModelRun, name: str, picked: Chosen) -> list[Head]:
    """Let a person choose heads; the choice follows the chosen head while it alone is switched off."""
    state, field = st.session_state, f"{name}_out"
    heads = names_of_heads(run)
    now = f"{picked.group}, layer {picked.layer + 1}, head {picked.head + 1}"
    before = state.get(field)
    if before is None or before == [state.get(f"{field}_followed")]:
        state[field] = [now]
    else:
        kept_ones = [one for one in before if one in heads]
        state[field] = [now] if before and not kept_ones else kept_ones
    state[f"{field}_followed"] = now

    def add() -> None:
        state[field] = [*state[field], now]

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{name}_out_row"):
        names = st.multiselect(
            "Switched off",
            list(heads),
            key=field,
            max_selections=MOST_OFF,
            placeholder="Choose heads",
            persist_state="session",
        )
        if now not in names:
            st.button(f"Add {now}", key=f"{name}_out_add", on_click=add)
    return [heads[one] for one in names]


def _map(run: ModelRun, key: str, given: ModelInput, name: str, picked: Chosen) -> None:
    """Draw how much the output changes without each head alone; computed when asked, a few heads at a time."""
    found: KnockOutMap = kept(run, "knock-out map", lambda: KnockOutMap(every_head(run.recording)))
    layers = groups(run.recording)[picked.group]
    st.markdown(f"**Which heads matter: {picked.group}**")
    if not found.is_whole:
        _go_on(found, key, given, name)
    if not found.effects:
        st.caption(f"Runs the model once without each of its {len(found.heads)} heads, several in one batch.")
        return
    which = _which_effect(key, name)
    amounts = _matrix(found, run, picked.group, which)
    done = amounts[np.isfinite(amounts)]
    if not done.size:
        return
    scale = 1000 if done.max() < 0.1 else 100
    chart_key = f"{name}_out_worth_{picked.group}_{len(layers)}_{amounts.shape[1]}"
    small = max(amounts.shape) <= MAX_RECT_SIDE

    def take() -> None:
        clicked = st.session_state[chart_key]["selection"].get("cell")
        if clicked:
            layer, head = int(clicked[0]["row"]), int(clicked[0]["col"])
            choose(name, group=picked.group, layer=layer, head=head)
            st.session_state[f"{name}_out"] = [f"{picked.group}, layer {layer + 1}, head {head + 1}"]
            st.session_state[f"{name}_out_worth_clicked"] = True

    st.altair_chart(
        layer_head_map(
            (scale * amounts).tolist(),
            title=_unit(run, scale),
            chosen=(picked.layer, picked.head),
            select="cell" if small else None,
            widest=430,
            exponent=0.5,
        ),
        key=chart_key,
        width="content",
        alt="How much the output changes without each head alone; click one",
        **({"on_select": take, "selection_mode": "cell"} if small else {}),
    )
    layer, head = np.unravel_index(int(np.nanargmax(amounts)), amounts.shape)
    st.caption(
        f"Most needed here: layer {layer + 1}, head {head + 1}. Each head alone is switched off, for this input; heads "
        "that stand in for each other both look dispensable. Click one to see what changes."
    )


def _go_on(found: KnockOutMap, key: str, given: ModelInput, name: str) -> None:
    """Go on with the map while it is asked for, in portions; what is done is kept when it is stopped."""
    state = f"{name}_out_trying"

    def ask(wanted: bool) -> None:
        st.session_state[state] = wanted

    if not st.session_state.get(state):
        words = "Try every head" if not found.effects else f"Go on: {found.share:.0%} are done"
        st.button(words, key=f"{name}_out_try", on_click=ask, args=(True,), icon=":material/grid_on:")
        return
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        st.progress(found.share, text=f"{len(found.effects)} of {len(found.heads)} heads", width=280)
        st.button("Stop", key=f"{name}_out_stop", on_click=ask, args=(False,))
    steps = fill(pretrained_of(key), prepared_of(key, given).inputs, found)
    try:
        for _ in portion():
            with COMPUTE:
                if next(steps, None) is None:
                    break
    except ModelError as error:
        st.session_state[state] = False
        st.warning(f"The heads cannot be tried: {str(error).splitlines()[0][:300]}")
        return
    if found.is_whole:
        st.session_state[state] = False
        place.empty()


def _which_effect(key: str, name: str) -> str:
    """Let a person choose which change is mapped, where there are two."""
    pretrained = pretrained_of(key)
    if pretrained.kind is Kind.VISION:
        return Effect._fields[0]
    words = predicts_words(pretrained)
    names = {
        "everywhere": "every position" if words else "each token",
        "in_the_end": "the next token" if words else "the sentence",
    }
    if words and pretrained.kind is Kind.ENCODER:
        return "everywhere"
    return st.segmented_control(
        "Change of",
        list(names),
        default="everywhere",
        key=f"{name}_out_worth_of",
        required=True,
        format_func=names.get,
        persist_state="session",
    )


def _unit(run: ModelRun, scale: int) -> str:
    parts = "thousandths" if scale == 1000 else "hundredths"
    return f"change, {parts} of a bit" if run.logits is not None else f"1 - cosine, {parts}"


def _matrix(found: KnockOutMap, run: ModelRun, group: str, which: str) -> np.ndarray:
    """Return (n_layers, n_heads) of a group; NaN for a head that is not done yet or not there."""
    layers = groups(run.recording)[group]
    amounts = np.full((len(layers), max(trace.n_heads for trace in layers)), np.nan)
    rows = {_number(run, group, layer): layer for layer in range(len(layers))}
    for (number, head), effect in zip(found.heads, found.effects, strict=False):
        if number in rows:
            amounts[rows[number], head] = getattr(effect, which)
    return amounts
