"""What tests of pages do again and again."""

import base64
import html
import json
import re
import zlib
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest, app_test

# What each new AppTest looks for in all installed packages, and each run compiles again: most of a run's time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
app_test.ScriptCache = cache(app_test.ScriptCache)

TEXTS = ("markdown", "caption", "info", "html")


class App(AppTest):
    """The app without a browser; a run of it that ends with an exception fails the test, unless told otherwise."""

    is_strict = True

    def _run(self, *given, **named) -> AppTest:
        super()._run(*given, **named)
        assert not (self.is_strict and self.exception), self.exception
        return self


def opened(app: AppTest, path: str, tab: str = "") -> AppTest:
    """Go to a page, at one of its tabs."""
    app.switch_page(path).run()
    return open_tab(app, tab) if tab else app


def open_tab(page: AppTest, slug: str) -> AppTest:
    """Open a tab of the page that is shown."""
    return settled(page, **{f"{page.session_state['page_shown']}_tab": slug})


def given(page: AppTest, **state: Any) -> AppTest:
    """Set fields of the page that is shown, by their names, and run it again."""
    return settled(page, **{f"{page.session_state['page_shown']}_{name}": value for name, value in state.items()})


def settled(page: AppTest, **state: object) -> AppTest:
    """Put values into the session and run the page again, and nothing goes wrong."""
    for key, value in state.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def put(element: Any, value: Any) -> AppTest:
    """Give an element a value and run the page, and nothing goes wrong."""
    page = element.set_value(value).run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    """Return the words on the page."""
    parts = [*page.info, *page.warning, *page.error, *page.markdown, *page.caption]
    return "\n".join(part.value for part in parts)


def shown_words(page: AppTest) -> tuple[str, str]:
    """Return the words of a page, and the words of what it shows on hover."""
    written, hovered = [], []
    for element in (one for kind in TEXTS for one in page.get(kind)):
        body = re.sub(r"<style>.*?</style>", "", element.proto.body, flags=re.DOTALL)
        written.append(re.sub(r"<[^>]+>|`[^`]*`|\$[^$]*\$", " ", body))
        hovered += [getattr(element.proto, "help", ""), *re.findall(r'<abbr title="([^"]+)"', body)]
    hovered += [metric.proto.help for metric in page.metric]
    return " ".join(written), html.unescape(" ".join(hovered))


def bodies(page: AppTest) -> str:
    """Return the HTML on the page."""
    return "\n".join(part.proto.body for part in page.get("html"))


def body_with(page: AppTest, mark: str) -> str:
    """Return the first piece of HTML with a mark in it, or ""."""
    return next((part.proto.body for part in page.get("html") if mark in part.proto.body), "")


def there_and_back(page: AppTest) -> AppTest:
    """Go to Start, and to the page again."""
    shown = page.session_state["page_shown"]
    page.switch_page("pages/start/page.py").run()
    return page.switch_page(f"pages/{shown}/page.py").run()


def charts(page: AppTest) -> list[Any]:
    """Return the page's charts, the steps that are drawn as numbers that move, and pictures in layers."""
    ours = [one for one in page.get("bidi_component") if one.proto.component_name.endswith(("moving_step", "layers"))]
    return [*page.get("vega_lite_chart"), *ours]


def numbers_of(page: AppTest, key: str) -> list[float]:
    """Return what a picture in layers holds, row by row."""
    picture = next(one.proto for one in page.get("bidi_component") if one.proto.id.endswith(f"-{key}"))
    return json.loads(picture.json or picture.mixed.json)["numbers"]


def frames(page: AppTest) -> Iterator[pd.DataFrame]:
    """Yield the data of the page's charts, and of what is drawn like one: bars of before and after, matrices."""
    import pyarrow as pa

    for chart in page.get("vega_lite_chart"):
        for dataset in chart.proto.datasets:
            yield pa.ipc.open_stream(dataset.data.data).read_pandas()
    for body in (part.proto.body for part in page.get("html") if "<u " in part.proto.body):
        names, labels = re.findall(r"<u [^>]*>([^<]+)", body), re.findall("<span>([^<]+)", body)
        shares = [float(share) for share in re.findall("--share:([^;]+);", body)]
        lines = [(names[at], label, shares[2 * row + at]) for at in (0, 1) for row, label in enumerate(labels)]
        yield pd.DataFrame(lines, columns=["when", "label", "probability"])
    for chart in charts(page):
        if chart.type == "bidi_component" and chart.proto.component_name.endswith("moving_step"):
            yield pd.DataFrame({"value": numbers_of_step(chart), "row_label": ""})


