"""Can it say what is drawn? A sentence about the drawing, and the look before each of its words."""

import html
from collections.abc import Collection
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.attention.wording import format_count, percent
from attention_core.charts.overlay import image_png, overlay_strip, spot_of_light, strongest_weight
from attention_core.data.questions import DIGITS
from attention_core.data.scene_captions import is_correct, sentence
from attention_core.device import to_array
from attention_core.evaluate.variants import variants_of
from attention_core.models.scene_caption import LABELS, Caption, SceneCaption
from pages.ask.first_screen import NAME, PAD, PadScene, digits_of, draw_empty_weight, scene_pad
from pages.ask.inputs import WALK
from ui.canvas import CUSTOM, columns_beside_pad
from ui.chart import draw_map, note_picture, picture_address
from ui.computed import by_model, card_or_empty
from ui.lecture.mode import LECTURE
from ui.state import Field, single_choice, slugs

CAPTIONER, TOGETHER = "scene-caption", "scene-caption-together"
END = "end"
ENCODERS = {CAPTIONER: "trained beforehand", TOGETHER: "learning along"}
ENCODER = Field(NAME, "encoder", CAPTIONER, address="encoder", **slugs(beforehand=CAPTIONER, along=TOGETHER))
MAX_NAMED, LEAST_RIVAL, UNCHOSEN = 3, 0.01, -1
describe_scene = by_model(SceneCaption.explain)


class DescribedScene(NamedTuple):
    """A drawing, the sentence about it, who says it, and the container beside the pad."""

    drawing: PadScene
    caption: Caption
    captioner: str
    beside: DeltaGenerator


def draw_input() -> DescribedScene:
    """Draw the pad, and below it the choice of who describes it."""
    pad_column, beside = columns_beside_pad()
    with pad_column:
        drawing, _ = scene_pad()
        captioner = single_choice("Its eyes", ENCODER, ENCODERS)
    return DescribedScene(drawing, describe_scene(captioner, drawing.picture), captioner, beside)


def answer(scene: DescribedScene) -> str:
    """Give the sentence, and say whether it is true."""
    words, end = scene.caption.words, "." if scene.caption.is_finished else " …"
    text = sentence(words)
    direction = next((word for word in words if word in ("above", "below")), "")
    verdict, diagonal = "", f" (“{direction}” need not be straight {direction})" if direction else ""
    if PAD.preset.value != CUSTOM:  # whose digits nobody named
        verdict = f" {f'True{diagonal}' if is_correct(words, digits_of(scene.drawing)) else '**Not true**'}."
    digits = " Here are the looks before digits." if LECTURE.value else ""
    return f"It looks once before each word: *{text[:1].upper()}{text[1:]}{end}*{verdict}{digits}"


def draw(scene: DescribedScene) -> None:
    """Draw the look of the present word, and the looks of all words."""
    caption, labels = scene.caption, _labels(scene.caption)
    named = [token for token, label in enumerate(labels) if label in DIGITS]
    if LECTURE.value and named:  # a hall sees where it names a digit
        _draw_strip(caption, scene.drawing.canvas, labels, UNCHOSEN, named)
        return
    with scene.beside:
        index = WALK.draw(labels)
        map_column, strip_column = st.columns([1, 1.5], gap="medium")
        with map_column:
            _draw_glimpse(scene, index, labels[index])
        with strip_column:
            _draw_strip(caption, scene.drawing.canvas, labels, index, range(len(labels)))
            with st.container(key="desk_told"):
                n_digits = len(scene.drawing.digits)
                st.caption(f"{_accuracy_note(scene.captioner, n_digits)}\n\n{_training_note()}".strip())


def _labels(caption: Caption) -> list[str]:
    """Return what each look says, with "an" before a vowel."""
    labels = caption.trace.story.query_axis.labels
    return ["an" if label == "a" and after[0] in "aeiou" else label for label, after in pairwise([*labels, END])]


def _draw_glimpse(scene: DescribedScene, index: int, label: str) -> None:
    """Draw one look over the drawing, and what is said after it."""
    trace = scene.caption.trace
    weights, grid = to_array(trace.weights(0, [index])[0]), trace.story.key_axis.picture_grid
    draw_map(weights[:-1].reshape(grid), scene.drawing.canvas, "ask_told", "This look", size=260)
    draw_empty_weight(trace, index)
    if label.startswith("glance"):
        st.markdown("**A first glance**, before any word.")
        return
    probabilities = to_array(scene.caption.probabilities[index])
    best = np.argsort(-probabilities)[:MAX_NAMED]
    likely = [(LABELS[token], share) for token in best[1:] if (share := float(probabilities[token])) >= LEAST_RIVAL]
    rivals = "".join(f"; or “{name}”, {percent(share)}" for name, share in likely)
    st.markdown(f"Then it says **{label}** ({percent(float(probabilities[best[0]]))}){rivals}.")


def _draw_strip(caption: Caption, canvas: np.ndarray, labels: list[str], index: int, tokens: Collection[int]) -> None:
    """Draw what each of these tokens looks at, under its word, as a spot of light; note the maps of all looks."""
    grid = caption.trace.story.key_axis.picture_grid
    maps = to_array(caption.trace.weights())[:, :-1].reshape(-1, *grid)
    shades = np.stack([weights / strongest_weight(weights.size, float(weights.max())) for weights in maps])
    alt = f"All {len(labels)} looks"
    note_picture(partial(overlay_strip, canvas, shades, labels, size=80, columns=7, chosen=index), alt)
    is_few = len(tokens) < len(labels)
    pixels = canvas[:: 2 - is_few, :: 2 - is_few, :3]
    ground = int(np.median(pixels))  # the paper
    spots = [picture_address(image_png(spot_of_light(pixels, maps[token], ground))) for token in tokens]
    figures = (
        f"<figure{' class=chosen' * (token == index)}>{html.escape(labels[token])}"
        f'<div style="background-image:url({spot})"></div></figure>'
        for token, spot in zip(tokens, spots, strict=True)
    )
    few = " few" * is_few
    st.html(f'<div class="strip{few}" role="img" aria-label="{alt}">{"".join(figures)}</div>')


def _accuracy_note(captioner: str, n_digits: int) -> str:
    """Return a sentence: how often it is right on drawings of as many digits, where that was measured."""
    card = card_or_empty(captioner)
    accuracy = card.get("up_to_five_digits", {}).get("accuracy_by_digits", {}).get(str(n_digits))
    if accuracy is None:
        return ""
    return (
        f"It tells {percent(accuracy)} of new drawings with {format_count(n_digits, 'digits')} right, with every "
        f"weight equal {percent(card['with_uniform_attention'])} of those with up to three."
    )


def _training_note() -> str:
    """Return a sentence that compares encoders trained beforehand and together, where both were measured."""
    cards = variants_of(CAPTIONER).get("beforehand", {}), card_or_empty(TOGETHER)
    if not all(cards):
        return ""
    beforehand, together = (percent(card["test_drawings"]["accuracy"]) for card in cards)
    return f"Trained equally long, eyes trained beforehand reach {beforehand}, learning along {together}."
