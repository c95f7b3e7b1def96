"""A visitor who types hostile values into every field of a page, and uploads bombs."""

import io
import json
import re
import sys
import time
from html.parser import HTMLParser

import numpy as np
import streamlit as st
from PIL import Image
from streamlit.delta_generator import DeltaGenerator

from tests.support.app import html_of, text_of
from tests.support.bombs import DEEP, DRAWINGS, MAX_SECONDS, PICTURES, ZIPS, npz
from ui.state import Field

INPUTS = ("text_input", "text_area", "number_input", "file_uploader", "data_editor", "chat_input", "camera_input")
"""Streamlit's functions that draw a field to type into or to upload to."""

TEXTS = {
    "very long": "attention " * 20_000,
    "signs and accents": "abc\u202egnirts\u202c \u2066x\u2069 zero\u200bwidth\ufeff so\u00adft "
    "\U000e0041 a\0b\x1b[31m\x07\r\na" + "\u0301" * 10_000,
    "HTML, Markdown and templates": "<img src=x onerror=alert(1)><script>alert(2)</script><style>*{display:none} "
    r"![x](http://elsewhere.example) [y](javascript:alert(1)) $\input{/etc/passwd}$ :red[z] "
    r"{{7*7}} ${7*7} #{7*7} %s%n {0.__class__} datum.x \frac{ ``` ",
    "path": "../../../../etc/passwd",
    "address": "http://169.254.169.254/latest/meta-data",
    "NaN": "NaN",
    "huge": "1e308",
    "nothing": "",
}

DRAWN = ("signs and accents", "HTML, Markdown and templates")
"""The texts that every view of a field's value is tried with."""
MAX_SECONDS_TO_READ = 6.0
"""Processor time after a text, which models read as far as its bound allows, 20,000 pieces, say."""

RAW = re.compile(r"(?<!\\)<img src=x|(?<!\\)<script>alert|<style>\*\{display|[\u202e\u2066\u200b\0\x1b]|\u0301{50}")
RAW_MARKDOWN = re.compile(r"(?<!\\)!\[x\]\(http|(?<!\\)\[y\]\(java")
"""Parts of TEXTS that must not come back unescaped: in no text and no HTML, and in no Markdown."""

BOMBS = {
    "npz": {name: content for name, (content, _) in ZIPS.items() if name != "a size without bytes"},
    "json": {name: json.dumps(drawing).encode() for name, drawing in DRAWINGS.items()} | {"deep": DEEP.encode()},
    "png": {name: content for name, (content, _) in PICTURES.items()},
    "safetensors": {"nothing": b"", "a long list": b"\xff" * 64, "no list": b"\x02" + bytes(7) + b"{}"},
    "txt": {"no text": bytes(range(256)), "nothing": b"", "a picture": PICTURES["no pixels"][0]},
}

FILE_NAME = "..\\<img src=x onerror=alert(1)>\u202e![x](http://elsewhere.example)"
"""Of an uploaded file, without its suffix."""


def png():
    file = io.BytesIO()
    Image.new("RGB", (32, 32)).save(file, "PNG")
    return file.getvalue()


HARMLESS = {"png": png(), "npz": npz(query=np.zeros((4, 2), np.float32), key=np.zeros((4, 2), np.float32))}
"""Files that are no bombs: what a page draws of them has fields too."""


