"""A guided lecture goes through its items: each is a page as its link has it, with a sentence for the hall."""

from functools import lru_cache
from typing import Any

import streamlit as st

from attention_core.bounds.harmless import IN_SENTENCES, as_markdown
from attention_core.data.lecture import GuidedLecture, LectureItem, read_lecture
from attention_core.files import find_file
from ui.component import component
from ui.labels import error_markdown
from ui.lecture.hall.corner import ITEM_ASKS
from ui.lecture.mode import LECTURE
from ui.navigation import PAGES, entry_of
from ui.state import APP, OPENED_SESSION, PAGE, Field, component_message, one_of, whole_number
from ui.take_along import PAGE_OF_SESSION
from ui.try_this import ask_guess

KEY, OWN, BUNDLED = "lecture_notes", "own", ("15", "45")
GUIDED = Field(APP, "guided", "", address="guided", parse=one_of((*BUNDLED, OWN)))
"""The lecture that is given: one of those that come along, or the lecturer's own."""
NUMBER = Field(APP, "item", 0, address="item", parse=whole_number)
"""Of its item, from 1 on; 0 = it is still to begin."""
OWN_TEXT = Field(APP, "own_lecture", "")
STAGE, ASKED, REVEALED, ENDED = Field(APP, "item_stage", ""), "ask", "reveal", "end"
"""Whether the item's question has been asked, its answer revealed, or the lecture has come to its end."""
END = "Without attention: one vector. With it: a look back for every word. A large weight is not yet an explanation."
_notes = component(KEY, folder="ui/lecture/guided")


def lecture_text(name: str) -> str:
    """Return the file of a lecture; "" where the lecturer's own is not here."""
    return OWN_TEXT.value if name == OWN else find_file(f"ui/lecture/guided/{name}.txt").read_text(encoding="utf-8")


@lru_cache(16)
def read(text: str) -> GuidedLecture:
    """Return the lecture that a file holds; see read_lecture."""
    return read_lecture(text, [entry.name for entry in PAGES])


def _present() -> tuple[GuidedLecture, LectureItem] | None:
    text = lecture_text(GUIDED.value) if GUIDED.value else ""
    if not text or not 0 < NUMBER.value <= len((lecture := read(text)).items):
        return None
    return lecture, lecture.items[NUMBER.value - 1]


def begin(name: str, number: int = 1) -> None:
    """Open an item of a lecture as a link to its page is opened; before the page runs."""
    item = read(lecture_text(name)).items[number - 1]
    GUIDED.value, NUMBER.value, STAGE.value, LECTURE.value = name, number, "", True
    PAGE_OF_SESSION.value, OPENED_SESSION.value = item.page, dict(item.state)


def follow_lecture() -> None:
    """Begin the lecture that a link names, or end one whose lecturer has left lecture mode."""
    if GUIDED.value and not NUMBER.value and lecture_text(GUIDED.value):
        begin(GUIDED.value)
        st.rerun()
    if GUIDED.value and not (LECTURE.value and NUMBER.value):
        GUIDED.value, NUMBER.value = "", 0


def page_question(question: str) -> None:
    """Draw the page's own question; in a lecture the sentence of the item, then the item's question to the hall."""
    present = _present()
    ITEM_ASKS.value = False
    if present is None or (item := present[1]).page != PAGE.value:
        st.markdown(question)
        return
    ITEM_ASKS.value = STAGE.value == ENDED or bool(item.question and STAGE.value)
    with st.container(key="lecture_asks" if item.question else "lecture_item", gap=None):
        st.html(f'<span class="item-place">{NUMBER.value} of {len(present[0].items)}</span>')
        if STAGE.value == ENDED:
            from ui.lecture.hall.routes import app_address

            words = [END] if GUIDED.value in BUNDLED else ["The end"]
            if address := app_address():
                words.append(f"Take your own sentences and drawings to {address}")
            with st.container(key="lecture_end"):
                st.markdown("\n\n".join(words))
        elif not item.question or not STAGE.value:
            st.markdown(_words(item.sentence))
        else:
            _ask(item)
        if item.question and STAGE.value in ("", ASKED):
            then = ASKED if not STAGE.value else REVEALED
            st.button("Go on", key=f"lecture_item_{then}", on_click=STAGE.take, args=(then,))
        if STAGE.value:
            st.button("Back", key="lecture_item_back", on_click=STAGE.take, args=("",))


def _ask(item: LectureItem) -> None:
    from ui.lecture.hall.questions import ask_hall, hall_verdict

    if STAGE.value == ASKED:
        question, answers = _words(item.question), [*map(_words, item.answers)]
        ask_guess(question, dict(enumerate(answers)), "lecture_try_guess", None, lambda _: STAGE.take(REVEALED))
        ask_hall(question, answers)
    else:
        answer = _words(item.answers[item.right]).rstrip(".")
        with st.container(key="lecture_answer"):
            st.markdown(f"{_words(item.question)} **{answer}.** {hall_verdict(item.right)}")


def _words(text: str) -> str:
    """Return Markdown of a lecture's words, in which *stars* stress a word and nothing else has a meaning."""
    return as_markdown(text, IN_SENTENCES.replace("*", ""))


def lecture_controls() -> None:
    """Draw the way to the items before and after, and give the lecturer's notes to the browser."""
    if not GUIDED.value:
        return
    present = _present()
    n = len(present[0].items) if present else 0
    for where, number in (("before", NUMBER.value - (STAGE.value != ENDED)), ("after", NUMBER.value + 1)):
        go, given = (begin, (GUIDED.value, number)) if number <= n else (STAGE.take, (ENDED,))
        st.button(f"Item {where}", key=f"item_{where}", on_click=go, args=given, disabled=not (present and number))
    _notes(key=KEY, data=_for_notes(*present) if present else {}, on_restore_change=_restore)


def _for_notes(lecture: GuidedLecture, item: LectureItem) -> dict[str, Any]:
    after = [f"Next: {one.sentence} ({entry_of(one.page).title})" for one in lecture.items[NUMBER.value :][:1]]
    answers = [f"{answer} ✓" if place == item.right else answer for place, answer in enumerate(item.answers)]
    return {
        "lecture": GUIDED.value,
        "minutes": [one.minutes for one in lecture.items],
        "number": NUMBER.value,
        "texts": {
            "place": f"{NUMBER.value} of {len(lecture.items)}: {entry_of(item.page).title}",
            "sentence": item.sentence,
            "question": f"{item.question} {' · '.join(answers)}" if item.question else "",
            "notes": item.notes,
            "next": "".join(after) or "This is the last item.",
        },
        "text": OWN_TEXT.value if GUIDED.value == OWN else "",
    }


def _restore() -> None:
    """Take the lecturer's own lecture from the browser after a reload."""
    text = str(component_message(KEY, "restore") or "")
    try:
        read(text)
        OWN_TEXT.value = text
    except ValueError as error:
        GUIDED.value, NUMBER.value = "", 0
        st.toast(f"This lecture is a file, which Start opens. {error_markdown(error)}", icon=":material/error:")
