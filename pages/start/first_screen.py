"""The demonstrations of Start, one at a time: a sentence translated both ways, or a question about a drawing.

A server that has just begun shows both without any model: of one sentence and one question the answers lie in
pages/start/answers.json, and a test holds them equal to what the models say. All else is computed when it is asked for.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.data.sentence_presets import OPENING
from attention_core.files import find_file
from ui.chart import file_address, note_picture
from ui.hosting.bounds import SENTENCE_LETTERS
from ui.hosting.warm_up import import_libraries
from ui.navigation import PAGES, PageEntry, entry_of, path_of
from ui.scene import draw_scene
from ui.state import Field, followed_address, one_of, plain_text, single_choice
from ui.try_this import TryThis, is_guessing, try_this

if TYPE_CHECKING:
    from attention_core.charts.chart import Chart

NAME = "start"
SENTENCE = OPENING[0]
TEXT = Field(NAME, "text", SENTENCE, address="text", parse=lambda text: plain_text(text)[: SENTENCE_LETTERS.maximum])
LAST_TEXT = Field(NAME, "last_text", SENTENCE)
"""What was translated last: it stays while the typed text cannot be read."""
SENTENCE_DEMONSTRATION, DRAWING_DEMONSTRATION = "sentence", "drawing"
DEMONSTRATIONS = {SENTENCE_DEMONSTRATION: "Translate a sentence", DRAWING_DEMONSTRATION: "Ask about a drawing"}
DEMONSTRATION = Field(
    NAME,
    "demonstration",
    lambda: DRAWING_DEMONSTRATION if {"q", "strokes"} & {*followed_address()} else SENTENCE_DEMONSTRATION,
    address="show",
    parse=one_of(DEMONSTRATIONS),
)
"""What is demonstrated; a link with a question or a drawing opens the drawing."""
SCENE = "start_sentence"


def draw_demonstration() -> None:
    """Draw the choice of a demonstration, and the one that is chosen."""
    line = st.container(horizontal=True, vertical_alignment="center", key="start_in_a_row")
    with line:
        chosen = single_choice(
            "Demonstration", DEMONSTRATION, DEMONSTRATIONS, label_visibility="collapsed", width="content"
        )
    if chosen == SENTENCE_DEMONSTRATION:
        draw_translations(line)
        return
    import_libraries()
    from pages.start.drawing import QUESTION_TEXT, draw_question

    _examples(QUESTION_TEXT, draw_question(line, first_answers()["scene"]), "ask")


def draw_translations(line: DeltaGenerator) -> None:
    """Draw in a line the box of a sentence, below it the scene of its translation."""
    with line:
        label = "A sentence, put into French"
        TEXT.widget(st.text_input, label, max_chars=SENTENCE_LETTERS.maximum, label_visibility="collapsed")
    text = TEXT.value
    if text != SENTENCE:
        from attention_core.data.pieces import english_words
        from ui.words import cut_sentence

        if not english_words(text):
            st.info("Type an English sentence.")
            text = LAST_TEXT.value
        text = cut_sentence(text)
        _warn_of_other_language(text)
    LAST_TEXT.value = text
    data = _sentence_scene(text)
    note_picture(partial(_weights, data), f"“{text}”: where “{data['queries'][data['query']]}” looks")
    draw_scene(SCENE, data | {"plays": True, "bothSaid": True, "covered": is_guessing(NAME)})
    with line:
        try_this(NAME, _surprise())
    _examples(TEXT, OPENING, "translate")


def _surprise() -> TryThis:
    """Return the page's surprise: which word of another sentence one vector loses."""
    options = ("none", "*blue*", "*shirt*", "*birthday*")

    def outcome() -> tuple[int, str]:
        data = _sentence_scene(OPENING[1])
        lost = [f"*{data['keys'][key]}*" for key in data["vector"]["lost"]]
        right = next((index for index, option in enumerate(options) if option in lost), -1 if lost else 0)
        said = data["vector"]["english"] or " ".join(data["vector"]["words"][:-1])
        return right, f"Out of one vector comes “{said}” Attention looks back at {', '.join(lost) or 'every word'}."

    question = f"*{OPENING[1]}* Does one vector lose a word? Which?"
    act = partial(TEXT.set, OPENING[1])
    hides = ".st-key-start_text_examples"
    return TryThis("another sentence", question, options, act, outcome, "start_sentence_scene", hides=hides)


def _warn_of_other_language(text: str) -> None:
    from attention_core.inference.translation import read_source

    source = read_source(text)
    unknown = [word for word, is_known in zip(source.words, source.in_vocabulary, strict=True) if not is_known]
    if 2 * len(unknown) > len(source.words):
        st.info("Both networks were trained on English alone: most of these words are not in their vocabulary.")


def _sentence_scene(text: str) -> dict[str, Any]:
    if text == SENTENCE:
        return first_answers()["words"]
    import_libraries()
    from pages.start.live_answers import sentence_answer

    return sentence_answer(text)


def _examples(field: Field[str], texts: Sequence[str], page: str) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"start_{field.address}_examples"):
        for index, text in enumerate(texts):
            if text != field.value:
                st.button(text, key=f"start_{field.address}_{index}", on_click=field.set, args=(text,))
        entry = entry_of(page)
        st.page_link(path_of(entry), label=entry.title, icon=":material/arrow_forward:")


def _weights(data: dict[str, Any]) -> Chart:
    from attention_core.charts.words import word_weights

    return word_weights(data["keys"], data["queries"], data["weights"], data["query"], "")


@lru_cache(maxsize=1)
def first_answers() -> dict[str, Any]:
    """Return what the models say about the first sentence, question and drawing; see benchmarks/start_page.py."""
    return json.loads(find_file("pages/start/answers.json").read_text(encoding="utf-8"))


N_PICTURES = 2
"""Pages of a group that have a picture on Start; links to the others stand beside them."""


def draw_story() -> None:
    """Draw all other pages, numbered in their order, group by group."""
    for group, numbered in groupby(enumerate(PAGES[1:], 1), key=lambda pair: pair[1].group):
        pages = list(numbered)
        st.markdown(f"**:gray[{group}]**")
        *pictures, links = st.columns([1] * N_PICTURES + [0.8], gap="medium")
        for column, (number, entry) in zip(pictures, pages, strict=False):
            with column.container(border=True, height="stretch"):
                if image := _card(entry.name, st.context.theme.type or "light"):
                    url = file_address(image, "webp") or f"data:image/webp;base64,{base64.b64encode(image).decode()}"
                    st.html(f'<img class="card" src="{url}" alt="" loading="lazy">')
                _draw_page_link(number, entry)
        with links:
            for number, entry in pages[N_PICTURES:]:
                _draw_page_link(number, entry)


def _draw_page_link(number: int, entry: PageEntry) -> None:
    st.page_link(path_of(entry), label=f"**{number}. {entry.title}**")
    st.caption(entry.promise)


@lru_cache
def _card(page: str, ground: str) -> bytes:
    """Return the picture of a page; b"" as long as it has none."""
    path = find_file(f"pages/{page}/card-{ground}.webp")
    return path.read_bytes() if path.exists() else b""
