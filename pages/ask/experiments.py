"""Experiments: looks changed by hand, a sentence about the drawing."""

import html
from functools import partial

import numpy as np
import streamlit as st

from attention_core import Role, Step
from attention_core.attention.wording import format_count, percent
from attention_core.charts.overlay import glow_ramp, image_png, map_png, overlay_strip, strongest_weight
from attention_core.data.questions import (
    ANSWERS,
    DIGITS,
    ParsedQuestion,
    Question,
    answer_in_words,
)
from attention_core.data.scene_captions import sentence
from attention_core.device import to_array
from attention_core.evaluate.variants import variants_of
from attention_core.models.scene_caption import LABELS, SceneCaption
from attention_core.models.scene_question import SceneAnswer
from pages.ask.first_screen import (
    EDITS,
    MODEL,
    NAME,
    PadScene,
    draw_empty_weight,
    explain_answer,
    shaded_words,
)
from ui.chart import draw_map, note_picture, picture_address
from ui.computed import by_model, card_or_empty
from ui.edits import show_outcome
from ui.player import Stepper, StepStyle, Walk, export_bar, show_all_numbers
from ui.region import Region
from ui.state import Field, single_choice, slugs, whole_number

EMPTY_KEY = 256  # comes after the 16 x 16 regions
REGIONS = Region(NAME, EDITS, "regions")
CAPTIONER, TOGETHER = "scene-caption", "scene-caption-together"
ENCODERS = {CAPTIONER: "trained beforehand", TOGETHER: "trained together with the telling"}
ENCODER = Field(NAME, "encoder", CAPTIONER, address="encoder", **slugs(beforehand=CAPTIONER, along=TOGETHER))
WALK = Walk(NAME, label="Look")
MAX_NAMED = 3
describe_scene = by_model(SceneCaption.explain)


def change_section(drawing: PadScene, reading: ParsedQuestion, answer: SceneAnswer) -> None:
    """Draw the region that a visitor brushes, in which all looks are changed, and the answer before and after."""
    learned = explain_answer(MODEL, drawing.picture, reading.words)
    grid, last = answer.looks[-1].story.key_axis.grid, reading.question.n_looks - 1
    before, after = (to_array(each.looks[last].weights()[0, :-1]).reshape(grid) for each in (learned, answer))
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        hint = "Brush over the digit that it needs, then let all looks look away."
        REGIONS.draw(drawing.canvas, before, after, *answer.looks[: last + 1], hint=hint, size=280)
    with right:
        names = [answer_in_words(answer) for answer in ANSWERS]
        show_outcome(names, to_array(learned.probabilities), to_array(answer.probabilities))