def numbers_of_step(moving: Any) -> np.ndarray:
    """Return the numbers of the matrix that a component shows, row by row."""
    data = json.loads(moving.proto.json or moving.proto.mixed.json)
    step = data["steps"][data["now"]]
    text = data["parts"][step["data"]]
    packed = base64.b64decode(text[1:]) if text[0] == "=" else zlib.decompress(base64.b64decode(text))
    low, high = np.frombuffer(packed, np.uint8).reshape(2, -1)
    codes = low + 256.0 * high
    share = ((codes - 1) / step["steps"]) ** step["power"]
    return np.where(codes, step["low"] + share * (step["high"] - step["low"]), np.nan)


def outcome(page: AppTest) -> list[list[float]]:
    """Return an answer's probabilities as learned and changed."""
    data = next(frame for frame in frames(page) if "when" in frame.columns)
    return [rows["probability"].tolist() for _, rows in data.groupby("when", observed=True)]


def changes_of_weights(page: AppTest) -> list[float]:
    """Return by how much weights changed, from the least, as the map of that shows it; [] without one."""
    shown = (frame["value"] for frame in frames(page) if {"value", "row_label"} <= {*frame.columns})
    return next((sorted(values) for values in shown if values.min() < 0), [])


def read_both_ways(page: AppTest) -> list[tuple[int, str]]:
    """Return which digit is read with learned weights and with equal ones, each with its share as it is written."""
    found = re.findall(r'class="reads">.*?<b>(\d)</b> \((\d+%)\)', bodies(page))
    return [(int(digit), share) for digit, share in found]


def ten_tiles(page: AppTest) -> list[list[tuple[str, str]]]:
    """Return the rows of what is read in all ten digits, each tile with its kind."""
    return [re.findall(r'<td class="(\w+)">(\d)', row) for row in re.findall("<tr>.*?</tr>", bodies(page))]


def path_object(path: np.ndarray, width: float = 20, **look: str) -> dict:
    """Return a stroke (n, 2) as the canvas component sends one."""
    first, *rest = np.asarray(path).tolist()
    return {"type": "Path", "path": [["M", *first], *(["L", *point] for point in rest)], "strokeWidth": width, **look}


def painted(height: int, width: int, left: int = 0) -> list[dict]:
    """Return strokes of the widest pen that cover a canvas, but for so many rows at its top."""
    return [path_object([[-40, row], [width + 40, row]], 60) for row in range(left + 30, height + 60, 30)]


def on_dark(page: AppTest, monkeypatch: Any) -> None:
    """Let the page be dark."""
    monkeypatch.setattr(ContextProxy, "theme", property(lambda self: SimpleNamespace(type="dark")))
    page.run()


def objects_of(page: AppTest) -> list[dict]:
    """Return the strokes on the page's pad, as the canvas component has them."""
    return page.session_state[f"{page.session_state['page_shown']}_drawing"]["objects"]


def inject(page: AppTest, objects: list[dict]) -> AppTest:
    """Put strokes, see path_object, onto the page's pad as the canvas component sends them, and run the page."""
    name = page.session_state["page_shown"]
    generation = page.session_state[f"{name}_generation"]
    page.session_state[f"{name}_pad_{generation}"] = {"drawing": {"raw": {"version": "7.4.0", "objects": objects}}}
    return page.run()


def steps_to_the_end(page: AppTest) -> list[str]:
    """Press the stepper's Next to its end; returns the names of the steps, the present one first."""
    name, seen = page.session_state["page_shown"], []
    while len(seen) < 20:
        seen.append(page.session_state[f"{name}_step"])
        following = page.button(key=f"{name}_step_next")
        if following.disabled:
            return seen
        following.click().run()
    raise AssertionError(f"the steps do not end: {seen}")


def data_of(page, key: str) -> dict:
    """What a component of the page was given."""
    components = [one.proto for one in page.get("bidi_component")]
    return json.loads(next(one.json or one.mixed.json for one in components if one.id.endswith(f"-{key}")))


def component(app, name):
    """The data that Python sent to a component."""
    for element in app.get("bidi_component"):
        proto = element.proto
        if proto.component_name.endswith(name):
            return json.loads(proto.mixed.json if proto.HasField("mixed") else proto.json)
    raise AssertionError(f"no component {name}")
