"""A text that a language model writes on: what comes next, the text so far, and its trace as it grows."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS
from attention_core.hub.generation import Generation
from attention_core.hub.language import expected, pick, token_text
from attention_core.hub.model import ModelError
from attention_core.hub.run import ModelRun
from ui.labels import literal
from ui.layout import section
from ui.model.cache_part import kv_cache
from ui.model.chips import Chip, chips, chosen_chip
from ui.model.expectations import percent, rest_words
from ui.model.growth import growing, head_words, number_of_chosen
from ui.model.portions import portion, run_again
from ui.model.writing import (
    AT_ONCE,
    back,
    generation_of,
    look_at,
    n_given,
    position,
    restart,
    say,
    stop,
    text_ids,
    why_ended,
    why_full,
    write,
)
from ui.next_words import Bar, chosen_piece, word_bars
from ui.runs.runs import ModelInput

N_EXPECTED = 10
MOST_BITS = 12
"""A token as surprising as one of 4,096 has the full shade."""
SHADES = {"surprise": "Surprise", "weights": "Weights of the chosen head"}


@st.fragment
def generation(run: ModelRun, key: str, given: ModelInput, name: str) -> None:
    """Draw a text with what is expected after each token, let it be written on, and show what the model keeps."""
    section("What comes next")
    st.markdown(
        "The model gives every token a probability of coming next. Click one to say it, or let the model write."
    )
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        text, buttons = st.container(), st.container()
        temperature, seed = _settings(name)
    try:
        _write_portion(name, key, given, temperature, seed)
        made = generation_of(key, given, text_ids(name, key, given))
    except ModelError as error:
        st.info(str(error))
        return
    with text:
        _text(run, made, name)
    with buttons:
        _buttons(name, key, given, made, temperature, seed)
    with right:
        _expectation(name, made, temperature, is_full=bool(why_full(key, given, made.ids)))
    row, column = st.columns([1, 1.1], gap="large")
    with row:
        growing(run, made, name)
    with column:
        kv_cache(made, name)
    if st.session_state.get(f"{name}_says_asked") and not run_again():
        st.session_state[f"{name}_says_asked"] = 0


def _settings(name: str) -> tuple[float, int]:
    """Let a person choose how the model says its next token; returns temperature (0 = the likeliest) and seed."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{name}_says_drawing"):
        way = st.segmented_control(
            "It says",
            ["likeliest", "drawn"],
            default="likeliest",
            key=f"{name}_says_way",
            required=True,
            persist_state="session",
            format_func={"likeliest": "The likeliest", "drawn": "Drawn by chance"}.get,
        )
        if way != "drawn":
            return 0.0, 0
        temperature = st.slider(
            "Temperature", 0.1, 2.0, 1.0, 0.1, key=f"{name}_says_temperature", width=150, persist_state="session"
        )
        seed = st.number_input("Seed", 0, 9999, 0, key=f"{name}_says_seed", width=100, persist_state="session")
    return float(temperature), int(seed)


def _write_portion(name: str, key: str, given: ModelInput, temperature: float, seed: int) -> None:
    """Write some of the tokens that were asked for; the fragment runs again for the rest."""
    state = f"{name}_says_asked"
    for _ in portion():
        ids = text_ids(name, key, given)
        if st.session_state.get(state, 0) <= 0 or why_ended(name, key, given, ids):
            st.session_state[state] = 0
            return
        write(name, generation_of(key, given, ids), temperature, seed)
        st.session_state[state] -= 1


