"""What visitors do on each page: widgets by Streamlit's kind and the app's key, and what they are given."""

import json
import struct
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from tests.support.session import Answer, Drawn, Session

Given = Sequence[str] | Callable[[Any, Random], Any]


class Action(NamedTuple):
    """What a visitor does to a widget of a kind, see Drawn.kind, one of those whose keys fit a pattern.

    Given are texts to choose from, or what makes a value from the widget's message; None = what the widget offers.
    """

    kind: str
    key: str
    given: Given | None = None

    @property
    def name(self) -> str:
        """What results and complaints call it."""
        return f"{self.kind} {self.key}"


def _now() -> int:
    return round(1000 * time.time())


def stroke(canvas: Any, random: Random) -> dict[str, Any]:
    """Draw one line with the pen of a canvas; returns what the canvas sends when the pen is lifted."""
    pad = json.loads(canvas.json)
    width, height, pen = pad["canvasWidth"], pad["canvasHeight"], pad["strokeWidth"]
    left, right = sorted(round(random.uniform(0.2, 0.8) * width) for _ in range(2))
    top, bottom = sorted(round(random.uniform(0.2, 0.8) * height) for _ in range(2))
    line = {"type": "Path", "path": [["M", left, top], ["L", right, bottom]], "stroke": pad["strokeColor"]}
    place = {"left": left, "top": top, "width": right - left, "height": bottom - top, "strokeWidth": pen}
    drawing = {"version": "7.4.0", "objects": [line | place | {"originX": "left", "originY": "top", "fill": None}]}
    return {"drawing": {"raw": drawing}}


def drag(plane: Any, random: Random) -> dict[str, Any]:
    """Let go of the query at another place of the plane."""
    data = json.loads(plane.json)
    arrows = [[round(random.uniform(-4, 4), 2) for _ in range(2)], *data["arrows"][1:]]
    kept = {name: data[name] for name in ("revision", "active")}
    return {"moved": {**kept, "arrows": arrows, "moving": False, "sequence": data["answered"] + 1, "at": _now()}}


def press(name: str, part: str, listed: str) -> Given:
    """Return what clicks one of the words that a component shows."""

    def value(component: Any, random: Random) -> dict[str, Any]:
        data = component.json or component.mixed.json
        return {name: {part: random.randrange(len(json.loads(data)[listed])), "at": _now()}}

    return value


