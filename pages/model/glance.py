"""Which head of a run a visitor looks at, every layer and head as a small picture, what was computed of a run."""

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Axis, Role
from attention_core.attention.edits import DropHead
from attention_core.attention.wording import percent
from attention_core.charts.heads import Mosaic, heads_chart, mosaic
from attention_core.concurrency import BoundedCache
from attention_core.explain.head_names import NamedHead, name_heads
from attention_core.explain.heads import CLEAR_SHARE, FarLook, HeadSummary, far_look, is_self_attention, summaries
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.chart import clickable, draw_chart
from ui.job_queue import run_once
from ui.player import Stepper, StepStyle, show_numbers
from ui.state import Field, controlled, whole_number

NAME = "model"
SECOND_RUN = "model_other"  # in the place of NAME: what is set of the second run, beside the first
MAX_RESULTS = 48  # of one run; the least looked at go first
Result = TypeVar("Result")
_RESULTS: WeakKeyDictionary[ModelRun, BoundedCache] = WeakKeyDictionary()


class HeadChoice(NamedTuple):
    """A head as it was chosen; without a group by the name of its trace alone, which the address tells."""

    trace: str = ""
    head: int = 0
    group: str = ""
    layer: int = 0


class Selection(NamedTuple):
    """What is looked at; always inside the run for which it was asked, counted from 0.

    The layer is one of its group, see attention_core.explain.heads.groups, such as "encoder self".
    """

    group: str
    layer: int
    head: int
    query: int


OFF = "switched off"


def is_off(trace: AttentionTrace, head: int) -> bool:
    """Return whether a head is switched off, so that it hands nothing to any query."""
    return any(isinstance(edit, DropHead) and edit.head == head and edit.query is None for edit in trace.edits)


def head_name(group: str, layer: int, head: int, *_: int) -> str:
    """Return the name of a head and of its kind of attention; also for a whole Selection."""
    return f"{group}, {short_name(layer, head)}"


def short_name(layer: int | str, head: int | str) -> str:
    """Return the name of a head as papers and the library have it: layer and head, both from 0."""
    return f"head {layer}.{head}"


def _parse_choice(text: str) -> HeadChoice:
    trace, _, head = text.rpartition(":")
    with suppress(ValueError):
        return HeadChoice(trace, whole_number(head))
    return HeadChoice()


STEPS = Stepper(NAME)
HEAD = Field[HeadChoice | None](
    NAME, "chosen", None, address="head", parse=_parse_choice, text=lambda choice: f"{choice.trace}:{choice.head}"
)
TOKEN = Field[int | None](NAME, "query", None, address="token", parse=whole_number)
PRONOUNS = {"it", "he", "she", "they", "him", "her", "them"}
IS_HEAD_CHOSEN = Field(NAME, "is_head_chosen", False)
"""Whether a visitor has chosen a head here, rather than the page, or a link."""
LAST_RUN = Field(NAME, "far_look_of", "")
"""The run that was looked at last; with another one the head on which the page opened is somebody's choice."""


def open_on_distant_weight(run: ModelRun) -> None:
    """Open on the head in which the last pronoun looks hardest at a word far away, or any word where there is none.

    Where a head has been chosen, the token alone is; in another text its last pronoun asks.
    """
    pronoun = last_pronoun(run)
    run_key = f"{run.model} {hash(tuple(run.tokens))}"
    if LAST_RUN.value not in ("", run_key):
        HEAD.restore_default()
        TOKEN.restore_default()
        if pronoun is not None or TOKEN.value in run.sinks or (TOKEN.value or 0) >= len(run.tokens):
            TOKEN.value = pronoun
    LAST_RUN.value = run_key
    if run.patch_grid is not None or (HEAD.value is not None and TOKEN.value is not None):
        return
    group, layers = next(iter(run.groups.items()))
    heads, query = None, pronoun if TOKEN.value is None else TOKEN.value
    if HEAD.value is not None:
        selection = chosen_head(run)
        group, layers, heads = selection.group, run.groups[selection.group], {(selection.layer, selection.head)}
    distant = distant_weight(run, layers, heads, query) or distant_weight(run, layers, heads)
    if distant is None:
        if TOKEN.value is None:
            TOKEN.clamp_to_options([first_token(run)])
        return
    if HEAD.value is None:
        HEAD.clamp_to_options([HeadChoice(layers[distant.layer].story.name, distant.head, group, distant.layer)])
    if TOKEN.value is None:
        TOKEN.clamp_to_options([distant.query])


def last_pronoun(run: ModelRun) -> int | None:
    """Return the position of a text's last pronoun; None where it has none."""
    return max((at for at, label in enumerate(run.tokens) if label.strip().lower() in PRONOUNS), default=None)


def first_token(run: ModelRun) -> int:
    """Return the first position that is no mark."""
    return next((position for position in range(len(run.tokens)) if position not in run.sinks), 0)


