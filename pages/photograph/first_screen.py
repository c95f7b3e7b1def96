"""The first screen: a photograph, what it is asked, where that looks, and what comes of it."""

from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from attention_core import BlockKeys
from attention_core.attention.view.scene import picture_scene_data
from attention_core.attention.wording import percent
from attention_core.charts.overlay import image_png, overlay
from attention_core.device import to_array
from attention_core.inference.photographs import CELL, NEAR, photo_names
from pages.photograph import reading as asked
from pages.photograph.numbers import pixels_of
from pages.photograph.reading import NAME, PHOTO, PHOTOGRAPHS, REGION, TEXT, PhotoReading
from ui.chart import note_picture, picture_address
from ui.component import component
from ui.computed import cached_computation
from ui.hosting.bounds import QUERY_LETTERS
from ui.picture_upload import UPLOADED
from ui.scene import draw_picture_scene
from ui.state import single_choice
from ui.try_this import TRY_STAGE, TryThis, is_answered, is_guessing

_scene = component("photo_scene", folder="pages/photograph")
ABSENT = {"bee": ("bell pepper", "Band Aid", "knot"), "astronaut": ("wine bottle", "stethoscope", "oxygen mask")}
"""What is not on a photograph, though the network finds it."""
SEEN_INSTEAD = "a blossom"  # where the first of them is seen on the first photograph
EXAMPLES = {
    "bee": ("bee", "dog"),
    "astronaut": ("helmet", "space shuttle", "wine bottle"),
    "cat": ("Egyptian cat", "dog"),
    "coffee": ("coffee", "cup"),
}
CAMERA_EXAMPLES = ("cup", "keyboard", "bottle", "phone")
THUMBNAILS = ("bee", "astronaut", "cat", "coffee", "dogs", "band", "macaw", "wine")
THUMBNAIL_SIDE, SWATCH_SIDE, N_GLIMPSED = 96, 32, 3
SURE, UNSURE, UNLIKELY = 0.5, 0.3, 0.05
NOTE = "A region sees its surroundings, too."
KNOWS = "It knows a thousand things; no people, trees or letters."


def draw_question() -> None:
    """Draw the box of the word, and what this photograph can be asked."""
    TEXT.widget(
        st.text_input,
        "A word, in English",
        max_chars=QUERY_LETTERS.maximum,
        on_change=REGION.reset,
        label_visibility="collapsed",
        placeholder="A word, in English",
    )
    with st.container(horizontal=True, gap="xsmall", key="photograph_examples"):
        for number, text in enumerate(example_texts()):
            st.button(text, key=f"photograph_example_{number}", on_click=ask_text, args=(text,))


def example_texts() -> tuple[str, ...]:
    """Return what the chosen photograph can be asked."""
    name = PHOTO.value
    if name == UPLOADED and asked.PICTURE.value:
        photo = asked.see(asked.MODEL, asked.PICTURE.value, asked.SIDE.value)
        return tuple(asked.first_glance(asked.MODEL, photo, N_GLIMPSED))
    return EXAMPLES.get(name) or (tuple(PHOTOGRAPHS[name].classes) if name in PHOTOGRAPHS else CAMERA_EXAMPLES)


def ask_text(text: str) -> None:
    """Ask another word."""
    TEXT.value = text
    REGION.reset()


def draw_nearest(reading: PhotoReading) -> None:
    """Draw the names of which the word's query is mixed, each a button that asks for it alone."""
    nearest = reading.query.nearest
    if is_guessing(NAME) or len(nearest) == 1:
        return
    if not nearest:
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="photograph_nearest"):
            st.caption(f"**Region {(REGION.value or 0) + 1} asks:** what else looks like this?", width="content")
            st.button("Ask by word again", key="photograph_by_text", on_click=REGION.reset)
        return
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="photograph_nearest"):
        is_near = nearest[0].cosine >= NEAR
        far = "" if is_near else "**No name is near.** "
        st.caption(f"{far}Its query mixes the nearest of a thousand names:", width="content")
        for number, near in enumerate(nearest):
            label = f"{near.name} **{percent(near.weight)}**"
            help = f"cosine {near.cosine:.2f}"
            st.button(label, key=f"photograph_near_{number}", on_click=ask_text, args=(near.name,), help=help)


