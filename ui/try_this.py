"""Try this: a button that asks for a guess, makes a surprising change to the page, and shows the outcome."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from ui.component import component
from ui.lecture.hall.corner import HAS_ITEM_QUESTION
from ui.lecture.mode import LECTURE
from ui.navigation import PAGES
from ui.state import APP, OPENED_SESSION, Field, controlled, encode_fields, one_of
from ui.style import page_style

MAX_OPTIONS = 4
NOT_TRIED, GUESSING, REVEALED = "", "ask", "revealed"
"""Stages of a page's surprise; after a guess the stage is the index of the guessed option, such as "0"."""
TRY_STAGE = {
    entry.name: Field(
        entry.name,
        "tried",
        NOT_TRIED,
        address="tried",
        parse=one_of((GUESSING, REVEALED, *map(str, range(MAX_OPTIONS)))),
    )
    for entry in PAGES
}
ADDRESS_BEFORE = Field[dict[str, dict[str, str]]](APP, "before_trying", dict)
"""The address of each page as it was before its surprise."""
OUTCOME_BASIS = Field[dict[str, tuple[Any, ...]]](APP, "tried_about", dict)
"""What the outcome on each page depends on: question, options, the outcome itself, its subject, the page's edits."""
OPEN = ("question",)  # names in the address of what is open, which a surprise does not change
HIDDEN_CSS = "{ opacity: 0; visibility: hidden; }"  # of what would give the answer away
_scroll_to = component("scroll_to")


def is_guessing(page: str) -> bool:
    """Return whether a page's surprise waits for a guess."""
    return TRY_STAGE[page].value == GUESSING


def is_answered(page: str) -> bool:
    """Return whether the outcome of a page's surprise is shown, after a guess or a lecturer's "Reveal"."""
    return TRY_STAGE[page].value not in (NOT_TRIED, GUESSING)


def ask_guess(question: str, options: Mapping[Any, str], key: str, guess: Any, on_guess: Callable[[Any], None]) -> None:
    """Ask for one of the options, each with its label; `guess` and what on_guess gets are None while none is chosen."""
    arguments = controlled(key, guess if guess in options else None, on_guess)
    st.segmented_control(question, list(options), format_func=options.__getitem__, **arguments)


def show_verdict(guess: str, is_right: bool | None, outcome: str) -> None:
    """Show the guess and whether it is right, None = nobody guessed, beside the outcome, both Markdown."""
    verdict = "" if is_right is None else "**Right**: " if is_right else "**Not so:** "
    (st.success if is_right else st.info)(f"{guess} {verdict}{outcome}")


class TryThis(NamedTuple):
    """A page's surprise: a change that a visitor makes with one click, and whose outcome is guessed before."""

    button: str  # what it does, Markdown
    question: str  # asked first, Markdown
    options: Sequence[str]  # two to MAX_OPTIONS answers
    # makes the change by setting fields, before the page runs again; None = the page shows it anyway. With `hides`, it
    # is called with the question and again with the answer, since a visitor may have changed the page in between
    act: Callable[[], None] | None
    # returns the index of the right option, -1 = none, and a sentence on the outcome, of what the page shows at the
    # time; called only after the guess. If it, the question or an option changes, the outcome is no longer shown
    outcome: Callable[[], tuple[int, str]]
    scroll_to: str  # the key of the container that shows it
    draw: Callable[[], None] | None = None  # draws more of the outcome below the sentence
    hides: str = ""  # a CSS selector of what would give the answer away; then `act` is called with the question
    subject: Any = None  # what the outcome is of; if it changes, the outcome is no longer shown


