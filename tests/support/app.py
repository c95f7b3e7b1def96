"""Drive a page without a browser and read what is on it: what most tests of pages need."""

import base64
import html
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest, app_test

# Without these caches each new AppTest searches all installed packages and each run compiles its scripts anew, which
# takes most of a run's time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
app_test.ScriptCache = cache(app_test.ScriptCache)

TEXT_ELEMENTS = ("markdown", "caption", "info", "html")
MAX_STEPS = 20  # more than any page has


class App(AppTest):
    """The app without a browser; a run that ends with an exception fails the test unless `is_strict` is False."""

    is_strict = True

    def _run(self, *args, **kwargs) -> AppTest:
        super()._run(*args, **kwargs)
        assert not (self.is_strict and self.exception), self.exception
        return self


class ExportAtOnce:
    """Stands for ui.take_along.EXPORT, and draws what a page exports, since AppTest runs pages without their foot."""

    @property
    def value(self) -> None:
        return None

    @value.setter
    def value(self, export: Callable[[], object] | None) -> None:
        if export:
            export()


def open_page(app: AppTest, path: str) -> AppTest:
    """Go to a page by the path of its script."""
    return app.switch_page(path).run()


def open_question(page: AppTest, slug: str) -> AppTest:
    """Open the experiment of a question of the page that is shown; "" = the page itself."""
    return rerun(page, **{f"{page.session_state['page_shown']}_question": slug})


def set_fields(page: AppTest, **state: Any) -> AppTest:
    """Set fields of the page that is shown, by their names without the page's, and run it again."""
    return rerun(page, **{f"{page.session_state['page_shown']}_{name}": value for name, value in state.items()})


def rerun(page: AppTest, **state: object) -> AppTest:
    """Run the page again, first setting values of the session by their keys; an exception fails the test."""
    for key, value in state.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def set_value(widget: Any, value: Any) -> AppTest:
    """Give a widget a value and run the page; an exception fails the test."""
    page = widget.set_value(value).run()
    assert not page.exception
    return page


def text_of(page: AppTest) -> str:
    """Return the texts of the page's alerts, Markdown and captions, one below another; not its HTML, see html_of."""
    elements = [*page.info, *page.warning, *page.error, *page.markdown, *page.caption]
    return "\n".join(element.value for element in elements)


def visible_and_hover_text(page: AppTest) -> tuple[str, str]:
    """Return the visible text of a page without code and formulas, and the text that it shows on hover."""
    visible, hover = [], []
    for element in itertools.chain.from_iterable(map(page.get, TEXT_ELEMENTS)):
        body = re.sub(r"<style>.*?</style>", "", element.proto.body, flags=re.DOTALL)
        visible.append(re.sub(r"<[^>]+>|`[^`]*`|\$[^$]*\$", " ", body))
        hover += [getattr(element.proto, "help", ""), *re.findall(r'<abbr title="([^"]+)"', body)]
    hover += [metric.proto.help for metric in page.metric]
    return " ".join(visible), html.unescape(" ".join(hover))


def html_of(page: AppTest) -> str:
    """Return the HTML on the page."""
    return "\n".join(element.proto.body for element in page.get("html"))


def html_with(page: AppTest, substring: str) -> str:
    """Return the first HTML element that contains a substring, or ""."""
    return next((element.proto.body for element in page.get("html") if substring in element.proto.body), "")


def leave_and_return(page: AppTest) -> AppTest:
    """Go to Start and back to the page."""
    name = page.session_state["page_shown"]
    page.switch_page("pages/start/page.py").run()
    return page.switch_page(f"pages/{name}/page.py").run()


def charts(page: AppTest) -> list[Any]:
    """Return the page's Vega-Lite charts, then the components that draw as charts do."""
    views = [c for c in page.get("bidi_component") if c.proto.component_name.endswith(("moving_step", "layers"))]
    return [*page.get("vega_lite_chart"), *views]


def picture_numbers(page: AppTest, key: str) -> list[float]:
    """Return the numbers of a picture in layers, row by row."""
    return data_of(page, key)["numbers"]


def frames(page: AppTest) -> Iterator[pd.DataFrame]:
    """Yield the data of the page's charts, then of its bars of before and after, then of its moving steps."""
    import pyarrow as pa

    for chart in page.get("vega_lite_chart"):
        for dataset in chart.proto.datasets:
            yield pa.ipc.open_stream(dataset.data.data).read_pandas()
    for body in (element.proto.body for element in page.get("html") if "<u " in element.proto.body):
        names, labels = re.findall(r"<u [^>]*>([^<]+)", body), re.findall("<span>([^<]+)", body)
        shares = [float(share) for share in re.findall("--share:([^;]+);", body)]  # of each label before and after
        rows = [(names[i], label, share) for i in (0, 1) for label, share in zip(labels, shares[i::2], strict=True)]
        yield pd.DataFrame(rows, columns=["when", "label", "probability"])
    for chart in charts(page):
        if chart.type == "bidi_component" and chart.proto.component_name.endswith("moving_step"):
            yield pd.DataFrame({"value": step_numbers(chart), "row_label": ""})