def draw_scene(learned: PhotoReading, edited: PhotoReading) -> None:
    """Draw how the question looks at the photograph, beside what comes of equal weights."""
    value, grid = asked.VALUE.value, edited.photo.grid
    pixels = pixels_of(edited)
    weights = to_array(edited.trace.weights()[0])
    note_picture(partial(overlay, pixels, weights.reshape(grid)), "Where it looks")
    answer, equal = _answers(edited)
    label = edited.query.label if edited.query.nearest else "this region"
    data = picture_scene_data([edited.trace], picture_address(image_png(pixels)), [[(label, 1.0)]], answer)
    data["looks"][0]["asks"] = (
        f"The {'word becomes' if edited.query.nearest else 'region is'} the **query**: it asks **every region**."
    )
    sentence = _describe(edited, equal) if edited is learned else _describe_changed(learned, edited)
    data |= {"equal": equal, "says": sentence, "saysEvenly": _describe_equal(equal), "note": NOTE, "plays": True}
    data |= {"covered": is_guessing(NAME), "mixes": value != "class"}
    if is_answered(NAME) and edited.query.nearest:
        data["best"] = _best_scores(learned)
    if value != "class":
        data["mixtures"] = [_picture_of(outcome) for outcome in (edited.equal, edited.answer)]
    hidden = edited.trace.allowed(0, [0])
    data["cut"] = [] if hidden is None else (~to_array(hidden[0])).nonzero()[0].tolist()
    draw_picture_scene(NAME, data, on_cut=_cut, on_query=REGION.set, scene=_scene)


def _cut(region: int) -> None:
    asked.EDITS.add(BlockKeys((region,)), description=f"it no longer looks at region {region + 1}")


def _picture_of(outcome: np.ndarray) -> str:
    return picture_address(image_png(outcome if outcome.ndim == 3 else _swatch(outcome)))


def _swatch(rgb: np.ndarray) -> np.ndarray:
    return np.full((SWATCH_SIDE, SWATCH_SIDE, 3), (255 * rgb).round(), np.uint8)


def _answers(reading: PhotoReading) -> tuple[list, list]:
    """Return what is said as asked, and with equal weights, as a scene has answers."""
    value = asked.VALUE.value
    if value == "class":
        answer = asked.likeliest(reading.answer)
        return answer, [(answer[0][0], float(reading.equal[photo_names().index(answer[0][0])]), "")]
    if value == "colour":
        return asked.colour_answer(reading.answer), asked.colour_answer(reading.equal)
    return [("what it looks at", None, "")], [("everything", None, "")]


def _best_scores(reading: PhotoReading) -> list[tuple[str, float]]:
    """Return the best score of the question, after those of a typical name and of what is on the first photograph."""
    content = asked.content_of_photo()
    present = asked.ask(content, asked.Question(asked.FIRST_TEXT))
    questions = (asked.FIRST_TEXT, present.best_score), (reading.query.label, reading.best_score)
    return [("a typical name", asked.median_score(content, asked.SIDE.value)), *questions]


def _describe_equal(equal: list) -> str:
    [(text, share, _)] = equal
    if share is None:
        return "With **all regions equal**, everything in the photograph is mixed."
    return f"With **all regions equal**, everything is mixed: **{text}** gets only **{percent(share)}**."


