"""Which head of a run, and which of its queries, a visitor looks at; what was computed of the run, kept beside it."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attention_core.attention.trace import AttentionTrace
from attention_core.bounds.cache import BoundedCache
from attention_core.explain.heads import far_look, groups
from attention_core.hub.model import ModelKind
from attention_core.hub.run import ModelRun
from ui.chart import draw_chart
from ui.job_queue import heavy
from ui.player import Stepper
from ui.state import Field, selected, whole_number

NAME = "model"
OTHER = "model_other"
"""In the place of NAME: what is set of the second run, beside the first."""
MOST_RESULTS = 48
"""Of one run; the least looked at go first."""
SECONDS_AT_ONCE = 1.0
Result = TypeVar("Result")
_RESULTS: WeakKeyDictionary[ModelRun, BoundedCache] = WeakKeyDictionary()


class HeadChoice(NamedTuple):
    """A head as it was chosen, see Chosen; without a group by the name of its trace alone, which the address tells."""

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


def head_name(group: str, layer: int, head: int, *_: int) -> str:
    """Return what people call a head, who count from 1; also for a whole Chosen."""
    return f"{group}, layer {layer + 1}, head {head + 1}"


def _place(text: str) -> HeadChoice:
    trace, _, head = text.rpartition(":")
    with suppress(ValueError):
        return HeadChoice(trace, whole_number(head))
    return HeadChoice()


STEPS = Stepper(NAME)
HEAD = Field[HeadChoice | None](
    NAME, "chosen", None, address="head", parse=_place, text=lambda place: f"{place.trace}:{place.head}"
)
TOKEN = Field[int | None](NAME, "query", None, address="token", parse=whole_number)
FRAMED = Field[HeadChoice | None](NAME, "framed", None)
"""The head that is framed on the first screen."""
FAR_LOOK_OF = Field(NAME, "far_look_of", "")
"""The run that was looked at last; with another one the head on which the page opened is somebody's choice."""
VIEW = Field(NAME, "view", "", address="view", text=lambda slug: "")
"""The tab of older links; it is read and never written."""


def open_on_a_far_look(run: ModelRun) -> None:
    """Open on the head in which one word looks hardest at another far away, unless somebody has chosen already."""
    this = f"{run.model} {hash(tuple(run.tokens))}"
    if FAR_LOOK_OF.value not in ("", this):
        HEAD.tell()
        TOKEN.tell()
    FAR_LOOK_OF.value = this
    if run.patch_grid is not None or (HEAD.value is not None and TOKEN.value is not None):
        return
    group, layers = next(iter(groups(run.recording).items()))
    signs = {place for place, label in enumerate(run.tokens) if not any(map(str.isalnum, label))}
    first = next((place for place in range(len(run.tokens)) if place not in run.special), 0)
    sinks = {first} if run.kind is ModelKind.DECODER else set()  # where heads of decoders look that find nothing
    found = far_look(layers, run.special | signs | sinks)
    if found is None:
        return
    if HEAD.value is None:
        HEAD.among([HeadChoice(layers[found.layer].story.name, found.head, group, found.layer)])
    if TOKEN.value is None:
        TOKEN.among([found.query])


def chosen(run: ModelRun) -> Selection:
    """Return what is looked at, brought inside the run: so a choice survives another text or another model."""
    found, place = groups(run.recording), HEAD.value or HeadChoice()
    if not found:
        raise ValueError("run must have at least one trace, got none")
    if not place.group:  # as an address names it, or the first one of all
        named = (
            place._replace(group=group, layer=layer)
            for group, layers in found.items()
            for layer, trace in enumerate(layers)
            if trace.story.name == place.trace
        )
        place = next(named, HeadChoice())
        if place.group:
            HEAD.value = place
    now = nearest(run, Selection(place.group, place.layer, place.head, TOKEN.value or 0))
    HEAD.among([HeadChoice(found[now.group][now.layer].story.name, now.head, now.group, now.layer)])
    TOKEN.among([now.query])
    return now


def nearest(run: ModelRun, wanted: Selection) -> Selection:
    found = groups(run.recording)
    group = wanted.group if wanted.group in found else next(iter(found))
    layer = min(wanted.layer, len(found[group]) - 1)
    trace = found[group][layer]
    return Selection(group, layer, min(wanted.head, trace.n_heads - 1), min(wanted.query, trace.n_queries - 1))


def chosen_layers(run: ModelRun) -> tuple[Selection, list[AttentionTrace]]:
    now = chosen(run)
    return now, groups(run.recording)[now.group]


def choose(*, query: int | None = None, **place: Any) -> None:
    """Look at something else: a group, layer or head, a query; what is not given stays. For callbacks."""
    HEAD.value = (HEAD.value or HeadChoice())._replace(**place)
    if query is not None:
        TOKEN.value = query


def setting(field: Field[Any]) -> Callable[[Any], None]:
    def take(value: Any) -> None:
        field.value = value

    return take


def clickable_chart(
    chart: Any, key: str, words: str, selection: str | None, take: Callable[[dict[str, Any]], None]
) -> None:
    """Draw a chart and take what is clicked in it, by the name of its selection; None = nothing can be clicked.

    Its key changes with its shape.
    """

    def on_select() -> None:
        clicked = selected(key, selection)
        if clicked:
            take(clicked[0])

    takes_click = {"key": key, "on_select": on_select, "selection_mode": selection} if selection else {}
    draw_chart(chart, width="content", alt=words, **takes_click)


def kept_with(run: ModelRun, what: Hashable, compute: Callable[[], Result]) -> Result:
    """Return a result of a run, computed at the first call and kept for all visitors for as long as the run lives.

    A run is too large to be told apart by its content, as ui.computed does, and is to be freed when it leaves the cache
    of runs: so neither the result nor `what` it is may hold the run. To compute it, no run and no input may be asked
    for: these wait for their turn with a lock of their own in hand.
    """
    results = _RESULTS.setdefault(run, BoundedCache(most=MOST_RESULTS))
    found = results.find(what)
    if found is None:
        with heavy():
            found = results.find(what) or (compute(),)
            results.keep(what, found)
    return found[0]


def portion() -> Iterator[None]:
    """Yield until the time of one portion is over, at least once: Streamlit lets no click interrupt a fragment."""
    began = time.monotonic()
    yield
    while time.monotonic() - began < SECONDS_AT_ONCE:
        yield


def run_again() -> bool:
    """Run the fragment around this again; False = the whole page is run, since something else was clicked: wait."""
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        return False