def look(map: Any, random: Random) -> dict[str, Any]:
    """Move the atlas: ask for two tiles somewhere, as after a zoom."""
    content = map.bytes
    data = json.loads(content[4 : 4 + struct.unpack_from("<I", content)[0]])
    level = random.randrange(min(3, data["levels"]))
    last = max(0, data["rows"]["n"] // (data["tile"] << level) - 1)
    row, column = (random.randint(0, last) for _ in range(2))
    view = {"row": row * data["tile"], "column": column * data["tile"], "across": data["tile"]}
    tiles = [f"{level}/{row}/{column}", f"{level}/{row}/{max(0, column - 1)}"]
    asked = {"who": "load", "sequence": _now(), "atlas": data["atlas"], "tiles": tiles, "labels": [], "view": view}
    return {"asked": asked}


def edit(columns: Sequence[str], values: Sequence[Any]) -> Given:
    """Return what types one of some values into one of the rows of a table, of the first three."""

    def value(table: Any, random: Random) -> dict[str, Any]:
        n_rows = pa.ipc.open_stream(table.arrow_data.data).read_all().num_rows
        cell = {str(random.randrange(min(n_rows, 3))): {random.choice(columns): random.choice(values)}}
        return {"edited_rows": cell, "added_rows": [], "deleted_rows": []}

    return value


FILM = (
    "I expected nothing and got a clever, moving story.",
    "Not a good film, but the music is wonderful.",
    "The plot is dull and the actors seem tired.",
    "What a waste of two hours and a good cast.",
    "It is not bad at all, I laughed a lot.",
)
ENGLISH = (
    "The white house is near the old river.",
    "My brother has bought two big books.",
    "I do not know where the black cat sleeps.",
    "She was reading a letter in the garden.",
    "The children are not in the small room.",
)
pressed, chosen, typed = (partial(Action, kind) for kind in ("button", "button_group", "text_input"))
TAB = Action("tab_container", "*_tabs")
NEXT = pressed("*_step_next")
STEP = chosen("*_step")
CANVAS = Action("bidi_component", "*_pad_*[0-9]", stroke)

VISITS: dict[str, tuple[Action, ...]] = {
    "train": (CANVAS, chosen("train_lesson"), TAB),
    "": (typed("start_text", ENGLISH), pressed("start_q_*")),
    "lookup": (
        chosen("lookup_preset"),
        typed("lookup_asked", ("neural networks", "translation", "image recognition")),
        Action("slider", "lookup_temperature"),
        chosen("lookup_query"),
        TAB,
        TAB,
    ),
    "vectors": (
        NEXT,
        STEP,
        Action("dataframe", "vectors_*", edit(("1", "2"), ("0.5", "2", "-1", "1.5"))),
        Action("selectbox", "vectors_preset"),
        Action("slider", "vectors_temperature"),
        TAB,
        NEXT,
    ),
    "scoring": (
        Action("bidi_component", "scoring_plane", drag),
        pressed("scoring_preset_*"),
        TAB,
        TAB,
    ),
    "memory": (
        typed("memory_text", ENGLISH),
        pressed("memory_at_next"),
        chosen("memory_at"),
        pressed("memory_example_*"),
        TAB,
        chosen("memory_reading"),
        TAB,
    ),
    "matter": (
        typed("matter_text", FILM),
        Action("bidi_component", "matter_weighed", press("pressed", "place", "words")),
        pressed("matter_example_*"),
        NEXT,
        STEP,
        TAB,
        typed("matter_text", FILM),
    ),
    "translate": (
        typed("translate_text", ENGLISH),
        Action("bidi_component", "translate_*_words", press("chosen", "row", "target")),
        pressed("translate_at_next"),
        NEXT,
        pressed("translate_example_*"),
        chosen("translate_model_lower"),
        TAB,
    ),
    "transformer": (
        typed("transformer_text", ENGLISH),
        Action("vega_lite_chart", "transformer_heads_*"),
        chosen("transformer_head"),
        pressed("transformer_switch"),
        chosen("transformer_kind"),
        pressed("transformer_example_*"),
        TAB,
    ),
    "pixels": (
        pressed("pixels_preset_*"),
        CANVAS,
        NEXT,
        Action("bidi_component", "pixels_pick", press("chosen", "cell", "numbers")),
        STEP,
        TAB,
        pressed("pixels_preset_*"),
    ),
    "find": (
        pressed("find_preset_*"),
        CANVAS,
        pressed("find_scatter"),
        Action("bidi_component", "find_small", press("chosen", "cell", "numbers")),
        NEXT,
        STEP,
        TAB,
    ),
    "read": (
        pressed("read_at_next"),
        pressed("read_preset_*"),
        pressed("read_withhold_*"),
        CANVAS,
        TAB,
    ),
    "ask": (
        typed("ask_text", ("how many red digits are there?", "is there a 7?", "what colour is the 3?")),
        pressed("ask_preset_*"),
        pressed("ask_example_*"),
        pressed("ask_compose"),
        NEXT,
        TAB,
    ),
    "groups": (
        typed("groups_text", ("3 9 20 11 7", "1 2 3 4 5 6 25", "10 10 11 30 0")),
        chosen("groups_query"),
        NEXT,
        STEP,
        TAB,
    ),
    "model": (
        Action("text_area", "model_text_*", ENGLISH),
        Action("vega_lite_chart", "model_heads_*"),
        Action("bidi_component", "model_tokens", press("chosen", "row", "queries")),
        pressed("model_example_*"),
        Action("selectbox", "model_ranked"),
        TAB,
    ),
    "atlas": (
        Action("bidi_component", "atlas_map", look),
        Action("bidi_component", "atlas_map", look),
        typed("atlas_find", ("w12", "chapter", "the")),
        pressed("atlas_stop_previous"),
        TAB,
        Action("bidi_component", "atlas_map", look),
    ),
}
"""What a visitor does on each page, by its path, in this order."""
FLOOR = (pressed("press"),)

FIELDS = {
    "button": "trigger_value",
    "button_group": "string_array_value",
    "slider": "double_array_value",
    "bidi_component": "json_value",
}
"""The field of Streamlit's WidgetState that carries the value of a kind of widget; "string_value" for all others."""


def value_for(session: Session, widget: Drawn, given: Given | None, random: Random) -> tuple[str, Any]:
    """Return the field of Streamlit's WidgetState that carries a widget's value, and another value for it."""
    message, before = widget.message, session.states.get(widget.id)
    field = FIELDS.get(widget.kind, "string_value")
    if given:
        made = given(message, random) if callable(given) else random.choice(given)
        return field, made if isinstance(made, str) else json.dumps(made)
    if widget.kind == "vega_lite_chart":
        return field, json.dumps({"selection": _click(message, random)})
    if widget.kind == "button":
        return field, True
    options = [getattr(option, "content", option) for option in getattr(message, "options", ())] or session.tabs(widget)
    if not options:
        n_steps = round((message.max - message.min) / message.step)
        return field, [message.min + random.randint(0, n_steps) * message.step]
    held = [*before.string_array_value.data, before.string_value] if before else session.tabs(widget)[:1]
    option = random.choice([option for option in options if option not in held])
    return (field, option) if field == "string_value" else ("string_array_value", [option])


async def act(session: Session, widget: Drawn, given: Given | None, random: Random, seconds: float) -> Answer:
    """Give a widget another value, and wait for its run to end."""
    return await session.use(widget, *value_for(session, widget, given, random), seconds=seconds)


def _click(chart: Any, random: Random) -> dict[str, Any]:
    """Return the selection that a click on one of a chart's marks makes."""
    spec = json.loads(chart.spec)
    name = chart.selection_mode[0]
    fields = next(param["select"]["fields"] for param in _params(spec) if param["name"] == name)
    for data in (chart.data, *(dataset.data for dataset in chart.datasets)):
        table = pa.ipc.open_stream(data.data).read_all() if data.data else pa.table({})
        if table.num_rows and set(fields) <= set(table.column_names):
            row = random.randrange(table.num_rows)
            return {name: [{field: table[field][row].as_py() for field in fields}]}
    raise LookupError(f"no data of the chart has {fields}")


def _params(spec: Any) -> list[dict[str, Any]]:
    """Return the parameters of a chart, of its layers and of its parts."""
    if isinstance(spec, dict):
        below = [param for value in spec.values() for param in _params(value)]
        return [one for one in spec.get("params", []) if "select" in one] + below if "params" in spec else below
    return [param for part in spec for param in _params(part)] if isinstance(spec, list) else []
