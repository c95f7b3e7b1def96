"""The model at a glance: every layer and head as a small picture, or as one number; what the pictures show."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.charts.heads import Mosaic, heads_chart, layer_head_map, mosaic
from attention_core.charts.heatmap import MAX_RECT_SIDE
from attention_core.explain.heads import HeadDisplay, HeadSummary, groups, habit, has_values, summaries
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.labels import literal
from ui.layout import section
from ui.model.state import FRAMED, HEAD, NAME, Selection, choose, chosen, chosen_layers, clickable_chart, kept_with
from ui.state import Field, choice, named, set_widget, widget_value

WIDTH, HEIGHT = 700, 265
"""Screen pixels for all heads of a layer, and for one head of all layers where that leaves no picture below LEGIBLE."""
LARGEST, LEGIBLE, SMALLEST = 150, 48, 12
"""Screen pixels of one picture; below the smallest the chart is scrolled."""
SCROLLS = """<style>[class*="_glance"] { overflow-x: auto; }</style>"""
WEIGHT, LENGTH, SHARE = "Weight A", "Weight × |value|", "As a share"
SPECIAL, FIRST, SIGNS = "Special tokens", "First token", "Punctuation"
SHOWN = Field(NAME, "shown", WEIGHT, address="shown", **named(weight=WEIGHT, length=LENGTH, share=SHARE))
_KINDS = named(special=SPECIAL, first=FIRST, signs=SIGNS)
HIDDEN = Field[list[str]](
    NAME,
    "hidden",
    list,
    address="hidden",
    parse=lambda text: [_KINDS["parse"](name) for name in text.split(".")],
    text=lambda kinds: ".".join(map(_KINDS["text"], kinds)),
)


def look_controls(run: ModelRun) -> HeadDisplay:
    """Let a person choose how matrices are shown, and say so wherever it is not the plain weights."""
    now, layers = chosen_layers(run)
    trace = layers[now.layer]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known = has_values(trace)
        choice(
            "Shown",
            SHOWN,
            [WEIGHT, LENGTH, SHARE] if known else [WEIGHT],
            wrap=True,
            help="A weight says how much of a value is taken; weight × |value| how long the arrow is that arrives "
            "(after Kobayashi et al. 2020; here the head's values before the output projection).",
        )
        HIDDEN.widget(
            st.pills,
            "Hide as keys",
            [SPECIAL, FIRST, SIGNS],
            selection_mode="multi",
            wrap=True,
            help="Tokens that take weight when there is nothing to look at. What they took is shared out among the "
            "others in proportion, so that each row keeps its sum: no longer what the model computed.",
        )
    if not known:
        st.caption("Weight × |value| is unknown here: this model's code handed out its weights only.")
    look = look_for(run, trace)
    if not look.is_plain:
        st.warning(not_plain(look, trace), icon=":material/visibility:")
    return look


def look_for(run: ModelRun, trace: AttentionTrace) -> HeadDisplay:
    """Return how a person wants matrices to be shown, for the tokens and the values of a trace of any run."""
    times_value = SHOWN.value in (LENGTH, SHARE) and has_values(trace)
    signs = {place for place, label in enumerate(trace.story.key_axis.labels) if is_sign(label)}
    keys = {SPECIAL: special_keys(run, trace), FIRST: {0}, SIGNS: signs}
    hidden = frozenset().union(*(keys[kind] for kind in HIDDEN.value))
    return HeadDisplay(times_value, times_value and SHOWN.value == SHARE, hidden)


def is_sign(label: str) -> bool:
    bare = label.strip(" ▁Ġ").removeprefix("##")
    return bool(bare) and all(unicodedata.category(sign).startswith("P") for sign in bare)


def what_is_shown(look: HeadDisplay) -> str:
    if not look.times_value:
        return "weight"
    return "share of weight × |value|" if look.normalised else "weight × |value|"


def not_plain(look: HeadDisplay, trace: AttentionTrace) -> str:
    parts = []
    if look.times_value:
        parts.append("the length of what each key adds to the query's context" + (", as a share" * look.normalised))
    if look.hidden:
        names = ", ".join(literal(trace.story.key_axis.labels[place], 16) for place in sorted(look.hidden)[:4])
        more = f" and {len(look.hidden) - 4} more" if len(look.hidden) > 4 else ""
        parts.append(f"{names}{more} hidden, their share given to the other keys of each row")
    return f"Not the plain weights: {'; '.join(parts)}."


def glance(run: ModelRun, look: HeadDisplay) -> None:
    """Draw all heads of the chosen kind of attention, and what chooses among them."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width="stretch"):
            section("Every layer and head")
        now = _choice(run)
        FRAMED.value = HEAD.value
    st.html(SCROLLS)
    with st.container(key="tells_model"), st.container(key="model_glance"):
        pictures = glance_picture(run, now, look, takes_click=True)
    words = (
        "The brightest colour is the picture's own largest weight; the blue of looking everywhere alike, "
        f"{pictures.ramp.reference_label}, is the same in all pictures."
    )
    if look.times_value and not look.normalised:
        words = "Each picture has colours of its own; the brightest is its own largest weight × |value|."
    if pictures.n_queries > pictures.height:
        words += " Each pixel stands for several tokens and shows the largest of them."
    if pictures.n_rows < pictures.n_queries:
        words += f" {pictures.n_rows:,} of {pictures.n_queries:,} queries, evenly spaced, were computed for it."
    st.caption(f"Each picture is a head, queries down, keys across; click one to choose it. {words}")