def step_numbers(moving_step: Any) -> np.ndarray:
    """Unpack the numbers of the matrix that a component moving_step shows, row by row; NaN where masked."""
    data = _data(moving_step)
    step = data["steps"][data["now"]]
    text = data["parts"][step["data"]]
    packed = base64.b64decode(text[1:]) if text[0] == "=" else zlib.decompress(base64.b64decode(text))
    low_bytes, high_bytes = np.frombuffer(packed, np.uint8).reshape(2, -1)
    codes = low_bytes + 256.0 * high_bytes
    share = ((codes - 1) / step["steps"]) ** step["power"]
    return np.where(codes, step["low"] + share * (step["high"] - step["low"]), np.nan)


def outcome(page: AppTest) -> list[list[float]]:
    """Return the probabilities of an answer, as learned and with the visitor's edits."""
    frame = next(frame for frame in frames(page) if "when" in frame.columns)
    return [rows["probability"].tolist() for _, rows in frame.groupby("when", observed=True)]


def weight_changes(page: AppTest) -> list[float]:
    """Return the sorted values of the first matrix that has negative ones: how edits change weights; [] if none."""
    matrices = (frame["value"] for frame in frames(page) if {"value", "row_label"} <= {*frame.columns})
    return next((sorted(values) for values in matrices if values.min() < 0), [])


def read_digits(page: AppTest) -> list[tuple[int, str]]:
    """Return the digit read with learned weights and that with equal ones, each with its probability as printed."""
    readings = re.findall(r'class="reads">.*?<b>(\d)</b> \(([<>]?\d+%)\)', html_of(page))
    return [(int(digit), probability) for digit, probability in readings]


def digit_tiles(page: AppTest) -> list[list[tuple[str, str]]]:
    """Return the rows of the table of all ten digits: of each tile its class, such as "right", and its digit."""
    return [re.findall(r'<td class="(\w+)">(\d)', row) for row in re.findall("<tr>.*?</tr>", html_of(page))]


def path_object(path: np.ndarray, width: float = 20, **style: str) -> dict:
    """Return a stroke through points, (n, 2), as the canvas component sends it."""
    start, *points = np.asarray(path).tolist()
    return {"type": "Path", "path": [["M", *start], *(["L", *xy] for xy in points)], "strokeWidth": width, **style}


def covering_strokes(height: int, width: int, n_blank: int = 0) -> list[dict]:
    """Return horizontal strokes of the widest pen that cover a canvas but for its first n_blank rows of pixels."""
    return [path_object([[-40, row], [width + 40, row]], 60) for row in range(n_blank + 30, height + 60, 30)]


def turn_dark(page: AppTest, monkeypatch: Any) -> None:
    """Run the page with Streamlit's dark theme."""
    monkeypatch.setattr(ContextProxy, "theme", property(lambda self: SimpleNamespace(type="dark")))
    page.run()


def strokes_of(page: AppTest) -> list[dict]:
    """Return the strokes on the page's pad as JSON of the canvas component, see path_object."""
    return page.session_state[f"{page.session_state['page_shown']}_drawing"]["objects"]


def draw_strokes(page: AppTest, objects: list[dict]) -> AppTest:
    """Replace the drawing on the page's pad by strokes, see path_object, as the canvas does, and run the page."""
    name = page.session_state["page_shown"]
    generation = page.session_state[f"{name}_generation"]
    page.session_state[f"{name}_pad_{generation}"] = {"drawing": {"raw": {"version": "7.4.0", "objects": objects}}}
    return page.run()


def step_through(page: AppTest) -> list[str]:
    """Press the stepper's Next until it is disabled; returns the names of the steps, the present one first."""
    name, steps = page.session_state["page_shown"], []
    while len(steps) < MAX_STEPS:
        steps.append(page.session_state[f"{name}_step"])
        next_button = page.button(key=f"{name}_step_next")
        if next_button.disabled:
            return steps
        next_button.click().run()
    raise AssertionError(f"the steps do not end: {steps}")


def data_of(page: AppTest, key: str) -> dict:
    """Return what Python sent to the page's component with this key."""
    return next(_data(element) for element in page.get("bidi_component") if element.proto.id.endswith(f"-{key}"))


def component_data(page: AppTest, name: str) -> dict:
    """Return what Python sent to the page's first component of this name, such as "pixel_map"."""
    for element in page.get("bidi_component"):
        if element.proto.component_name.endswith(name):
            return _data(element)
    raise AssertionError(f"no component {name}")


def _data(component: Any) -> Any:
    return json.loads(component.proto.json or component.proto.mixed.json)