def caption_tab(drawing: PadScene) -> None:
    """Draw the sentence, the look of the present word, and the looks of all words."""
    captioner = single_choice("The part that sees", ENCODER, ENCODERS)
    caption = describe_scene(captioner, drawing.picture)
    grid, labels = caption.trace.story.key_axis.picture_grid, list(caption.trace.story.query_axis.labels)
    text = sentence(caption.words)
    st.markdown(f"### {text[:1].upper()}{text[1:]}{'.' if caption.is_finished else ' …'}")
    look = WALK.draw(labels, [token for token, label in enumerate(labels) if label in DIGITS] or [len(labels) - 1])
    map_column, strip_column = st.columns([1, 2], gap="medium")
    with map_column:
        weights = to_array(caption.trace.weights(0, [look])[0])
        words_of_map = "Where this look goes, over the drawing"
        draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_told", words_of_map, size=260)
        draw_empty_weight(caption.trace, look)
        if labels[look].startswith("glance"):
            st.markdown("**A first glance**, before any word.")
        else:
            probabilities = to_array(caption.probabilities[look])
            best = np.argsort(-probabilities)[:MAX_NAMED]
            rivals = ", ".join(f"{LABELS[token]} {percent(float(probabilities[token]))}" for token in best[1:])
            certainty = percent(float(probabilities[best[0]]))
            st.markdown(f"After this look it says **{labels[look]}** ({certainty}), rather than {rivals}.")
    with strip_column:
        maps = to_array(caption.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = np.stack([each / strongest_weight(each.size, float(each.max())) for each in maps])
        alt = f"The maps of all {len(labels)} looks over the drawing, each under its word"
        note_picture(partial(overlay_strip, drawing.canvas, shades, labels, size=80, columns=7, chosen=look), alt)
        ramp, below = glow_ramp(shades[0].size, float(shades.max())), picture_address(image_png(drawing.canvas))
        layers = [f"url({picture_address(map_png(shade, ramp, True, 0.75))}), url({below})" for shade in shades]
        named = zip(map(html.escape, labels), layers, strict=True)
        figures = (
            f'<figure{" class=chosen" * (token == look)}>{name}<div style="background-image:{layer}"></div></figure>'
            for token, (name, layer) in enumerate(named)
        )
        st.html(f'<div class="strip" role="img" aria-label="{alt}">{"".join(figures)}</div>')
        with st.container(key="desk_told"):
            st.markdown(f"{_accuracy_note(captioner, len(drawing.digits))}\n\n{_training_note()}".strip())


def _training_note() -> str:
    """Return a sentence that compares encoders trained beforehand and together, where both were measured."""
    cards = variants_of(CAPTIONER).get("beforehand", {}), card_or_empty(TOGETHER)
    if not all(cards):
        return ""
    beforehand, together = (percent(card["test_drawings"]["accuracy"]) for card in cards)
    return (
        "**Beforehand, or all together?** With the telling trained equally long, eyes trained "
        f"beforehand tell {beforehand} of new drawings right, eyes that learn along {together}."
    )


def _accuracy_note(captioner: str, n_digits: int) -> str:
    """Return a sentence: how often it is right on drawings of as many digits, where that was measured."""
    card = card_or_empty(captioner)
    accuracy = card.get("up_to_five_digits", {}).get("accuracy_by_digits", {}).get(str(n_digits))
    if accuracy is None:
        return ""
    return (
        f"It tells {percent(accuracy)} of new drawings with {format_count(n_digits, 'digits')} right; with every "
        f"weight equal {percent(card['with_uniform_attention'])} of those with three at most."
    )


STEPS = Stepper(NAME, first="weights")
LOOK = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The chosen look, from 0; at first the last one that the question needs."""
MAX_DIMENSIONS = 24  # of keys and values that are drawn: those that differ most from region to region


def chosen_glimpse(question: Question) -> int:
    return LOOK.clamp_to_options(range(question.n_looks), question.n_looks - 1)


def ask_steps(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Draw all the numbers of one look, from the picture to the answer."""
    number = chosen_glimpse(question)
    trace, names = answer.looks[number], {look: f"Look {look + 1}" for look in range(question.n_looks)}
    single_choice("Look", LOOK, names, label_visibility="collapsed")
    weights, grid = to_array(trace.weights()[0]), trace.story.key_axis.picture_grid
    dimensions = {}
    for role, vectors in ((Role.KEY, trace.key), (Role.VALUE, trace.value)):
        dimensions[role] = np.sort(np.argsort(-to_array(vectors[0, :EMPTY_KEY].std(0)))[:MAX_DIMENSIONS]).tolist()
    styles = {"picture": StepStyle(over=drawing.scene.rgb), "weights": StepStyle(over=drawing.canvas)}

    def draw_look(_: Step) -> None:
        map_column, words_column = st.columns([1, 1.1], vertical_alignment="center")
        with map_column:
            alt = "The drawing with this look's map"
            draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_small", alt, size=104)
        with words_column:
            st.html(f"<p style='margin:0'>{shaded_words(answer.words[number])}</p>")
            if np.allclose(weights, weights[0]):
                st.caption("The weights are all alike.")

    def style_of(step: Step) -> StepStyle:
        return styles.get(step.name, StepStyle())._replace(column_indices=dimensions.get(step.role))

    def draw_empty(step: Step) -> None:
        if step.name == "weights":
            draw_empty_weight(trace)
        elif step.role in dimensions:
            n = f"{MAX_DIMENSIONS} of {step.shape[1]}"
            st.caption(f"The {n} dimensions that differ most; ∅: the empty key's number.")

    show_all_numbers(trace, STEPS, NAME, style_of=style_of, above_text=draw_look, below_picture=draw_empty)


def export_look(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    look = answer.looks[chosen_glimpse(question)]
    export_bar(look, NAME, query=0, picture=drawing.canvas)
