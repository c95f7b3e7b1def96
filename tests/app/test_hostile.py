"""A walk through all pages as the public has them: hostile values in every field, bombs in every upload.

The fields are found by looking at what each page draws. Every call in ui/ and pages/ that draws one must be met on the
way, so that a new field needs a way to it in WAYS.
"""

import ast
import gc
import io
import json
import re
import sys
import time

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.delta_generator import DeltaGenerator

from tests.app.tools import said
from tests.bombs import DEEP, MAX_SECONDS, npz
from tests.core.test_bombs import ZIPS
from tests.core.test_picture_bombs import DRAWINGS, PICTURES
from ui.navigation import PAGES, path_of
from ui.state import Field

KINDS = ("text_input", "text_area", "number_input", "file_uploader", "data_editor", "chat_input")
"""What a visitor may type into, or put a file into."""
WAYS = {
    "start": [{}, {"lectures": True}],
    "vectors": [{"vectors_rules": True}],
    "lookup": [{}, {"lookup_tab": "try"}],
    "translate": [{}, {"translate_tab": "try"}],
    "groups": [{"groups_shows": True}],
    "memory": [{}, {"memory_tab": "own"}, {"memory_tab": "follows"}],
    "transformer": [{}, {"transformer_tab": "positions"}],
    "model": [
        {},
        {"model_second_encoder": "A second text."},
        {"model_key": "decoder", "model_tab": "words"},
        {"model_key": "decoder", "model_tab": "patch"},
        {"model_key": "decoder", "model_tab": "logit"},
        {"model_key": "vision", "model_tab": "head", "model_way": "Upload"},
        {"model_what": "A recording"},
    ],
    "train": [
        {"train_tab": "compare"},
        *({"train_set_lesson": name} for name in ("grammar", "lookup", "triples", "graph")),
    ],
    "atlas": [{}, {"atlas_source": "text"}, {"atlas_source": "tensors"}],
}
"""What is set in the session to reach fields that are not there on arrival, by page."""
TEXTS = {
    "very long": "attention " * 20_000,
    "signs": "abc\u202egnirts\u202c \u2066x\u2069 zero\u200bwidth\ufeff so\u00adft \U000e0041 a\0b\x1b[31m\x07\r\n",
    "accents": "a" + "\u0301" * 10_000,
    "HTML": "<img src=x onerror=alert(1)><script>alert(2)</script><style>*{display:none}",
    "Markdown and templates": r"![x](http://elsewhere.example) [y](javascript:alert(1)) $\input{/etc/passwd}$ :red[z] "
    "{{7*7}} ${7*7} #{7*7} %s%n {0.__class__} datum.x " + r"\frac{ ``` ",
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


def sites(root):
    """Return every call that draws a field: its file, first and last line."""
    found = set()
    for path in [*(root / "ui").rglob("*.py"), *(root / "pages").glob("*.py"), root / "app.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                drawn = node.args[0] if node.func.attr == "widget" else node.func  # of a Field, which draws it
                if isinstance(drawn, ast.Attribute) and drawn.attr in KINDS:
                    found.add((str(path.relative_to(root)), node.lineno, node.end_lineno))
    return found


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
        html = "\n".join(one.proto.body for one in self.app.get("html"))
        words = re.sub(r"`[^`\n]*`", "", said(self.app))  # a text as code is shown as it is
        for pattern, text in ((self.secrets, words + html), (RAW, words + html), (MARKED, words)):
            if found := pattern.search(text):
                self.faults.append((*what, text[max(0, found.start() - 60) : found.end() + 30]))
        self.faults += [(*what, one.value) for one in self.app.exception]
        if seconds > most or not self.app.title:
            self.faults.append((*what, f"{seconds:.1f} s"))

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


@pytest.fixture
def walk(start_app, root, stored, monkeypatch):
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    monkeypatch.setenv("ATTENTION_MODELS", str(stored))
    gc.collect()
    gc.freeze()  # what other tests have left in this process would be searched on the visitor's time
    yield Walk(start_app(), root, monkeypatch)
    gc.unfreeze()


def test_every_field_of_every_page(walk, root):
    walk.app.session_state["take_along"] = True
    walk.run("the foot", most=60)
    for entry in PAGES:
        walk.app.switch_page(path_of(entry)).run()
        for way in WAYS.get(entry.name, [{}]):
            for key, value in way.items():
                walk.app.session_state[key] = value
            walk.run(entry.name, way, most=60)  # models are loaded
            walk.upload_everywhere(entry.name)
            walk.type_everywhere(entry.name)
    met = {(file.removeprefix(f"{root}/"), line) for file, line in walk.met}
    fields = {
        site for site in sites(root) if not site[0].startswith("ui/hall/")
    }  # whole numbers, in an open room alone
    unmet = {site for site in fields if not any(site[0] == file and site[1] <= n <= site[2] for file, n in met)}
    assert not unmet, "fields to which WAYS knows no way"
    assert not walk.faults