class HostileVisitor:
    """Tries everything; collects file and line of what draws a field in `calls`, what goes wrong in `faults`."""

    def __init__(self, app, root, monkeypatch) -> None:
        self.app, self.cell = app, None
        app.is_strict = False
        self.calls, self.tried, self.faults, self.has_tables = set(), set(), [], False
        self.secrets = re.compile(rf"Traceback|site-packages|File \"|/tmp/|{re.escape(str(root))}")
        for name in INPUTS:
            for owner in (st, DeltaGenerator):
                monkeypatch.setattr(owner, name, self._recorded(getattr(owner, name), name))

    def _recorded(self, draw, name):
        def draw_and_record(*args, **kwargs):
            frame = sys._getframe(1)
            frame = frame.f_back if frame.f_code is Field.widget.__code__ else frame
            self.has_tables |= name == "data_editor"
            self.calls.add((frame.f_code.co_filename, frame.f_lineno))
            value = draw(*args, **kwargs)
            return value if name != "data_editor" or self.cell is None else self._with_hostile_row(value)

        return draw_and_record

    def _with_hostile_row(self, table):
        """Put the hostile text into the table's first row, as a browser that ignores the columns' types could."""
        table = table.copy()
        for i, column in enumerate(table.columns):
            if table[column].dtype == object or str(table[column].dtype).startswith("str"):
                table.iloc[0, i] = self.cell
            elif self.cell in ("NaN", "1e308") and table[column].dtype == float:
                table.iloc[0, i] = float(self.cell)
        return table

    def run(self, *labels, max_seconds):
        """Run the page, which must have a title in time, and show no path of the server and nothing unescaped."""
        self.has_tables, began = False, time.process_time()
        self.app.run()
        seconds = time.process_time() - began
        print(f"{seconds:5.2f} s", *labels)  # pytest -rP shows what each costs
        self._check(labels)
        if not self.app.title:  # a callback ran a fragment, which is then all that AppTest has
            self.app.run()
            self._check(labels)
        if seconds > max_seconds or not self.app.title:
            self.faults.append((*labels, f"{seconds:.1f} s"))

    def _check(self, labels):
        html = html_of(self.app)
        text = re.sub(r"`[^`\n]*`", "", text_of(self.app))  # a text as code is shown as it is
        for pattern, content in ((self.secrets, text + html), (RAW, text + html), (RAW_MARKDOWN, text)):
            if match := pattern.search(content):
                self.faults.append((*labels, content[max(0, match.start() - 60) : match.end() + 30]))
        self.faults += [(*labels, exception.value) for exception in self.app.exception]

    def type_everywhere(self, page_name):
        """Type hostile texts into every field of the page, and press the buttons of their forms.

        Where no field is new, it is another view of what is typed: then the texts that could be drawn as they are.
        """
        fields = [field.key or field.label for field in (*self.app.text_input, *self.app.text_area)]
        names = [*fields, *([page_name] if self.has_tables else [])]
        for label in TEXTS if any([self._is_new(name) for name in names]) else DRAWN if names else ():
            self.cell = text = TEXTS[label]
            fields = [*self.app.text_input, *self.app.text_area]
            for field in fields:
                field.set_value(text)
            forms = {field.form_id for field in fields if field.form_id}
            for button in self.app.button:
                if button.form_id in forms:
                    button.click()
            self.run(page_name, label, max_seconds=MAX_SECONDS_TO_READ)
        self.cell = None
        for bound in ("max", "min") if any([self._is_new(number.key) for number in self.app.number_input]) else ():
            for number in self.app.number_input:
                number.set_value(getattr(number, bound))
            self.run(page_name, "numbers", bound, max_seconds=MAX_SECONDS_TO_READ)

    def upload_everywhere(self, page_name):
        """Put each bomb into every uploader and camera that has not been tried yet, then a harmless file."""
        for key in [uploader.key for uploader in self.app.file_uploader]:
            name = key.rstrip("0123456789").removeprefix(page_name)
            if not self._is_new(name):
                continue
            suffixes = [suffix.lstrip(".") for suffix in self._uploader(name).allowed_type]
            for suffix in suffixes:
                for label, content in BOMBS.get(suffix, {}).items():
                    self._upload(name, suffix, content)
                    self.run(page_name, key, suffix, label, max_seconds=MAX_SECONDS)
            for suffix in set(suffixes) & set(HARMLESS):
                self._upload(name, suffix, HARMLESS[suffix])
                self.run(page_name, key, "harmless", max_seconds=MAX_SECONDS_TO_READ)
        if self.app.camera_input and self._is_new(f"{page_name} camera"):
            for label, content in {**BOMBS["png"], "harmless": HARMLESS["png"]}.items():
                self.app.camera_input[0].set_value(("shot.jpg", content, "image/jpeg"))
                self.run(page_name, "camera", label, max_seconds=MAX_SECONDS_TO_READ)

    def _is_new(self, name):
        """Return whether something has not been tried yet, which from now on it has."""
        is_new = name not in self.tried
        self.tried.add(name)
        return is_new

    def _uploader(self, name):
        """Return an uploader by its key, which has another number once it has taken a file."""
        return next(uploader for uploader in self.app.file_uploader if name in uploader.key)

    def _upload(self, name, suffix, content):
        self._uploader(name).set_value((f"{FILE_NAME}.{suffix}", content, "application/octet-stream"))


NASTY = [
    "</script><script>ran()</script><!--",
    '"><img src=x onerror=ran()>',
    "![x](https://elsewhere.example/x.png)",
    "$\\href{javascript:ran()}{x}$",
    "' + ran() + '",
    'x"""\nimport os\nran()\n"""',
    "x\n# heading\r\nran()",
    '=HYPERLINK("https://elsewhere.example")',
    "abc\u202egpj.exe",
    "a\u200bb\ufeff\u2066",
    "a" + "\u0301" * 10_000,
    "\0\x1b[31m",
    "\ud800",
    "\u2028ran()",
]


HIDDEN = set("\u202e\u200b\ufeff\u2066\0\x1b\ud800\u2028\n\r")


class Tags(HTMLParser):
    """Gathers the names and attributes of a page's elements."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [tag, *(name for name, _ in attrs)]