def distant_weight(
    run: ModelRun,
    layers: Sequence[AttentionTrace],
    heads: Collection[tuple[int, int]] | None = None,
    query: int | None = None,
) -> FarLook | None:
    """Return the largest weight between words far apart, see far_look; no marks, signs, or first word of a decoder."""
    signs = {position for position, label in enumerate(run.tokens) if not any(map(str.isalnum, label))}
    has_start = run.kind is ModelKind.DECODER and 0 in run.special  # heads rest on the word behind it, too
    sinks = run.sinks | ({first_token(run)} if has_start else set())
    return far_look(layers, sinks | signs, heads, query)


def distant_weight_of(run: ModelRun, group: str) -> FarLook | None:
    """Return where a text's last pronoun, or any other word, looks far away; None where no head clearly does."""
    layers = run.groups[group]
    if run.patch_grid is not None or not is_self_attention(layers[0]):
        return None
    pronoun = last_pronoun(run) if layers[0].n_queries == len(run.tokens) else None
    distant = cached_with_run(run, ("distant", group), lambda: distant_weight(run, layers, None, pronoun))
    return distant if distant is not None and distant.weight >= CLEAR_SHARE else None


def chosen(run: ModelRun) -> Selection:
    """Return what is looked at, brought inside the run: so a choice survives another text or another model."""
    selection = chosen_head(run)
    TOKEN.clamp_to_options([selection.query])
    return selection


def chosen_in_text(run: ModelRun) -> Selection:
    """Return what is looked at, see chosen; the first cell of the language model where it is in a picture's tower."""
    selection, first_group = chosen(run), next(iter(run.groups))
    is_in_text = selection.group == first_group or not run.tiles
    return selection if is_in_text else Selection(first_group, 0, 0, 0)


def chosen_head(run: ModelRun) -> Selection:
    """Return what is looked at, see chosen, with the head brought inside the run, but not yet the query."""
    groups, choice = run.groups, HEAD.value or HeadChoice()
    if not choice.group:  # as an address names it, or the first one of all
        matches = (
            choice._replace(group=group, layer=layer)
            for group, layers in groups.items()
            for layer, trace in enumerate(layers)
            if trace.story.name == choice.trace
        )
        choice = next(matches, HeadChoice())
        if choice.group:
            HEAD.value = choice
    selection = nearest(run, Selection(choice.group, choice.layer, choice.head, TOKEN.value or 0))
    name = groups[selection.group][selection.layer].story.name
    HEAD.clamp_to_options([HeadChoice(name, selection.head, selection.group, selection.layer)])
    return selection


def nearest(run: ModelRun, selection: Selection) -> Selection:
    groups = run.groups
    group = selection.group if selection.group in groups else next(iter(groups))
    layer = min(selection.layer, len(groups[group]) - 1)
    trace = groups[group][layer]
    return Selection(group, layer, min(selection.head, trace.n_heads - 1), min(selection.query, trace.n_queries - 1))


def chosen_layers(run: ModelRun) -> tuple[Selection, list[AttentionTrace]]:
    selection = chosen(run)
    return selection, run.groups[selection.group]


def choose(*, query: int | None = None, **choice: Any) -> None:
    """Look at something else: a group, layer or head, a query; what is not given stays.

    It ends the callback that calls it: the whole page follows, also from an experiment.
    """
    HEAD.value = (HEAD.value or HeadChoice())._replace(**choice)
    IS_HEAD_CHOSEN.value |= bool(choice)
    if query is not None:
        TOKEN.value = query
    st.rerun()


def cached_with_run(run: ModelRun, key: Hashable, compute: Callable[[], Result]) -> Result:
    """Return a result of a run, computed at the first call and kept for all visitors for as long as the run lives.

    ui.computed tells values apart by their content; a run is too large for that. It is freed when it leaves the cache
    of runs, so neither the result nor its key may hold it. `compute` must ask for no run and no input: these wait for
    their turn with a lock of their own in hand.
    """
    return run_once(_RESULTS.setdefault(run, BoundedCache(max_items=MAX_RESULTS)), key, compute)


WIDTH, HEIGHT = 380, 160
"""Screen pixels for all heads of a layer, and for one head of all layers where that leaves no picture below LEGIBLE."""
LARGEST, LEGIBLE, SMALLEST = 150, 26, 12  # screen pixels of one picture; below the smallest the chart is scrolled
HEAD_CELL, WIDEST = 38, 560
"""Of one number for every head: of a cell where there is room, so that it can be read, and of all."""


def n_heads_of(run: ModelRun, group: str) -> int:
    return sum(trace.n_heads for trace in run.groups[group])


def choose_head(run: ModelRun, selection: Selection) -> None:
    """Let a person choose without a mouse: kind of attention, and a head, those that choose hardest first."""
    choose_group(run, selection)
    choose_ranked_head(run, selection)


