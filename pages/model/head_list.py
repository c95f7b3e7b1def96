"""The heads of a run beside its text: those with the clearest names, each in a sentence, or all of them."""

from functools import partial
from typing import Any

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.explain.head_names import clearest_heads
from attention_core.hub.run import ModelRun
from pages.model.glance import (
    NAME,
    Selection,
    choose,
    chosen,
    distant_weight_of,
    glance_picture,
    is_off,
    n_heads_of,
    names_of,
)
from ui.labels import error_markdown
from ui.state import Field, one_of, single_choice

CLEAREST, ALL = "clearest", "all"
LISTED = Field(NAME, "listed", CLEAREST, address="heads", parse=one_of((CLEAREST, ALL)))
N_CLEAREST = 6
HABITS = {
    "previous token": "looks one back, {share}",
    "induction": "looks at what came next last time, {share}",
    "duplicate token": "looks at the same one before, {share}",
    "next token": "looks one ahead, {share}",
    "itself": "looks there, {share}",
    "punctuation": "looks there, {share}",
    "separator": "rests there, {share}",
    "first token": "rests on {first}, {share}",
    "everywhere": "looks at all nearly alike",
}
"""What heads do, by their names in a text."""


def head_list(run: ModelRun) -> None:
    """Draw the heads with the clearest names, or all of the chosen kind of attention; a click chooses one."""
    selection = chosen(run)
    rows, label = _clearest_rows(run, selection.group), f"All {n_heads_of(run, selection.group)} heads"
    if rows:
        single_choice("Heads", LISTED, {CLEAREST: "Clearest heads", ALL: label}, label_visibility="collapsed")
    else:
        st.caption(label)
    with st.container(key="model_glance"):  # of one height, so that it never pushes down what follows
        if rows and LISTED.value == CLEAREST:
            for number, (sentence, choice) in enumerate(rows):
                st.button(sentence, key=f"model_clearest_{number}", type="tertiary", on_click=partial(choose, **choice))
        else:
            _draw_all(run, selection)


def _clearest_rows(run: ModelRun, group: str) -> list[tuple[str, dict[str, Any]]]:
    """Return sentences on the heads with the clearest names, each with what a click chooses; none in pictures."""
    layers, rows = run.groups[group], []
    axes = layers[0].story.query_axis, layers[0].story.key_axis
    if run.patch_grid is not None:
        return []
    distant = distant_weight_of(run, group)
    if distant is not None and not is_off(layers[distant.layer], distant.head):
        positions = zip(axes, (distant.query, distant.key), strict=True)
        query, key = (error_markdown(axis.labels[position].strip()) for axis, position in positions)
        sentence = (
            f"**Far away**: {distant.layer}.{distant.head} finds *{key}* for *{query}*, {percent(distant.weight)}"
        )
        rows.append((sentence, {"query": distant.query, "layer": distant.layer, "head": distant.head}))
    first = error_markdown(axes[1].labels[0].strip())
    heads = [head for head in names_of(run, group) if not is_off(layers[head.layer], head.head)]
    for layer, head, name, share in clearest_heads(heads):
        habit, title = HABITS[name].format(first=first, share=percent(share)), f"**{name.capitalize()}**"
        if not any(sentence.startswith(title) for sentence, _ in rows):  # one says it all
            rows.append((f"{title}: {layer}.{head} {habit}", {"layer": layer, "head": head}))
    return rows[:N_CLEAREST]


def _draw_all(run: ModelRun, selection: Selection) -> None:
    pictures = glance_picture(run, selection, takes_click=True)
    if pictures.n_queries > pictures.height or run.groups[selection.group][0].n_keys > pictures.width:
        noun = "tokens" if run.patch_grid is None else "patches"
        st.caption(f"Each pixel stands for several {noun} and shows the largest of them.")
    if pictures.n_rows < pictures.n_queries:
        st.caption(f"{pictures.n_rows:,} of {pictures.n_queries:,} queries, evenly spaced, were computed for it.")
