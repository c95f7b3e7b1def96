"""The question: typed, built from menus, or taken from examples that fit the drawing; kept in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention_core.data.colours import COLOURS
from attention_core.data.question_reading import MOST_CHARACTERS, QuestionError, Reading, read_question
from attention_core.data.questions import DIGITS, PLACES, RELATIONS, Kind, Question, write
from attention_core.topics.ask import EXAMPLES, answers_to, fitting_questions
from ui.ask.pad import NAME, AskedDrawing
from ui.labels import literal
from ui.models import COMPUTE, model_or_none

MODEL = "scene-question"
TEXT = f"{NAME}_text"
FIRST = "which digit is left of the blue one?"
MOST_TYPED = 4000
"""Characters that the box takes: more than is read, so that a pasted page is kept and explained."""
MOST_EXAMPLES = 6
KINDS = {
    Kind.DIGIT_AT: "which digit, by place",
    Kind.COLOUR_AT: "which colour, by place",
    Kind.DIGIT_OF_COLOUR: "which digit, by colour",
    Kind.COLOUR_OF_DIGIT: "which colour, by digit",
    Kind.COUNT: "how many",
    Kind.EXISTS: "is there one",
    Kind.DIGIT_BESIDE: "which digit, beside another",
    Kind.COLOUR_BESIDE: "which colour, beside another",
}
ANY = "any"


def question_part(drawing: AskedDrawing) -> Reading | None:
    """Draw the box, the menus and the examples; return the question, or None after saying kindly why there is none."""
    state = st.session_state
    if not isinstance(state.get(TEXT), str):
        state[TEXT] = st.query_params.get("q", FIRST)[:MOST_TYPED]
    box, menus = st.columns([3, 1], vertical_alignment="bottom", gap="small")
    with box:
        st.text_input(
            "Your question, in English",
            key=TEXT,
            max_chars=MOST_TYPED,
            persist_state="session",
            label_visibility="collapsed",
            placeholder="Ask in English: what colour is the 7?",
            help=f"Enter asks. Up to {MOST_CHARACTERS} characters are read.",
        )
    with menus, st.popover("Build it", icon=":material/list:", width="stretch"):
        _menus()
    _write_address(state[TEXT])
    try:
        reading = read_question(state[TEXT])
    except QuestionError as error:
        st.info(str(error))
        st.markdown("**What can be asked**, for instance:")
        _chips(EXAMPLES)
        return None
    _chips(_examples(drawing)[:MOST_EXAMPLES])
    if reading.rephrased:
        st.caption(f"Read as: {literal(' '.join(reading.words))}")
    return reading


def _examples(drawing: AskedDrawing) -> list[Question]:
    """Return questions that fit the drawing; which digits are on it, the model says itself."""
    colours = [one.colour for one in drawing.digits]
    single = [colour for colour in colours if colours.count(colour) == 1]
    model, _ = model_or_none(MODEL)
    read: dict[str, str] = {}
    if model is not None and single and not drawing.is_empty:
        asked = [Question(Kind.DIGIT_OF_COLOUR, colour=colour) for colour in single]
        with COMPUTE:
            read = dict(zip(single, answers_to(model, drawing.picture, asked), strict=True))
    names = [read.get(colour, "") for colour in colours]
    return fitting_questions(drawing.digits, [name if name in DIGITS else "" for name in names])


def _chips(questions: Sequence[Question]) -> None:
    with st.container(horizontal=True, gap="xsmall", key=f"{NAME}_examples"):
        for place, one in enumerate(questions):
            text = f"{write(one)}?"
            st.button(text, key=f"{NAME}_example_{place}", on_click=ask_this, args=(text,))


def ask_this(text: str) -> None:
    """Put a question into the box; call it in a callback."""
    st.session_state[TEXT] = text


def _menus() -> None:
    """Let a person build a question from what can be asked."""
    kind = Kind(
        _choose(
            "Ask for",
            "kind",
            [str(one) for one in KINDS],
            names=dict(zip(map(str, KINDS), KINDS.values(), strict=True)),
        )
    )
    question = _built(kind)
    if question is None:
        st.caption("Choose a digit or a colour.")
        return
    text = f"{write(question)}?"
    st.markdown(f"**{text}**")
    st.button("Ask this", key=f"{NAME}_ask_this", type="primary", on_click=ask_this, args=(text,))


def _built(kind: Kind) -> Question | None:
    if kind in (Kind.DIGIT_AT, Kind.COLOUR_AT):
        return Question(kind, place=_choose("Where", "place", PLACES))
    if kind is Kind.DIGIT_OF_COLOUR:
        return Question(kind, colour=_choose("Colour", "colour", COLOURS))
    if kind is Kind.COLOUR_OF_DIGIT:
        return Question(kind, digit=_choose("Digit", "digit", DIGITS))
    if kind in (Kind.COUNT, Kind.EXISTS):
        colour = _choose("Colour", "some_colour", (ANY, *COLOURS))
        digit = _choose("Digit", "some_digit", (ANY, *DIGITS))
        if kind is Kind.EXISTS and colour == digit == ANY:
            return None
        return Question(kind, digit=None if digit == ANY else digit, colour=None if colour == ANY else colour)
    relation = _choose("Which side", "relation", RELATIONS)
    anchor = _choose("Of which one", "anchor", (*COLOURS, *DIGITS))
    of_digit = anchor in DIGITS
    return Question(kind, relation=relation, digit=anchor if of_digit else None, colour=None if of_digit else anchor)


def _choose(label: str, name: str, options: Sequence[str], names: dict[str, str] | None = None) -> str:
    return st.selectbox(
        label,
        list(options),
        key=f"{NAME}_menu_{name}",
        format_func=lambda one: (names or {}).get(one, one),
        persist_state="session",
    )


def _write_address(text: str) -> None:
    """Put a short question into the address; the one that is there on arrival needs no mention."""
    wanted = "" if text == FIRST or len(text) > MOST_CHARACTERS else text
    if st.query_params.get("q", "") == wanted:
        return
    if wanted:
        st.query_params["q"] = wanted
    else:
        del st.query_params["q"]