def _buttons(name: str, key: str, given: ModelInput, made: Generation, temperature: float, seed: int) -> None:
    end = why_ended(name, key, given, made.ids)

    def ask(n: int) -> None:
        st.session_state[f"{name}_says_asked"] = n

    with st.container(horizontal=True, gap="small", key=f"{name}_says_write_examples"):
        st.button("Next token", key=f"{name}_says_one", on_click=ask, args=(1,), disabled=bool(end), type="primary")
        if st.session_state.get(f"{name}_says_asked"):
            st.button("Stop", key=f"{name}_says_stop", on_click=ask, args=(0,))
        else:
            st.button(f"{AT_ONCE} more", key=f"{name}_says_more", on_click=ask, args=(AT_ONCE,), disabled=bool(end))
        st.button("Back one", key=f"{name}_says_back", on_click=back, args=(name,), disabled=len(made.ids) < 2)
        st.button("Start again", key=f"{name}_says_restart", on_click=restart, args=(name, key, given))
    if end:
        st.caption(end)
    elif temperature:
        upcoming = pick(made.next_logits, temperature=temperature, seed=seed, place=len(made.ids))
        text = token_text(made.pretrained.tokenizer, upcoming)
        st.caption(f"Seed {seed} draws {literal(text)} next; the same seed draws the same text again.")


def _text(run: ModelRun, made: Generation, name: str) -> None:
    """Draw the text as chips, shaded by surprise or by what the chosen head looks at from the chosen token."""
    shade = st.segmented_control(
        "Shade",
        list(SHADES),
        default="surprise",
        key=f"{name}_says_shade",
        required=True,
        format_func=SHADES.get,
        persist_state="session",
    )
    place = position(name)
    weights, hint = None, "Click a token to see what was expected after it."
    if shade == "weights":
        number, head = number_of_chosen(run, made, name)
        trace = made.trace(number)
        weights = trace.weights(head, [place])[0].tolist()
        hint = f"{head_words(made, number, head)}: what {made.tokens[place].strip()}, the framed token, looks at."
        if trace.n_keys != len(made.ids):
            chips(
                f"{name}_says_source",
                _weighed(tuple(trace.story.key_axis.labels), weights, 0),
                chosen=None,
                label="What the encoder read",
                hint="What the encoder read.",
                on_choose=lambda: None,
            )
            weights = None
    first = n_given(name)
    shown = _weighed(made.tokens, weights, first) if weights is not None else _surprising(made, first)
    chips(
        f"{name}_says_text",
        shown,
        chosen=place,
        label="The text so far",
        hint=hint,
        on_choose=lambda: look_at(name, chosen_chip(f"{name}_says_text") or 0),
    )


def _surprising(made: Generation, n_first: int) -> list[Chip]:
    colour = ROLE_COLOURS[Role.CONTEXT]
    first = Chip(made.tokens[0], 0, "the first token, which nothing expected", colour, n_first < 1)
    return [first] + [
        Chip(text, bits / MOST_BITS, f"expected with {percent(2**-bits)}, {bits:.1f} bits", colour, place >= n_first)
        for place, (text, bits) in enumerate(zip(made.tokens[1:], made.bits, strict=True), start=1)
    ]


def _weighed(tokens: tuple[str, ...], weights: list[float], n_first: int) -> list[Chip]:
    most, colour = max(weights) or 1.0, ROLE_COLOURS[Role.WEIGHTS]
    return [
        Chip(text, weight / most, f"weight {weight:.3f}", colour, bool(n_first) and place >= n_first)
        for place, (text, weight) in enumerate(zip(tokens, weights, strict=True))
    ]


def _expectation(name: str, made: Generation, temperature: float, *, is_full: bool) -> None:
    """Draw the likeliest tokens after the chosen one; a click says one and forgets what came there."""
    place = position(name)
    found = expected(made.logits_at(place), made.pretrained.tokenizer, n=N_EXPECTED, temperature=temperature or 1.0)
    said = made.ids[place + 1] if place + 1 < len(made.ids) else None
    before = "".join(made.tokens[max(0, place - 4) : place + 1]).strip()
    st.markdown(f"After {literal(('… ' if place > 4 else '') + before)}")

    def take() -> None:
        picked = chosen_piece(f"{name}_says_expected")
        can_follow = not is_full or said is not None
        if picked is not None and picked[1] == [place, len(made.ids)] and can_follow:
            stop(name)
            say(name, picked[0], place)

    shown = [Bar(one.id, one.text, one.probability) for one in found.likeliest]
    word_bars(f"{name}_says_expected", shown, [place, len(made.ids)], said, take)
    st.caption(rest_words(found) + ("" if said is None else " Click another than the text has to go on from there."))
