"""What moves on Start: attention that follows the pointer over a drawing, a translation that plays once.

A server that has just begun shows both without any model: of one drawing and one sentence the answers lie in
ui/assets/start, and a test holds them equal to what the models say.
"""

from __future__ import annotations

import base64
import io
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from attention_core.files import find_file
from ui.chart import address, note_picture
from ui.component import component
from ui.navigation import PageEntry
from ui.state import Field, between, single_choice

if TYPE_CHECKING:
    from attention_core.charts.vega import Chart

FIRST_DIGIT = 3
SENTENCE = "The red car is in front of the house."
TRANSLATOR = "additive"
DIGIT = Field("start", "digit", FIRST_DIGIT, address="digit", parse=between(0, 9))
_drawing, _words = component("start_drawing"), component("aligned_words")


def moving_drawing() -> None:
    """Draw a digit whose pixels show where they look, following the pointer; let a visitor choose the digit."""
    digit = single_choice("A digit", DIGIT, range(10), label_visibility="collapsed", wrap=True)
    if digit == FIRST_DIGIT:
        told = first_answers()["drawing"] | {"looks": _file("looks.png")}
    else:
        from ui.start.live_answers import drawing_answer

        told = drawing_answer(digit)
    note_picture(lambda: _looking(told), f"Where one pixel of a drawn {digit} looks")
    _drawing(key="start_drawing", data={"ink": told["ink"], "looks": _place(told["looks"], "png")})
    st.caption(told["says"])


def moving_words() -> None:
    """Play a translation once, word by word, with where its network looks."""
    st.markdown(f"**{SENTENCE}**")
    note_picture(_arcs, f"A translation of “{SENTENCE}”")
    _words(key="start_words", data=first_answers()["words"] | {"play": True})


def _arcs() -> Chart:
    import numpy as np

    from attention_core.charts.words import word_arcs

    words = first_answers()["words"]
    return word_arcs(words["source"], words["target"], np.array(words["weights"]), words["active"])


def _looking(told: dict[str, Any]) -> Chart:
    import numpy as np
    from PIL import Image

    from attention_core.charts.overlay import overlay

    ink = np.array(told["ink"])
    inked = np.flatnonzero(ink > 0.5)
    query = int(inked[len(inked) // 2])
    roots = np.asarray(Image.open(io.BytesIO(told["looks"])).convert("L"))[query] / 255
    paper = np.repeat(np.rint(255 * (1 - 0.82 * ink)).astype(np.uint8).reshape(28, 28, 1), 3, 2)
    return overlay(paper, roots.reshape(28, 28) ** 2, smooth=False, bar=False, marked=query)


def photograph(entry: PageEntry) -> None:
    """Draw what a page shows, made beforehand."""
    place = _place(_file(f"{entry.name}.webp"), "webp")
    st.html(f'<img src="{place}" alt="The page {entry.title}" style="width:100%;border-radius:4px" loading="lazy">')


def _place(content: bytes, ending: str) -> str:
    return address(content, ending) or f"data:image/{ending};base64,{base64.b64encode(content).decode()}"


@lru_cache(maxsize=1)
def first_answers() -> dict[str, Any]:
    return json.loads(find_file("ui/assets/start/answers.json").read_text(encoding="utf-8"))


@lru_cache
def _file(name: str) -> bytes:
    return find_file(f"ui/assets/start/{name}").read_bytes()
