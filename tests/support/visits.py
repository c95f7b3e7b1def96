"""What visitors do on each page: the widgets that they use, by Streamlit's type and the app's key, and their values."""

import json
import struct
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from tests.support.session import Answer, Element, Session

Values = Sequence[str] | Callable[[Any, Random], Any]


class Action(NamedTuple):
    """A visitor uses one of the widgets of a type, see Element.type, whose keys fit a pattern.

    The value is one of some texts, or what a function makes of the widget's message; None = an option of the widget.
    """

    type: str
    key: str
    values: Values | None = None

    @property
    def name(self) -> str:
        """Its name in results and faults."""
        return f"{self.type} {self.key}"


def _clock() -> int:  # in milliseconds, as components send it
    return round(1000 * time.time())


def draw_stroke(canvas: Any, random: Random) -> dict[str, Any]:
    """Draw a straight line on a pad; returns what the canvas component sends when the pen is lifted."""
    pad = json.loads(canvas.json)
    width, height, pen = pad["canvasWidth"], pad["canvasHeight"], pad["strokeWidth"]
    left, right = sorted(round(random.uniform(0.2, 0.8) * width) for _ in range(2))
    top, bottom = sorted(round(random.uniform(0.2, 0.8) * height) for _ in range(2))
    line = {"type": "Path", "path": [["M", left, top], ["L", right, bottom]], "stroke": pad["strokeColor"]}
    box = {"left": left, "top": top, "width": right - left, "height": bottom - top, "strokeWidth": pen}
    drawing = {"version": "7.4.0", "objects": [line | box | {"originX": "left", "originY": "top", "fill": None}]}
    return {"drawing": {"raw": drawing}}


def drag_query(plane: Any, random: Random) -> dict[str, Any]:
    """Drag the query on the plane of *What a score measures* and drop it."""
    data = json.loads(plane.json)
    arrows = [[round(random.uniform(-4, 4), 2) for _ in range(2)], *data["arrows"][1:]]
    unchanged = {name: data[name] for name in ("revision", "active")}
    return {"moved": {**unchanged, "arrows": arrows, "moving": False, "sequence": data["answered"] + 1, "at": _clock()}}


def click_item(event: str, field: str, items: str) -> Values:
    """Return a function that clicks one of the items in a field of a component's data and sends its index."""

    def value(component: Any, random: Random) -> dict[str, Any]:
        data = component.json or component.mixed.json
        return {event: {field: random.randrange(len(json.loads(data)[items])), "at": _clock()}}

    return value