def _choice(run: ModelRun) -> Selection:
    """Return what a person chose without a mouse: kind of attention, layer and head."""
    now, found = chosen(run), groups(run.recording)
    layers = found[now.group]
    if len(found) > 1:
        set_widget("model_group", now.group)
        st.segmented_control(
            "Attention of",
            list(found),
            key="model_group",
            format_func=str.capitalize,
            required=True,
            wrap=True,
            on_change=lambda: choose(group=widget_value("model_group")),
        )
    _number("layer", now.layer, len(layers))
    _number("head", now.head, layers[now.layer].n_heads)
    return now


def _number(what: str, chosen_one: int, most: int) -> None:
    key = f"model_{what}"

    def take() -> None:
        if (number := widget_value(key)) is not None:
            choose(**{what: int(number) - 1})

    set_widget(key, chosen_one + 1)
    st.number_input(f"{what.capitalize()} (1 to {most})", 1, most, key=key, width=120, on_change=take)


def glance_picture(
    run: ModelRun, framed: Selection, look: HeadDisplay, *, width: int = WIDTH, takes_click: bool = False
) -> Mosaic:
    """Draw all heads of a kind of attention, one of them framed; returns what was drawn."""
    layers = groups(run.recording)[framed.group]
    look = look if all(map(has_values, layers)) else HeadDisplay(hidden=look.hidden)
    n_heads = max(trace.n_heads for trace in layers)
    gap = 9 if width / n_heads >= 49 else 3
    size = max(SMALLEST, min(LARGEST, width // n_heads - gap, max(LEGIBLE, HEIGHT // len(layers) - gap)))
    drawn = "mosaic", framed.group, size, look
    pictures = kept_with(run, drawn, lambda: mosaic(layers, size=size, look=look, of_its_own=True))
    notes = [[habit(head) for head in layer] for layer in summaries_of(run, framed.group)]
    frame, select = (framed.layer, framed.head), "head" if takes_click else None
    clickable_chart(
        heads_chart(pictures, notes, chosen=frame, title=what_is_shown(look), select=select),
        f"model_heads_{framed.group}",
        f"All heads of {len(layers)} layers, {framed.group}" + "; click one" * takes_click,
        select,
        lambda head: choose(group=framed.group, layer=int(head["layer"]), head=int(head["head"])),
    )
    return pictures


def head_map(
    key: str,
    values: Sequence[Sequence[float]],
    framed: Selection,
    *,
    title: str,
    on_choose: Callable[[], None] = lambda: None,
    **colours: Any,
) -> None:
    """Draw one number for every layer and head, see layer_head_map; a click chooses the head and calls on_choose."""
    small = max(len(values), *map(len, values)) <= MAX_RECT_SIDE  # larger charts are pictures, which take no click
    frame, select = (framed.layer, framed.head), "cell" if small else None

    def take(cell: dict[str, Any]) -> None:
        choose(group=framed.group, layer=int(cell["row"]), head=int(cell["col"]))
        on_choose()

    words = f"{title} of every layer and head" + "; click one" * small
    chart = layer_head_map(values, title=title, chosen=frame, select=select, **colours)
    clickable_chart(chart, key, words, select, take)


def summaries_of(run: ModelRun, group: str) -> list[list[HeadSummary]]:
    layers = groups(run.recording)[group]
    special, patches = special_keys(run, layers[0]), patches_of(run, layers[0])
    return kept_with(run, ("summaries", group), lambda: summaries(layers, special, patches))
