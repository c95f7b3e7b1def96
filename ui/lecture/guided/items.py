"""A guided lecture goes through its items: each is a page as its link has it, with a sentence for the hall."""

from functools import lru_cache
from typing import Any

import streamlit as st

from attention_core.bounds.harmless import IN_SENTENCES, as_markdown
from attention_core.data.lecture import GuidedLecture, LectureItem, read_lecture
from attention_core.files import find_file
from ui.component import component
from ui.labels import error_markdown
from ui.lecture.hall.corner import HAS_ITEM_QUESTION
from ui.lecture.mode import LECTURE
from ui.navigation import PAGES, entry_of
from ui.state import APP, OPENED_SESSION, PAGE, Field, component_message, one_of, whole_number
from ui.take_along import PAGE_OF_SESSION
from ui.try_this import ask_guess

KEY, UPLOADED, BUNDLED = "lecture_notes", "own", ("15", "45")
GUIDED = Field(APP, "guided", "", address="guided", parse=one_of((*BUNDLED, UPLOADED)))
"""The lecture that is given: a bundled one, or the one that the lecturer has uploaded."""
NUMBER = Field(APP, "item", 0, address="item", parse=whole_number)
"""The number of its item, from 1; 0 = it has not begun."""
UPLOADED_TEXT = Field(APP, "own_lecture", "")
STAGE, ASKING, REVEALED, ENDED = Field(APP, "item_stage", ""), "ask", "reveal", "end"
"""Where the item stands: "" = its sentence, then its question, its answer; ENDED = the lecture is over."""
CLOSING = (
    "Without attention: one vector. With it: a look back for every word. A large weight is not yet an explanation."
)
_notes = component(KEY, folder="ui/lecture/guided")


def lecture_text(name: str) -> str:
    """Return the text of a lecture; "" where the lecturer has uploaded none."""
    if name == UPLOADED:
        return UPLOADED_TEXT.value
    return find_file(f"ui/lecture/guided/{name}.txt").read_text(encoding="utf-8")


@lru_cache(16)
def parsed_lecture(text: str) -> GuidedLecture:
    """Return the lecture that a file holds; see read_lecture."""
    return read_lecture(text, [entry.name for entry in PAGES])


def _current_item() -> tuple[GuidedLecture, LectureItem] | None:
    text = lecture_text(GUIDED.value) if GUIDED.value else ""
    if not text or not 0 < NUMBER.value <= len((lecture := parsed_lecture(text)).items):
        return None
    return lecture, lecture.items[NUMBER.value - 1]


def begin(name: str, number: int = 1) -> None:
    """Open an item of a lecture as a link to its page is opened; before the page runs."""
    item = parsed_lecture(lecture_text(name)).items[number - 1]
    GUIDED.value, NUMBER.value, STAGE.value, LECTURE.value = name, number, "", True
    PAGE_OF_SESSION.value, OPENED_SESSION.value = item.page, dict(item.state)


def follow_lecture() -> None:
    """Begin the lecture that a link names; end it when its lecturer has left lecture mode."""
    if GUIDED.value and not NUMBER.value and lecture_text(GUIDED.value):
        begin(GUIDED.value)
        st.rerun()
    if GUIDED.value and not (LECTURE.value and NUMBER.value):
        GUIDED.value, NUMBER.value = "", 0


def page_question(question: str) -> None:
    """Draw the page's own question; in a lecture the sentence of the item, then the item's question to the hall."""
    present = _current_item()
    HAS_ITEM_QUESTION.value = False
    if present is None or (item := present[1]).page != PAGE.value:
        st.markdown(question)
        return
    HAS_ITEM_QUESTION.value = STAGE.value == ENDED or bool(item.question and STAGE.value)
    with st.container(key="lecture_asks" if item.question else "lecture_item", gap=None):
        st.html(f'<span class="item-place">{NUMBER.value} of {len(present[0].items)}</span>')
        if STAGE.value == ENDED:
            from ui.lecture.hall.routes import app_address

            paragraphs = [CLOSING] if GUIDED.value in BUNDLED else ["The end"]
            if address := app_address():
                paragraphs.append(f"Take your own sentences and drawings to {address}")
            with st.container(key="lecture_end"):
                st.markdown("\n\n".join(paragraphs))
        elif not item.question or not STAGE.value:
            st.markdown(_lecture_markdown(item.sentence))
        else:
            _ask(item)
        if item.question and STAGE.value in ("", ASKING):
            next_stage = ASKING if not STAGE.value else REVEALED
            st.button("Go on", key=f"lecture_item_{next_stage}", on_click=STAGE.set, args=(next_stage,))
        if STAGE.value:
            st.button("Back", key="lecture_item_back", on_click=STAGE.set, args=("",))


def _ask(item: LectureItem) -> None:
    from ui.lecture.hall.questions import ask_hall, hall_verdict

    if STAGE.value == ASKING:
        question, answers = _lecture_markdown(item.question), [*map(_lecture_markdown, item.answers)]
        ask_guess(question, dict(enumerate(answers)), "lecture_try_guess", None, lambda _: STAGE.set(REVEALED))
        ask_hall(question, answers)
    else:
        answer = _lecture_markdown(item.answers[item.right]).rstrip(".")
        with st.container(key="lecture_answer"):
            st.markdown(f"{_lecture_markdown(item.question)} **{answer}.** {hall_verdict(item.right)}")


def _lecture_markdown(text: str) -> str:
    """Return a lecture's text as Markdown: *stars* stress a word, nothing else has a meaning."""
    return as_markdown(text, IN_SENTENCES.replace("*", ""))


def lecture_controls() -> None:
    """Draw the buttons to the items before and after, and send the lecturer's notes to the browser."""
    if not GUIDED.value:
        return
    present = _current_item()
    n = len(present[0].items) if present else 0
    for direction, number in (("before", NUMBER.value - (STAGE.value != ENDED)), ("after", NUMBER.value + 1)):
        on_click, args = (begin, (GUIDED.value, number)) if number <= n else (STAGE.set, (ENDED,))
        is_off = not (present and number)
        st.button(f"Item {direction}", key=f"item_{direction}", on_click=on_click, args=args, disabled=is_off)
    _notes(key=KEY, data=_for_notes(*present) if present else {}, on_restore_change=_restore)


def _for_notes(lecture: GuidedLecture, item: LectureItem) -> dict[str, Any]:
    following = [f"Next: {item.sentence} ({entry_of(item.page).title})" for item in lecture.items[NUMBER.value :][:1]]
    answers = [f"{answer} ✓" if index == item.right else answer for index, answer in enumerate(item.answers)]
    return {
        "lecture": GUIDED.value,
        "minutes": [item.minutes for item in lecture.items],
        "number": NUMBER.value,
        "texts": {
            "place": f"{NUMBER.value} of {len(lecture.items)}: {entry_of(item.page).title}",
            "sentence": item.sentence,
            "question": f"{item.question} {' · '.join(answers)}" if item.question else "",
            "notes": item.notes,
            "next": "".join(following) or "This is the last item.",
        },
        "text": UPLOADED_TEXT.value if GUIDED.value == UPLOADED else "",
    }


def _restore() -> None:
    """Take the lecturer's own lecture from the browser after a reload."""
    text = str(component_message(KEY, "restore") or "")
    try:
        parsed_lecture(text)
        UPLOADED_TEXT.value = text
    except ValueError as error:
        GUIDED.value, NUMBER.value = "", 0
        st.toast(f"This lecture is a file, which Start opens. {error_markdown(error)}", icon=":material/error:")