def choose_ranked_head(run: ModelRun, selection: Selection) -> None:
    """Let a person choose a head of a kind of attention, those that choose hardest first."""

    def choose_ranked(head: tuple[int, int] | str) -> None:
        if isinstance(head, tuple):  # no label of another run, whose figures are gone
            choose(layer=head[0], head=head[1])

    habits = habits_of(run, selection.group)
    st.selectbox(
        "Head, the clearest first",
        list(habits),
        format_func=lambda head: ": ".join(filter(None, (f"{head[0]}.{head[1]}", habits[head]))),
        width=370,
        **controlled("model_ranked", (selection.layer, selection.head), choose_ranked),
    )


def choose_group(run: ModelRun, selection: Selection) -> None:
    """Let a person choose the kind of attention, where a run has several."""
    if len(run.groups) > 1:
        st.segmented_control(
            "Attention of",
            list(run.groups),
            format_func=str.capitalize,
            required=True,
            wrap=True,
            **controlled("model_group", selection.group, lambda group: choose(group=group)),
        )


def names_of(run: ModelRun, group: str) -> list[NamedHead]:
    """Return every head of a group with its name in this text."""
    layers = run.groups[group]
    return cached_with_run(run, ("names", group), lambda: name_heads(layers, special_keys(run, layers[0])))


def habits_of(run: ModelRun, group: str) -> dict[tuple[int, int], str]:
    """Return what each head of a group does by layer and head, the clearest first; "" = nothing clear."""
    heads, layers = names_of(run, group), run.groups[group]
    if distant := distant_weight_of(run, group):
        axes = layers[0].story.key_axis, layers[0].story.query_axis
        positions = zip(axes, (distant.key, distant.query), strict=True)
        pattern = " for ".join(axis.labels[position].strip() for axis, position in positions)
        far = NamedHead(distant.layer, distant.head, pattern, distant.weight)
        heads = [far if head[:2] == far[:2] else head for head in heads]
    habits = {
        (layer, head): f"{name}, {percent(share)}" if name else ""
        for layer, head, name, share in sorted(heads, key=lambda head: (not head.name, -head.share))
    }
    return {head: OFF if is_off(layers[head[0]], head[1]) else habit for head, habit in habits.items()}


def glance_picture(
    run: ModelRun, framed: Selection, *, width: int = WIDTH, height: int = HEIGHT, takes_click: bool = False
) -> Mosaic:
    """Draw all heads of a kind of attention, one of them framed; returns what was drawn."""
    layers = run.groups[framed.group]
    n_heads = max(trace.n_heads for trace in layers)
    gap = 9 if width / n_heads >= 49 else 3
    size = max(SMALLEST, min(LARGEST, width // n_heads - gap, max(LEGIBLE, height // len(layers) - gap)))
    key = "mosaic", framed.group, size
    pictures = cached_with_run(run, key, lambda: mosaic(layers, size=size))
    off = [(layer, head) for layer, trace in enumerate(layers) for head in range(trace.n_heads) if is_off(trace, head)]
    habits = habits_of(run, framed.group)
    notes = [[habits[layer, head] for head in range(trace.n_heads)] for layer, trace in enumerate(layers)]
    frame, description = (framed.layer, framed.head), f"All heads of {len(layers)} layers, {framed.group}"

    def choose_clicked(head: dict[str, Any]) -> None:
        choose(group=framed.group, layer=int(head["layer"]), head=int(head["head"]))

    chart = heads_chart(
        pictures, notes, chosen=frame, off=off, select="head" if takes_click else None, has_bar=not takes_click, first=0
    )
    clicks = clickable(f"model_heads_{framed.group}", "head", choose_clicked) if takes_click else {}
    draw_chart(chart, width="content", alt=description + "; click one" * takes_click, **clicks)
    return pictures


def head_map(
    run: ModelRun, key: str, values: Sequence[Sequence[float]], framed: Selection, title: str, high: float = 0.0
) -> None:
    """Draw one number for every layer and head, nan = none; a click chooses the head. High is what none is above."""
    matrix = np.full((len(values), max(map(len, values))), np.nan)
    for row, numbers in zip(matrix, values, strict=True):
        row[: len(numbers)] = numbers
    rows, columns = (
        Axis(f"{name}s", [f"{name} {index}" for index in range(n)])
        for name, n in zip(("layer", "head"), matrix.shape, strict=True)
    )
    view = StepStyle(framed.layer, framed.head, min(WIDEST, 90 + HEAD_CELL * max(matrix.shape)), high)
    role = Role.OUTPUT if len(matrix) > 1 else Role.CONTEXT  # a single row of an output would be drawn as bars
    fields = {"title": title, "role": role, "row_axis": rows, "col_axis": columns}

    def choose_cell(layer: int, head: int) -> None:
        choose(group=framed.group, layer=layer, head=head)

    show_numbers(run.groups[framed.group][0], matrix, key, view, fields, on_choose=choose_cell)


def summaries_of(run: ModelRun, group: str) -> list[list[HeadSummary]]:
    layers = run.groups[group]
    special, patches = special_keys(run, layers[0]), patches_of(run, layers[0])
    return cached_with_run(run, ("summaries", group), lambda: summaries(layers, special, patches))