def request_tiles(map: Any, random: Random) -> dict[str, Any]:
    """Ask for two tiles of the atlas, as after a zoom."""
    content = map.bytes
    data = json.loads(content[4 : 4 + struct.unpack_from("<I", content)[0]])
    level = random.randrange(min(3, data["levels"]))
    last = max(0, data["rows"]["n"] // (data["tile"] << level) - 1)
    row, column = (random.randint(0, last) for _ in range(2))
    view = {"row": row * data["tile"], "column": column * data["tile"], "across": data["tile"]}
    tiles = [f"{level}/{row}/{column}", f"{level}/{row}/{max(0, column - 1)}"]
    request = {"who": "load", "sequence": _clock(), "atlas": data["atlas"], "tiles": tiles, "labels": [], "view": view}
    return {"asked": request}


def edit_table(columns: Sequence[str], values: Sequence[Any]) -> Values:
    """Return a function that types one of the values into one of the columns, in the first, second or third row."""

    def value(table: Any, random: Random) -> dict[str, Any]:
        n_rows = pa.ipc.open_stream(table.arrow_data.data).read_all().num_rows
        cell = {str(random.randrange(min(n_rows, 3))): {random.choice(columns): random.choice(values)}}
        return {"edited_rows": cell, "added_rows": [], "deleted_rows": []}

    return value


REVIEWS = (
    "I expected nothing and got a clever, moving story.",
    "Not a good film, but the music is wonderful.",
    "The plot is dull and the actors seem tired.",
    "What a waste of two hours and a good cast.",
    "It is not bad at all, I laughed a lot.",
)
SENTENCES = (
    "The white house is near the old river.",
    "My brother has bought two big books.",
    "I do not know where the black cat sleeps.",
    "She was reading a letter in the garden.",
    "The children are not in the small room.",
)
button, button_group, text_input = (partial(Action, type) for type in ("button", "button_group", "text_input"))
component = partial(Action, "bidi_component")
QUESTION = button("*_question_*")
NEXT = button("*_step_next")
STEP = button_group("*_step")
CANVAS = component("*_pad_*[0-9]", draw_stroke)

VISITS: dict[str, tuple[Action, ...]] = {
    "train": (text_input("train_graph", ("AB CD AC", "AB EF BC")), button_group("train_set_lesson"), QUESTION),
    "": (text_input("start_text", SENTENCES), button_group("start_demonstration"), button("start_q_*")),
    "lookup": (
        button_group("lookup_preset"),
        text_input("lookup_asked", ("neural networks", "translation", "image recognition")),
        Action("slider", "lookup_temperature"),
        button_group("lookup_query"),
        QUESTION,
        QUESTION,
    ),
    "vectors": (
        NEXT,
        STEP,
        Action("selectbox", "vectors_preset"),
        NEXT,
        button("vectors_question_rules"),
        Action("dataframe", "vectors_*", edit_table(("1", "2"), ("0.5", "2", "-1", "1.5"))),
        Action("slider", "vectors_temperature"),
    ),
    "scoring": (component("scoring_plane", drag_query), button("scoring_preset_*"), QUESTION, QUESTION),
    "memory": (
        text_input("memory_text", SENTENCES),
        button("memory_at_next"),
        button_group("memory_at"),
        button("memory_example_*"),
        button_group("memory_reading"),
        QUESTION,
        QUESTION,
    ),
    "matter": (
        text_input("matter_text", REVIEWS),
        component("matter_scene", click_item("chosen", "row", "queries")),
        button("matter_example_*"),
        NEXT,
        STEP,
        QUESTION,
        text_input("matter_text", REVIEWS),
    ),
    "translate": (
        text_input("translate_text", SENTENCES),
        component("translate_pair_scene", click_item("chosen", "row", "queries")),
        button("translate_at_next"),
        NEXT,
        button("translate_example_*"),
        button_group("translate_model_lower"),
        QUESTION,
    ),
    "transformer": (
        text_input("transformer_text", SENTENCES),
        Action("vega_lite_chart", "transformer_heads_*"),
        button_group("transformer_head"),
        button("transformer_switch"),
        button_group("transformer_kind"),
        button("transformer_example_*"),
        QUESTION,
    ),
    "pixels": (
        button("pixels_preset_*"),
        CANVAS,
        NEXT,
        component("pixels_pick", click_item("chosen", "cell", "numbers")),
        STEP,
        QUESTION,
        button("pixels_preset_*"),
    ),
    "photograph": (
        text_input("photograph_text", ("cup", "dog", "wine bottle", "guitar")),
        button("photograph_preset_*"),
        button("photograph_example_*"),
        button_group("photograph_value"),
        NEXT,
        QUESTION,
    ),
    "read": (button("read_at_next"), button("read_preset_*"), CANVAS, QUESTION),
    "ask": (
        text_input("ask_text", ("how many red digits are there?", "is there a 7?", "what colour is the 3?")),
        button("ask_preset_*"),
        button("ask_example_*"),
        button("ask_compose"),
        NEXT,
        QUESTION,
    ),
    "groups": (
        text_input("groups_text", ("3 9 20 11 7", "1 2 3 4 5 6 25", "10 10 11 30 0")),
        button_group("groups_query"),
        NEXT,
        STEP,
        QUESTION,
    ),
    "model": (
        Action("text_area", "model_text_*", SENTENCES),
        Action("vega_lite_chart", "model_heads_*"),
        component("model_tokens_scene", click_item("chosen", "row", "queries")),
        button("model_example_*"),
        button_group("model_clearest"),
        QUESTION,
    ),
    "atlas": (
        component("atlas_map", request_tiles),
        component("atlas_map", request_tiles),
        text_input("atlas_find", ("w12", "chapter", "the")),
        button("atlas_stop_previous"),
        QUESTION,
        component("atlas_map", request_tiles),
    ),
}
"""What a visitor does on each page, by its path, in this order."""
FLOOR = (button("press"),)
"""The same for benchmarks/apps/load_floor_app.py, a page with one button."""

VALUE_FIELDS = {
    "button": "trigger_value",
    "button_group": "string_array_value",
    "slider": "double_array_value",
    "bidi_component": "json_value",
}
"""The field of Streamlit's WidgetState for the value of a type of widget; "string_value" for all others."""


def value_for(session: Session, widget: Element, values: Values | None, random: Random) -> tuple[str, Any]:
    """Return the field of Streamlit's WidgetState for a widget's value, and a value that it does not have now."""
    message, before = widget.message, session.states.get(widget.id)
    field = VALUE_FIELDS.get(widget.type, "string_value")
    if values:
        value = values(message, random) if callable(values) else random.choice(values)
        return field, value if isinstance(value, str) else json.dumps(value)
    if widget.type == "vega_lite_chart":
        return field, json.dumps({"selection": _click(message, random)})
    if widget.type == "button":
        return field, True
    options = [getattr(option, "content", option) for option in getattr(message, "options", ())]
    if not options:
        n_steps = round((message.max - message.min) / message.step)
        return field, [message.min + random.randint(0, n_steps) * message.step]
    current = [*before.string_array_value.data, before.string_value] if before else []
    option = random.choice([option for option in options if option not in current])
    return (field, option) if field == "string_value" else ("string_array_value", [option])


async def act(session: Session, widget: Element, values: Values | None, random: Random, seconds: float) -> Answer:
    """Give a widget another value, and wait for its run to end."""
    return await session.set_value(widget, *value_for(session, widget, values, random), seconds=seconds)


async def each_experiment(session: Session, seconds: float = 60) -> AsyncIterator[tuple[str, Answer]]:
    """Open the experiments of the page that is shown, one after the other; yields the key of each link to one."""
    opened: set[str] = set()
    while links := [link for link in session.widgets(QUESTION.type, QUESTION.key) if link.key not in opened]:
        opened.add(links[0].key)
        yield links[0].key, await session.set_value(links[0], "trigger_value", True, seconds)


def _click(chart: Any, random: Random) -> dict[str, Any]:
    """Return the selection that a click on one of a chart's marks makes."""
    spec = json.loads(chart.spec)
    name = chart.selection_mode[0]
    fields = next(param["select"]["fields"] for param in _selections(spec) if param["name"] == name)
    for data in (chart.data, *(dataset.data for dataset in chart.datasets)):
        table = pa.ipc.open_stream(data.data).read_all() if data.data else pa.table({})
        if table.num_rows and set(fields) <= set(table.column_names):
            row = random.randrange(table.num_rows)
            return {name: [{field: table[field][row].as_py() for field in fields}]}
    raise LookupError(f"no data of the chart has {fields}")


def _selections(spec: Any) -> list[dict[str, Any]]:
    """Return the parameters of a Vega-Lite spec that are selections, those of its views and layers too."""
    if isinstance(spec, dict):
        nested = [param for value in spec.values() for param in _selections(value)]
        return [param for param in spec.get("params", []) if "select" in param] + nested
    return [param for item in spec for param in _selections(item)] if isinstance(spec, list) else []
