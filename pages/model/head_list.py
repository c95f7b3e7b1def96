"""The choice of a head: those with the clearest names, each in a sentence, or all of them."""

from itertools import islice
from typing import Any

import streamlit as st

from attention_core.attention.wording import percent
from attention_core.explain.head_names import clearest_heads
from attention_core.hub.run import ModelRun
from pages.model.glance import (
    NAME,
    Selection,
    choose,
    choose_group,
    choose_head,
    choose_ranked_head,
    chosen,
    distant_weight_of,
    glance_picture,
    is_off,
    n_heads_of,
    names_of,
)
from ui.labels import error_markdown
from ui.state import Field, controlled, one_of

CLEAREST, ALL = "clearest", "all"
LISTED = Field(NAME, "listed", CLEAREST, address="heads", parse=one_of((CLEAREST, ALL)))
N_CLEAREST = 6
HABITS = {
    "previous token": "looks one back, {share}",
    "induction": "looks at what came next last time, {share}",
    "duplicate token": "looks at the same one before, {share}",
    "next token": "looks one ahead, {share}",
    "itself": "looks at itself, {share}",
    "punctuation": "looks at punctuation, {share}",
    "separator": "rests on the separator, {share}",
    "first token": "rests on {first}, {share}",
    "everywhere": "spreads its weight",
}
"""What heads do, by their names in a text."""


def choose_named_head(run: ModelRun) -> None:
    """Let a person choose one of the heads with the clearest names, or another one, by its number or its picture."""
    selection = chosen(run)
    named, selected = named_heads(run, selection.group), (selection.layer, selection.head)
    if not named:
        choose_head(run, selection)
        _draw_all(run, selection)
        return
    choose_group(run, selection)
    option = ALL if LISTED.value == ALL or selected not in named else selected

    def on_choose(choice: Any) -> None:
        LISTED.value = ALL if choice == ALL else CLEAREST
        if choice in named:
            choose(**named[choice][1])

    labels = {head: sentence for head, (sentence, _) in named.items()} | {ALL: "another head"}
    st.pills(
        f"Some of {n_heads_of(run, selection.group)} heads",
        list(labels),
        format_func=labels.__getitem__,
        required=True,
        **controlled("model_clearest", option, on_choose),
    )
    if option == ALL:
        choose_ranked_head(run, selection)
        _draw_all(run, selection)


def named_heads(run: ModelRun, group: str) -> dict[tuple[int, int], tuple[str, dict[str, Any]]]:
    """Return sentences on the heads with the clearest names, each with what a click chooses; none in pictures."""
    layers, named, names = run.groups[group], {}, set()
    axes = layers[0].story.query_axis, layers[0].story.key_axis
    if run.patch_grid is not None:
        return {}
    distant = distant_weight_of(run, group)
    if distant is not None and not is_off(layers[distant.layer], distant.head):
        positions = zip(axes, (distant.query, distant.key), strict=True)
        query, key = (error_markdown(axis.labels[position].strip()) for axis, position in positions)
        layer, head = distant.layer, distant.head
        sentence = f"**{layer}.{head}** finds *{key}* for *{query}*, {percent(distant.weight)}"
        named[layer, head] = sentence, {"query": distant.query, "layer": layer, "head": head}
    first = error_markdown(axes[1].labels[0].strip())
    heads = [head for head in names_of(run, group) if not is_off(layers[head.layer], head.head)]
    for layer, head, name, share in clearest_heads(heads):
        if name not in names and (layer, head) not in named:  # one says it all
            habit = HABITS[name].format(first=first, share=percent(share))
            named[layer, head] = f"**{layer}.{head}** {habit}", {"layer": layer, "head": head}
            names.add(name)
    return dict(islice(named.items(), N_CLEAREST))


def _draw_all(run: ModelRun, selection: Selection) -> None:
    pictures = glance_picture(run, selection, takes_click=True)
    if pictures.n_queries > pictures.height or run.groups[selection.group][0].n_keys > pictures.width:
        noun = "tokens" if run.patch_grid is None else "patches"
        st.caption(f"Each pixel stands for several {noun} and shows the largest of them.")
    if pictures.n_rows < pictures.n_queries:
        st.caption(f"{pictures.n_rows:,} of {pictures.n_queries:,} queries, evenly spaced, were computed for it.")
