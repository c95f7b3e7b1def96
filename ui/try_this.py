"""Try this: a button that asks for a guess, performs the page's surprise, and shows what came out beside the guess."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from ui.component import component
from ui.lecture.hall.corner import HAS_ITEM_QUESTION
from ui.lecture.mode import LECTURE
from ui.navigation import PAGES
from ui.parts import run_parts
from ui.state import APP, OPENED_SESSION, Field, encode_fields, following, one_of
from ui.style import page_style

NOT_TRIED, GUESSING, REVEALED, MAX_OPTIONS = "", "ask", "revealed", 4
TRIED = {
    entry.name: Field(
        entry.name,
        "tried",
        NOT_TRIED,
        address="tried",
        parse=one_of((GUESSING, REVEALED, *map(str, range(MAX_OPTIONS)))),
    )
    for entry in PAGES
}
"""On each page: nothing, GUESSING while the guess is awaited, then the number of the guessed option, or REVEALED."""
BEFORE = Field[dict[str, dict[str, str]]](APP, "before_trying", dict)
"""The address of each page before its surprise was asked."""
ANSWERED = Field[dict[str, tuple[Any, ...]]](APP, "tried_about", dict)
"""What each page has answered: question, options, what came out, of what, changes of attention."""
HIDDEN = "{ opacity: 0; visibility: hidden; }"  # the look of what gives a guess away
_scroll_to = component("scroll_to")


def ask_guess(question: str, options: Mapping[Any, str], key: str, guess: Any, on_guess: Callable[[Any], None]) -> None:
    """Ask for one of some options, with the words for each; None = there is no guess yet, or it was taken back."""
    follows = following(key, guess if guess in options else None, on_guess)
    st.segmented_control(question, list(options), format_func=options.__getitem__, **follows)


def show_verdict(guess: str, is_right: bool | None, outcome: str) -> None:
    """Show what was guessed, None = nothing was, beside what came out, both Markdown."""
    verdict = "" if is_right is None else "**Right**: " if is_right else "**Not so:** "
    (st.success if is_right else st.info)(f"{guess} {verdict}{outcome}")


class TryThis(NamedTuple):
    """A page's surprise, which a visitor brings about."""

    button: str  # what will be done, Markdown
    question: str  # asked first, Markdown
    options: Sequence[str]  # two to four answers
    # brings it about by setting fields, before the page runs again; None = it is there. With `hides`, once when it is
    # asked and again with the answer, since a visitor may have changed the page
    act: Callable[[], None] | None
    # returns the number of the option that came true, -1 = none, and a sentence that says what came out, of what the
    # page shows now; called only afterwards. Where it, the question or an option changes, the answer goes away
    outcome: Callable[[], tuple[int, str]]
    scroll_to: str  # the key of the container that shows it
    draw: Callable[[], None] | None = None  # pictures it below the sentence, if anything does
    hides: str = ""  # a selector of what gives the answer away; then it is brought about when it is asked
    subject: Any = None  # what else the page shows it of, besides question, options and outcome


def try_this(page: str, surprise: TryThis) -> None:
    """Draw a page's surprise: its button, then its question, then what came of it, in one place of one height."""
    if surprise.hides:
        page_style(f".stApp:has(.st-key-{page}_try_guess) {surprise.hides} {HIDDEN}")
    if HAS_ITEM_QUESTION.value:
        return
    state, came = TRIED[page], (-1, "")
    if state.value not in (NOT_TRIED, GUESSING):
        came = surprise.outcome()
        answer = surprise.question, *surprise.options, *came, surprise.subject, encode_fields(page).get("edits")
        if ANSWERED.value.setdefault(page, answer) != answer:
            state.value = NOT_TRIED  # the page shows something else by now
            st.rerun()
    with st.container(key=f"{page}_try_this"):
        if state.value == NOT_TRIED:
            label = f"**Try this**: {surprise.button}"
            arguments = page, surprise, GUESSING
            st.button(label, f"{page}_try", icon=":material/bolt:", type="primary", on_click=_go_on, args=arguments)
        elif state.value == GUESSING:
            _ask(page, surprise)
        else:
            _answer(page, surprise, *came)


def _go_on(page: str, surprise: TryThis, stage: str) -> None:
    if TRIED[page].value == NOT_TRIED:
        BEFORE.value[page] = encode_fields(page)
    if surprise.act and (stage != GUESSING or surprise.hides):
        surprise.act()
    ANSWERED.value.pop(page, None)
    TRIED[page].value = stage


def take_back(page: str) -> bool:
    """Make the page as it was before its surprise, with the next run; return whether it was tried."""
    before = BEFORE.value.pop(page, None)
    if before is None or TRIED[page].value == NOT_TRIED:
        return False
    OPENED_SESSION.value = before | {name: text for name, text in encode_fields(page).items() if name == "tab"}
    return True


def _close(page: str, takes_back: bool) -> None:
    is_as_before = takes_back and take_back(page)
    TRIED[page].value = NOT_TRIED
    if is_as_before:
        run_parts()  # the whole page, which follows it


def _ask(page: str, surprise: TryThis) -> None:
    from ui.lecture.hall.questions import ask_hall

    def take(option: int | None) -> None:
        if option is not None:
            _go_on(page, surprise, str(option))

    hint = " The answers are hidden until you guess." if surprise.hides and not LECTURE.value else ""
    ask_guess(surprise.question + hint, dict(enumerate(surprise.options)), f"{page}_try_guess", None, take)
    ask_hall(surprise.question, surprise.options)
    takes_back = bool(surprise.act and surprise.hides)
    st.button("Close", key=f"{page}_try_close", on_click=_close, args=(page, takes_back))
    if LECTURE.value:
        st.button("Reveal", key=f"{page}_try_reveal", on_click=_go_on, args=(page, surprise, REVEALED))


def _answer(page: str, surprise: TryThis, right: int, outcome: str) -> None:
    from ui.lecture.hall.questions import hall_verdict

    outcome = f"{outcome} {hall_verdict(right)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container():
            if TRIED[page].value == REVEALED:
                show_verdict(f"**{surprise.options[right]}**." if right >= 0 else "", None, outcome)
            else:
                option = min(int(TRIED[page].value), len(surprise.options) - 1)
                show_verdict(f"You guessed: {surprise.options[option]}.", option == right, outcome)
            if surprise.draw is not None:
                surprise.draw()
        st.button("Close", key=f"{page}_try_close", on_click=_close, args=(page, False))
    _scroll_to(key=f"{page}_try_scroll", data={"key": surprise.scroll_to})
