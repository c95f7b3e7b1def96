"""Heads are switched off: what the model then makes of the same input, and which heads matter."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention_core.explain.heads.groups import groups
from attention_core.hub.knock_out import Effect, Head, KnockOutMap, every_head, fill
from attention_core.hub.language import predicts_words
from attention_core.hub.model import Kind, ModelError
from attention_core.hub.run import ModelRun
from ui.computed import computing
from ui.model.changes import show_change
from ui.model.glance import head_map
from ui.model.state import NAME, Chosen, choice, chosen
from ui.model.work import kept_with, portion, run_again
from ui.runs.runs import Latest, prepared_of, pretrained_of, run_of
from ui.state import Field

MOST_OFF = 200
"""Heads that may be switched off together."""
OFF = Field[list[str] | None](NAME, "out", None)
FOLLOWED = Field(NAME, "out_followed", "")
TRYING = Field(NAME, "out_trying", False)
WORTH_OF = Field(NAME, "out_worth_of", Effect._fields[0])


def knock_out(run: ModelRun, asked: Latest) -> None:
    """Draw what changes without the chosen heads, and how much the model needs each head."""
    st.markdown(
        "A head that is switched off hands over 0 inside the run, so that everything after it changes. High weights do "
        "not tell whether a head matters; this does."
    )
    if "bypasses" in run.recording.note:
        name = pretrained_of(asked.key).name
        st.info(f"The code of {name} bypasses the library's attention interface: no head can be switched off.")
        return
    now = chosen(run)
    off = _choose_heads(run, now)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        _map(run, asked, now)
    with right:
        if off:
            _change(run, asked, off)
        else:
            st.info("No head is switched off. Choose one above, or click one on the map.")
    if TRYING.value and not run_again():
        TRYING.value = False


def _change(run: ModelRun, asked: Latest, off: tuple[Head, ...]) -> None:
    try:
        without = run_of(*asked, off)
    except ModelError as error:
        st.warning(str(error))
        return
    show_change(run, without, asked, off)


def _choose_heads(run: ModelRun, now: Chosen) -> tuple[Head, ...]:
    """Let a person choose heads; the choice follows the chosen head while it alone is switched off."""
    number = {id(trace): number for number, trace in enumerate(run.recording.traces)}
    heads = {
        f"{group}, layer {layer + 1}, head {head + 1}": (number[id(trace)], head)
        for group, layers in groups(run.recording).items()
        for layer, trace in enumerate(layers)
        for head in range(trace.n_heads)
    }
    followed = f"{now.group}, layer {now.layer + 1}, head {now.head + 1}"
    before = OFF.value
    if before is None or before == [FOLLOWED.value]:
        OFF.value = [followed]
    else:
        there = [name for name in before if name in heads]
        OFF.value = [followed] if before and not there else there
    FOLLOWED.value = followed

    def add() -> None:
        OFF.value = [*OFF.value, followed]

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        names = st.multiselect(
            "Switched off",
            list(heads),
            key=OFF.key,
            max_selections=MOST_OFF,
            placeholder="Choose heads",
            persist_state="session",
        )
        if followed not in names:
            st.button(f"Add {followed}", key="model_out_add", on_click=add)
    return tuple(heads[name] for name in names)


def _map(run: ModelRun, asked: Latest, now: Chosen) -> None:
    """Draw how much the output changes without each head alone; computed when asked, a few heads at a time."""
    found: KnockOutMap = kept_with(run, "knock-out map", lambda: KnockOutMap(every_head(run.recording)))
    st.markdown(f"**Which heads matter: {now.group}**")
    if not found.is_whole:
        _go_on(found, asked)
    if not found.effects:
        st.caption(f"Runs the model once without each of its {len(found.heads)} heads, several in one batch.")
        return
    amounts = _matrix(found, run, now.group, _which_effect(asked))
    done = amounts[np.isfinite(amounts)]
    if not done.size:
        return
    scale, parts = (1000, "thousandths") if done.max() < 0.1 else (100, "hundredths")
    n_layers, n_heads = amounts.shape

    def switch_off_alone() -> None:
        OFF.value = None

    head_map(
        f"model_out_worth_{now.group}_{n_layers}_{n_heads}",
        (scale * amounts).tolist(),
        now,
        title=f"change, {parts} of a bit" if run.logits is not None else f"1 - cosine, {parts}",
        on_choose=switch_off_alone,
        widest=430,
        exponent=0.5,
    )
    layer, head = np.unravel_index(int(np.nanargmax(amounts)), amounts.shape)
    st.caption(
        f"Most needed here: layer {layer + 1}, head {head + 1}. Each head alone is switched off, for this input; heads "
        "that stand in for each other both look dispensable. Click one to see what changes."
    )


def _go_on(found: KnockOutMap, asked: Latest) -> None:
    """Go on with the map while it is asked for, in portions; what is done is kept when it is stopped."""

    def ask(wanted: bool) -> None:
        TRYING.value = wanted

    if not TRYING.value:
        words = "Try every head" if not found.effects else f"Go on: {found.share:.0%} are done"
        st.button(words, key="model_out_try", on_click=ask, args=(True,), icon=":material/grid_on:")
        return
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        st.progress(found.share, text=f"{len(found.effects)} of {len(found.heads)} heads", width=280)
        st.button("Stop", key="model_out_stop", on_click=ask, args=(False,))
    steps = fill(pretrained_of(asked.key), prepared_of(*asked).inputs, found)
    try:
        for _ in portion():
            with computing():
                if next(steps, None) is None:
                    break
    except ModelError as error:
        TRYING.value = False
        st.warning(f"The heads cannot be tried: {str(error).splitlines()[0][:300]}")
        return
    if found.is_whole:
        TRYING.value = False
        place.empty()


def _which_effect(asked: Latest) -> str:
    """Let a person choose which change is mapped, where there are two."""
    pretrained = pretrained_of(asked.key)
    words = predicts_words(pretrained)
    if pretrained.kind is Kind.VISION or (words and pretrained.kind is Kind.ENCODER):
        return "everywhere"
    names = {
        "everywhere": "every position" if words else "each token",
        "in_the_end": "the next token" if words else "the sentence",
    }
    return choice("Change of", WORTH_OF, names)


def _matrix(found: KnockOutMap, run: ModelRun, group: str, which: str) -> np.ndarray:
    """Return (n_layers, n_heads) of a group; NaN for a head that is not done yet or not there."""
    layers = groups(run.recording)[group]
    amounts = np.full((len(layers), max(trace.n_heads for trace in layers)), np.nan)
    rows = {id(trace): layer for layer, trace in enumerate(layers)}
    for (number, head), effect in zip(found.heads, found.effects, strict=False):
        layer = rows.get(id(run.recording.traces[number]))
        if layer is not None:
            amounts[layer, head] = getattr(effect, which)
    return amounts
