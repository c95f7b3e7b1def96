"""A visitor who types hostile values into every field of a page, and uploads bombs."""

import io
import json
import re
import sys
import time

import numpy as np
import streamlit as st
from PIL import Image
from streamlit.delta_generator import DeltaGenerator

from tests.support.app import text_of
from tests.support.bombs import DEEP, DRAWINGS, MAX_SECONDS, PICTURES, ZIPS, npz
from ui.state import Field

KINDS = ("text_input", "text_area", "number_input", "file_uploader", "data_editor", "chat_input")
"""What a visitor may type into, or put a file into."""


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


MAX_SECONDS_TO_READ = 6.0
"""Of a processor. A text is no bomb: what is within its bound is computed with, such as 20,000 pieces."""


RAW = re.compile(r"(?<!\\)<img src=x|(?<!\\)<script>alert|<style>\*\{display|[\u202e\u2066\u200b\0\x1b]|\u0301{50}")


MARKED = re.compile(r"(?<!\\)!\[x\]\(http|(?<!\\)\[y\]\(java")
"""What no words of ours, and no Markdown of ours, may hold of these."""


BOMBS = {
    "npz": {name: content for name, (content, _) in ZIPS.items() if name != "a size without bytes"},
    "json": {name: json.dumps(drawing).encode() for name, drawing in DRAWINGS.items()} | {"deep": DEEP.encode()},
    "png": {name: content for name, (content, _) in PICTURES.items()},
    "safetensors": {"nothing": b"", "a long list": b"\xff" * 64, "no list": b"\x02" + bytes(7) + b"{}"},
    "txt": {"no text": bytes(range(256)), "nothing": b"", "a picture": PICTURES["no pixels"][0]},
}


NAME = "..\\<img src=x onerror=alert(1)>\u202e![x](http://elsewhere.example)"
"""Of an uploaded file, before its ending."""


def picture():
    file = io.BytesIO()
    Image.new("RGB", (32, 32)).save(file, "PNG")
    return file.getvalue()


SOUND = {"png": picture(), "npz": npz(query=np.zeros((4, 2), np.float32), key=np.zeros((4, 2), np.float32))}
"""Files that are none: what they reveal has fields too."""


class Walk:
    """A visitor who tries everything; knows which calls have drawn a field so far, and what uploads were fed."""

    def __init__(self, app, root, monkeypatch) -> None:
        self.app, self.root, self.cell = app, root, None
        app.is_strict = False
        self.met, self.fed, self.faults, self.has_tables = set(), set(), [], False
        self.secrets = re.compile(rf"Traceback|site-packages|File \"|/tmp/|{re.escape(str(root))}")
        for kind in KINDS:
            for owner in (st, DeltaGenerator):
                monkeypatch.setattr(owner, kind, self._watched(getattr(owner, kind), kind))

    def _watched(self, draw, kind):
        def drawn(*given, **named):
            frame = sys._getframe(1)
            frame = frame.f_back if frame.f_code is Field.widget.__code__ else frame
            self.has_tables |= kind == "data_editor"
            self.met.add((frame.f_code.co_filename, frame.f_lineno))
            value = draw(*given, **named)
            return value if kind != "data_editor" or self.cell is None else self._edited(value)

        return drawn

    def _edited(self, frame):
        """Put the hostile text into the table's first row, as a browser that does not keep to its columns."""
        frame = frame.copy()
        for place, column in enumerate(frame.columns):
            if frame[column].dtype == object or str(frame[column].dtype).startswith("str"):
                frame.iloc[0, place] = self.cell
            elif self.cell in ("NaN", "1e308") and frame[column].dtype == float:
                frame.iloc[0, place] = float(self.cell)
        return frame

    def run(self, *what, most):
        """Run the page: it is alive, soon, and says nothing of the server and nothing hostile as it came."""
        self.has_tables, began = False, time.process_time()
        self.app.run()
        seconds = time.process_time() - began
        print(f"{seconds:5.2f} s", *what)  # pytest -rP shows what each costs
        self._look(what)
        if not self.app.title:  # a callback ran a part of the page, and AppTest knows nothing else then
            self.app.run()
            self._look(what)
        if seconds > most or not self.app.title:
            self.faults.append((*what, f"{seconds:.1f} s"))

    def _look(self, what):
        html = "\n".join(one.proto.body for one in self.app.get("html"))
        words = re.sub(r"`[^`\n]*`", "", text_of(self.app))  # a text as code is shown as it is
        for pattern, text in ((self.secrets, words + html), (RAW, words + html), (MARKED, words)):
            if found := pattern.search(text):
                self.faults.append((*what, text[max(0, found.start() - 60) : found.end() + 30]))
        self.faults += [(*what, one.value) for one in self.app.exception]

    def type_everywhere(self, where):
        """Type each hostile text into every field of the page, and press what takes it."""
        has_fields = self.app.text_input or self.app.text_area or self.has_tables
        for label, text in TEXTS.items() if has_fields else ():
            self.cell = text
            fields = [*self.app.text_input, *self.app.text_area]
            for field in fields:
                field.set_value(text)
            forms = {field.form_id for field in fields if field.form_id}
            for button in self.app.button:
                if button.form_id in forms:
                    button.click()
            self.run(where, label, most=MAX_SECONDS_TO_READ)
        self.cell = None
        for end in ("max", "min") if self.app.number_input else ():
            for number in self.app.number_input:
                number.set_value(getattr(number, end))
            self.run(where, "numbers", end, most=MAX_SECONDS_TO_READ)

    def upload_everywhere(self, where):
        """Put each bomb into every upload that was not met before, then a sound file."""
        for key in [one.key for one in self.app.file_uploader]:
            shown = key.rstrip("0123456789").removeprefix(where)
            if shown in self.fed:
                continue
            self.fed.add(shown)
            kinds = [kind.lstrip(".") for kind in self._upload(shown).allowed_type]
            for kind in kinds:
                for label, content in BOMBS.get(kind, {}).items():
                    self._upload(shown).set_value((f"{NAME}.{kind}", content, "application/octet-stream"))
                    self.run(where, key, kind, label, most=MAX_SECONDS)
            for kind in set(kinds) & set(SOUND):
                self._upload(shown).set_value((f"{NAME}.{kind}", SOUND[kind], "application/octet-stream"))
                self.run(where, key, "sound", most=MAX_SECONDS_TO_READ)

    def _upload(self, shown):
        """Return the upload; its key has another number once it has taken a file."""
        return next(one for one in self.app.file_uploader if shown in one.key)