def _describe(reading: PhotoReading, equal: list) -> str:
    value, label = asked.VALUE.value, reading.query.label
    if value == "colour":
        rows = asked.colour_answer(reading.answer)[0][0], equal[0][0]
        colours = f"where it looks is **{rows[0]}**, the whole photograph **{rows[1]}**"
        return f"The value is a region's **mean colour**, not its key: {colours}."
    if value == "patch":
        return "The value is a region's **pixels**, not its key: what comes out is their mixture, a picture."
    name, share, _ = asked.likeliest(reading.answer)[0]
    if label in ABSENT.get(PHOTO.value, ()) and share > SURE:
        score = f"its best score is {reading.best_score:.1f}"
        return f"**There is no {label} here.** Weights sum to 100% all the same; {score}."
    if not reading.query.nearest:
        return f"What looks like this region? Out of those regions comes **{name}** ({percent(share)})."
    if share < UNSURE:
        likeliest = f"the likeliest is {name} ({percent(share)})"
        return f"**Nothing stands out**: the best score is only {reading.best_score:.1f}, and {likeliest}."
    evenly, nearest = f"{percent(equal[0][1])} with all regions equal", reading.query.nearest[0].name
    knows = ", the nearest name that it knows" if name == nearest != label else ""
    return f"It looks where “{label}” fits, and says **{name}: {percent(share)}**{knows}; {evenly}."


def _describe_changed(learned: PhotoReading, edited: PhotoReading) -> str:
    if asked.VALUE.value != "class":
        return "This is what comes out with the weights **as you changed them**."
    (was, before, _), (name, share, _) = (asked.likeliest(reading.answer)[0] for reading in (learned, edited))
    sentence = f"it says **{name}** ({percent(share)}); as asked, **{was}** ({percent(before)})"
    return f"With the weights **as you changed them** {sentence}."


def draw_settings() -> None:
    """Draw what is brought back, how choosy the question is, and how fine the regions are, behind a button."""
    with st.container(key="desk_photograph_settings", width="content"), st.popover("Ask otherwise"):
        hidden: Any = {"label_visibility": "collapsed"}
        single_choice("What comes back", asked.VALUE, asked.VALUES, **hidden)
        labels = [*asked.CHOOSINESS]
        asked.CHOOSY.widget(
            st.select_slider, "How choosy", range(len(labels)), format_func=labels.__getitem__, **hidden
        )
        grids = {side: f"{side // CELL} × {side // CELL}" for side in asked.photos.SIDES}
        single_choice("Regions, shorter side", asked.SIDE, grids, **hidden)


def draw_photographs() -> None:
    """Draw the photographs that can be asked."""
    with st.container(horizontal=True, gap="xsmall", key="photograph_presets"):
        for name in THUMBNAILS:
            label, key = f"![]({_thumbnail(name)}) {name}", f"photograph_preset_{name}"
            st.button(label, key, on_click=choose_photo, args=(name,))


@cached_computation()
def _thumbnail(name: str) -> str:
    image = Image.open(BytesIO(PHOTOGRAPHS[name].content))
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    return picture_address(image_png(np.array(image)))


def choose_photo(name: str) -> None:
    """Ask another photograph, for the first thing that is there."""
    PHOTO.value = name
    TEXT.value = example_texts()[0]
    REGION.reset()
    asked.EDITS.reset()


def absent_surprise() -> TryThis:
    """Return the page's surprise: what is not there is asked for."""
    text = ABSENT[asked.FIRST][0]

    def act() -> None:
        choose_photo(asked.FIRST)
        ask_text(text)
        for field in (asked.VALUE, asked.CHOOSY, asked.SIDE):
            field.restore_default()

    def outcome() -> tuple[int, str]:
        absent = asked.ask(PHOTOGRAPHS[asked.FIRST].content, asked.Question(text))
        share = asked.likeliest(absent.answer)[0][1]
        return (share > UNLIKELY) + (share > SURE), f"{percent(share)}, and it looks at {SEEN_INSTEAD}."

    if (PHOTO.value, TEXT.value) != (asked.FIRST, text):
        TRY_STAGE[NAME].reset()  # the verdict on a guess was about another question
    return TryThis(
        "ask for what is not there",
        f"There is no *{text}* in this photograph. How likely is one, says the network, when it is asked for one?",
        ("Below 5%", "5 to 50%", "Above 50%"),
        act,
        outcome,
        "photograph_scene",
        hides=".st-key-numbers",
    )