def try_this(page: str, surprise: TryThis) -> None:
    """Draw a page's surprise: its button, later its question, then its outcome, in a container of one height."""
    if surprise.hides:
        page_style(f".stApp:has(.st-key-{page}_try_guess) {surprise.hides} {HIDDEN_CSS}")
    if HAS_ITEM_QUESTION.value:
        return
    stage, outcome = TRY_STAGE[page], (-1, "")
    if is_answered(page):
        outcome = surprise.outcome()
        basis = surprise.question, *surprise.options, *outcome, surprise.subject, encode_fields(page).get("edits")
        if OUTCOME_BASIS.value.setdefault(page, basis) != basis:
            stage.value = NOT_TRIED  # the visitor has changed the page since
            st.rerun()
    with st.container(key=f"{page}_try_this"):
        if stage.value == NOT_TRIED:
            label = f"**Try this**: {surprise.button}"
            arguments = page, surprise, GUESSING
            st.button(label, f"{page}_try", icon=":material/bolt:", type="primary", on_click=_enter, args=arguments)
        elif is_guessing(page):
            _draw_question(page, surprise)
        else:
            _draw_outcome(page, surprise, *outcome)


def _enter(page: str, surprise: TryThis, stage: str) -> None:
    """Enter a stage of a surprise, and make its change if that is due."""
    if TRY_STAGE[page].value == NOT_TRIED:
        ADDRESS_BEFORE.value[page] = encode_fields(page)
    if surprise.act and (stage != GUESSING or surprise.hides):
        surprise.act()
    OUTCOME_BASIS.value.pop(page, None)
    TRY_STAGE[page].value = stage


def undo_surprise(page: str) -> bool:
    """Let the next run show the page as it was before its surprise; return whether there was one to undo."""
    before = ADDRESS_BEFORE.value.pop(page, None)
    if before is None or TRY_STAGE[page].value == NOT_TRIED:
        return False
    OPENED_SESSION.value = before | {name: text for name, text in encode_fields(page).items() if name in OPEN}
    return True


def _close(page: str, undoes: bool) -> None:
    is_undone = undoes and undo_surprise(page)
    TRY_STAGE[page].value = NOT_TRIED
    if is_undone:
        st.rerun()  # the whole page, which reads the restored address


def _draw_question(page: str, surprise: TryThis) -> None:
    from ui.lecture.hall.questions import ask_hall

    def on_guess(option: int | None) -> None:
        if option is not None:
            _enter(page, surprise, str(option))

    ask_guess(surprise.question, dict(enumerate(surprise.options)), f"{page}_try_guess", None, on_guess)
    ask_hall(surprise.question, surprise.options)
    undoes = bool(surprise.act and surprise.hides)
    st.button("Close", key=f"{page}_try_close", on_click=_close, args=(page, undoes))
    if LECTURE.value:
        st.button("Reveal", key=f"{page}_try_reveal", on_click=_enter, args=(page, surprise, REVEALED))


def _answer(option: str, outcome: str) -> str:
    """Return the right option as a sentence, Markdown; "" where the outcome begins with it."""
    plain_outcome, plain_option = (text.replace("*", "").casefold() for text in (outcome, option))
    return "" if plain_outcome.startswith(plain_option) else f"**{_without_stop(option)}**."


def _without_stop(option: str) -> str:
    return re.sub(r"\.(\**)$", r"\1", option)


def _draw_outcome(page: str, surprise: TryThis, right: int, outcome: str) -> None:
    from ui.lecture.hall.questions import hall_verdict

    outcome = f"{outcome} {hall_verdict(right)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container():
            if TRY_STAGE[page].value == REVEALED:
                show_verdict(_answer(surprise.options[right], outcome) if right >= 0 else "", None, outcome)
            else:
                option = min(int(TRY_STAGE[page].value), len(surprise.options) - 1)
                show_verdict(f"You guessed: {_without_stop(surprise.options[option])}.", option == right, outcome)
            if surprise.draw is not None:
                surprise.draw()
        st.button("Close", key=f"{page}_try_close", on_click=_close, args=(page, False))
    _scroll_to(key=f"{page}_try_scroll", data={"key": surprise.scroll_to})
