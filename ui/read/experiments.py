"""Experiments with a reading: another first query, a glimpse withheld, and what is read then."""

from __future__ import annotations

import streamlit as st
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.charts import overlay_strip
from attention_core.device import to_array
from attention_core.models.digit_reader import Reading
from attention_core.topics.read import begins_at, looks_of, nearest_look, random_state, written
from ui.layout import section
from ui.read.parts import NAME, PRESETS, Shown, cards, labels_of, read_again

STARTS = {
    "learned": "the learned one",
    "later": "from later in this number",
    "other": "from another number",
    "zeros": "zeros",
    "random": "random",
}
OTHERS = PRESETS[1:5]


def experiment_part(shown: Shown) -> None:
    """Draw the choices, the reading that follows from them, and the original one beside it."""
    section("Change the question, keep the picture", Role.QUERY)
    st.markdown(
        "Nothing here touches the drawing. Give the reader another first query, or withhold a glimpse: zeros take its "
        "place, and the state goes on without having seen."
    )
    choose, result = st.columns([1, 1.62], gap="large")
    with choose:
        start, why = _choose_start(shown)
        skipped = _choose_skipped(shown)
    with result:
        st.markdown(f"As it was: **{shown.reading.digits or 'nothing'}**")
        st.html(cards(shown.reading))
        if start is None and not skipped:
            st.caption(
                "Nothing is changed yet. Try *from later in this number*: the same picture, read from the middle."
            )
            return
        after = read_again(shown.picture, start, skipped)
        st.markdown(f"Read now: **{after.digits or 'nothing'}**" + ("" if after.finished else ", and no end"))
        st.html(cards(after, blind=skipped))
        st.markdown(" ".join([why, *_what_followed(shown, after, skipped)]).strip())
        _maps_of(shown, after, skipped)


def _choose_start(shown: Shown) -> tuple[Tensor | None, str]:
    """Return the chosen first query, None = the learned one, and what is worth saying about it."""
    state = st.session_state
    kind = st.segmented_control(
        "The first query",
        list(STARTS),
        format_func=STARTS.__getitem__,
        default=None if f"{NAME}_start" in state else "learned",
        key=f"{NAME}_start",
        required=True,
        persist_state="session",
        wrap=True,
    )
    reading = shown.reading
    if kind == "later":
        after = _choose_digits(f"{NAME}_after", labels_of(reading))
        return reading.states[after], f"The first query is the state that this reading had after look {after}."
    if kind == "other":
        number = st.segmented_control(
            "Its number",
            OTHERS,
            default=None if f"{NAME}_other" in state else OTHERS[1],
            key=f"{NAME}_other",
            required=True,
            persist_state="session",
            wrap=True,
        )
        other = read_again(written(number))
        after = _choose_digits(f"{NAME}_other_after", labels_of(other))
        words = f"The first query is the state of another reading: {number}, after look {after}."
        return other.states[after], words + " It never saw this drawing."
    if kind == "zeros":
        return reading.states[0] * 0, "The first query is a vector of zeros."
    if kind == "random":
        seed = state.setdefault(f"{NAME}_seed_of_start", 0)
        st.button("Another random one", key=f"{NAME}_reseed", on_click=_reseed, icon=":material/casino:")
        return random_state(reading, seed), "The first query points in a random direction, as long as a usual state."
    return None, ""


def _choose_digits(key: str, labels: list[str]) -> int:
    """Let the visitor choose after how many looks a state is taken, from 1; a shorter number has fewer."""
    state = st.session_state
    state[key] = min(max(1, int(state.get(key) or 1)), len(labels))
    st.segmented_control(
        "The state after look",
        range(1, len(labels) + 1),
        format_func=lambda after: f"{after}: {labels[after - 1]}",
        key=key,
        required=True,
        persist_state="session",
        wrap=True,
    )
    return state[key]


def _choose_skipped(shown: Shown) -> list[int]:
    """Let the visitor withhold the glimpses of some looks."""
    labels, key, state = shown.labels, f"{NAME}_skipped", st.session_state
    state[key] = [look for look in state.get(key) or [] if look < len(labels)]
    st.pills(
        "Withhold the glimpse of look",
        range(len(labels)),
        format_func=lambda look: f"{look + 1}: {labels[look]}",
        selection_mode="multi",
        key=key,
        persist_state="session",
        wrap=True,
    )
    return sorted(state[key])


def _reseed() -> None:
    st.session_state[f"{NAME}_seed_of_start"] += 1


def _maps_of(shown: Shown, after: Reading, skipped: list[int]) -> None:
    looks = [
        f"look {number + 1}: {said}" + (", withheld" if number in skipped else "")
        for number, said in enumerate(labels_of(after))
    ]
    st.altair_chart(
        overlay_strip(
            shown.canvas,
            to_array(after.trace.weights()).reshape(-1, *after.trace.story.key_axis.grid),
            looks,
            size=185,
            columns=3,
        ),
        key=f"{NAME}_try_strip",
        width="content",
        alt=f"The maps of the {len(looks)} looks of the changed reading",
    )


def _what_followed(shown: Shown, after: Reading, skipped: list[int]) -> list[str]:
    """Say in words what the change did; nothing is claimed that these two readings do not show."""
    before = shown.reading
    told = []
    if not skipped:
        place = begins_at(before.digits, after.digits)
        if place == 0:
            told.append("It reads the same: with this query, too, the first look goes to the beginning.")
        elif place is not None:
            told.append(
                f"It begins at digit {place + 1}. The picture is the same; how far it had come was in the state alone."
            )
        elif not after.digits:
            told.append("It says “end” at once: this state holds that everything has been read.")
    original, now = looks_of(before.trace, shown.picture), looks_of(after.trace, shown.picture)
    for look in (one for one in skipped if one < len(now)):
        said = labels_of(after)[look]
        sentence = (
            f"At look {look + 1} it saw nothing and said **{said}** ({float(after.probabilities[look].max()):.0%})."
        )
        if look + 1 < len(now):
            nearest = nearest_look(now[look + 1].centre, original)
            sentence += f" Its next look goes where look {nearest + 1} of the original went"
            sentence += (
                ": back to what it has not seen."
                if nearest == nearest_look(now[look].centre, original)
                else ": the state moved on although it saw nothing, and that digit is lost."
            )
        told.append(sentence)
    return told
